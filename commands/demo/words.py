"""Holds the sentences of the demo, in English and Korean."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import sentence

WORDS = Sentences("demo", PEOPLE)
# What the agent saves in the story.
STORY: dict[str, tuple[str, str]] = {
    "topic": ("db-migration", "db-migration"),
    "missing_context": (
        "While a deploy runs, old servers still read the column.",
        "배포하는 동안 이전 버전 서버는 그 컬럼을 계속 읽는다.",
    ),
    "lesson": (
        "Drop a column in two releases: stop reading it first.",
        "컬럼은 두 번에 나누어, 읽는 코드부터 빼고 지운다.",
    ),
    "ask_next_time": (
        "Is the release that no longer reads it deployed?",
        "그 컬럼을 읽지 않는 버전이 이미 배포되었나요?",
    ),
}
# fmt: on

word = partial(sentence, WORDS)
