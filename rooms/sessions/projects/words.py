"""Holds the sentences on projects that share their sessions, in both languages."""

from core.messages import Table

# fmt: off
WORDS: Table = {
    "no_state": ("This account has no directory for what is kept on this machine only. Nothing was shared. Name one in the environment variable SENTINEL_MEMORY_STATE, then try again.",
        "이 계정에는 이 컴퓨터에만 둘 것을 보관할 디렉터리가 없습니다. 공유한 것은 없습니다. 환경 변수 SENTINEL_MEMORY_STATE에 디렉터리를 지정한 뒤 다시 시도하세요."),
    "no_consent": ("{path} could not be written ({reason}). Nothing was changed about which projects share their sessions. Make its directory writable, then try again.",
        "{path} 파일에 쓸 수 없습니다({reason}). 어느 프로젝트가 세션을 공유하는지는 바뀌지 않았습니다. 디렉터리에 쓸 수 있게 한 뒤 다시 시도하세요."),
}
# fmt: on
