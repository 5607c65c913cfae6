"""Holds the sentence on a file that could not be repaired, in both languages."""

from core.messages import Table

# fmt: off
WORDS: Table = {
    "not_mended": ("{path} could not be repaired ({reason}). What was damaged is where it was, or kept beside it. Make room, or make the directory writable, then run {cli} doctor --fix again.",
        "{path}을(를) 고칠 수 없습니다({reason}). 손상된 것은 제자리에 있거나 그 옆에 남아 있습니다. 공간을 확보하거나 디렉터리에 쓸 수 있게 한 뒤 {cli} doctor --fix를 다시 실행하세요."),
}
# fmt: on
