"""Holds the sentences that several commands print, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # options that cannot be meant
    "no_name": ("a file name is missing", "파일 이름이 없습니다"),
    "together": ("{one} and {other} cannot be used together",
        "{one}와(과) {other}은(는) 함께 쓸 수 없습니다"),
    "needs": ("{one} can only be used with {other}", "{one} 옵션은 {other}와(과) 함께만 쓸 수 있습니다"),
    "no_number": ("it must be a whole number of 1 or more", "1 이상의 정수여야 합니다"),
    "no_moment": ("it must be a date such as 2026-03-01, or a time back from now such as 12h, 7d, 2w, 6m or 1y",
        "2026-03-01 같은 날짜이거나 지금부터 거슬러 센 12h, 7d, 2w, 6m, 1y 같은 기간이어야 합니다"),
    "no_when": ("it must be a date such as 2026-03-01, a moment such as 2026-03-01T09:30, or a time back from now such as 12h, 7d, 2w, 6m or 1y",
        "2026-03-01 같은 날짜, 2026-03-01T09:30 같은 시각, 지금부터 거슬러 센 12h, 7d, 2w, 6m, 1y 같은 기간 가운데 하나여야 합니다"),
    # while a command is at work
    "working": ("Reading ... {seconds} s", "읽는 중 ... {seconds}초"),
    "working_at": ("{far} ... {seconds} s", "{far} ... {seconds}초"),
    # a plan that was shown
    "dry": ("Nothing was changed (--dry-run).", "아무것도 바꾸지 않았습니다(--dry-run)."),
    "not_changed": ("Nothing was changed.", "아무것도 바꾸지 않았습니다."),
    "no_terminal": ("Nothing was changed: there is no terminal to confirm on. Review the output above, then repeat the command with --yes.",
        "확인을 받을 터미널이 없어 아무것도 바꾸지 않았습니다. 위의 내용을 확인한 뒤 --yes를 붙여 다시 실행하세요."),
    # what was done
    "written": ("Written: {path}", "{path} 파일에 썼습니다."),
    "written_records": ("Written: {path} (records: {count:,}).",
        "{path} 파일에 썼습니다(기록 {count:,}건)."),
}
# fmt: on

word = partial(sentence, WORDS)
