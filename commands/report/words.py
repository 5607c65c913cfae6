"""Every sentence of the report, in English and Korean, by name."""

from core.messages import Language, sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # the first line; a key with _1 is for one of a kind
    "memory": ("**Memory:** {told}.", "**기억:** {told}."),
    "nothing": ("**Memory:** nothing changed (records: {count:,}).",
        "**기억:** 바뀐 것이 없습니다(기록 {count:,}건)."),
    "no_log": ("**Memory:** there is no memory log here, neither before nor after: {path}",
        "**기억:** 이 자리에는 앞뒤 어느 쪽에도 기억 로그가 없습니다: {path}"),
    "secrets_1": ("1 possible secret", "비밀 값으로 보이는 것 1개"),
    "secrets": ("{count:,} possible secrets", "비밀 값으로 보이는 것 {count:,}개"),
    "damage_1": ("1 damaged line", "망가진 줄 1개"),
    "damage": ("{count:,} damaged lines", "망가진 줄 {count:,}개"),
    "marked_1": ("1 record to read with care", "주의해서 읽을 기록 1건"),
    "marked": ("{count:,} records to read with care", "주의해서 읽을 기록 {count:,}건"),
    "added_1": ("1 lesson added", "lesson 1건 추가"),
    "added": ("{count:,} lessons added", "lesson {count:,}건 추가"),
    "changed_1": ("1 record changed", "기록 1건 변경"),
    "changed": ("{count:,} records changed", "기록 {count:,}건 변경"),
    "returned_1": ("1 gap came back", "다시 나온 격차 1건"),
    "returned": ("{count:,} gaps came back", "다시 나온 격차 {count:,}건"),
    "compacted_1": ("1 record compacted", "기록 1건 통합"),
    "compacted": ("{count:,} records compacted", "기록 {count:,}건 통합"),
    "undone_1": ("1 record brought back", "기록 1건 되살림"),
    "undone": ("{count:,} records brought back", "기록 {count:,}건 되살림"),
    "renamed_1": ("1 record under another topic", "기록 1건 topic 변경"),
    "renamed": ("{count:,} records under another topic", "기록 {count:,}건 topic 변경"),
    "removed_1": ("1 record removed", "기록 1건 삭제"),
    "removed": ("{count:,} records removed", "기록 {count:,}건 삭제"),
    "other_lines": ("other lines of the file changed", "기록이 아닌 줄만 변경"),
    # what is said before the parts
    "earlier": ("Possible secrets that were there before and still are: {count:,}. `cli.py scan` says where.",
        "전부터 있었고 아직 남아 있는 비밀 값 의심 {count:,}개. `cli.py scan`으로 위치를 볼 수 있습니다."),
    "before_absent": ("Before, there was no memory log here.",
        "이전에는 이 자리에 기억 로그가 없었습니다."),
    "after_absent": ("Afterwards, there is no memory log here.",
        "이후에는 이 자리에 기억 로그가 없습니다."),
    "cut": ("This is a shallow clone: what a commit brought and a later one took out again may be missing here.",
        "얕은 복제(shallow clone)라서, 한 커밋이 넣고 뒤의 커밋이 뺀 것은 여기에 빠져 있을 수 있습니다."),
    # 1
    "refused": ("Must not be merged", "병합하면 안 되는 것"),
    "in_record": ("{where}: {kind} in {field} of {record}",
        "{where}: 비밀 값: {kind}, {record}의 {field}"),
    "in_line": ("{where}: {kind}", "{where}: 비밀 값: {kind}"),
    "passing": ("commit {commit}: {found}. A later commit took it out, but git's history keeps it unless the commits are squashed.",
        "커밋 {commit}: {found}. 뒤의 커밋이 뺐지만, 커밋을 하나로 합치지(squash) 않으면 git 이력에 남습니다."),
    "conflict": ("{where}: a conflict that git left open", "{where}: git이 풀지 못하고 남긴 충돌"),
    "unreadable": ("{where}: a line that no reader can read", "{where}: 읽을 수 없는 줄"),
    "utf_16": ("{where}: the file is UTF-16, and no reader takes it",
        "{where}: 파일이 UTF-16으로 저장되어 아무도 읽지 못함"),
    "link": ("{where}: a symbolic link is in the place of the log now, or names another file than before: read that file as if all of it were new",
        "{where}: 로그 자리에 심볼릭 링크가 들어왔거나 링크가 가리키는 파일이 바뀜. 그 파일 전체를 새로 들어온 것으로 보고 읽어야 함"),
    "replace_advice": ("Replace every real secret where it is valid: whoever has the commits has it.",
        "실제 비밀 값은 새 값으로 바꾸십시오. 커밋을 가진 사람은 누구나 볼 수 있습니다."),
    "redact_advice": ("`cli.py scan --redact` takes secrets out of the log.",
        "`cli.py scan --redact`로 로그에서 비밀 값을 지울 수 있습니다."),
    "damage_advice": ("`cli.py doctor --fix` repairs the log and keeps what it takes out.",
        "`cli.py doctor --fix`가 로그를 고치고, 빼낸 것은 따로 남겨 둡니다."),
    # 2
    "reads_like": ("Reads like instructions to a model", "모델에 내리는 지시처럼 읽히는 것"),
    "reads_like_intro": ("Marked, not removed. A model reads this at the start of a task; it should be a lesson.",
        "표시만 했고 지우지 않았습니다. 모델이 작업을 시작할 때 읽는 글이므로 lesson이어야 합니다."),
    # 3 to 6
    "added_head": ("Lessons added", "추가된 lesson"),
    "changed_head": ("Changed", "바뀐 기록"),
    "returned_head": ("Came back", "다시 나온 격차"),
    "returned_intro": ("These gaps were logged again although a lesson existed.",
        "lesson이 있는데도 다시 기록된 격차입니다."),
    "compacted_head": ("Compacted", "통합된 기록"),
    "undone_head": ("Compaction undone", "되돌린 통합"),
    "renamed_head": ("Under another topic", "topic이 바뀐 기록"),
    "removed_head": ("Removed", "삭제된 기록"),
    "removed_intro": ("Nothing took their place. `cli.py restore ID` brings one back.",
        "대신하는 기록이 없습니다. `cli.py restore ID`로 되살릴 수 있습니다."),
    "originals": ("Replaced: {count:,}", "대체된 기록 {count:,}건"),
    "back": ("Brought back: {count:,}", "되살린 기록 {count:,}건"),
    "unknown": ("Not in any version that was looked at: {count:,}.",
        "살펴본 어느 버전에도 없는 것 {count:,}건."),
    "many": ("And {count:,} more.", "그 밖에 {count:,}건."),
    "before": ("before", "이전"),
    "after": ("after", "이후"),
    "only_secret": ("The versions differ in what is redacted here.",
        "여기서 가린 부분만 다릅니다."),
    "one_now": ("One record now: {records}", "하나로 합쳐진 기록: {records}"),
    "seen": ("seen {before:,} → {after:,}", "{before:,}회 → {after:,}회"),
    "seen_again": ("again after its compaction", "통합한 뒤 다시"),
    "unnamed": ("a record", "이름을 표시할 수 없는 기록"),
    "left_out": ("Left out here for length: {count:,}. `--json` has them.",
        "길어서 뺀 것 {count:,}건. `--json`에는 모두 있습니다."),
    # 7
    "figures": ("Figures", "수치"),
    "columns": ("| | before | after | change |", "| | 이전 | 이후 | 차이 |"),
    "records": ("Records", "기록"),
    "principles": ("of these principles", "그중 principle"),
    "logs": ("of these logs", "그중 log"),
    "topics": ("Topics", "topic 수"),
    "tokens": ("Tokens of a search that shows all (estimated)", "모두 보여 주는 검색의 토큰(추정)"),
    "size": ("Bytes", "바이트"),
    "required": ("Records: {count:,}, threshold: {threshold:,}. A compaction is due now.",
        "기록 {count:,}건, 기준 {threshold:,}건. 이제 통합해야 합니다."),
    "not_required": ("Records: {count:,}, threshold: {threshold:,}. No compaction is due.",
        "기록 {count:,}건, 기준 {threshold:,}건. 아직 통합하지 않아도 됩니다."),
    "no_summary": ("The summary of this step has no room for the report, so it stands here.",
        "이 단계의 요약에 보고서를 넣을 자리가 없어 여기에 출력합니다."),
    # annotations and what the command says
    "title_secret": ("Possible secret in the memory log", "기억 로그에 비밀 값으로 보이는 것"),
    "title_damage": ("Damaged memory log", "망가진 기억 로그"),
    "title_marked": ("Reads like instructions to a model", "모델에 내리는 지시처럼 읽힘"),
    "title_more": ("More in the memory log", "기억 로그에 더 있음"),
    "more": ("And {count:,} more; the report counts them all.",
        "그 밖에 {count:,}건. 보고서에 모두 세어 있습니다."),
    "written": ("Written: {path}", "{path} 파일에 썼습니다."),
}
# fmt: on


def word(lang: Language, key: str, /, **facts: str | int) -> str:
    """The sentence `key` in one language with its facts filled in."""
    return sentence(WORDS, lang, key, facts)


def counted(lang: Language, key: str, count: int) -> str:
    """So many of a kind."""
    return word(lang, f"{key}_1") if count == 1 else word(lang, key, count=count)
