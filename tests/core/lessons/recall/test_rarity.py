"""Tests how much a word tells, by how common it is in a project."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.lessons.action import Action
from core.lessons.rarity import Sample, Surroundings, surroundings_of
from tests.support.samples import a_record

RECORD = a_record(
    "who approves a refund",
    topic="refunds",
    lesson="Call approveRefund first.",
    paths=["src/refund.py", "src/**"],
    when=["approve("],
)


def test_where_nothing_is_known_every_word_tells_all() -> None:
    assert Surroundings().rarity("refund") == 1
    assert Surroundings().weight_of_anchor("**") == 1


@given(st.integers(1, 500), st.data())
def test_the_more_texts_have_a_term_the_less_it_tells(size: int, data: st.DataObject) -> None:
    fewer = data.draw(st.integers(0, size - 1))
    one, other = Sample(size, {"it": fewer}), Sample(size, {"it": fewer + 1})
    rarities = [Surroundings(changes=sample).rarity("it") for sample in (one, other)]
    assert 1 >= rarities[0] > rarities[1] > 0
    assert 1 >= one.telling("it") >= other.telling("it") > 0


def test_words_of_actions_count_like_those_of_changes() -> None:
    changes, actions = Sample(30, {"it": 10}), Sample(10, {"it": 10})
    together = Surroundings(changes=changes, actions=actions)
    assert together.size == 40
    assert together.rarity("it") == pytest.approx(
        Surroundings(changes=Sample(40, {"it": 20})).rarity("it")
    )


def test_only_what_the_records_have_is_counted() -> None:
    changes = [
        Action(paths=("src/refund.py",), text="approve(order)\nsecret = 'hunter2'"),
        Action(paths=("docs/a.md",), text="import approve\nother words", removed="a refund"),
    ]
    actions = Sample(3, {"refund": 2, "hunter": 1})
    around = surroundings_of([RECORD], changes, ["src/refund.py", "src/a.py", "b.md"], actions)
    assert around.changes == Sample(2, {"refund": 2, "approv": 1})
    assert around.actions == Sample(3, {"refund": 2})
    assert around.names == Sample(3, {"refund": 1})
    assert around.anchors == Sample(3, {"src/refund.py": 1, "src/**": 2})
    assert around.touched == Sample(2, {"src/refund.py": 1, "src/**": 1})
    assert around.triggers == Sample(2, {"approve(": 1})
