"""Every sentence of list, show, search, topics, edit and forget, in English and Korean."""

from core.messages import Language, sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # tables
    "date": ("last", "마지막"),
    "records": ("records", "기록"),
    "empty": ("The memory of this project has no records yet.",
        "이 프로젝트의 기억에는 아직 기록이 없습니다."),
    "none_fits": ("None of the {count:,} records fits these filters.",
        "기록 {count:,}건 가운데 이 조건에 맞는 것이 없습니다."),
    "no_topic": ("There is no topic {topic}.", "{topic}(이)라는 topic은 없습니다."),
    "no_topic_but": ("There is no topic {topic}; similar: {similar}.",
        "{topic}(이)라는 topic은 없습니다. 비슷한 topic: {similar}."),
    "listed": ("{shown:,} of {count:,} records, the newest first.",
        "기록 {count:,}건 중 {shown:,}건, 최신순."),
    "searched": ("{shown:,} of {found:,} found, the most relevant first. Without a hit: {without:,}.",
        "찾은 {found:,}건 중 {shown:,}건, 관련 높은 순. 해당 없음: {without:,}건."),
    "no_hit": ("None of {count:,} records has any of these words. Synonyms and translations are not found.",
        "기록 {count:,}건 가운데 이 단어가 든 것이 없습니다. 동의어와 번역어는 찾지 못합니다."),
    # topics
    "topics": ("Topics: {topics:,}, records: {count:,}.", "topic {topics:,}개, 기록 {count:,}건."),
    "similar": ("[{topic}] and [{other}] may be one: {reason}.",
        "[{topic}], [{other}]: 같은 topic일 수 있음({reason})."),
    "more_similar": ("{more:,} more pairs; --json lists all of them.",
        "이 밖에 {more:,}쌍. --json은 모두 출력합니다."),
    "same_topic": ("Both names are the same topic. Nothing was changed.",
        "두 이름은 같은 topic입니다. 바뀐 것은 없습니다."),
    "would_rename": ("[{old}] becomes [{new}], a new topic. Records: {count:,}. Their ids change with the topic.",
        "[{old}] topic이 새 이름 [{new}](으)로 바뀝니다. 기록 {count:,}건. topic이 바뀌면 id도 바뀝니다."),
    "would_merge": ("[{old}] goes into [{new}], which has records: {there:,}. Records: {count:,}. Their ids change with the topic.",
        "[{old}] topic이 기록 {there:,}건이 있는 [{new}](으)로 합쳐집니다. 옮길 기록 {count:,}건. topic이 바뀌면 id도 바뀝니다."),
    "would_join": ("About the same gap, and so one record afterwards; texts that differ stand one below the other: {count:,}.",
        "같은 격차를 다루어 한 기록이 되며, 서로 다른 글은 아래에 이어 적습니다: {count:,}건."),
    "suspicious": ("What seems to be a secret stands in {fields} and is saved as it is. Take it out.",
        "{fields}에 비밀 값으로 보이는 것이 있으며 그대로 저장됩니다. 빼십시오."),
    "ask_rename": ("Rename? [y/N] ", "바꿀까요? [y/N] "),
    "renamed": ("Renamed, all in one write: {count:,}.", "한 번의 쓰기로 바꾼 기록: {count:,}건."),
    "commit_soon": ("Look at it with git diff .context/, then commit. A record that a colleague updates under the old topic before pulling comes back there; rename again then, and the two become one.",
        "git diff .context/로 확인한 뒤 커밋하십시오. 동료가 이를 받기 전에 이전 topic에서 고친 기록은 그 topic으로 돌아옵니다. 그때 다시 이름을 바꾸면 하나로 합쳐집니다."),
    "left_behind": ("Saved under the old topic meanwhile: {count:,}. Repeat the command for them.",
        "그사이 이전 topic에 저장된 기록: {count:,}건. 명령을 되풀이하십시오."),
    # edit
    "edit_head": ("{token}, a {type}. Change the texts below the headings, save and close.\nLimits in bytes of UTF-8 (a Korean syllable has 3): {limits}.\npaths: one pattern in each line. Keep the headings; blank lines around a text do not count.\nAn unchanged or emptied file changes nothing. These lines are not saved.",
        "{token}, {type} 기록. 제목 아래의 글을 고친 뒤 저장하고 닫으십시오.\nUTF-8 바이트 상한(한글 한 글자는 3바이트): {limits}.\npaths: 한 줄에 패턴 하나. 제목은 그대로 두십시오. 글 앞뒤의 빈 줄은 세지 않습니다.\n고치지 않거나 비우면 아무것도 바뀌지 않습니다. 이 줄들은 저장되지 않습니다."),
    "edited": ("Saved:", "저장했습니다:"),
    "other_id": ("The id follows from the text: {old} is {new} now.",
        "id는 글에서 나오므로 {old}에서 {new}(으)로 바뀌었습니다."),
    "no_editor": ("There is no editor to open. Nothing was changed. Name one in the variable VISUAL or EDITOR, then repeat the command.",
        "열 수 있는 편집기가 없습니다. 바뀐 것은 없습니다. 환경 변수 VISUAL이나 EDITOR에 편집기를 지정한 뒤 명령을 되풀이하십시오."),
    "editor_failed": ("The editor {editor} could not be started or reported an error. Nothing was changed.",
        "편집기 {editor}을(를) 시작하지 못했거나 편집기가 오류를 알렸습니다. 바뀐 것은 없습니다."),
    "not_utf8": ("The text is not UTF-8 any more. Nothing was changed. Save it as UTF-8 in the editor.",
        "글이 UTF-8이 아닙니다. 바뀐 것은 없습니다. 편집기에서 UTF-8로 저장하십시오."),
    "bad_section": ("The heading {name} is unknown or stands there twice. Nothing was changed. There is one of each: {names}.",
        "제목 {name}은(는) 알 수 없거나 두 번 나옵니다. 바뀐 것은 없습니다. 제목은 하나씩 있어야 합니다: {names}."),
    "no_section": ("The heading == {name} == is missing. Nothing was changed. An empty section removes a text.",
        "제목 == {name} ==이(가) 없습니다. 바뀐 것은 없습니다. 글을 지우려면 제목 아래를 비우십시오."),
    "text_kept": ("What you typed is kept in {path}.", "입력한 글은 {path}에 남겨 두었습니다."),
    # forget
    "would_forget": ("To delete: {count:,}.", "지울 기록: {count:,}건."),
    "ask_forget": ("Delete? [y/N] ", "지울까요? [y/N] "),
    "forgotten": ("Deleted: {count:,}.", "지운 기록: {count:,}건."),
    "git_has_it": ("What was committed stays in git: cli.py restore {id} brings it back. The lines above are all that is left of what was not.",
        "커밋된 것은 git에 남아 있어 cli.py restore {id}로 되살릴 수 있습니다. 커밋되지 않은 것은 위의 줄이 전부입니다."),
    "stayed": ("These were changed or removed meanwhile, and were left as they are: {tokens}. Look at them again with cli.py list.",
        "그사이 바뀌거나 없어져 그대로 둔 기록: {tokens}. cli.py list로 다시 확인하십시오."),
    # confirmation
    "together": ("{one} and {other} exclude each other",
        "{one}와(과) {other}는 함께 쓸 수 없습니다"),
    "dry": ("Nothing was changed (--dry-run).", "아무것도 바꾸지 않았습니다(--dry-run)."),
    "not_changed": ("Nothing was changed.", "아무것도 바꾸지 않았습니다."),
    "no_terminal": ("Nothing was changed: nobody is there to confirm. Look at what is shown above, then repeat the command with --yes.",
        "아무것도 바꾸지 않았습니다. 확인할 사람이 없습니다. 위의 내용을 확인한 뒤 --yes를 붙여 명령을 되풀이하십시오."),
}
# fmt: on


def word(lang: Language, key: str, /, **facts: str | int) -> str:
    """The sentence `key` in one language with its facts filled in."""
    return sentence(WORDS, lang, key, facts)
