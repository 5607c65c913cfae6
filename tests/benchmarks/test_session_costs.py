"""Tests what a session pays for the memory: its limits, and the figures of the reference."""

import re
import sys
from pathlib import Path

import pytest

from commands.clients.setup import TOKENS
from tests.support.stdio_client import ROOT

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from tokens import (
    MOST_OF_A_SESSION,
    MOST_OF_ROOMS,
    STARTS,
    Count,
    room_costs,
    session_costs,
    start_cost,
    tokenizer,
)

pytestmark = pytest.mark.filterwarnings("ignore:open_binary is deprecated")


@pytest.fixture(scope="module")
def count() -> Count:
    found = tokenizer()
    assert found, "bpe-openai of requirements-dev.txt is missing"
    return found


@pytest.mark.long  # it costs much
def test_a_session_pays_at_most_900_tokens_and_1050_with_korean_rules(count: Count) -> None:
    paid = {lang: sum(session_costs(lang, count).values()) for lang in MOST_OF_A_SESSION}
    assert MOST_OF_A_SESSION == {"en": 900, "ko": 1_050}
    assert {lang: total for lang, total in paid.items() if total > MOST_OF_A_SESSION[lang]} == {}


def test_the_tools_of_every_other_room_cost_what_is_promised_at_most(count: Count) -> None:
    costs = room_costs(count)
    assert MOST_OF_ROOMS == {
        "sessions": 1_200,
        "sessions:core": 850,
        "fragments": 1_700,
        "fragments:core": 650,
    }
    assert {it: parts["tools"] <= MOST_OF_ROOMS[it] for it, parts in costs.items()} == (
        dict.fromkeys(MOST_OF_ROOMS, True)
    )


def test_setup_names_the_tokens_of_the_tools_of_each_room(count: Count) -> None:
    rooms = {room: parts["tools"] for room, parts in room_costs(count).items()}
    assert {"lessons": session_costs("en", count)["tools"], **rooms} == TOKENS


def test_the_reference_counts_what_a_session_pays(count: Count) -> None:
    english, korean = (session_costs(lang, count) for lang in MOST_OF_A_SESSION)
    figures = [sum(english.values()), *english.values(), sum(korean.values())]
    for records in STARTS:
        figures += [records, start_cost(records, count)]
    reference = (ROOT / "docs/reference.md").read_text("utf-8")
    [line] = re.findall(r"^- \*\*Tokens\*\*: (.+)$", reference, re.M)
    assert re.findall(r"\d+(?:,\d{3})*", line)[: len(figures)] == [f"{it:,}" for it in figures]
