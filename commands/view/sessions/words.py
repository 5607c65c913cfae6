"""Holds the sentences of the sessions on the page, in English and Korean."""

from functools import partial

from core.messages import sentence
from core.program import NAME

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # the section
    "sessions": ("Sessions", "세션"),
    "of_sessions": ("sessions", "세션"),
    "about": ("What was done in this project, newest first. Sessions stay on this machine.",
        "이 프로젝트에서 한 일입니다(최신순). 세션은 이 컴퓨터에만 있습니다."),
    "left_out": ("Sessions shown here: the newest {shown:,} of {count:,}. {cli} sessions list names the others.",
        "세션 {count:,}개 가운데 최신 {shown:,}개만 보여 줍니다. 나머지는 {cli} sessions list로 볼 수 있습니다."),
    "latest": ("Newest sessions", "최신 세션"),
    "earlier_sessions": ("Earlier sessions", "이전 세션"),
    # search and filters
    "kind_session": ("All sessions", "모든 세션"),
    "kind_warned": ("Failures and open blockers", "실패한 시도, 막힌 일"),
    "kind_archived": ("Archived", "보관됨"),
    "warned": ("Failed or blocked", "실패하거나 막힘"),
    "key_open": ("open, close the session in focus", "보고 있는 세션 펼치기, 접기"),
    # a session
    "planning": ("planning", "계획 중"),
    "coding": ("coding", "구현 중"),
    "testing": ("testing", "테스트 중"),
    "reviewing": ("reviewing", "검토 중"),
    "debugging": ("debugging", "디버깅 중"),
    "completed": ("completed", "완료"),
    "paused": ("paused", "일시 중단"),
    "archived": ("archived", "보관됨"),
    "flag_failed": ("failed {count:,}", "실패 {count:,}"),
    "flag_blocked": ("open blockers {count:,}", "막힌 일 {count:,}"),
    "continues": ("continues", "앞 세션"),
    "continued": ("continued by", "뒤 세션"),
    "details": ("Details", "자세히"),
    "count_decisions": ("decisions {count:,}", "결정 {count:,}"),
    "count_approaches": ("approaches {count:,}", "시도 {count:,}"),
    "count_blockers": ("blockers {count:,}", "막힌 일 {count:,}"),
    "count_files": ("files {count:,}", "파일 {count:,}"),
    "count_actions": ("actions {count:,}", "실행 기록 {count:,}"),
    "count_errors": ("errors {count:,}", "오류 {count:,}"),
    "summary": ("Summary", "요약"),
    "decision": ("Decision", "결정"),
    "success": ("Worked", "성공한 시도"),
    "failed": ("Failed", "실패한 시도"),
    "partial": ("Worked in part", "일부 성공한 시도"),
    "tried": ("Tried", "시도"),
    "open": ("Open blocker", "막힌 일"),
    "resolved": ("Resolved blocker", "해결한 일"),
    "changes": ("Changes", "변경"),
    "files": ("Files", "파일"),
    "actions": ("Actions", "실행 기록"),
    "earlier": ("Earlier ones, not shown: {count:,}. {cli} sessions show {number} lists all.",
        "앞선 {count:,}개는 여기에 없습니다. {cli} sessions show {number}(으)로 모두 볼 수 있습니다."),
    "command": ("command", "명령"),
    "edit": ("edit", "편집"),
    "error": ("error", "오류"),
    "lesson": ("lesson", "교훈"),
    "followed": ("followed", "따름"),
    "shown": ("shown, not followed so far", "보았지만 아직 따르지 않음"),
    "started": ("started {date}", "{date} 시작"),
    "ended": ("ended {date}", "{date} 끝남"),
    "in_archive": ("Archived; its full text is shown by {cli} sessions show {number}.",
        "보관된 세션입니다. 전체 내용은 {cli} sessions show {number}(으)로 볼 수 있습니다."),
    # what the command says
    "unread": ("Without sessions: {reason}", "세션 없이 만듭니다. {reason}"),
}
# fmt: on

word = partial(sentence, WORDS, cli=NAME)
