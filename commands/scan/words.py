"""Every sentence of the scan, in English and Korean, by name."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # findings
    "in_file": ("{where}: {kind}", "{where}: 비밀 값: {kind}"),
    "in_record": ("{where}: {kind} in {field} of {record}",
        "{where}: 비밀 값: {kind}, {record}의 {field}"),
    "mark": ("{where}: warning: reads like instructions to a model: {kind}, in {field} of {record}",
        "{where}: 경고: 모델에 내리는 지시처럼 읽힘: {kind}, {record}의 {field}"),
    "record": ("record {token}", "기록 {token}"),
    "unnamed": ("a record", "이름을 표시할 수 없는 기록"),
    "line": ("line {line}", "{line}번째 줄"),
    "meta": ("meta", "meta 키"),
    "other_keys": ("other keys", "그 밖의 키"),
    "whole_line": ("a key that appears twice", "두 번 나온 키"),
    "hidden_name": ("(a name that contains a secret)", "(비밀 값이 든 이름)"),
    # what was not looked at
    "binary": ("{path}: skipped, a binary file", "{path}: 이진 파일이라 건너뜀"),
    "too_large": ("{path}: not scanned, larger than {most:,} bytes",
        "{path}: {most:,}바이트보다 커서 살펴보지 못함"),
    "not_regular": ("{path}: not scanned, not a regular file",
        "{path}: 일반 파일이 아니라서 살펴보지 못함"),
    "git_folder": ("{path}: not scanned, inside .git", "{path}: .git 안이라서 살펴보지 않음"),
    "unreadable": ("{path}: cannot be read ({reason})", "{path}: 읽을 수 없음({reason})"),
    # the end
    "summary": ("Secrets: {secrets}, warnings: {marks}, files: {files}.",
        "비밀 값 {secrets}개, 경고 {marks}건, 파일 {files}개."),
    "untracked": ("Not scanned, because git does not track them yet: {count:,}. Name these files to scan them, or git add them and repeat the command.",
        "git이 아직 추적하지 않아 살펴보지 않은 파일 {count:,}개. 이 파일까지 살펴보려면 파일 이름을 주거나, git add를 한 뒤 다시 실행하세요."),
    "no_log": ("There is no memory log yet: {path}", "기억 로그가 아직 없습니다: {path}"),
    "would_redact": ("Run {cli} scan --redact to remove them from the log. Rotate every real secret at its provider.",
        "{cli} scan --redact로 로그에서 지울 수 있습니다. 실제 비밀 값은 반드시 발급한 곳에서 새 값으로 바꾸세요."),
    "to_redact": ("Secrets to remove from {path}: {count}. The file beside it is cleaned as well.",
        "{path}에서 지울 비밀 값 {count}개. 로그 옆에 보관된 파일에서도 지웁니다."),
    "ask_redact": ("Remove them? [y/N] ", "지울까요? [y/N] "),
    # the sessions
    "in_session": ("{where}: {kinds} in session {name}", "{where}: 비밀 값: {kinds}, 세션 {name}"),
    "in_sessions": ("{where}: {kinds}", "{where}: 비밀 값: {kinds}"),
    "sessions_summary": ("Places with secrets among the sessions: {count}.", "세션에서 비밀 값이 있는 곳 {count}군데."),
    "would_redact_both": ("Run {cli} scan --redact to remove them from the log and from the sessions. Rotate every real secret at its provider.",
        "{cli} scan --redact로 로그와 세션에서 지울 수 있습니다. 실제 비밀 값은 반드시 발급한 곳에서 새 값으로 바꾸세요."),
    "to_redact_sessions": ("Places among the sessions from which secrets are to be removed: {count}.",
        "세션에서 비밀 값을 지울 곳 {count}군데."),
    "sessions_redacted": ("Redacted among the sessions, also in the bytes of the files ({count}):",
        "세션에서 마스킹한 곳({count}군데, 파일의 바이트에서도 지움):"),
    "unpurged": ("{path}: the bytes of what was removed are still in this file, because another process reads it or there is no room. End the clients that use this project, then run {cli} scan --redact again.",
        "{path}: 다른 프로세스가 읽고 있거나 공간이 없어, 지운 내용의 바이트가 이 파일에 아직 남아 있습니다. 이 프로젝트를 쓰는 클라이언트를 끝낸 뒤 {cli} scan --redact를 다시 실행하세요."),
    "aside": ("{path}: not scanned, a damaged database that a repair has kept. Delete it once nothing is missing.",
        "{path}: 복구할 때 남겨 둔 손상된 데이터베이스라서 살펴보지 못함. 빠진 것이 없으면 지우세요."),
    # --history
    "history_summary": ("Secrets in the history: {secrets}, versions of the log: {files}.",
        "이력에 있는 비밀 값 {secrets}개, 로그의 버전 {files}개."),
    "no_history": ("git has no version of this log, so there is no history to scan: {path}",
        "git에 이 로그의 버전이 없어 살펴볼 이력이 없습니다: {path}"),
    "history_advice": ("Whoever has the repository can read what a commit keeps. Rotate every real secret at its provider. To remove them from the history as well, rewrite it (git filter-repo) and replace every clone with a fresh one.",
        "커밋에 남은 비밀 값은 저장소를 가진 누구나 볼 수 있습니다. 실제 비밀 값은 발급한 곳에서 새 값으로 바꾸세요. 이력에서도 지우려면 이력을 다시 쓰고(git filter-repo) 모든 클론을 새로 받아야 합니다."),
    # --redact
    "redacted": ("Redacted in {path} (total {count}):",
        "{path}에서 마스킹한 비밀 값(모두 {count}개):"),
    "changed": ("{lines}: {before} -> {after}: {kinds}",
        "{lines}: {before} -> {after}, 마스킹한 것: {kinds}"),
    "joined": ("{lines}: {before} -> {after}, one record now: {kinds}",
        "{lines}: {before} -> {after}, 한 기록으로 합침: {kinds}"),
    "no_record": ("{lines}: not a record: {kinds}", "{lines}: 기록이 아님: {kinds}"),
    "dropped": ("{lines}: {before} removed, a leftover of a merge: {kinds}",
        "{lines}: {before} 삭제됨(병합이 남긴 줄): {kinds}"),
    "lines": ("lines {numbers}", "{numbers}번째 줄"),
    "over": ("  warning: {field} now exceeds its limit ({used:,} of {limit:,} bytes). It can still be read; shorten it by hand.",
        "  경고: {field} 필드가 상한을 넘었습니다({limit:,}바이트 중 {used:,}바이트). 그대로 읽히지만 직접 줄이세요."),
    "nothing_to_redact": ("No secrets found; nothing was written.",
        "비밀 값이 없어 아무것도 쓰지 않았습니다."),
    "left": ("Remaining (remove these by hand):", "남은 것(직접 지우세요):"),
    "next_rotate": ("1. Rotate every real secret at its provider.",
        "1. 실제 비밀 값은 모두 발급한 곳에서 새 값으로 바꾸세요."),
    "next_rotate_committed": ("1. Rotate every real secret at its provider. Git's history still contains it; run {cli} scan --history to see where.",
        "1. 실제 비밀 값은 모두 발급한 곳에서 새 값으로 바꾸세요. git 이력에는 그대로 남아 있으며, {cli} scan --history로 위치를 볼 수 있습니다."),
    "next_diff": ("2. Review git diff .context/, then commit.",
        "2. git diff .context/를 확인한 뒤 커밋하세요."),
    "next_clones": ("3. Have every other clone pull before it saves again. A version changed there in the meantime comes back with a merge, so run {cli} scan after each merge until all have pulled.",
        "3. 다른 클론은 다시 저장하기 전에 먼저 pull해야 합니다. 그 사이 그쪽에서 바뀐 버전은 병합 때 되돌아올 수 있으니, 모두 pull할 때까지 병합할 때마다 {cli} scan을 실행하세요."),
    "utf_16": ("The log is UTF-16. Nothing was changed. Run {cli} doctor --fix to convert it to UTF-8, then repeat the command.",
        "로그가 UTF-16으로 저장되어 있어 아무것도 바꾸지 않았습니다. {cli} doctor --fix로 UTF-8로 바꾼 뒤 다시 실행하세요."),
    "no_filelock": ("The package filelock is not installed. Nothing was written. Run the command with the Python that runs the server.",
        "filelock 패키지가 설치되어 있지 않아 아무것도 쓰지 않았습니다. 서버를 실행하는 Python으로 명령을 실행하세요."),
}
# fmt: on

word = partial(sentence, WORDS)
