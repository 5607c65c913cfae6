"""Tests that the figures of the documents are those that were measured, and that none is typed."""

import json
import re
import sys

import pytest

from commands.clients.table import TOOLS
from core.config import ROOMS
from tests.support.documents import text_of
from tests.support.tables import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

from tokens import costs, tokenizer

RESULTS = json.loads(text_of("benchmarks/results.json"))
ENGLISH = "docs/rooms.md"
MOST_BYTES = 7_168
BLOCK = re.compile(r"^<!-- \[\[\[cog .*?^<!-- \[\[\[end\]\]\] -->$", re.M | re.S)
FIGURE = re.compile(r"\d ?(?:%|ms|MB|x)(?!\w)|\d s(?!\w)")
WHOLLY_GENERATED = ["README.md", "docs/README.ko.md", "docs/benchmarks.md", ENGLISH]
# How a ratio is read, what the method of the comparison is, and a limit of a file.
OF_THE_METHOD = ("0.50 x", "10 ms", "5 %", "1 MB", "1MB")

pytestmark = pytest.mark.filterwarnings("ignore:open_binary is deprecated")


def test_it_is_short() -> None:
    assert len(text_of(ENGLISH).encode()) <= MOST_BYTES


@pytest.mark.parametrize("name", [ENGLISH, "docs/rooms.ko.md"])
def test_every_room_and_profile_has_its_tools(name: str) -> None:
    rows = re.findall(r"^- `([a-z]+(?::[a-z]+)?)`: (.+)$", text_of(name), re.M)
    told = {room: re.findall(r"`(\w+)`", tools) for room, tools in rows}
    profiles = [(room, *(f"{room}:{it}" for it in more)) for room, more in ROOMS.items()]
    assert list(told) == [room for rooms in profiles for room in rooms]
    assert told == {room: [*tools] if len(tools) < 7 else [] for room, tools in TOOLS.items()}


def test_the_recorded_tokens_are_those_that_a_session_pays() -> None:
    """`python benchmarks/tokens.py --record` records them."""
    count = tokenizer()
    assert count, "bpe-openai of requirements-dev.txt is missing"
    recorded = RESULTS["tokens"]["figures"]
    now = {it.name: it.value for it in costs(count)}
    assert {name: recorded.get(name) for name in now} == now


def test_every_recorded_figure_has_its_day_machine_and_data() -> None:
    for part, it in RESULTS.items():
        is_unknown = it["date"] == "not known" and it.get("carried over")
        assert is_unknown or re.fullmatch(r"\d{4}-\d\d-\d\d", it["date"]), part
        assert it["figures"] and it["data"] and "processors" in it["machine"], part


@pytest.mark.parametrize("name", WHOLLY_GENERATED)
def test_no_measured_figure_is_typed(name: str) -> None:
    lines = BLOCK.sub("", text_of(name)).splitlines()
    typed = [line for line in lines if FIGURE.search(line)]
    assert [it for it in typed if not any(known in it for known in OF_THE_METHOD)] == []


def test_how_well_it_finds_is_as_it_was_measured() -> None:
    found = RESULTS["locomo"]["figures"]
    told = set(re.findall(r"\d+\.\d+|\d+(?= ?%)", text_of("docs/fragments.md")))
    for way in ("recall", "FTS5, any word"):
        half = f"turns, other half, {way}"
        assert f"{found[f'{half}: nDCG@10']:.3f}" in told
        assert f"{100 * found[f'{half}: silent']:.0f}" in told
