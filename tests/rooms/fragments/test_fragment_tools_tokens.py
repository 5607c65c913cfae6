"""Tests what the answers of the fragments cost, counted with a real tokenizer in both languages."""

from statistics import mean

import pytest

from core.messages import Language
from tests.support.costly import one_in
from tests.support.room_tools import FAILURES, Call, tokens_of

pytestmark = pytest.mark.parametrize("lang", ["en", "ko"])
FRAME: dict[Language, int] = {"en": 21, "ko": 21}  # of a line, beside its text
SAVED: dict[Language, int] = {"en": 12, "ko": 14}
CHANGED: dict[Language, int] = {"en": 30, "ko": 40}
COUNTS: dict[Language, int] = {"en": 130, "ko": 160}


@pytest.fixture
def speaks(database: object, lang: Language, monkeypatch: pytest.MonkeyPatch) -> Language:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", lang)
    return lang


def texts(lang: Language) -> list[str]:
    return [f"{what}: {why}" for what, why in FAILURES[lang]]


def keep(call: Call, lang: Language) -> list[str]:
    """Keep some errors; the answers."""
    return [call("remember", content=it, type="error", topic="checkout") for it in texts(lang)]


def test_a_save_answers_in_a_dozen_tokens(call: Call, speaks: Language) -> None:
    assert max(map(tokens_of, keep(call, speaks))) <= SAVED[speaks]


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.92")
def test_a_line_costs_some_twenty_tokens_beside_its_text(call: Call, speaks: Language) -> None:
    keep(call, speaks)
    lines = call("recall", includeLinks=False).splitlines()
    assert len(lines) == len(texts(speaks))
    bare = [line.partition(": ")[2] for line in lines]
    frames = [tokens_of(line) - tokens_of(text) for line, text in zip(lines, bare, strict=True)]
    assert mean(frames) <= FRAME[speaks]


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.12.o", "002 2.25")
@pytest.mark.parametrize("budget", one_in(3, [250, 120, 1_000]))
def test_an_answer_stays_within_its_budget(call: Call, budget: int, speaks: Language) -> None:
    for at in range(4):
        for text in texts(speaks):
            call("remember", content=f"{text} ({at})", type="error", topic="checkout")
    for tool in ("recall", "context"):
        said = call(tool, tokenBudget=budget)
        assert 0.3 * budget < tokens_of(said) <= 1.1 * budget  # by an estimate, not a tokenizer


@pytest.mark.long  # it costs much
def test_what_changes_is_said_shortly(call: Call, speaks: Language) -> None:
    one, two = ("".join(it.split(": ")[1].split(".")[0]) for it in keep(call, speaks)[:2])
    for tool, arguments in (
        ("link", {"fromId": one, "toId": two}),
        ("amend", {"id": one, "importance": 0.9}),
        ("pin", {"id": one}),
        ("unpin", {"id": one}),
        ("forget", {"id": one, "hard": True}),
        ("reflect", {"summary": texts(speaks)[0] * 2}),
    ):
        assert tokens_of(call(tool, **arguments)) <= CHANGED[speaks], tool
    assert tokens_of(call("memory_stats")) <= COUNTS[speaks]
