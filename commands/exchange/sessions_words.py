"""Holds the sentences of the import of sessions, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # the preview
    "head": ("Import of sessions from {path} into {project}. To save: {count:,}.",
        "{path}의 세션을 {project} 프로젝트로 가져옵니다. 저장할 세션: {count:,}개."),
    "date": ("saved", "저장일"),
    "status": ("status", "상태"),
    "goal": ("goal", "목표"),
    "more_rows": ("… {more:,} more", "… 이 밖에 {more:,}개"),
    "known": ("Already in this project: {count:,}.", "이 프로젝트에 이미 있는 세션: {count:,}개."),
    "versions": ("Further versions of these sessions, joined with them: {count:,}.",
        "같은 세션의 다른 버전으로, 하나로 합치는 것: {count:,}개."),
    "shortened": ("Texts or lists above their limits, which are shortened: {count:,}.",
        "상한을 넘어 줄이는 글이나 목록: {count:,}개."),
    "redacts": ("Secrets that are redacted: {count:,} ({kinds}).", "마스킹하는 비밀 값: {count:,}개({kinds})."),
    "passed": ("Skipped:", "건너뛴 것:"),
    "passed_not_json": ("{place}: not readable as JSON", "{place}: JSON으로 읽을 수 없음"),
    "passed_not_a_session": ("{place}: not a session", "{place}: 세션이 아님"),
    "passed_no_goal": ("{place}: a session without a goal", "{place}: 목표가 없는 세션"),
    "passed_link": ("{place}: a symbolic link, which is not followed", "{place}: 심볼릭 링크는 따라가지 않음"),
    "passed_not_a_file": ("{place}: not a regular file", "{place}: 일반 파일이 아님"),
    "passed_unreadable": ("{place}: cannot be read", "{place}: 읽을 수 없음"),
    "passed_too_large": ("{place}: too large", "{place}: 너무 큼"),
    "passed_too_many": ("{place}: more files than are read at once", "{place}: 한 번에 읽는 수보다 파일이 많음"),
    "passed_archived": ("{place}: an archived session, whose texts are in another file; export it as JSON where it is",
        "{place}: 글이 다른 파일에 있는 보관된 세션, 그 프로젝트에서 JSON으로 내보낼 것"),
    "passed_secret": ("{place}: it seems to contain a secret, and SENTINEL_MEMORY_STRICT refuses such a session",
        "{place}: 비밀 값이 있는 듯하며, SENTINEL_MEMORY_STRICT 설정이 이런 세션을 거부함"),
    # the end
    "nothing": ("Nothing to save.", "저장할 것이 없습니다."),
    "ask": ("Save? [y/N] ", "저장할까요? [y/N] "),
    "not_changed": ("Nothing was saved.", "아무것도 저장하지 않았습니다."),
    "no_terminal": ("Nothing was saved: there is no terminal to confirm on. Review the list above, then repeat the command with --yes.",
        "확인을 받을 터미널이 없어 아무것도 저장하지 않았습니다. 위 목록을 확인한 뒤 --yes를 붙여 다시 실행하세요."),
    "dry": ("Nothing was saved (--dry-run).", "아무것도 저장하지 않았습니다(--dry-run)."),
    "saved": ("Saved in one transaction: {count:,}. {cli} sessions lists them.",
        "{count:,}개를 한 번에 저장했습니다. {cli} sessions로 볼 수 있습니다."),
    "switch_on": ("To have agents use them: `{cli} setup --all --rooms {rooms}`", "에이전트가 쓰게 하려면: `{cli} setup --all --rooms {rooms}`"),
}
# fmt: on

word = partial(sentence, WORDS)
