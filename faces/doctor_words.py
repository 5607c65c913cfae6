"""Every sentence of the doctor, in English and Korean, by name.

The file is long because it is one table: a translator needs no other.
"""

from core.messages import Language, sentence

WORDS: dict[str, tuple[str, str]] = {
    # the head
    "project": ("Project  {path} (from {source})", "프로젝트  {path} (출처: {source})"),
    "log": (
        "Log      {path} (records: {count}, lines: {lines}, bytes: {size:,})",
        "로그      {path} (기록 {count}건, {lines}줄, {size:,}바이트)",
    ),
    "no_findings": ("Nothing to report.", "보고할 것이 없습니다."),
    # severities
    "error": ("error", "오류"),
    "warning": ("warning", "경고"),
    "note": ("note", "참고"),
    # where
    "line": ("line {numbers}", "{numbers}번째 줄"),
    "lines": ("lines {numbers}", "{numbers}번째 줄"),
    "more_lines": ("{numbers} and {more} more", "{numbers} 외 {more}줄"),
    # what stands in the file
    "utf_16": (
        "The file is UTF-16, as some editors save it; no record can be read. Save it as UTF-8, or"
        " let --fix do it.",
        "파일이 UTF-16으로 저장되어 기록을 하나도 읽을 수 없습니다. UTF-8로 다시 저장하거나 --fix를 쓰십시오.",
    ),
    "utf_16_torn": (
        "The file begins like UTF-16, but is damaged; no record can be read, and --fix leaves it"
        " alone. Take the last good version from git, or save it as UTF-8 in an editor.",
        "파일이 UTF-16으로 시작하지만 손상되어 기록을 읽을 수 없으며, --fix는 건드리지 않습니다. git에서 마지막 정상 버전을"
        " 되찾거나 편집기에서 UTF-8로 저장하십시오.",
    ),
    "same_gap": (
        "two records of one gap under different ids, as after an edit by hand. --fix keeps the newer"
        " one and moves the other beside the log.",
        "같은 격차의 기록 둘이 서로 다른 id를 쓰고 있습니다(손으로 고친 경우). --fix는 더 새로운 것을 남기고 다른 것은 로그"
        " 옆으로 옮깁니다.",
    ),
    "shared_id": (
        "two different records have one id, because their texts read the same when joined. Both are"
        " shown. Reword one of them slightly by hand; --fix then gives it its own id.",
        "서로 다른 두 기록의 id가 같습니다(이어 붙인 글이 같음). 둘 다 보입니다. 한쪽 문장을 손으로 조금 바꾸면 --fix가"
        " 맞는 id를 줍니다.",
    ),
    "unreadable": (
        "no record: {reason}. The line is skipped. Repair it by hand; --fix moves it to a file"
        " beside the log.",
        "기록이 아닙니다: {reason}. 이 줄은 건너뜁니다. 손으로 고치십시오. --fix는 로그 옆 파일로 옮깁니다.",
    ),
    "mendable": (
        "skipped as no record ({reason}), but it holds nothing but whole records: --fix writes them"
        " properly.",
        "기록으로 읽히지 않지만({reason}) 온전한 기록이 들어 있습니다. --fix가 바르게 고쳐 씁니다.",
    ),
    "not_utf8": ("not UTF-8", "UTF-8이 아님"),
    "not_json": ("not JSON", "JSON이 아님"),
    "too_deep": ("JSON nested too deeply", "JSON이 너무 깊게 중첩됨"),
    "not_object": ("JSON, but no object", "JSON이지만 객체가 아님"),
    "missing": ("key {key} is missing", "{key} 키가 없음"),
    "wrong_type": ("key {key} has a value of the wrong type", "{key} 키의 값 형식이 다름"),
    "conflict": (
        "conflict markers of git. The records of both sides are read. Delete exactly these lines,"
        " or let --fix do it; then git add the file.",
        "git의 충돌 표시입니다. 양쪽 기록은 모두 읽습니다. 이 줄들만 지우거나 --fix를 쓴 뒤 git add를 하십시오.",
    ),
    "older_version": (
        "an older version of a record in another line, left by a merge. It is not shown, and the"
        " next save drops it; --fix moves it beside the log.",
        "다른 줄에 있는 기록의 이전 버전으로, 병합이 남긴 것입니다. 보이지 않으며 다음 저장 때 지워집니다. --fix는 로그 옆으로"
        " 옮깁니다.",
    ),
    "replaced_original": (
        "an original that a principle has replaced, brought back by a merge. It is not shown, and"
        " the next save drops it; --fix moves it beside the log.",
        "principle이 이미 대체한 원본으로, 병합이 되살린 것입니다. 보이지 않으며 다음 저장 때 지워집니다. --fix는 로그"
        " 옆으로 옮깁니다.",
    ),
    "id_misfit": (
        "the id does not fit the text, as after an edit by hand: the gap would be logged a second"
        " time. --fix gives the id that fits.",
        "id가 본문과 맞지 않습니다(손으로 고친 경우). 같은 격차가 두 번 기록될 수 있습니다. --fix가 맞는 id를 줍니다.",
    ),
    "odd_topic": (
        "the topic has blanks around it or is not in Unicode NFC; --fix writes it as it is read.",
        "topic 앞뒤에 공백이 있거나 유니코드 NFC가 아닙니다. --fix가 읽히는 그대로 고쳐 씁니다.",
    ),
    "half_character": (
        "a text holds half of a character, shown as U+FFFD. Correct it by hand.",
        "깨진 글자(짝이 없는 서로게이트)가 있어 U+FFFD로 보입니다. 손으로 고치십시오.",
    ),
    "odd_date": (
        "a date is not ISO 8601, so that this version loses against every other one after a"
        " merge. Correct it by hand.",
        "날짜가 ISO 8601이 아니어서 병합하면 다른 버전이 모두 우선합니다. 손으로 고치십시오.",
    ),
    "date_ahead": (
        "the date of the last change lies more than a day ahead, so that this version wins after"
        " every merge. Check the clock it came from, and correct the date by hand.",
        "마지막 변경 시각이 현재보다 하루 넘게 앞서 있어 병합하면 항상 이 버전이 우선합니다. 기록한 컴퓨터의 시계를 확인하고 날짜를 손으로 고치십시오.",
    ),
    "odd_source": (
        "source_ids holds what is no token (id@fp) and hides nothing. Correct it by hand.",
        "source_ids에 토큰(id@fp)이 아닌 값이 있어 아무것도 숨기지 못합니다. 손으로 고치십시오.",
    ),
    "key_twice": (
        "the key {key} stands there twice; the last value is read. --fix keeps that one and moves"
        " the whole line beside the log.",
        "{key} 키가 두 번 있어 마지막 값만 읽힙니다. --fix는 그 값을 남기고 원래 줄을 로그 옆으로 옮깁니다.",
    ),
    "too_long": (
        "{field} has {used_bytes:,} bytes, the limit is {limit_bytes:,}. It is shown whole, but"
        " cannot be saved again. Shorten it by hand.",
        "{field}: {used_bytes:,}바이트로 상한 {limit_bytes:,}바이트를 넘습니다. 보이기는 하지만 다시 저장할 수"
        " 없습니다. 손으로 줄이십시오.",
    ),
    "blank_text": (
        "{field} is blank, which no save allows. Fill it in, or delete the line.",
        "{field}: 비어 있습니다(저장할 때는 허용되지 않음). 내용을 넣거나 줄을 지우십시오.",
    ),
    "bom": (
        "the file begins with a byte order mark; --fix removes it.",
        "파일이 BOM으로 시작합니다. --fix가 지웁니다.",
    ),
    "line_ends": (
        "Windows line ends; --fix makes them plain.",
        "Windows 줄 끝(CRLF)입니다. --fix가 LF로 바꿉니다.",
    ),
    "blank": ("blank; --fix removes it.", "빈 줄입니다. --fix가 지웁니다."),
    "unended": (
        "the last line has no line end; --fix adds it.",
        "마지막 줄에 줄 끝이 없습니다. --fix가 붙입니다.",
    ),
    "overdue": (
        "{count} records, the threshold is {threshold}: ask the agent to compact the memory.",
        "기록 {count}건으로 기준 {threshold}건을 넘었습니다. 에이전트에게 기억 통합(compact)을 시키십시오.",
    ),
    # what is around it
    "refused": (
        "{path} (from {source}) is a {kind} directory, where nothing is ever written. Name the"
        " project with --project DIR or SENTINEL_MEMORY_PROJECT.",
        "{path} (출처: {source})는 홈·루트·시스템 디렉터리({kind})라 아무것도 쓰지 않습니다. --project DIR 또는"
        " SENTINEL_MEMORY_PROJECT로 프로젝트를 지정하십시오.",
    ),
    "other_memory": (
        "Another memory lies above this one: {path}. A server that is started there uses that one."
        " Unless that is meant, keep one of the two.",
        "상위 디렉터리에 다른 기억이 있습니다: {path}. 거기서 시작한 서버는 그것을 씁니다. 일부러 나눈 것이 아니면 하나만 남기십시오.",
    ),
    "no_log": (
        "There is no memory log; the first save makes it.",
        "기억 로그가 없습니다. 처음 저장할 때 생깁니다.",
    ),
    "not_readable": (
        "The log cannot be read ({reason}), so searches and saves fail. This does not mean that"
        " it is empty: make the path a readable file.",
        "로그를 읽을 수 없어({reason}) 검색과 저장이 모두 실패합니다. 기록이 없다는 뜻이 아닙니다. 읽을 수 있는 파일인지 확인하십시오.",
    ),
    "link": (
        "The log is a link to {path}; the project's git keeps only the link.",
        "로그가 {path}로 가는 링크입니다. 프로젝트의 git에는 링크만 남습니다.",
    ),
    "read_only": (
        "{path} cannot be written: searches work, saves fail. Make it writable where agents"
        " should save.",
        "{path}에 쓸 수 없습니다. 검색은 되지만 저장은 실패합니다. 저장해야 하는 곳이라면 쓰기 권한을 주십시오.",
    ),
    "hard_link": (
        "The log has a second name (a hard link), and a save gives only this one the new"
        " content. Keep one name, or make the other a symbolic link.",
        "로그에 다른 이름(하드 링크)이 있고, 저장하면 이 이름만 새 내용을 갖습니다. 이름을 하나만 남기거나 다른 쪽을 심볼릭 링크로 바꾸십시오.",
    ),
    "network": (
        "The log lies on a network file system ({filesystem}), where locks may not hold between"
        " machines: nothing is promised. Save from one machine at a time.",
        "로그가 네트워크 파일 시스템({filesystem})에 있어 컴퓨터 사이의 잠금이 듣지 않을 수 있으며, 안전을 보장하지 않습니다. 한 번에 한 컴퓨터에서만"
        " 저장하십시오.",
    ),
    "strays": (
        "Temporary files of killed writers: {count}, such as {path}. The next save removes them;"
        " --fix does, too.",
        "강제 종료된 쓰기 작업이 남긴 임시 파일이 {count}개 있습니다(예: {path}). 다음 저장 또는 --fix가 지웁니다.",
    ),
    "set_aside": (
        "{path} keeps lines that --fix took out of the log. Look through it, then delete it; do"
        " not commit it.",
        "{path}에 --fix가 로그에서 뺀 줄이 있습니다. 살펴본 뒤 지우고, 커밋하지 마십시오.",
    ),
    # git
    "git_missing": (
        "git was not found in PATH, so what it makes of the log was not checked.",
        "PATH에서 git을 찾지 못해 git에 관한 것은 확인하지 못했습니다.",
    ),
    "git_refuses": (
        "git does not answer here ({reason}), so what it makes of the log was not checked. Make"
        " git status work in the project, then run this again.",
        "여기서 git이 답하지 않아({reason}) git에 관한 것은 확인하지 못했습니다. 프로젝트에서 git status가 되게 한 뒤 다시 실행하십시오.",
    ),
    "no_git": (
        "No git repository: the memory is not shared and has no history.",
        "git 저장소가 아닙니다. 기억이 공유되지 않고 이력도 없습니다.",
    ),
    "ignored": (
        "git ignores the log: the memory stays on this disk, without history.",
        "git이 로그를 무시합니다. 기억은 이 디스크에만 있고 이력이 없습니다.",
    ),
    "untracked": (
        "git does not track the log yet, so nobody else has it: git add .context, then commit.",
        "git이 아직 로그를 추적하지 않아 다른 사람에게는 없습니다. git add .context 후 커밋하십시오.",
    ),
    "sparse": (
        "A sparse checkout leaves the log out: saves would begin an empty one. git sparse-checkout"
        " add .context",
        "희소 체크아웃(sparse checkout)에서 로그가 빠져 있어, 저장하면 빈 로그로 시작합니다. git sparse-checkout add"
        " .context",
    ),
    "companion_untracked": (
        "git tracks the log, but not .context/{path}: others would merge without it. git add it.",
        "git이 로그는 추적하지만 .context/{path}는 추적하지 않아, 다른 사람의 병합이 달라집니다. git add 하십시오.",
    ),
    "uncommitted": (
        "The log was added to git, but never committed: commit .context.",
        "로그를 git에 추가만 하고 커밋한 적이 없습니다. .context를 커밋하십시오.",
    ),
    "deleted": (
        "git has the log, but the file is missing here. git restore .context/memory_log.jsonl"
        " brings it back; a save would begin a new one.",
        "git에는 로그가 있지만 여기에는 파일이 없습니다. git restore .context/memory_log.jsonl로 되살리십시오. 그대로 저장하면 새"
        " 로그가 시작됩니다.",
    ),
    "unmerged": (
        "A merge that git began is not finished. Once no marker is left: git add"
        " .context/memory_log.jsonl, then commit.",
        "시작된 git 병합이 끝나지 않았습니다. 충돌 표시가 없어지면 git add .context/memory_log.jsonl 후 커밋하십시오.",
    ),
    "no_union": (
        "The attribute merge=union does not apply to the log: two branches that both add records"
        " will conflict. --fix writes it to .context/.gitattributes; then commit that file.",
        "로그에 merge=union 속성이 적용되지 않아, 두 브랜치가 각각 기록을 추가하면 충돌합니다. --fix가 .context/.gitattributes에"
        " 적습니다. 그다음 그 파일을 커밋하십시오.",
    ),
    "lock_not_ignored": (
        "git does not ignore the lock file, so it could be committed. --fix writes it to"
        " .context/.gitignore; then commit that file.",
        "git이 잠금 파일을 무시하지 않아 커밋될 수 있습니다. --fix가 .context/.gitignore에 적습니다. 그다음 그 파일을 커밋하십시오.",
    ),
    "overruled": (
        "Another rule overrules this line of {path}, so it has no effect: {rule}. Remove that"
        " rule, or move the line to the end.",
        "{path}의 다음 줄이 다른 규칙에 밀려 효과가 없습니다: {rule}. 그 규칙을 지우거나 이 줄을 맨 끝으로 옮기십시오.",
    ),
    "lock_tracked": (
        "git tracks the lock file, which means nothing on another machine: git rm --cached"
        " .context/{path}, then commit.",
        "git이 잠금 파일을 추적합니다. 다른 컴퓨터에서는 쓸모없는 파일입니다. git rm --cached .context/{path} 후 커밋하십시오.",
    ),
    # clients
    "clients": ("Clients:", "클라이언트:"),
    "no_clients": (
        "no configuration of a known client starts this server",
        "알려진 클라이언트 설정 중 이 서버를 시작하는 것이 없음",
    ),
    "client_here": (
        "{client} ({path}): this project, from {source}",
        "{client} ({path}): 이 프로젝트, 출처: {source}",
    ),
    "client_elsewhere": (
        "{client} ({path}): another project, {project}, from {source}",
        "{client} ({path}): 다른 프로젝트, {project}, 출처: {source}",
    ),
    "client_unreadable": (
        "{client} ({path}): the configuration cannot be read. Correct it by hand.",
        "{client} ({path}): 설정 파일을 읽을 수 없습니다. 손으로 고치십시오.",
    ),
    "client_command_missing": (
        "{client} ({path}): the command of entry {entry} does not exist on this machine, so the"
        " server does not start. Use an absolute path.",
        "{client} ({path}): {entry} 항목의 명령이 이 컴퓨터에 없어 서버가 시작되지 않습니다. 절대 경로를 쓰십시오.",
    ),
    "client_script_missing": (
        "{client} ({path}): server.py of entry {entry} does not exist on this machine, so the"
        " server does not start. Correct its path.",
        "{client} ({path}): {entry} 항목의 server.py가 이 컴퓨터에 없어 서버가 시작되지 않습니다. 경로를 고치십시오.",
    ),
    "client_project_missing": (
        "{client} ({path}): the project that entry {entry} names does not exist on this machine:"
        " {project}. Correct it.",
        "{client} ({path}): {entry} 항목이 가리키는 프로젝트가 이 컴퓨터에 없습니다: {project}. 고치십시오.",
    ),
    "client_bad_setting": (
        "{client} ({path}): the server does not start with the budget that entry {entry} or the"
        " environment sets. Make it a whole number of tokens, or take it out.",
        "{client} ({path}): {entry} 항목이나 환경 변수의 한도 값으로는 서버가 시작되지 않습니다. 정수(토큰 수)로 고치거나 빼십시오.",
    ),
    "client_unexpanded": (
        "{client} ({path}): entry {entry} names the project by a variable that this client does not"
        " fill in. Write the path.",
        "{client} ({path}): {entry} 항목의 프로젝트 변수를 이 클라이언트가 채우지 않습니다. 경로를 쓰십시오.",
    ),
    "client_no_project": (
        "{client} ({path}): entry {entry} names no project. Add --project DIR to its args.",
        "{client} ({path}): {entry} 항목에 프로젝트가 없습니다. args에 --project DIR을 넣으십시오.",
    ),
    # the end
    "summary": (
        "errors: {errors}, warnings: {warnings}, notes: {notes}",
        "오류 {errors}건, 경고 {warnings}건, 참고 {notes}건",
    ),
    "would_fix": (
        "cli.py doctor --fix repairs {count} of them. Nothing has been changed.",
        "cli.py doctor --fix로 {count}건을 고칠 수 있습니다. 아직 아무것도 바꾸지 않았습니다.",
    ),
    "fixed": ("Repaired ({count}):", "고친 것({count}건):"),
    "aside": (
        "Lines that left the log are in {path}. Look through them, then delete that file.",
        "로그에서 뺀 줄은 {path}에 있습니다. 살펴본 뒤 그 파일을 지우십시오.",
    ),
    "remaining": ("Left:", "남은 것:"),
    "nothing_to_fix": ("There was nothing to repair.", "고칠 것이 없었습니다."),
}


def word(lang: Language, key: str, /, **facts: str | int) -> str:
    """The sentence `key` in one language with its facts filled in."""
    return sentence(WORDS, lang, key, facts)
