"""Reads tables of sentences in two languages, and holds those of the core's errors.

Record data and field names are never translated. Both languages name the same facts in braces.
"""

from collections.abc import Mapping
from typing import Literal

from core import program

Language = Literal["en", "ko"]
Facts = dict[str, str | int]
Table = Mapping[str, tuple[str, str]]

# fmt: off
MESSAGES: dict[str, tuple[str, str]] = {
    # refusals
    "blank_field": ("{field}: it is blank. The file is unchanged. Fill it in and call again.",
        "{field}: 비어 있습니다. 파일은 바뀌지 않았습니다. 내용을 넣어 다시 호출하세요."),
    "field_too_long": ("{field}: {used_bytes:,} bytes of UTF-8, {over_bytes:,} above the limit of {limit_bytes:,}. The file is unchanged. Cut {over_bytes:,} ASCII characters or {syllables:,} Korean syllables; a long lesson can become two records.",
        "{field}: UTF-8 {used_bytes:,}바이트로, 상한 {limit_bytes:,}바이트를 {over_bytes:,}바이트 넘었습니다. 파일은 바뀌지 않았습니다. 한글 {syllables:,}자(ASCII {over_bytes:,}자)를 줄이세요. 긴 lesson은 두 기록으로 나눌 수 있습니다."),
    "record_too_large": ("The line of the record would be longer than {limit_bytes:,} bytes, and no reader accepts such a line as a record. The file is unchanged. Replace fewer originals at once, or remove what other programs have added to the record.",
        "기록 한 줄이 {limit_bytes:,}바이트를 넘어, 읽을 때 기록으로 인정되지 않습니다. 파일은 바뀌지 않았습니다. 한 번에 대체하는 원본 수를 줄이거나, 다른 프로그램이 기록에 덧붙인 값을 지우세요."),
    "lone_surrogate": ("{field}: it contains half of a character (a lone surrogate). The file is unchanged. Send the text again without it.",
        "{field}: 깨진 글자(짝이 없는 서로게이트)가 들어 있습니다. 파일은 바뀌지 않았습니다. 그 글자를 빼고 다시 보내세요."),
    "path_outside": ("paths: one of them points outside the project. The file is unchanged. Give paths or globs relative to the project, such as src/payment/**, and call again.",
        "paths: 프로젝트 밖을 가리키는 경로가 있습니다. 파일은 바뀌지 않았습니다. src/payment/**처럼 프로젝트를 기준으로 한 경로나 glob을 주고 다시 호출하세요."),
    "path_negated": ("paths: one of them begins with `!`, but a pattern cannot exclude files. The file is unchanged. Name only the files you mean, and call again.",
        "paths: `!`로 시작하는 경로가 있습니다. 파일을 빼는 패턴은 쓸 수 없습니다. 파일은 바뀌지 않았습니다. 해당하는 파일만 적어 다시 호출하세요."),
    "too_many_paths": ("paths: {count} given, at most {most} allowed. The file is unchanged. Name a directory or a glob instead of single files, and call again.",
        "paths: {count}개로, {most}개까지만 둘 수 있습니다. 파일은 바뀌지 않았습니다. 파일 하나하나 대신 디렉터리나 glob을 주고 다시 호출하세요."),
    "trigger_too_short": ("when: one of the pieces is blank or has fewer than {least} characters (a Korean letter counts as two), and would match everywhere. The file is unchanged. Give more of what is typed just before the mistake, or leave that piece out, and call again.",
        "when: 비어 있거나 {least}자보다 짧은 조각이 있습니다(한글은 한 글자를 두 자로 셉니다). 그런 조각은 어디에나 있습니다. 파일은 바뀌지 않았습니다. 실수 직전에 쓰게 되는 글을 더 길게 적거나 그 조각을 빼고 다시 호출하세요."),
    "trigger_lines": ("when: one of the pieces contains a line end or another control character, but each piece is matched within one line. The file is unchanged. Give one line of it, and call again.",
        "when: 줄바꿈이나 다른 제어 문자가 든 조각이 있습니다. 조각은 한 줄 안에서 찾습니다. 파일은 바뀌지 않았습니다. 그중 한 줄만 적어 다시 호출하세요."),
    "too_many_triggers": ("when: {count} given, at most {most} allowed. The file is unchanged. Keep those that are typed just before the mistake and hardly anywhere else, and call again.",
        "when: 조각이 {count}개로, {most}개까지만 둘 수 있습니다. 파일은 바뀌지 않았습니다. 실수 직전에 쓰이고 다른 곳에는 거의 없는 것만 남겨 다시 호출하세요."),
    "trigger_too_common": ("when: piece {number} occurs in {files:,} of {tracked:,} tracked files, and a lesson that is shown at more than {percent} % of them gets ignored. The file is unchanged. Give more of the line, or leave that piece out, and call again.",
        "when: {number}번째 조각은 git이 추적하는 파일 {tracked:,}개 가운데 {files:,}개에 있습니다. 파일의 {percent}%가 넘는 곳에서 나오는 lesson은 눈에 띄지 않게 됩니다. 파일은 바뀌지 않았습니다. 그 줄을 더 길게 적거나 그 조각을 빼고 다시 호출하세요."),
    "unknown_type": ('type: only "log" and "principle" exist. The file is unchanged. Use one of the two.',
        'type: "log"와 "principle"만 있습니다. 파일은 바뀌지 않았습니다. 둘 중 하나를 쓰세요.'),
    "record_form": ("{field}: its value has another type than the file format requires. The file is unchanged. Give texts as text and meta as an object, as docs/format.md shows, and call again.",
        "{field}: 파일 형식과 다른 값이 들어 있습니다. 파일은 바뀌지 않았습니다. docs/format.md의 형식대로 글은 문자열로, meta는 객체로 주고 다시 호출하세요."),
    "threshold": ("compact_threshold: it must be 1 or more. The file is unchanged. Leave it out to use the project's threshold (SENTINEL_MEMORY_THRESHOLD, 50 by default).",
        "compact_threshold: 1 이상이어야 합니다. 파일은 바뀌지 않았습니다. 생략하면 프로젝트의 기준(SENTINEL_MEMORY_THRESHOLD, 기본값 50)이 쓰입니다."),
    "source_ids_of_log": ('source_ids: only a principle replaces originals. The file is unchanged. Use type="principle", or leave source_ids out.',
        'source_ids: 원본을 대체하는 것은 principle뿐입니다. 파일은 바뀌지 않았습니다. type="principle"로 하거나 source_ids를 빼세요.'),
    "secret_refused": ("{fields}: this looks like a secret ({kinds}). The file is unchanged. Remove it, say where it is kept instead, and call again. If it is real, have it rotated: it was in this conversation.",
        "{fields}: 비밀 값으로 보이는 것이 있습니다({kinds}). 파일은 바뀌지 않았습니다. 값을 빼고, 대신 어디에 보관하는지를 적어 다시 호출하세요. 실제 비밀 값이라면 이 대화에 노출되었으니 새 값으로 바꿔야 합니다."),
    "id_collision": ("id {id}: it already belongs to a record with another topic or text (joined, the two read the same). The file is unchanged. Reword the text slightly and save it again.",
        "id {id}: topic이나 본문이 다른 기록이 이미 이 id를 쓰고 있습니다(이어 붙이면 같은 글이 되는 경우). 파일은 바뀌지 않았습니다. 문장을 조금 바꿔 다시 저장하세요."),
    "other_text": ("Record {id} cannot be restored: the line with this id has another text, as after an edit by hand. The file is unchanged. Run {cli} doctor --fix to give that line its matching id, then repeat the command.",
        "{id} 기록을 되살릴 수 없습니다. 이 id의 줄에 다른 글이 있습니다(직접 편집한 경우). 파일은 바뀌지 않았습니다. {cli} doctor --fix로 그 줄에 맞는 id를 준 뒤 다시 실행하세요."),
    "record_changed": ("Record {id} has been changed or removed since it was read. The file is unchanged. Check it again, then repeat the command.",
        "{id} 기록이 읽은 뒤에 바뀌었거나 없어졌습니다. 파일은 바뀌지 않았습니다. 다시 확인한 뒤 다시 실행하세요."),
    "same_gap": ("Record {token} already covers the same gap. The file is unchanged. Change that one, or say what was missing in other words.",
        "빠진 정보가 같은 기록이 이미 있습니다({token}). 파일은 바뀌지 않았습니다. 그 기록을 고치거나, 빠져 있던 것을 다른 말로 쓰세요."),
    "joined_too_long": ("{one} and {other} cover the same gap and would become one record with {used_bytes:,} bytes of {field}; the limit is {limit_bytes:,}. The file is unchanged. Shorten one of them with {cli} edit, or delete it with {cli} forget, then repeat the command.",
        "{one}, {other} 기록은 빠진 정보가 같아 하나가 되는데, 합치면 {field} 필드가 {used_bytes:,}바이트로 상한 {limit_bytes:,}바이트를 넘습니다. 파일은 바뀌지 않았습니다. 하나를 {cli} edit로 줄이거나 {cli} forget으로 지운 뒤 다시 실행하세요."),
    # failures
    "log_read": ("The memory log {path} cannot be read ({reason}). Nothing was changed. This does not mean that it is empty: make the path a readable file, then try again.",
        "기억 로그 {path}을(를) 읽을 수 없습니다({reason}). 아무것도 바뀌지 않았습니다. 기록이 없다는 뜻이 아닙니다. 읽을 수 있는 파일인지 확인한 뒤 다시 시도하세요."),
    "log_link": ("{link} is a link to {target}, which is not a memory log. Nothing was read from that file, and nothing was written. Remove the link ({rm}), and the next save starts a log in the project. To keep the memory elsewhere, link to a file whose name ends with .jsonl and which is empty or contains records.",
        "{link}은(는) {target}(으)로 가는 링크인데, 그것은 기억 로그가 아닙니다. 그 파일은 읽지 않았고, 아무것도 쓰지 않았습니다. 링크를 지우면({rm}) 다음 저장 때 프로젝트 안에 로그가 새로 생깁니다. 기억을 다른 곳에 두려면 이름이 .jsonl로 끝나고 비어 있거나 기록이 든 파일로 링크하세요."),
    "log_link_folder": ("{link} is a link to the directory {target}, which contains no memory. Nothing was read there, and nothing was written. Remove the link ({rm}), and the next save starts a log in the project. To keep the memory elsewhere, link to a directory that is empty, is named .context or contains memory_log.jsonl.",
        "{link}은(는) {target} 디렉터리로 가는 링크인데, 거기에는 기억이 없습니다. 그곳에서는 아무것도 읽거나 쓰지 않았습니다. 링크를 지우면({rm}) 다음 저장 때 프로젝트 안에 로그가 새로 생깁니다. 기억을 다른 곳에 두려면 비어 있거나 이름이 .context이거나 memory_log.jsonl이 든 디렉터리로 링크하세요."),
    "log_link_gone_file": ("{link} is a broken symbolic link: {target} does not exist. Nothing was read or written. This does not mean that the memory is empty: restore that file, or remove the link ({rm}).",
        "{link}은(는) 끊어진 심볼릭 링크입니다. {target}이(가) 없습니다. 아무것도 읽거나 쓰지 않았습니다. 기록이 없다는 뜻이 아닙니다. 그 파일을 되돌려 놓거나 링크를 지우세요({rm})."),
    "log_link_gone_folder": ("{link} is a broken symbolic link: the directory {target} does not exist. Nothing was read or written. This does not mean that the memory is empty: restore that directory or create it ({mkdir}), or remove the link ({rm}).",
        "{link}은(는) 끊어진 심볼릭 링크입니다. {target} 디렉터리가 없습니다. 아무것도 읽거나 쓰지 않았습니다. 기록이 없다는 뜻이 아닙니다. 그 디렉터리를 되돌려 놓거나 만들거나({mkdir}) 링크를 지우세요({rm})."),
    "log_deleted": ("git has the memory log, but the file is missing here: {log}. Nothing was read or changed, since a save would begin a new log in its place. Run {command} in the directory {path}, then try again. If it was deleted on purpose, run git rm --cached {log} first.",
        "git에는 기억 로그가 있지만 여기에는 파일이 없습니다({log}). 이대로 저장하면 새 로그가 그 자리에 생기므로 아무것도 읽거나 바꾸지 않았습니다. {path} 디렉터리에서 {command}을(를) 실행한 뒤 다시 시도하세요. 일부러 지웠다면 먼저 git rm --cached {log}을(를) 실행하세요."),
    "log_sparse": ("git has the memory log, but this sparse checkout leaves the file out: {log}. Nothing was read or changed, since a save would begin a new log in its place. Run {command} in the directory {path}, then try again.",
        "git에는 기억 로그가 있지만 희소 체크아웃(sparse checkout)에서 빠져 있습니다({log}). 이대로 저장하면 새 로그가 그 자리에 생기므로 아무것도 읽거나 바꾸지 않았습니다. {path} 디렉터리에서 {command}을(를) 실행한 뒤 다시 시도하세요."),
    "log_passed_over": ("git has the memory log, but was told to skip the file (skip-worktree), and it is missing here: {log}. Nothing was read or changed, since a save would begin a new log in its place. Run {command} in the directory {path}, then try again.",
        "git에는 기억 로그가 있지만 그 파일을 건너뛰도록(skip-worktree) 설정되어 있고, 여기에는 파일이 없습니다({log}). 이대로 저장하면 새 로그가 그 자리에 생기므로 아무것도 읽거나 바꾸지 않았습니다. {path} 디렉터리에서 {command}을(를) 실행한 뒤 다시 시도하세요."),
    "log_not_checked_out": ("git has the memory log, but no file has been checked out here yet: {log}. Nothing was read or changed, since a save would begin a new log in its place. Run {command} in the directory {path}, then try again.",
        "git에는 기억 로그가 있지만 여기에는 아직 아무 파일도 체크아웃되지 않았습니다({log}). 이대로 저장하면 새 로그가 그 자리에 생기므로 아무것도 읽거나 바꾸지 않았습니다. {path} 디렉터리에서 {command}을(를) 실행한 뒤 다시 시도하세요."),
    "lock_link": ("{link} is a symbolic link, but a lock file must not be one. Nothing was saved, and what it points to was not touched. Remove the link ({rm}), then try again.",
        "{link}은(는) 심볼릭 링크인데, 잠금 파일은 링크일 수 없습니다. 저장된 것은 없고, 링크가 가리키는 것도 건드리지 않았습니다. 링크를 지운 뒤({rm}) 다시 시도하세요."),
    "log_write": ("The memory log {path} could not be written ({reason}). The old file is intact and nothing was saved. Make room, or make the file and its directory writable, then try again.",
        "기억 로그 {path}에 쓸 수 없습니다({reason}). 이전 파일은 그대로이며 저장된 것은 없습니다. 공간을 확보하거나 파일과 디렉터리에 쓸 수 있게 한 뒤 다시 시도하세요."),
    "log_encoding": ("The memory log {path} begins like UTF-16, and the memory is UTF-8. Nothing was changed. {cli} doctor says how to save the file as UTF-8; then repeat this.",
        "기억 로그 {path}이(가) UTF-16처럼 시작합니다. 기억은 UTF-8로 저장합니다. 바뀐 것은 없습니다. {cli} doctor가 UTF-8로 저장하는 방법을 알려 줍니다. 그 뒤 다시 실행하세요."),
    "log_unsettled": ("Another program replaced the memory log {path} at every attempt to save. That program's version is in place; this call saved nothing. Wait until it is done (a merge, an editor), then try again.",
        "기억 로그 {path}에 저장하려 할 때마다 다른 프로그램이 파일을 바꾸었습니다. 그 프로그램이 쓴 내용이 남아 있고, 이번 호출에서 저장된 것은 없습니다. 그 작업(병합, 편집기)이 끝난 뒤 다시 시도하세요."),
    "log_busy": ("Another process has held {path} for more than {waited_s} s. Nothing was saved; the file is unchanged. Try again; if this persists, look for a hung process that uses this project.",
        "다른 프로세스가 잠금 파일({path})을 {waited_s}초 넘게 잡고 있습니다. 저장된 것은 없고 파일은 그대로입니다. 다시 시도하고, 계속되면 이 프로젝트를 쓰는 멈춘 프로세스가 있는지 확인하세요."),
    "wait_ended": ("Another process holds {path}, and this call was cancelled or its server is ending, so it waited no longer. Nothing was saved; the file is unchanged. Make the same call again.",
        "다른 프로세스가 잠금 파일({path})을 잡고 있는데, 호출이 취소되었거나 서버가 끝나는 중이어서 더 기다리지 않았습니다. 저장된 것은 없고 파일은 그대로입니다. 같은 호출을 다시 하세요."),
    "lines_skipped": ("{path}: unreadable lines skipped: {count}. Run {cli} doctor to see them.",
        "{path}: 읽을 수 없어 건너뛴 줄이 {count}개 있습니다. {cli} doctor로 확인하세요."),
    "open_conflicts": ("{path}: git conflicts not resolved: {count}. Run {cli} doctor to see them.",
        "{path}: 해결하지 않은 git 충돌이 {count}건 있습니다. {cli} doctor로 확인하세요."),
    "output": ("The output could not be written to its end ({reason}). What the command had saved or changed by then is kept. Make room for the output or send it elsewhere, then repeat the command.",
        "출력을 끝까지 쓸 수 없습니다({reason}). 그때까지 명령이 저장하거나 바꾼 것은 그대로 남아 있습니다. 출력할 곳에 공간을 확보하거나 다른 곳으로 보낸 뒤 다시 실행하세요."),
    "project_missing": ("The project directory {path} (from {source}) does not exist. Nothing was read or written. Name an existing one with --project DIR or SENTINEL_MEMORY_PROJECT.",
        "프로젝트 디렉터리({path}, 출처: {source})가 없습니다. 아무것도 읽거나 쓰지 않았습니다. --project DIR 또는 SENTINEL_MEMORY_PROJECT로 있는 디렉터리를 지정하세요."),
    "project_refused": ("{path} (from {source}) is a {kind} directory, not a project. Nothing was written. Name a project with --project DIR or SENTINEL_MEMORY_PROJECT.",
        "이 디렉터리({path}, 출처: {source})는 프로젝트가 아니라 홈·루트·시스템 디렉터리({kind})입니다. 아무것도 쓰지 않았습니다. --project DIR 또는 SENTINEL_MEMORY_PROJECT로 프로젝트를 지정하세요."),
    "bad_rooms": ("{source}: it must list rooms of the memory, each once ({known}), separated by commas. The server did not start, and no file was read or changed. Correct the value where the client starts the server, then start it again.",
        "{source}: 기억의 방을 쉼표로 나누어 하나씩만 적어야 합니다({known}). 서버는 시작하지 않았고, 읽거나 바꾼 파일은 없습니다. 클라이언트가 서버를 시작하는 곳에서 값을 고친 뒤 다시 시작하세요."),
    "bad_setting": ("{variable}: it must be a whole number of tokens, {least} or more; unset, it is {default}. The server did not start, and no file was read or changed. Correct the value where the client starts the server (its `env`), then start it again.",
        "{variable}: {least} 이상의 정수(토큰 수)여야 합니다. 설정하지 않으면 {default}입니다. 서버는 시작하지 않았고, 읽거나 바꾼 파일은 없습니다. 클라이언트가 서버를 시작하는 곳(`env`)에서 값을 고친 뒤 다시 시작하세요."),
}
# fmt: on


def sentence(table: Table, lang: Language, key: str, /, **facts: str | int) -> str:
    """Return the sentence `key` of a table, facts filled in; `word` of a room binds its table.

    `{cli}` in a sentence is what begins a command of this program, for whoever started it; a
    text that others will read gives a `cli` of its own. In Korean, two forms of a particle behind
    a fact, `{path}을(를)`, become the one that fits.
    """
    english, korean = table[key]
    filled_in: Facts = {"cli": program.CLI, **facts}
    if lang == "en":
        return english.format(**filled_in)
    from core.particles import filled  # only Korean sentences pay for it

    return filled(korean, filled_in)
