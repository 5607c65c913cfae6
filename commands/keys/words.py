"""Every sentence of the commands for keys, in English and Korean."""

from functools import partial

from core.messages import Table, sentence

# fmt: off
WORDS: Table = {
    "made": ("Key {name} of agent {agent}:", "{name} 키(에이전트 {agent}):"),
    "once": ("It is shown this once: only its hash is kept.", "지금 한 번만 보여 줍니다. 해시만 보관합니다."),
    "bearer": ("A client sends it as `Authorization: Bearer KEY`, or a person types it on the page that the client opens.",
        "클라이언트는 `Authorization: Bearer 키`로 보내고, 사람은 클라이언트가 여는 페이지에 입력합니다."),
    "no_file": ("Put it into the environment of the client, as SENTINEL_MEMORY_KEY, and never into a file that git keeps.",
        "클라이언트의 환경 변수 SENTINEL_MEMORY_KEY에 넣고, git이 관리하는 파일에는 넣지 마세요."),
    "none": ("There are no keys yet. {cli} keys add NAME makes one.", "아직 키가 없습니다. {cli} keys add NAME으로 만듭니다."),
    "name": ("name", "이름"),
    "agent": ("agent", "에이전트"),
    "made_on": ("made", "만든 날"),
    "used_on": ("last used", "마지막 사용"),
    "tokens": ("tokens", "토큰"),
    "never": ("never", "없음"),
    "would_remove": ("To remove: key {name}, with its tokens ({tokens:,}) and sessions ({sessions:,}). Whoever uses it is shut out at once.",
        "지울 키: {name}. 이 키로 내준 토큰 {tokens:,}개, 세션 {sessions:,}개도 함께 지웁니다. 쓰던 사람은 바로 들어올 수 없습니다."),
    "ask_remove": ("Remove? [y/N] ", "지울까요? [y/N] "),
    "removed": ("Removed: key {name}, tokens {tokens:,}, sessions {sessions:,}.", "지웠습니다: {name} 키, 토큰 {tokens:,}개, 세션 {sessions:,}개."),
}
# fmt: on

word = partial(sentence, WORDS)
