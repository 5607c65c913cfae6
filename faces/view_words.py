"""Every sentence of the page, in English and Korean, by name."""

from core.messages import Language, sentence

WORDS: dict[str, tuple[str, str]] = {
    # the head
    "title": ("Memory of {project}", "{project}의 기억"),
    "about": (
        "Principles: {principles:,}, logs: {logs:,}, topics: {topics:,}. As of {date}.",
        "principle {principles:,}건, log {logs:,}건, topic {topics:,}개. {date} 기준.",
    ),
    "empty": (
        "No records yet. An agent logs the first one with log_memory, when its instructions left out"
        " something that it had to find out.",
        "아직 기록이 없습니다. 지침에 빠진 것을 에이전트가 작업하며 알아내면 log_memory로 첫 기록을 남깁니다.",
    ),
    "conflicts": (
        "The memory log holds conflict markers of git (conflicts: {conflicts:,}); the records of both"
        " sides are shown. cli.py doctor --fix resolves them.",
        "기억 로그에 git 충돌 표시가 있습니다(충돌 {conflicts:,}건). 양쪽 기록을 모두 보여 줍니다. cli.py doctor --fix로"
        " 해결할 수 있습니다.",
    ),
    "skipped": (
        "Lines that cannot be read and are not shown: {skipped:,}. cli.py doctor shows them.",
        "읽을 수 없어 보여 주지 않는 줄 {skipped:,}개. cli.py doctor로 볼 수 있습니다.",
    ),
    "cut": (
        "This clone of the repository is shallow: older commits are missing.",
        "이 저장소는 얕은 클론이라 오래된 커밋이 빠져 있습니다.",
    ),
    "ignored": (
        "git ignores the memory log, so that there are no authors and no former versions.",
        "git이 기억 로그를 무시하므로 작성자와 이전 버전이 없습니다.",
    ),
    "not_committed": (
        "The memory log was never committed, so that there are no authors and no former versions.",
        "기억 로그를 커밋한 적이 없어 작성자와 이전 버전이 없습니다.",
    ),
    "no_git": (
        "Without git: {reason}",
        "git 정보 없음: {reason}",
    ),
    # controls
    "skip": ("Skip to the records", "기록으로 건너뛰기"),
    "search": ("Search", "검색"),
    "search_hint": ("Search; Korean by first letters, too (ㄱㅈ)", "검색(초성 ㄱㅈ도 가능)"),
    "kinds": ("Show", "보기"),
    "kind_all": ("All", "전체"),
    "kind_principle": ("Principles", "principle만"),
    "kind_log": ("Logs", "log만"),
    "kind_open": ("Open questions", "남은 질문"),
    "kind_again": ("Came back", "다시 나온 격차"),
    "kind_marked": ("Suspicious", "의심"),
    "theme": ("Colours", "색"),
    "theme_auto": ("as the system", "시스템 설정"),
    "theme_light": ("light", "밝게"),
    "theme_dark": ("dark", "어둡게"),
    "keys": ("Keys", "단축키"),
    "keys_on": ("Single keys", "한 글자 단축키 사용"),
    "key_search": ("search", "검색"),
    "key_next": ("next and previous record", "다음, 이전 기록"),
    "key_clear": ("in the search: clear it", "검색창에서 지우기"),
    "key_down": ("in the search: to the first record", "검색창에서 첫 기록으로"),
    "found": ("Found: {shown} of {count}", "{count}건 중 {shown}건"),
    "nothing": ("No record has all of these words.", "이 단어가 모두 든 기록이 없습니다."),
    "clear": ("Show all records", "모든 기록 보기"),
    "topics": ("Topics", "topic 목록"),
    # the figures
    "glance": ("At a glance", "한눈에 보기"),
    "records": ("Records", "기록"),
    "of_threshold": ("compaction above {threshold:,}", "{threshold:,}건을 넘으면 통합"),
    "required": (
        "compaction required (above {threshold:,})",
        "통합 필요(기준 {threshold:,}건 초과)",
    ),
    "principles": ("Principles", "principle 수"),
    "replaced": ("took the place of {count:,} records", "기록 {count:,}건을 대신함"),
    "cost": ("A full search", "전체 검색 비용"),
    "cost_all": ("estimated tokens, everything shown", "토큰(추정), 전부 표시"),
    "cost_part": (
        "estimated tokens; everything would be {tokens:,}",
        "토큰(추정), 전부 보이면 {tokens:,}",
    ),
    "questions": ("Open questions", "남은 질문"),
    "questions_why": ("to ask before a task", "작업 전에 물을 것"),
    "again": ("Gaps that came back", "다시 나온 격차"),
    "again_why": ("the lesson did not reach the work", "lesson이 작업에 닿지 못함"),
    "last": ("Last saved", "마지막 저장"),
    "last_compacted_on": ("last compaction {date}", "마지막 통합 {date}"),
    "never_compacted": ("never compacted", "통합한 적 없음"),
    "plot_records": ("Records over time", "기록 수의 변화"),
    "plot_tokens": ("What all records cost a model", "모든 기록이 모델에 드는 비용"),
    "tokens": ("Estimated tokens", "추정 토큰"),
    "size": ("Bytes of the file", "파일 바이트"),
    "plot_told": (
        "{first:,} on {from_}, {last:,} on {to}",
        "{from_}에 {first:,}, {to}에 {last:,}",
    ),
    "plot_today": (
        "Only of the records that are there today; git knows nothing of earlier ones.",
        "지금 있는 기록만 센 값입니다. 이전 기록은 git에 없습니다.",
    ),
    "as_table": ("As a table", "표로 보기"),
    "date": ("Date", "날짜"),
    "last_compaction": (
        "The last compaction, {date}: principles {principles:,}, in the place of {count:,} records",
        "마지막 통합({date}): principle {principles:,}건이 기록 {count:,}건을 대신함",
    ),
    "listed_questions": (
        "Questions to ask before a task: {count:,}",
        "작업 전에 물을 질문 {count:,}개",
    ),
    "listed_again": ("Gaps that came back: {count:,}", "다시 나온 격차 {count:,}건"),
    # a record
    "principle": ("Principle", "통합 규칙(principle)"),
    "merged": ("merged from {count:,}", "{count:,}건을 통합"),
    "missing": ("Missing then", "당시 빠져 있던 정보"),
    "ask": ("Ask first", "먼저 물을 질문"),
    "paths": ("Files", "대상 파일"),
    "saved": ("saved", "저장"),
    "compacted": ("compacted", "통합"),
    "updated": ("last saved", "최근 저장"),
    "seen": ("seen {count:,} times", "{count:,}회 발생"),
    "originals": (
        "Originals, from git: {found:,} of {count:,}",
        "git에 있는 원본 {count:,}건 중 {found:,}건",
    ),
    "original_missing": (
        "{token}: neither the file nor git has this version",
        "{token}: 파일에도 git에도 없는 버전입니다",
    ),
    "deeper": (
        "What this one replaced ({count:,}) is not shown here; cli.py history {token} lists it",
        "이것이 대신한 {count:,}건은 여기에 보이지 않습니다. cli.py history {token}로 볼 수 있습니다",
    ),
    # what the command says
    "written": (
        "Written: {path} (records: {count:,}).",
        "{path} 파일에 썼습니다(기록 {count:,}건).",
    ),
    "opened": (
        "The page is opened in the browser: {path}. If it stays empty, the browser may not read that"
        " directory: write the page elsewhere with -o FILE --open.",
        "브라우저에서 페이지를 엽니다: {path}. 비어 있으면 브라우저가 그 디렉터리를 읽지 못하는 것일 수 있습니다."
        " -o FILE --open으로 다른 곳에 쓰십시오.",
    ),
    "no_browser": (
        "The page is written, but no browser could be opened here: {path}. Open it on a computer with"
        " a browser, or write it elsewhere with -o FILE.",
        "페이지는 썼지만 여기서는 브라우저를 열 수 없습니다: {path}. 브라우저가 있는 컴퓨터에서 열거나 -o FILE로 다른"
        " 곳에 쓰십시오.",
    ),
    "redacted": (
        "Secrets replaced on the page: {count:,} ({kinds}). They still stand in the memory: cli.py"
        " scan shows where, cli.py scan --redact takes them out.",
        "페이지에서 가린 비밀 값 {count:,}개({kinds}). 기억에는 그대로 남아 있습니다. cli.py scan으로 위치를 확인하고 cli.py"
        " scan --redact로 지우십시오.",
    ),
}


def word(lang: Language, key: str, /, **facts: str | int) -> str:
    """The sentence `key` in one language with its facts filled in."""
    return sentence(WORDS, lang, key, facts)
