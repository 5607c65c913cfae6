"""Holds the sentences of the file that carries all rooms, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # the export
    "written": ("Written to {path}. Records: {lessons:,}, sessions: {sessions:,}, fragments: {fragments:,}.",
        "{path} 파일에 썼습니다. 기록 {lessons:,}건, 세션 {sessions:,}개, 조각 {fragments:,}개."),
    "private": ("It holds sessions or private fragments, which are yours alone. Keep it out of git, or leave them out with --public.",
        "자신만 보는 세션이나 비공개 조각이 들어 있습니다. git에 넣지 말거나, --public 옵션으로 빼세요."),
    "empty": ("There is nothing to export: no record, no session, no fragment. Nothing was written.",
        "내보낼 기록, 세션, 조각이 없습니다. 아무것도 쓰지 않았습니다."),
    # the import
    "lessons": ("Lessons", "교훈"),
    "sessions": ("Sessions", "세션"),
    "fragments": ("Fragments", "조각"),
    "failed": ("{room}: {reason} The other rooms of the file are not affected.",
        "{room}: {reason} 파일에 든 다른 방에는 영향이 없습니다."),
    # refusals
    "unreadable": ("{path} cannot be read as a ZIP file ({reason}). Nothing was saved. Copy it once more, or export again: {cli} export -o FILE.zip",
        "{path}을(를) ZIP 파일로 읽을 수 없습니다({reason}). 아무것도 저장하지 않았습니다. 다시 복사하거나 다시 내보내세요: {cli} export -o FILE.zip"),
    "no_rooms": ("{path} holds none of the files of an export: {names}. Nothing was saved. Unpack it and import its files one by one.",
        "{path}에는 내보내기 파일({names})이 하나도 없습니다. 아무것도 저장하지 않았습니다. 압축을 풀어 파일을 하나씩 가져오세요."),
}
# fmt: on

word = partial(sentence, WORDS)
