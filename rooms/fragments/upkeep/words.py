"""Holds the sentences that the upkeep refuses with, in both languages."""

from core.messages import Table

# fmt: off
WORDS: Table = {
    "busy": ("Another process is putting the fragments in order ({path}). This call changed nothing. Wait until it is done, then try again.",
        "다른 프로세스가 조각을 정리하고 있습니다({path}). 이번 호출로 바뀐 것은 없습니다. 그 정리가 끝난 뒤 다시 시도하세요."),
    "under_way": ("The server is putting the fragments in order already, for another call. This call changed nothing. Wait until that is done, then call memory_consolidate again.",
        "서버가 다른 호출을 위해 이미 조각을 정리하고 있습니다. 이번 호출로 바뀐 것은 없습니다. 그 정리가 끝난 뒤 memory_consolidate를 다시 호출하세요."),
    "stopped": ("The consolidation was stopped in step {step} of {steps}. What it had done by then is kept, and nothing is half done. Make the same call again: it goes on from there.",
        "정리가 할 일 {steps}가지 중 {step}번째에서 멈췄습니다. 그때까지 한 일은 저장되어 있고, 하다 만 것은 없습니다. 같은 호출을 다시 하면 거기서부터 이어집니다."),
    "lock": ("The lock file {path} cannot be opened ({reason}). Nothing was changed. Make the file and its directory writable, then try again.",
        "잠금 파일({path})을 열 수 없습니다({reason}). 바뀐 것은 없습니다. 파일과 디렉터리에 쓸 수 있게 한 뒤 다시 시도하세요."),
}
# fmt: on
