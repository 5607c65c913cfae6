"""Tests what the answers of the sessions cost, counted with a real tokenizer in both languages."""

from pathlib import Path
from statistics import mean

import pytest

import server
from core.messages import Language
from rooms.sessions.hints import hint
from rooms.sessions.store import SessionStore
from tests.support.room import act
from tests.support.sentences import in_language
from tests.support.session_samples import keep, sample_sessions
from tests.support.session_tools import FAILURES, GOALS, Call, tokens_of, work

pytestmark = pytest.mark.parametrize("lang", ["en", "ko"])
HINT: dict[Language, int] = {"en": 21, "ko": 34}
WARNING: dict[Language, int] = {"en": 100, "ko": 160}
SAVE, WHOLE = 50, 540
FIVE: dict[Language, int] = {"en": 200, "ko": 200}
TWENTY: dict[Language, int] = {"en": 470, "ko": 570}


@pytest.fixture
def speaks(project: Path, lang: Language, monkeypatch: pytest.MonkeyPatch) -> Language:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", lang)
    return lang


def is_korean(text: str) -> bool:
    return any("가" <= char <= "힣" for char in text)


@pytest.mark.row("003 T20", "003 T24")
def test_a_hint_costs_some_twenty_tokens(lang: Language) -> None:
    goals = [it for it, _ in sample_sessions(200) if is_korean(it.goal) == (lang == "ko")]
    counts = [tokens_of(in_language(lang, hint, it)) for it in goals]
    assert mean(counts) <= HINT[lang]
    assert max(counts) <= HINT[lang] + 4


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T23", "003 T35")
def test_a_save_answers_in_fifty_tokens_with_related_sessions(call: Call, speaks: Language) -> None:
    for at in range(6):
        arguments = {**work(speaks, at), "approaches": None}
        said = call("context_save", **arguments)
        assert tokens_of(said) <= SAVE
    assert "\n#" in said


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T21", "003 T90")
def test_a_warning_costs_little_and_the_team_comes_first(call: Call, speaks: Language) -> None:
    for at in range(8):
        call("context_save", **work(speaks, at))
    goal = GOALS[speaks].format(at=9)
    assert 60 < tokens_of(call("context_warn", currentGoal=goal)) <= WARNING[speaks]
    for topic, (what, why) in zip(("checkout", "upload", "login"), FAILURES[speaks], strict=False):
        server.log_memory(topic, f"{goal}: {why}", f"{what}. {why}. {goal}")
    said = call("context_warn", currentGoal=goal)
    assert said.startswith("lesson ")
    assert "\n! #" in said
    assert tokens_of(said) <= WARNING[speaks]


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T20", "003 T24", "003 T25", "003 T67")
def test_a_search_costs_ten_times_less_than_the_sessions(
    call: Call, store: SessionStore, speaks: Language
) -> None:
    sessions = [it for it in sample_sessions(200) if is_korean(it[0].goal) == (speaks == "ko")]
    keep(store, sessions)
    assert tokens_of(call("context_search", query=sessions[0][0].goal)) <= FIVE[speaks]
    assert tokens_of(call("context_search", limit=20)) <= TWENTY[speaks]


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T22")
def test_one_session_costs_some_five_hundred_however_much_it_holds(
    call: Call, store: SessionStore, speaks: Language
) -> None:
    tried = [
        {"description": f"{what} {at}", "result": "failed", "reason": why}
        for at in range(8)
        for what, why in FAILURES[speaks]
    ]
    goal = GOALS[speaks].format(at=1)
    summary = " ".join(why + "." for _, why in FAILURES[speaks] * 10)[:2_000]
    call("context_save", goal=goal, summary=summary, approaches=tried[:60], tags=["checkout"])
    call("context_save", goal=f"{goal} 2", parentId="1")
    act(store, store.get("1"), *[f"python -m pytest tests/{at}" for at in range(9)])
    said = call("context_get", id=1, includeChain=True)
    assert 400 < tokens_of(said) <= WHOLE
