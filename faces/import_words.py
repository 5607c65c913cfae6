"""Every sentence of the import, in English and Korean, by name."""

from core.messages import Language, sentence

WORDS: dict[str, tuple[str, str]] = {
    # the preview
    "head": (
        "Import from {path} ({format}) into {project}. To save: {count:,}.",
        "{path}({format})에서 {project} 프로젝트로 가져옵니다. 저장할 기록: {count:,}건.",
    ),
    "markdown": ("Markdown", "Markdown 목록"),
    "server-memory": ("server-memory", "server-memory 파일"),
    "export": ("an export of this program", "이 프로그램의 내보내기 파일"),
    "log": ("a memory log", "기억 로그"),
    "new_topic": ("[{topic}]  a new topic", "[{topic}]  새 topic"),
    "like_topic": (
        "[{topic}]  a new topic, similar to: {similar} (--topic T puts all records into one)",
        "[{topic}]  새 topic, 비슷한 topic: {similar}(--topic T를 주면 모두 그 topic에 저장)",
    ),
    "known_topic": ("[{topic}]  an existing topic", "[{topic}]  기존 topic"),
    "line": ("line {lines}", "{lines}번째 줄"),
    "lines": ("lines {lines}", "{lines}번째 줄"),
    "redacts": ("redacted: {kinds}", "가린 비밀 값: {kinds}"),
    "warning": ("warning: {warning}", "경고: {warning}"),
    "hides": (
        "An imported principle has replaced these records of the memory. They are no longer shown"
        " then, and the next save removes their lines:",
        "가져온 principle이 대신한 다음 기록은 더 이상 보이지 않으며, 다음 저장 때 그 줄이 지워집니다:",
    ),
    "principles": (
        "A list item says a rule and not what was missing when, so that it is saved as a principle.",
        "목록의 항목은 규칙만 담고 무엇이 빠져 있었는지는 담지 않으므로 principle로 저장합니다.",
    ),
    "statements": (
        "A statement says a rule and not what was missing when, so that it is saved as a principle.",
        "이런 문장은 규칙만 담고 무엇이 빠져 있었는지는 담지 않으므로 principle로 저장합니다.",
    ),
    # what is passed over
    "passed": ("Passed over:", "건너뛴 것:"),
    "passed_known": (
        "{place}: already in the memory, or further up in this file",
        "{place}: 이미 기억이나 이 파일의 앞부분에 있음",
    ),
    "passed_other": (
        "{place}: already in the memory in other words, which stay",
        "{place}: 다른 문장으로 이미 기억에 있어 그 문장을 그대로 둠",
    ),
    "passed_replaced": (
        "{place}: a principle of the memory has taken the place of this",
        "{place}: 기억에 있는 principle이 이미 대신한 내용",
    ),
    "passed_collision": (
        "{place}: the id belongs to another record of the memory; reword it slightly",
        "{place}: 기억의 다른 기록이 같은 id를 씀, 문장을 조금 바꿀 것",
    ),
    "passed_field_too_long": (
        "{place}: {field} has {used_bytes:,} bytes, the limit is {limit_bytes:,}; shorten or split it",
        "{place}: {field} 필드가 {used_bytes:,}바이트로 상한 {limit_bytes:,}바이트를 넘음, 줄이거나 나눌 것",
    ),
    "passed_blank_field": ("{place}: {field} is blank", "{place}: {field} 필드가 비어 있음"),
    "passed_lone_surrogate": (
        "{place}: {field} holds half of a character",
        "{place}: {field}에 깨진 글자가 있음",
    ),
    "passed_secret_refused": (
        "{place}: a secret seems to stand in {fields} ({kinds}), and SENTINEL_MEMORY_STRICT refuses"
        " such a record",
        "{place}: {fields}에 비밀 값({kinds})이 있는 듯하며, SENTINEL_MEMORY_STRICT 설정이 이런 기록을 거부함",
    ),
    "passed_path_outside": (
        "{place}: its paths lead out of the project",
        "{place}: paths가 프로젝트 밖을 가리킴",
    ),
    "passed_path_negated": (
        "{place}: its paths begin with !, and none can take files out again",
        "{place}: paths가 !로 시작함, 파일을 빼는 패턴은 쓸 수 없음",
    ),
    "passed_too_many_paths": (
        "{place}: it has {count:,} paths, and {most:,} is the most",
        "{place}: paths가 {count:,}개로 상한 {most:,}개를 넘음",
    ),
    "passed_code": ("{place}: a code block", "{place}: 코드 블록"),
    "passed_table": ("{place}: a table", "{place}: 표"),
    "passed_comment": ("{place}: a comment", "{place}: 주석"),
    "passed_ours": (
        "{place}: written by cli.py export, from a memory",
        "{place}: cli.py export가 기억에서 만든 부분",
    ),
    "passed_front_matter": ("{place}: front matter", "{place}: front matter(머리 정보)"),
    "passed_prose": ("{place}: running text, no list item", "{place}: 목록 항목이 아닌 본문"),
    "passed_heading": (
        "{place}: a heading without a lesson below it",
        "{place}: 아래에 lesson이 없는 제목",
    ),
    "passed_no_words": ("{place}: no words", "{place}: 글이 없음"),
    "passed_contents": (
        "{place}: a link inside the document",
        "{place}: 문서 안의 링크",
    ),
    "passed_reference": (
        "{place}: names another file, which was not read",
        "{place}: 다른 파일을 가리킴, 그 파일은 읽지 않음",
    ),
    "passed_relation": (
        "{place}: a relation of two entities, no lesson",
        "{place}: 두 엔티티의 관계일 뿐 lesson이 아님",
    ),
    "passed_no_observations": (
        "{place}: an entity without observations",
        "{place}: 관찰 내용이 없는 엔티티",
    ),
    "passed_no_text": (
        "{place}: an observation that is empty or no text",
        "{place}: 비어 있거나 텍스트가 아닌 관찰 내용",
    ),
    "passed_half_character": (
        "{place}: holds half of a character",
        "{place}: 깨진 글자가 있음",
    ),
    "passed_not_a_record": ("{place}: not a record", "{place}: 기록이 아님"),
    "passed_not_readable": ("{place}: unreadable", "{place}: 읽을 수 없음"),
    "entry": ("entry {lines}", "{lines}번째 항목"),
    "entries": ("entries {lines}", "{lines}번째 항목"),
    # the end
    "nothing": ("Nothing to save.", "저장할 것이 없습니다."),
    "ask": ("Save? [y/N] ", "저장할까요? [y/N] "),
    "not_saved": ("Nothing was saved.", "아무것도 저장하지 않았습니다."),
    "no_terminal": (
        "Nothing was saved: nobody is there to confirm. Look at the list above, then repeat the"
        " command with --yes.",
        "확인할 사람이 없어 아무것도 저장하지 않았습니다. 위 목록을 확인한 뒤 --yes를 붙여 명령을 되풀이하십시오.",
    ),
    "dry": ("Nothing was saved (--dry-run).", "아무것도 저장하지 않았습니다(--dry-run)."),
    "saved": (
        "Saved: {count:,}, all in one write. Look at it with git diff .context/, then commit.",
        "{count:,}건을 한 번의 쓰기로 저장했습니다. git diff .context/로 확인한 뒤 커밋하십시오.",
    ),
    "compact": (
        "The memory has {count:,} records now, more than {threshold:,}: have the agent compact it.",
        "이제 기록이 {count:,}건으로 {threshold:,}건을 넘었습니다. 에이전트에게 기억을 통합하게 하십시오.",
    ),
    # refusals
    "together": (
        "{one} and {other} do not go together",
        "{one}와(과) {other}은(는) 함께 쓸 수 없습니다",
    ),
    "bad_topic": (
        "--topic: it must be a text of 1 to {limit} bytes",
        "--topic: 1~{limit}바이트의 텍스트여야 합니다",
    ),
    "unreadable": (
        "{path} cannot be read ({reason}). Nothing was saved.",
        "{path} 파일을 읽을 수 없습니다({reason}). 아무것도 저장하지 않았습니다.",
    ),
    "not_regular": (
        "{path} is not a regular file. Nothing was saved. Name a file, or - for standard input.",
        "{path}: 일반 파일이 아닙니다. 아무것도 저장하지 않았습니다. 파일 이름을 주거나, 표준 입력이면 -를 쓰십시오.",
    ),
    "too_large": (
        "{path} is larger than {most:,} bytes. Nothing was saved. Split it.",
        "{path} 파일이 {most:,}바이트보다 큽니다. 아무것도 저장하지 않았습니다. 파일을 나누십시오.",
    ),
    "text_too_large": (
        "{path} is larger than {most:,} bytes and neither an export nor a memory log of this program."
        " Nothing was saved. Split it.",
        "{path} 파일이 {most:,}바이트보다 크고, 이 프로그램의 내보내기 파일도 기억 로그도 아닙니다. 아무것도 저장하지"
        " 않았습니다. 파일을 나누십시오.",
    ),
    "utf_16": (
        "{path} is UTF-16. Nothing was saved. Save it as UTF-8, then repeat the command.",
        "{path} 파일이 UTF-16입니다. 아무것도 저장하지 않았습니다. UTF-8로 저장한 뒤 명령을 되풀이하십시오.",
    ),
    "binary": (
        "{path} is a binary file. Nothing was saved.",
        "{path} 파일은 이진 파일입니다. 아무것도 저장하지 않았습니다.",
    ),
    "not_utf_8": (
        "{path} is not UTF-8 (line {line}). Nothing was saved. Save it as UTF-8, then repeat the"
        " command.",
        "{path} 파일이 UTF-8이 아닙니다({line}번째 줄). 아무것도 저장하지 않았습니다. UTF-8로 저장한 뒤 명령을"
        " 되풀이하십시오.",
    ),
    "conflict": (
        "{path} holds conflict markers of git (line {line}). Nothing was saved. Resolve the conflict,"
        " then repeat the command.",
        "{path} 파일에 git 충돌 표시가 있습니다({line}번째 줄). 아무것도 저장하지 않았습니다. 충돌을 해결한 뒤 명령을"
        " 되풀이하십시오.",
    ),
    "newer": (
        "{path} was exported by a newer version of this program (format {version}). Nothing was"
        " saved. Update Sentinel-Memory.",
        "{path} 파일은 이 프로그램의 더 새로운 버전이 내보낸 것입니다(형식 {version}). 아무것도 저장하지 않았습니다."
        " Sentinel-Memory를 업데이트하십시오.",
    ),
    "exported_markdown": (
        "{path} is a document of cli.py export, which leaves out what a record needs. Nothing was"
        " saved. Export with --format json and import that.",
        "{path} 파일은 cli.py export가 만든 문서로, 기록에 필요한 정보가 빠져 있습니다. 아무것도 저장하지 않았습니다."
        " --format json으로 내보내 그 파일을 가져오십시오.",
    ),
    "unknown_format": (
        "{path} is none of the formats that can be imported: a Markdown list, a file of"
        " server-memory, an export or a memory log of this program. Nothing was saved.",
        "{path} 파일은 가져올 수 있는 형식(Markdown 목록, server-memory 파일, 이 프로그램의 내보내기 파일이나 기억 로그)이"
        " 아닙니다. 아무것도 저장하지 않았습니다.",
    ),
    "other_format": (
        "{path} cannot be read as --format {format}. Nothing was saved. Leave --format out, or name"
        " another one.",
        "{path} 파일을 --format {format}(으)로 읽을 수 없습니다. 아무것도 저장하지 않았습니다. --format을 빼거나 다른"
        " 형식을 지정하십시오.",
    ),
}


def word(lang: Language, key: str, /, **facts: str | int) -> str:
    """The sentence `key` in one language with its facts filled in."""
    return sentence(WORDS, lang, key, facts)
