"""Tests what a compaction offers a model: topics, joined questions, similar topics."""

import pytest

from core.lessons.answers import Need, need_of
from core.lessons.compaction import fit_question, join_questions
from core.lessons.record import Record, new_record
from core.text.wording import SimilarTopics, similar_to, similar_topics, topic_to_keep
from tests.support.samples import NOW, a_principle, a_record
from tests.support.tables import none_of, table

TABLES = table("wording")

PRINCIPLE = new_record(a_principle(), now=NOW)
# Reading such a memory again and again would otherwise ask for what nobody can do.
ALONE = [new_record(a_principle(topic=f"topic-{number}"), now=NOW) for number in range(51)]


@pytest.mark.row("001 3-3.b")
@pytest.mark.parametrize(
    ("records", "count", "threshold", "need"),
    [
        ([PRINCIPLE], 1, 50, "pointless"),
        ([PRINCIPLE], 51, 50, "pointless"),
        (ALONE, 51, 50, "pointless"),
        ([PRINCIPLE, a_record()], 50, 50, "optional"),
        ([PRINCIPLE, a_record()], 51, 50, "required"),
        ([*ALONE, a_record("one", topic="topic-7")], 52, 50, "required"),
        ([*ALONE, new_record(a_principle(lesson="other"), now=NOW)], 52, 50, "pointless"),
    ],
)
def test_compaction_is_pointless_where_every_topic_is_one_principle(
    records: list[Record], count: int, threshold: int, need: Need
) -> None:
    assert need_of(records, count, threshold) == need


@pytest.mark.row("001 3-3.f")
def test_joined_questions_are_whole_different_and_within_512_bytes() -> None:
    korean = "가" * 150 + "?"  # 451 bytes
    assert join_questions(["A?", "", "A?", "B\n?", korean]) == (f"A? B ? {korean}", 0)
    assert join_questions([korean, "나" * 20 + "?", "C?"]) == (f"{korean} C?", 1)


ASKED = "어느 국가에 적용되나요? "
LONG = "which of the countries and regions and " * 30


@pytest.mark.row("001 9.b", "I10")
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("가" * 170 + "??", "가" * 170 + "??"),  # within the limit
        (ASKED * 30, (ASKED * 15).rstrip()),  # 15 questions are 509 bytes with a blank
        # An early end is not worth most of a question.
        *((start + LONG, (start + LONG)[:512]) for start in ("e.g. ", "Early? ")),
        ("see https://x.y/a?b=1 and " + LONG, ("see https://x.y/a?b=1 and " + LONG)[:512]),
        # Without an end it is cut between characters.
        ("가" * 300, "가" * 170),
        ("x" + "😀" * 200, "x" + "😀" * 127),
    ],
)
def test_a_long_question_ends_at_a_question_where_it_can(text: str, kept: str) -> None:
    used_bytes = len(text.encode())
    assert fit_question(text) == (kept, 0 if used_bytes <= 512 else used_bytes)


@pytest.mark.row("001 3-3.d")
def test_similar_topics_come_with_their_reason_and_the_broader_clean_one_is_kept() -> None:
    for one, two, reason, shared in TABLES["similar"]:
        [pair] = similar_topics([one, two])
        assert (pair.reason, pair.shared) == (reason, shared), (one, two)
    none_of(pair for pair in TABLES["not similar"] if similar_topics(pair))
    for one, two, kept in TABLES["kept"]:
        alike = next(iter(similar_topics([one, two])), None)
        pair = alike or SimilarTopics(topic=one, other=two, reason="spelling")
        assert topic_to_keep(pair) == kept, (one, two)
    found = similar_topics(["auth", "db", "auth-login", "db-migration"], among={"auth"})
    assert [(pair.topic, pair.other) for pair in found] == [("auth", "auth-login")]
    known = ["db", "authentication", "auth-api", "auth"]
    assert similar_to("auth", known) == ["auth-api", "authentication"]
