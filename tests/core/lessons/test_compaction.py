"""Tests what a compaction offers a model: groups, joined questions, similar topics."""

from dataclasses import replace

import pytest

from core.lessons.answers import is_required
from core.lessons.compaction import (
    group_by_topic,
    join_questions,
    need_for,
    shorten_question,
)
from core.lessons.record import new_record
from core.lessons.similar_topics import (
    SimilarTopics,
    closest_first,
    similar_to,
    similar_topics,
    topic_to_keep,
)
from tests.support.samples import NOW, a_principle, a_record


def test_where_every_topic_is_one_principle_nothing_is_required() -> None:
    """Reading such a memory again and again would otherwise ask for what nobody can do."""
    alone = [new_record(a_principle(topic=f"topic-{number}"), now=NOW) for number in range(51)]
    assert not is_required(alone, 50)
    assert is_required([*alone, a_record("one", topic="topic-7")], 50)
    assert is_required([*alone, new_record(a_principle(lesson="other"), now=NOW)], 51) is False


def test_groups_keep_the_order_of_the_file() -> None:
    one, two, three = (
        a_record("one", topic="b"),
        a_record("two", topic="a"),
        a_record("three", topic="b"),
    )
    groups = group_by_topic([one, two, three])
    assert [(group.topic, group.records) for group in groups] == [
        ("b", (one, three)),
        ("a", (two,)),
    ]


@pytest.mark.row("001 3-3.b")
def test_compaction_is_pointless_where_every_topic_is_one_principle() -> None:
    principle = new_record(a_principle(), now=NOW)
    compact = group_by_topic([principle])
    assert need_for(compact, 1, 50) == "pointless"
    assert need_for(compact, 51, 50) == "pointless"
    assert need_for(group_by_topic([principle, a_record()]), 51, 50) == "required"
    assert need_for(group_by_topic([principle, a_record()]), 2, 50) == "optional"


@pytest.mark.row("001 3-3.f")
def test_joined_questions_are_whole_different_and_within_512_bytes() -> None:
    korean = "가" * 150 + "?"  # 451 bytes
    assert join_questions(["A?", "", "A?", "B\n?", korean]) == (f"A? B ? {korean}", 0)
    assert join_questions([korean, "나" * 20 + "?", "C?"]) == (f"{korean} C?", 1)


def test_a_question_within_the_limit_is_not_shortened() -> None:
    assert shorten_question("가" * 170 + "??") == "가" * 170 + "??"


@pytest.mark.row("001 9.b", "I10")
def test_a_long_question_ends_at_a_question_where_it_can() -> None:
    text = "어느 국가에 적용되나요? " * 30
    shortened = shorten_question(text)
    assert text.startswith(shortened)
    assert shortened.endswith("?")
    assert 512 - len("어느 국가에 적용되나요? ".encode()) < len(shortened.encode()) <= 512


@pytest.mark.parametrize("start", ["e.g. ", "Early? ", "see https://x.y/a?b=1 and "])
def test_an_early_end_is_not_worth_most_of_a_question(start: str) -> None:
    text = start + "which of the countries and regions and " * 30
    assert shorten_question(text) == text[:512]


@pytest.mark.row("001 9.b", "I10")
def test_a_long_question_without_an_end_is_cut_between_characters() -> None:
    assert shorten_question("가" * 300) == "가" * 170
    assert shorten_question("x" + "😀" * 200) == "x" + "😀" * 127


@pytest.mark.row("001 3-3.d")
@pytest.mark.parametrize(
    ("one", "two", "reason", "shared"),
    [
        ("Auth", "auth", "case", "auth"),
        ("auth", "auth-login", "words", "auth"),
        ("login_auth", "auth/login", "words", "auth login"),
        ("ui form", "form.ui", "words", "form ui"),
        ("auth", "authentication", "prefix", "auth"),
        ("payment", "payments-api", "prefix", "payment"),
        ("결제", "결제모듈", "contains", "결제"),
        ("認証", "認証基盤", "contains", "認証"),
        ("api-gatway", "api-gateway", "spelling", ""),
        ("auth", "db", None, ""),
        ("ci", "cache", None, ""),
        ("css", "cssx", "spelling", ""),
        ("css", "cash", None, ""),
    ],
)
def test_similar_topics_come_with_their_reason(
    one: str, two: str, reason: str | None, shared: str
) -> None:
    found = [(pair.reason, pair.shared) for pair in similar_topics([one, two])]
    assert found == ([(reason, shared)] if reason else [])


@pytest.mark.parametrize(
    ("one", "other", "kept"),
    [
        ("auth", "auth-login", "auth"),
        ("auth-login", "auth", "auth"),
        ("login_bug_fix_2026", "login", "login"),
        ("login-ui", "login_bug_fix_2026", "login-ui"),
        ("code", "code-review", "code-review"),
        ("결제", "결제모듈", "결제"),
        ("auth", "authentication", ""),
        ("api-gatway", "api-gateway", ""),
        ("fix", "fix-login", ""),
    ],
)
def test_of_similar_topics_the_broader_clean_one_is_kept(one: str, other: str, kept: str) -> None:
    pair = next(iter(similar_topics([one, other])), None) or SimilarTopics(
        topic=one, other=other, reason="spelling"
    )
    assert topic_to_keep(pair) == kept


def test_a_shared_beginning_counts_letters_only() -> None:
    assert similar_topics(["v2-1-x", "v2-1-y-long-name-here"]) == []


def test_similar_topics_are_compared_with_all_even_for_one_target() -> None:
    found = similar_topics(["auth", "db", "auth-login", "db-migration"], among={"auth"})
    assert [(pair.topic, pair.other) for pair in found] == [("auth", "auth-login")]


def test_topics_like_a_new_one_come_closest_first() -> None:
    assert similar_to("auth", ["db", "authentication", "auth-api", "auth"]) == [
        "auth-api",
        "authentication",
    ]
    assert closest_first("aut", ["payment", "auth"]) == ["auth", "payment"]


def test_a_group_names_how_many_questions_did_not_fit() -> None:
    long = "가" * 160 + "?"
    records = [replace(a_record(str(number)), ask_next_time=f"{number}{long}") for number in (1, 2)]
    [group] = group_by_topic(records)
    assert (group.questions, group.questions_left_out) == (f"1{long}", 1)
