"""Holds the sentences that the upkeep refuses with, in both languages."""

from core.messages import Table

# fmt: off
WORDS: Table = {
    "bad_before": ("{date}: it is not a date such as 2026-01-31. Nothing was archived. Correct it and call again.",
        "{date}: 2026-01-31 같은 날짜가 아닙니다. 보관한 것은 없습니다. 고쳐서 다시 실행하세요."),
    "archive_missing": ("{name} is archived in {path}, and that file is missing. Its goal and summary in short are still here; nothing was changed. Put the file back into that directory, then try again.",
        "{name}은(는) {path}에 보관되었는데 그 파일이 없습니다. 줄인 목표와 요약은 여기 그대로 있고, 바뀐 것은 없습니다. 그 파일을 디렉터리에 되돌려 놓은 뒤 다시 시도하세요."),
    "archive_without": ("{name} is archived in {path}, and that file does not have it. Its goal and summary in short are still here; nothing was changed. Put the right file of this name back, then try again.",
        "{name}은(는) {path}에 보관되었다고 되어 있는데 그 파일에 없습니다. 줄인 목표와 요약은 여기 그대로 있고, 바뀐 것은 없습니다. 이 이름의 맞는 파일을 되돌려 놓은 뒤 다시 시도하세요."),
}
# fmt: on
