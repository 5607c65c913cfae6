"""Tests what is read of an action, and how much its words tell in a project."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.lessons.action import Action, Vocabulary, phrases_in, terms_of, tool_files
from core.lessons.recall import Candidate, Sample, Sought, Surroundings, surroundings_of
from tests.support.samples import a_record

PIECES = [*"ab9B_-. \nﬁ환불이İK", "is", "ok", "Foo", "bar", "ies", "ing", "s", "ｆ", "É"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(TEXTS, TEXTS)
def test_what_is_shared_is_what_both_have(one: str, other: str) -> None:
    assert Vocabulary(terms_of(one)).shared(other) == terms_of(one) & terms_of(other)


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("src/Payment/refund.py", "See refund.py.", {"refund.py"}),
        ("src/payment/refund.py", "All in Payment/refund.py", {"payment/refund.py"}),
        ("src/payment/refund.py", "what is below src/payment/", {"src/payment"}),
        ("src/payment/", "the folder src/payment", {"src/payment"}),
        ("src/payment/refund.py", "a payment is kept in vat.py", set()),
    ],
)
def test_a_text_is_searched_for_files_where_it_may_name_those_of_the_action(
    path: str, text: str, found: set[str]
) -> None:
    candidate = Candidate(a_record(lesson=text), Sought(Action(paths=(path,))), Surroundings())
    assert candidate.files == found


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("uv lock", {"uv.lock", "pyproject.toml"}),
        ("uv --quiet lock", {"uv.lock", "pyproject.toml"}),
        ("uv run pytest", set()),
        ("npm test", set()),
        ("npm --prefix web install left-pad", {"package.json", "package-lock.json"}),
        ("sudo terraform -chdir=infra apply", {"*.tf", "*.tfvars"}),
        ("CI=1 ./gradlew build | tee out", {"build.gradle", "build.gradle.kts"}),
        ("make && git push", {"makefile"}),
        ("", set()),
        ("|| && ;", set()),
    ],
)
def test_a_tool_works_on_files_that_its_command_does_not_name(
    command: str, files: set[str]
) -> None:
    found = set(tool_files(command))
    assert files <= found
    assert bool(files) == bool(found)


def test_a_command_that_writes_a_file_is_told_from_one_that_reads_it() -> None:
    assert tool_files("uv lock && make test") == {
        "uv.lock": True,
        "pyproject.toml": True,
        "makefile": False,
    }


def test_two_words_in_a_row_are_read_of_each_program() -> None:
    command = "sudo env A=1 git push --force origin main; uv run alembic upgrade head"
    assert set(phrases_in(command)) == {
        *("git push", "push origin", "origin main", "alembic upgrade", "upgrade head")
    }


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
