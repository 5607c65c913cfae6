"""Holds the sentences of the statistics, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # the head
    "project": ("Project  {path}", "프로젝트  {path}"),
    "empty": ("The memory of this project has no records yet. An agent saves one through the server for each gap in its instructions.",
        "이 프로젝트의 기억에는 아직 기록이 없습니다. 에이전트가 지시에 빠져 있던 것을 알게 될 때마다 서버를 통해 하나씩 저장합니다."),
    "flaws": ("Unreadable lines: {skipped:,}, conflicts: {conflicts:,}, hidden records: {hidden:,}, gaps in several versions: {unsettled:,}. Run {cli} doctor to see them.",
        "읽을 수 없는 줄 {skipped:,}개, 충돌 {conflicts:,}건, 숨겨진 기록 {hidden:,}건, 버전이 여럿인 기록 {unsettled:,}건. {cli} doctor로 볼 수 있습니다."),
    "records": ("Records: {count:,} ({logs:,} log, {principles:,} principle), {size:,} bytes",
        "기록 {count:,}건(log {logs:,}, principle {principles:,}), {size:,}바이트"),
    "more": ("{more:,} more. Use --json to list all of them.",
        "이 밖에 {more:,}건이 더 있습니다. --json을 붙이면 모두 출력합니다."),
    # columns
    "bytes": ("bytes", "바이트"),
    "week": ("week of", "주 시작일"),
    "month": ("month", "월"),
    "earlier": ("earlier or no date", "그 이전·날짜 없음"),
    "new": ("new", "새 기록"),
    "total": ("total", "누계"),
    "times": ("times", "횟수"),
    "last": ("last", "마지막"),
    "record": ("record", "기록"),
    "question": ("question", "질문"),
    "count": ("records", "기록"),
    "tokens": ("tokens", "토큰"),
    "shown_at": ("shown", "보여 준 때"),
    "at_start": ("start", "시작"),
    "at_action": ("action", "작업"),
    "first_shown": ("first shown", "처음 보여 준 날"),
    # growth
    "growth": ("Growth", "증가 추이"),
    # search
    "search": ("A search today", "지금 검색 한 번"),
    "search_whole": ("It shows all records in full and takes about {tokens:,} tokens; the budget is {budget:,}.",
        "모든 기록을 전체 표시하며 약 {tokens:,}토큰이 듭니다. 상한은 {budget:,}토큰입니다."),
    "search_part": ("It takes about {tokens:,} tokens: the most relevant records in full, others shortened or left out. All of them would take {whole:,}; the budget is {budget:,} tokens and {chars:,} characters.",
        "약 {tokens:,}토큰이 듭니다. 관련도가 높은 기록만 전체를 보이고 나머지는 줄이거나 뺍니다. 모두 보이려면 {whole:,}토큰이 필요하지만 상한은 {budget:,}토큰, {chars:,}자입니다."),
    "search_quiet": ("Claude Code warns when an answer has {limit:,} tokens or more.",
        "Claude Code는 응답이 {limit:,}토큰 이상이면 경고합니다."),
    "search_warned": ("Claude Code warns about an answer of that length ({limit:,} tokens or more); compaction makes it shorter.",
        "Claude Code가 경고하는 길이({limit:,}토큰 이상)입니다. 통합하면 짧아집니다."),
    # gaps
    "came_back": ("Gaps that came back after a lesson existed: {count:,}",
        "교훈이 있는데도 재발: {count:,}건"),
    "questions": ("Questions to ask: {count:,}", "물을 질문: {count:,}건"),
    # compaction
    "compaction": ("Compaction", "통합(compact)"),
    "required": ("Records: {count:,}, threshold: {threshold:,}. Ask the agent to compact the memory.",
        "기록 {count:,}건으로 기준 {threshold:,}건을 넘었습니다. 에이전트에게 기억을 통합하도록 요청하세요."),
    "optional": ("Records: {count:,}, threshold: {threshold:,}. Not required.",
        "기록 {count:,}건, 기준 {threshold:,}건. 아직 필요 없습니다."),
    "pointless": ("Records: {count:,}, threshold: {threshold:,}. Each topic is already a single principle.",
        "기록 {count:,}건, 기준 {threshold:,}건. 모든 topic이 이미 principle 하나뿐입니다."),
    "replaced": ("Records that principles replaced: {replaced:,}. Last compaction: {day}.",
        "principle이 기록 {replaced:,}건을 대체했습니다. 마지막 통합: {day}."),
    # hooks
    "hooks": ("Hooks: sessions on this machine in the last {days} days",
        "훅: 이 컴퓨터의 최근 {days}일 세션"),
    "no_sessions": ("None: hooks have shown nothing here yet. Run {cli} doctor to see whether they are set up.",
        "없습니다. 아직 훅이 보여 준 것이 없습니다. 훅이 설정되어 있는지는 {cli} doctor로 확인하세요."),
    "sessions": ("{sessions:,} since {day} ({clients}). About {tokens:,} tokens were shown.",
        "{day}부터 {sessions:,}개({clients}). 보여 준 글은 모두 약 {tokens:,}토큰입니다."),
    "unnamed": ("unknown", "알 수 없음"),
    "session-start": ("at the start of a session", "세션 시작"),
    "before-action": ("at an action", "작업"),
    "prompt": ("at a prompt", "프롬프트"),
    "most_shown": ("Records shown, most often first: {count:,}",
        "훅이 보여 준 기록(많은 순): {count:,}건"),
    "gone": ("Times that a record now gone from the log was shown: {gone:,}.",
        "지금은 로그에 없는 기록을 보여 준 횟수: {gone:,}회."),
    "unheeded": ("Shown at an action or a prompt, and the gap came back later: {count:,}",
        "작업이나 프롬프트 때 보여 주었는데도 재발한 기록: {count:,}건"),
    "never": ("Never shown by a hook: {count:,}", "훅이 한 번도 보여 주지 않은 기록: {count:,}건"),
    "changed": ("Sessions that changed files: {changed:,}. Going by the dates of the records, one was saved during {saved:,} of them.",
        "파일을 바꾼 세션: {changed:,}개. 그중 {saved:,}개는 그 무렵에 저장된 기록이 있습니다(기록의 날짜 기준)."),
    "reminders": ("Reminders given: {reminders:,}. A record was saved within an hour after {saved:,} of them.",
        "기록하라는 알림: {reminders:,}회. 그중 {saved:,}회는 한 시간 안에 기록이 저장되었습니다."),
}
# fmt: on

word = partial(sentence, WORDS)
