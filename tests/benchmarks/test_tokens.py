"""Tests what a session pays for the memory, what setup says of it, and what results are."""

import json
import sys
from pathlib import Path

import pytest

from commands.clients.setup import TOKENS
from tests.support.tables import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

from measure import Figure, record
from tokens import Count, costs, room_costs, session_costs, tokenizer

pytestmark = pytest.mark.filterwarnings("ignore:open_binary is deprecated")


@pytest.fixture(scope="module")
def count() -> Count:
    found = tokenizer()
    assert found, "bpe-openai of requirements-dev.txt is missing"
    return found


def test_a_session_and_the_tools_of_every_room_cost_what_is_promised_at_most(count: Count) -> None:
    limits = {it.name: it.most for it in costs(count) if it.most}
    assert list(limits.values()) == [900, 1_050, 1_200, 850, 1_700, 650]
    assert [it.line() for it in costs(count) if it.is_missed] == []


def test_setup_names_the_tokens_of_the_tools_of_each_room(count: Count) -> None:
    rooms = {room: parts["tools"] for room, parts in room_costs(count).items()}
    assert {"lessons": session_costs("en", count)["tools"], **rooms} == TOKENS


def test_a_figure_is_missed_outside_its_limits_and_recorded_with_its_day(tmp_path: Path) -> None:
    assert [Figure("x", value, least=1, most=2).is_missed for value in (0.9, 1, 2, 2.1)] == [
        *(True, False),
        *(False, True),
    ]
    path = tmp_path / "results.json"
    record("one", "what", {"a": 1, "b": 2}, path)
    record("two", "what", {"c": {"d": 0.12345678}}, path)
    record("one", "what", {"a": 3}, path)
    found = json.loads(path.read_text("utf-8"))
    assert [it["figures"] for it in found.values()] == [{"a": 3}, {"c": {"d": 0.123457}}]
    assert all(it["date"] and it["machine"] for it in found.values())
