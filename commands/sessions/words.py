"""Every sentence of the commands for sessions, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # there is nothing
    "none": ("This project has no sessions yet.", "이 프로젝트에는 아직 세션이 없습니다."),
    "what": ("Sessions keep what was done: goals, decisions, failures, blockers, commands.",
        "세션에는 한 일, 곧 목표, 결정, 실패한 시도, 막힌 일, 명령이 남습니다."),
    "switch_on": ("If they are still off: `{cli} setup --all --rooms {rooms}`",
        "아직 켜지 않았다면: `{cli} setup --all --rooms {rooms}`"),
    "none_fits": ("No session fits these filters (sessions: {count:,}).",
        "세션 {count:,}개 가운데 이 조건에 맞는 것이 없습니다."),
    "no_tag": ("There is no tag {name}.", "{name}(이)라는 태그는 없습니다."),
    "no_tag_but": ("There is no tag {name}; similar: {similar}.", "{name}(이)라는 태그는 없습니다. 비슷한 태그: {similar}."),
    "no_agent": ("No session is from {name}.", "{name}의 세션은 없습니다."),
    "no_agent_but": ("No session is from {name}; there are some from: {similar}.",
        "{name}의 세션은 없습니다. 다음 클라이언트의 세션은 있습니다: {similar}."),
    # tables
    "saved": ("saved", "저장일"),
    "status": ("status", "상태"),
    "goal": ("goal", "목표"),
    "goal_marked": ("goal ({mark} failed or blocked)", "목표({mark} 실패했거나 막힘)"),
    "listed": ("Sessions: {shown:,} of {count:,}, the newest first.", "세션 {count:,}개 중 {shown:,}개, 최신순."),
    "found": ("{shown:,} of {count:,} found, the most relevant first.", "찾은 {count:,}개 중 {shown:,}개, 관련도순."),
    "more_listed": ("… {more:,} more: `{cli} sessions list {options}`", "… 이 밖에 {more:,}개: `{cli} sessions list {options}`"),
    # a whole session
    "started": ("started {date}", "{date} 시작"),
    "saved_on": ("saved {date}", "{date} 저장"),
    "ended": ("ended {date}", "{date} 끝남"),
    "in_archive": ("archived in {file}", "{file}에 보관됨"),
    "summary": ("summary", "요약"),
    "decision": ("decision", "결정"),
    "why": ("why", "이유"),
    "success": ("worked", "성공"),
    "failed": ("failed", "실패"),
    "partial": ("worked in part", "일부 성공"),
    "open": ("blocked", "막힌 일"),
    "resolved": ("resolved", "해결한 일"),
    "solution": ("solution", "해결 방법"),
    "changes": ("changes", "변경"),
    "files": ("files", "파일"),
    "tags": ("tags", "태그"),
    "chain": ("chain", "이어진 세션"),
    "actions": ("actions", "실행 기록"),
    "command": ("command", "명령"),
    "edit": ("edit", "편집"),
    "error": ("error", "오류"),
    "lesson": ("lesson", "교훈"),
    "followed": ("followed", "따름"),
    "shown": ("shown, not followed so far", "보았지만 아직 따르지 않음"),
    # an export
    "written": ("Written: {path} (sessions: {count:,}).", "{path} 파일에 썼습니다(세션 {count:,}개)."),
    # archives
    "none_old": ("No session is that old; nothing was archived.", "그렇게 오래된 세션이 없어 아무것도 보관하지 않았습니다."),
    "left_open": ("As old, but not ended, so they stay: {count:,}. --open archives them, too.",
        "그만큼 오래되었지만 끝나지 않아 그대로 두는 세션 {count:,}개. --open을 쓰면 함께 보관합니다."),
    "would_archive": ("To archive: {count:,} ({files}).", "보관할 세션 {count:,}개({files})."),
    "ask_archive": ("Archive? [y/N] ", "보관할까요? [y/N] "),
    "archived": ("Archived: {count:,}. They are still found, and shown whole from the files in {folder}; back these up with the database.",
        "보관한 세션 {count:,}개. 검색에 그대로 나오고, {folder}에 있는 파일에서 전체를 볼 수 있습니다. 백업할 때 데이터베이스와 함께 챙기세요."),
    # other projects
    "shared": ("Your other projects on this machine now find the sessions of this one: {count:,}.",
        "이제 이 컴퓨터의 다른 프로젝트에서 이 프로젝트의 세션 {count:,}개를 찾을 수 있습니다."),
    "what_is_shared": ("They get short goals, tags, dates, status, client and the name of the project; a session is read whole from here. To stop: {cli} sessions share --off",
        "짧은 목표, 태그, 날짜, 상태, 클라이언트, 프로젝트 이름만 나갑니다. 세션 전체는 여기서 읽습니다. 그만두려면: {cli} sessions share --off"),
    "unshared": ("Your other projects no longer find the sessions of this one. Hints removed: {count:,}.",
        "이제 다른 프로젝트에서 이 프로젝트의 세션을 찾을 수 없습니다. 지운 힌트 {count:,}개."),
    # forgetting
    "would_forget": ("To remove for good: {count:,}. There is no way back.", "완전히 지울 세션 {count:,}개. 되살릴 수 없습니다."),
    "loses_link": ("  Continued by {names}; only that link goes.", "  이 뒤를 이은 {names}은(는) 그대로 두고 연결만 끊습니다."),
    "ask_forget": ("Remove? [y/N] ", "지울까요? [y/N] "),
    "forgotten": ("Removed: {count:,}.", "지운 세션 {count:,}개."),
    "unpurged": ("{path}: the bytes of what was removed are still in this file, because another process reads it or there is no room. End the clients that use this project, then run {cli} scan --redact.",
        "{path}: 다른 프로세스가 읽고 있거나 공간이 없어, 지운 내용의 바이트가 이 파일에 아직 남아 있습니다. 이 프로젝트를 쓰는 클라이언트를 끝낸 뒤 {cli} scan --redact를 실행하세요."),
    # refusals
    "no_session": ("{name}: this project has no such session. Nothing was changed. {cli} sessions lists them with their numbers.",
        "{name}: 이 프로젝트에 그런 세션이 없습니다. 아무것도 바뀌지 않았습니다. {cli} sessions로 번호를 볼 수 있습니다."),
}
# fmt: on

word = partial(sentence, WORDS)
