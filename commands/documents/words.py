"""Holds the sentences of documents and of the files they go to, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # a record
    "missing": ("Missing then", "당시 빠져 있던 정보"),
    "ask": ("Ask first", "먼저 물을 질문"),
    "paths": ("Files", "대상 파일"),
    "when": ("When you write", "이렇게 쓸 때"),
    "saved": ("saved {date}", "{date} 저장"),
    "compacted": ("compacted {date}", "{date} 통합"),
    # what is left out or replaced
    "redacted": ("Secrets replaced in what is exported: {count:,} ({kinds}). They still stand in the memory: {cli} scan shows where, {cli} scan --redact takes them out.",
        "내보내면서 가린 비밀 값 {count:,}개({kinds}). 기억에는 그대로 남아 있습니다. {cli} scan으로 위치를 확인하고 {cli} scan --redact로 지우십시오."),
    "conflicts": ("The memory log holds conflict markers of git (conflicts: {conflicts:,}); the records of both sides are exported. {cli} doctor --fix resolves the conflict; then git add the file.",
        "기억 로그에 git 충돌 표시가 있습니다(충돌 {conflicts:,}건). 양쪽 기록을 모두 내보냅니다. {cli} doctor --fix로 충돌을 해결한 뒤 git add를 하십시오."),
    "skipped": ("Lines of the memory log that cannot be read and are not exported: {skipped:,}. {cli} doctor shows them.",
        "읽을 수 없어 내보내지 않는 기억 로그의 줄 {skipped:,}개. {cli} doctor로 볼 수 있습니다."),
    # refusals
    "no_topic": ("No record has exactly the topic {topic}. Nothing was written. Existing topics, the closest first: {topics}.",
        "topic이 정확히 {topic}인 기록이 없습니다. 아무것도 쓰지 않았습니다. 있는 topic(가까운 순): {topics}."),
    "exists": ("{path} exists already and was left as it is. Choose another name, or replace it with --force.",
        "{path} 파일이 이미 있어 그대로 두었습니다. 다른 이름을 쓰거나 --force로 바꾸십시오."),
    "leads_out": ("{path} leaves the project by the link {link}, which leads to {target}. Nothing was read or written there. To mean that place, name it by its real path; otherwise remove the link ({rm}).",
        "{path}은(는) {link} 링크를 지나 프로젝트 밖의 {target}(으)로 나갑니다. 그곳에서 읽거나 쓴 것이 없습니다. 그곳을 뜻한 것이라면 실제 경로로 적고, 아니면 링크를 지우십시오({rm})."),
    "file_read": ("{path} cannot be read ({reason}). It was left as it is. Make it a readable file, then repeat the command.",
        "{path} 파일을 읽을 수 없습니다({reason}). 그대로 두었습니다. 읽을 수 있는 파일로 만든 뒤 명령을 되풀이하십시오."),
    "file_write": ("{path} could not be written ({reason}). It is as it was. Make the file and its directory writable, then repeat the command.",
        "{path} 파일에 쓸 수 없습니다({reason}). 이전 상태 그대로입니다. 파일과 디렉터리에 쓸 수 있게 한 뒤 명령을 되풀이하십시오."),
    "file_changed": ("{path} was changed by another program meanwhile, and was left as it is. Repeat the command.",
        "그 사이 다른 프로그램이 {path} 파일을 바꾸어 그대로 두었습니다. 명령을 되풀이하십시오."),
    "not_utf_8": ("{path} is not UTF-8 text and was left as it is. Save it as UTF-8, then repeat the command.",
        "{path} 파일이 UTF-8 텍스트가 아니어서 그대로 두었습니다. UTF-8로 저장한 뒤 명령을 되풀이하십시오."),
}
# fmt: on

word = partial(sentence, WORDS)
