"""Every sentence of setup, in English and Korean, by name."""

from core.messages import Language, sentence

WORDS: dict[str, tuple[str, str]] = {
    # the plan
    "project": ("Project: {path}", "프로젝트: {path}"),
    "found": ("Found here: {clients}", "찾은 클라이언트: {clients}"),
    "none_found": (
        "No known client was found on this machine or in this project. Name one: {clients}.",
        "이 컴퓨터와 프로젝트에서 아는 클라이언트를 찾지 못했습니다. 이름을 적어 주십시오: {clients}.",
    ),
    "gone": ("{path} (deleted)", "{path}(삭제)"),
    "entry": ("server entry", "서버 항목"),
    "hooks": ("hooks", "훅"),
    "rules": ("rules", "규칙"),
    "nothing_to_do": (
        "Everything is set up already. Nothing was written.",
        "이미 모두 설정되어 있습니다. 아무것도 쓰지 않았습니다.",
    ),
    "nothing_to_remove": (
        "There is nothing of ours to take out. Nothing was written.",
        "꺼낼 것이 없습니다. 아무것도 쓰지 않았습니다.",
    ),
    "only_problems": (
        "Nothing else is to be done. Nothing was written.",
        "그 밖에 할 일이 없습니다. 아무것도 쓰지 않았습니다.",
    ),
    "dry_run": ("Nothing was written (--dry-run).", "아무것도 쓰지 않았습니다(--dry-run)."),
    "ask": ("Write these files ({count})? [y/N] ", "이 파일들을 쓸까요({count}개)? [y/N] "),
    "not_asked": (
        "Nothing was written: there is no terminal to ask on. Add --yes to write without asking.",
        "아무것도 쓰지 않았습니다. 물어볼 터미널이 없습니다. 묻지 않고 쓰려면 --yes를 붙이십시오.",
    ),
    "declined": ("Nothing was written.", "아무것도 쓰지 않았습니다."),
    # notes
    "above": (
        "The directory {here} is inside this project. The files go to {root}, and a client that is"
        " opened on {here} does not read them: open it on {root}. For a memory of its own, make a"
        " directory .context in {here} and give that with --project.",
        "디렉터리 {here}은(는) 이 프로젝트 안에 있습니다. 파일은 {root}에 쓰며, {here}에서 연 클라이언트는 그 파일을 읽지"
        " 않으므로 {root}에서 여십시오. {here}에 메모리를 따로 두려면 그 안에 .context 디렉터리를 만들고 --project로"
        " 지정하십시오.",
    ),
    "served_before": (
        "{client} serves one project: until now that was {project}, from now on it is this one.",
        "{client}에는 프로젝트를 하나만 연결할 수 있습니다. 지금까지는 {project}였고, 이제부터는 이 프로젝트입니다.",
    ),
    "entry_stays": (
        "{client} serves another project, {project}: its entry stays.",
        "{client}에는 다른 프로젝트({project})가 연결되어 있어 그 항목은 그대로 둡니다.",
    ),
    "variable": (
        "{client} takes {sign} for the beginning of a variable, and it stands in {path}: the server may"
        " not start there. Install to a path without it, then repeat the command.",
        "{client}에서는 {sign}가 변수의 시작인데 경로 {path}에 들어 있어 서버가 시작되지 않을 수 있습니다. 이 문자가 없는 경로에"
        " 설치한 뒤 명령을 되풀이하십시오.",
    ),
    "no_prompt_hook": (
        "{client} documents no way to add to a prompt, so it gets no hook for that.",
        "{client} 문서에는 프롬프트에 내용을 더하는 방법이 없어 프롬프트 훅은 넣지 않습니다.",
    ),
    "codex_hooks_twice": (
        "Codex merges .codex/hooks.json with the hooks in .codex/config.toml and warns of it.",
        "Codex는 .codex/hooks.json을 .codex/config.toml의 훅과 합치며 경고를 냅니다.",
    ),
    "two_copies": (
        "{client} reads the rules more than once, from {files}: with these clients and files it"
        " cannot be avoided. Delete the copies that were made by hand, if there are any.",
        "{client}에서는 규칙이 두 번 이상 읽힙니다({files}). 이 클라이언트와 파일 구성에서는 피할 수 없습니다. 손으로 넣은"
        " 사본이 있으면 지우십시오.",
    ),
    "imports": (
        "{file} gets one line, the import of AGENTS.md, where the rules stand. By itself Claude"
        " Code reads AGENTS.md only from 2.1.277 on, and not beside a CLAUDE.md or CLAUDE.local.md;"
        " with the import every version does.",
        "{file}에는 AGENTS.md를 가져오는 한 줄만 넣고 규칙은 AGENTS.md에 넣습니다. Claude Code는 2.1.277부터, 그것도"
        " CLAUDE.md나 CLAUDE.local.md가 없을 때만 AGENTS.md를 스스로 읽습니다. 가져오는 줄이 있으면 모든 버전이 읽습니다.",
    ),
    "cursor_by_claude": (
        'Cursor gets the rules from {file}. It reads that file unless its setting "Include'
        ' third-party Plugins, Skills and other configs" is off.',
        'Cursor는 {file}에서 규칙을 읽습니다. 설정 "Include third-party Plugins, Skills and other'
        ' configs"를 끄면 읽지 않습니다.',
    ),
    "without_rules": (
        "{client} gets no rules: the file that would hold them is left alone. Correct it, then"
        " repeat the command.",
        "{client}에는 규칙이 들어가지 않습니다. 규칙을 넣을 파일을 그대로 두었기 때문입니다. 파일을 고친 뒤 명령을"
        " 되풀이하십시오.",
    ),
    "codex_cuts": (
        "Codex reads {kib} KiB of {file}, and the rules end behind that: it cuts them off. Shorten"
        " the file, or raise project_doc_max_bytes in Codex's config.toml.",
        "Codex는 {file}를 {kib} KiB까지만 읽는데 규칙이 그보다 뒤에서 끝나 잘립니다. 파일을 줄이거나 Codex의"
        " config.toml에서 project_doc_max_bytes를 늘리십시오.",
    ),
    "kept": (
        "{file} keeps what setup put in: {clients} still reads it there.",
        "{file}에 넣은 것은 남겨 둡니다. 아직 여기서 읽는 클라이언트: {clients}",
    ),
    # files that are left alone
    "unreadable": (
        "{path}: cannot be read ({reason}). It was left alone.",
        "{path}: 읽을 수 없어 그대로 두었습니다({reason}).",
    ),
    "not_utf8": (
        "{path}: it is not UTF-8, perhaps CP949. It was left alone. Save it as UTF-8, then repeat the"
        " command.",
        "{path}: UTF-8이 아니어서(CP949일 수 있습니다) 그대로 두었습니다. UTF-8로 저장한 뒤 명령을 되풀이하십시오.",
    ),
    "read_only": (
        "{path}: it is read-only. It was left alone. Allow its owner to write to it, then repeat the"
        " command.",
        "{path}: 읽기 전용이어서 그대로 두었습니다. 소유자에게 쓰기 권한을 준 뒤 명령을 되풀이하십시오.",
    ),
    "json_syntax": (
        "{path}: line {line} is not valid JSON. It was left alone. Correct it, then repeat the"
        " command.",
        "{path}: {line}번째 줄이 올바른 JSON이 아니어서 그대로 두었습니다. 고친 뒤 명령을 되풀이하십시오.",
    ),
    "json_twice": (
        "{path}: a key stands twice, the second time in line {line}. It was left alone. Delete one,"
        " then repeat the command.",
        "{path}: 같은 키가 {line}번째 줄에 또 있어 그대로 두었습니다. 하나를 지운 뒤 명령을 되풀이하십시오.",
    ),
    "json_depth": (
        "{path}: line {line} is nested too deeply. It was left alone.",
        "{path}: {line}번째 줄의 중첩이 너무 깊어 그대로 두었습니다.",
    ),
    "other_kind": (
        '{path}: there is no object or list where one is expected, at "{place}". It was left alone.'
        " Correct it, then repeat the command.",
        '{path}: "{place}" 자리에 있어야 할 객체나 목록이 아니어서 그대로 두었습니다. 고친 뒤 명령을 되풀이하십시오.',
    ),
    "toml_syntax": (
        "{path}: it is not valid TOML. It was left alone. Correct it, then repeat the command.",
        "{path}: 올바른 TOML이 아니어서 그대로 두었습니다. 고친 뒤 명령을 되풀이하십시오.",
    ),
    "toml_form": (
        "{path}: its form leaves no safe place for the table, and it was left alone. Put this in by"
        " hand:\n{block}",
        "{path}: 표를 안전하게 넣을 수 없는 형식이라 그대로 두었습니다. 다음을 손으로 넣으십시오:\n{block}",
    ),
    "toml_form_out": (
        "{path}: the form of entry {entry} allows no safe change. It was left alone. Delete the"
        " entry by hand.",
        "{path}: {entry} 항목을 안전하게 바꿀 수 없는 형식이라 그대로 두었습니다. 항목을 손으로 지우십시오.",
    ),
    "foreign_entry": (
        "{path}: the entry {entry} starts another server. It was left alone. Rename that entry, then"
        " repeat the command.",
        "{path}: {entry} 항목이 다른 서버를 시작하고 있어 그대로 두었습니다. 그 항목의 이름을 바꾼 뒤 명령을 되풀이하십시오.",
    ),
    "broken_block": (
        "{path}: the two lines that mark our block do not pair. It was left alone. Delete what is"
        " left of the block, then repeat the command.",
        "{path}: 블록을 표시하는 두 줄의 짝이 맞지 않아 그대로 두었습니다. 남은 블록을 지운 뒤 명령을 되풀이하십시오.",
    ),
    # before anything is planned
    "no_packages": (
        "This Python has no {packages}, so the server would not start. Nothing was written. Install"
        " first, then run setup with that Python:\n{commands}",
        "이 Python에는 {packages} 패키지가 없어 서버가 시작되지 않습니다. 아무것도 쓰지 않았습니다. 먼저 설치한 뒤 그"
        " Python으로 setup을 실행하십시오:\n{commands}",
    ),
    "no_uv": (
        "This runs in a temporary environment of uv, and uv itself was not found. Nothing was"
        " written. Run setup with the Python of a virtual environment.",
        "uv의 임시 환경에서 실행 중인데 uv를 찾지 못했습니다. 아무것도 쓰지 않았습니다. 가상 환경의 Python으로 setup을"
        " 실행하십시오.",
    ),
    # writing
    "written": ("Written: {files}", "쓴 파일: {files}"),
    "not_written": (
        "{path}: could not be written ({reason}). It is as it was.",
        "{path}: 쓰지 못했습니다({reason}). 파일은 그대로입니다.",
    ),
    "hook_fails": (
        "The hook was tried once and complained: {reason}. The files are written as shown. Correct"
        " what it names, then repeat the command; a client whose hook fails goes on without it.",
        "훅을 한 번 실행해 보니 문제가 있습니다: {reason}. 파일은 위에 보인 대로 썼습니다. 원인을 바로잡은 뒤 명령을"
        " 되풀이하십시오. 훅이 실패해도 클라이언트는 훅 없이 계속합니다.",
    ),
    "changed_meanwhile": (
        "{path}: it changed after the plan was made, and was not overwritten. Repeat the command.",
        "{path}: 계획을 세운 뒤에 바뀌어 덮어쓰지 않았습니다. 명령을 되풀이하십시오.",
    ),
    # what comes next
    "next": ("Next:", "다음 할 일:"),
    "next_cursor": (
        "Cursor: open the project again, trust it, and switch the server on in Settings → MCP.",
        "Cursor: 프로젝트를 다시 열어 신뢰하고, Settings → MCP에서 서버를 켜십시오.",
    ),
    "next_claude-code": (
        "Claude Code: start it again in the project, trust the folder and approve the server of"
        " .mcp.json.",
        "Claude Code: 프로젝트에서 다시 시작해 폴더를 신뢰하고 .mcp.json의 서버를 승인하십시오.",
    ),
    "next_claude-desktop": (
        "Claude Desktop: quit it and start it again.",
        "Claude Desktop: 완전히 종료했다가 다시 시작하십시오.",
    ),
    "next_vscode": (
        "VS Code: open the project again, trust it, and confirm the server at its first start.",
        "VS Code: 프로젝트를 다시 열어 신뢰하고, 서버가 처음 시작될 때 확인을 누르십시오.",
    ),
    "next_codex": (
        "Codex: start it again in the project, trust it, and review the hooks with /hooks; until"
        " then they do not run.",
        "Codex: 프로젝트에서 다시 시작해 신뢰하고 /hooks에서 훅을 검토하십시오. 검토하기 전에는 실행되지 않습니다.",
    ),
    "next_gemini": (
        "Gemini CLI: start it again in the project and trust the folder.",
        "Gemini CLI: 프로젝트에서 다시 시작하고 폴더를 신뢰하십시오.",
    ),
    "next_removed": (
        "Start the clients again: {clients}.",
        "클라이언트를 다시 시작하십시오: {clients}.",
    ),
    "next_commit": (
        "Commit the rules ({files}) if the team shares them.",
        "팀이 함께 쓴다면 규칙 파일({files})을 커밋하십시오.",
    ),
    "next_local": (
        "Paths of this machine stand in {files}: commit those only where everybody has installed to"
        " the same place.",
        "{files}에는 이 컴퓨터의 경로가 있습니다. 모두 같은 위치에 설치한 경우에만 커밋하십시오.",
    ),
    "next_doctor": ("Check it: {command}", "확인: {command}"),
}


def word(lang: Language, key: str, /, **facts: str | int) -> str:
    """The sentence `key` in one language with its facts filled in."""
    return sentence(WORDS, lang, key, facts)
