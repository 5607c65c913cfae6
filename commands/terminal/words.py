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
    # what was done
    "written": ("Written: {path}", "{path} 파일에 썼습니다."),
    "written_records": ("Written: {path} (records: {count:,}).",
        "{path} 파일에 썼습니다(기록 {count:,}건)."),
}
# fmt: on

word = partial(sentence, WORDS)
