"""Holds the sentences of the statistics about sessions, and of several rooms, in both languages."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    "sessions": ("Sessions of this project: {count:,}", "이 프로젝트의 세션: {count:,}개"),
    "statuses": ("By status: {listed}.", "상태별: {listed}."),
    "warned": ("With something that failed or is in the way: {warned:,}. Failed approaches: {failed:,}.",
        "실패했거나 막힌 일이 있는 세션: {warned:,}개. 실패한 시도: {failed:,}건."),
    "continued": ("Continued by a later session: {continued:,}.", "다음 세션이 이어받은 세션: {continued:,}개."),
    "unread": ("Without sessions: {reason}", "세션 없이 셉니다. {reason}"),
    # one line for each of several rooms
    "of_lessons": ("Lessons: {count:,}; gaps that came back: {back:,}", "교훈 {count:,}건, 재발 {back:,}건"),
    "of_sessions": ("Sessions: {count:,}", "세션 {count:,}개"),
    "of_fragments": ("Fragments: {count:,}; recalled at least once: {used:,}", "조각 {count:,}개, 한 번 이상 회상 {used:,}개"),
}
# fmt: on

word = partial(sentence, WORDS)
