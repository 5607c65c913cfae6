"""Tests that the figures of the documents are those that were measured."""

import re
import sys

import pytest

from commands.clients.table import TOOLS
from core.config import ROOMS
from tests.support.documents import names_in, rows_of, text_of
from tests.support.stdio_client import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

from tokens import room_costs, session_costs, tokenizer

READMES = ["README.md", "docs/README.ko.md"]
ENGLISH = "docs/rooms.md"
BOTH = [ENGLISH, "docs/rooms.ko.md"]
MOST_BYTES = 7_168
TOKENS, OF_TOOLS, FEWER, START, TIMES = range(5, 10)  # the rows of figures, by their number

pytestmark = pytest.mark.filterwarnings("ignore:open_binary is deprecated")


def figures(name: str, row: int) -> list[str]:
    """The figures of a row of the first table, from left to right."""
    return re.findall(r"\d[\d,.]*", " ".join(rows_of(name, 1)[row][1:]))


def round_trips(what: str) -> tuple[str, str]:
    """The round trip of a call at 1,000 records, of ours and of an echo, in ms."""
    pattern = rf"^\| {what} at 1,000 records: wall \| ([\d.]+) ms .*\| ([\d.]+) ms \([\d.]+ x\) \|$"
    [(ours, echo)] = re.findall(pattern, text_of("docs/benchmarks.md"), re.M)
    return ours, echo


def test_it_is_short() -> None:
    assert len(text_of(ENGLISH).encode()) <= MOST_BYTES


@pytest.mark.parametrize("name", BOTH)
def test_every_room_and_profile_has_its_tools(name: str) -> None:
    told = {names_in(row[0])[0]: names_in(row[1]) for row in rows_of(name, 4)}
    assert list(told) == [it for room, more in ROOMS.items() for it in _words(room, more)]
    assert told == {room: [*tools] if len(tools) < 7 else [] for room, tools in TOOLS.items()}


def _words(room: str, profiles: tuple[str, ...]) -> list[str]:
    return [room, *(f"{room}:{profile}" for profile in profiles)]


@pytest.mark.parametrize("name", BOTH)
def test_the_tokens_are_those_that_a_session_pays(name: str) -> None:
    count = tokenizer()
    assert count, "bpe-openai of requirements-dev.txt is missing"
    lessons = session_costs("en", count)
    rooms = room_costs(count)
    more = {
        room: parts["tools"] + parts["instructions"] + parts["rules, en"]
        for room, parts in rooms.items()
    }
    plain, core = ("sessions", "fragments"), ("sessions:core", "fragments:core")
    paid = [sum(lessons.values()), *(more[room] for room in plain)]
    assert figures(name, TOKENS) == [f"{it:,}" for it in paid]
    tools = [lessons["tools"], *(rooms[room]["tools"] for room in plain)]
    assert figures(name, OF_TOOLS) == [f"{it:,}" for it in tools]
    assert figures(name, FEWER) == [f"{more[room]:,}" for room in core]


@pytest.mark.parametrize("name", BOTH)
def test_the_times_are_those_that_were_measured(name: str) -> None:
    measured = text_of("benchmarks/README.md")
    [start] = re.findall(
        r"^\| wall time to the first answer \| ([\d.]+) s", text_of("docs/benchmarks.md"), re.M
    )
    warm = re.findall(r"a start costs ([\d.]+) x", measured)
    assert figures(name, START) == [start, *warm]
    lessons = [
        f"{float(a) - float(b):.1f}"
        for a, b in map(round_trips, ("save one more", "search one word"))
    ]
    [sessions] = re.findall(r"a search ([\d.]+) ms, .*a save ([\d.]+) ms", measured)
    [fragments] = re.findall(r"recall ([\d.]+), .*ms, remember ([\d.]+),", measured)
    assert figures(name, TIMES) == [*lessons, *reversed(sessions), *reversed(fragments)]


@pytest.mark.parametrize("name", READMES)
def test_each_row_of_the_costs_is_one_that_was_measured(name: str) -> None:
    rows = re.findall(r"^\| .+? \| (.+?) \| (.+?) \| (.+?) \|$", text_of(name), re.M)[1:]
    rows = [row for row in rows if "---" not in row[0]]
    assert len(rows) > 6
    measured = {
        tuple(re.sub(r" \(.*?\)", "", cell) for cell in row)
        for row in re.findall(
            r"^\| .+? \| ([^|]+) \| ([^|]+) \| ([^|]+) \|(?: [^|]+ \|)?$",
            text_of("docs/benchmarks.md"),
            re.M,
        )
    }
    text = "\n".join("\t".join(row) for row in rows)
    plain = text.replace("**", "").replace("없음, 오류", "none, an error").splitlines()
    assert [row for row in plain if tuple(row.split("\t")) not in measured] == []


@pytest.mark.parametrize("name", READMES)
def test_how_often_hooks_are_right_is_as_the_document_on_hooks_has_it(name: str) -> None:
    [line] = [line for line in text_of(name).splitlines() if "651" in line]
    hooks = text_of("docs/hooks.md")
    [every] = re.findall(r"^\| all \| (\d+) % .*?\| (\d+) % .*?\| (\d+) %", hooks, re.M)
    [anchored] = re.findall(r"^\| with `paths` or `when` \| \d+ % \| (\d+) %", hooks, re.M)
    right, found, silent = every
    assert "651 changes" in hooks
    assert re.findall(r"(\d+) ?%", line) == [found, anchored, right, silent]


def test_how_well_it_finds_is_as_it_was_measured() -> None:
    [_, row] = re.findall(
        r"^\| turns of a dialogue, \w+ half.*$", text_of("benchmarks/README.md"), re.M
    )
    ndcg, _, silent = (cell.split("; ") for cell in row.strip("| ").split(" | ")[1:])
    told = set(re.findall(r"\d+\.\d+|\d+(?= ?%)", text_of("docs/fragments.md")))
    parts = {f"{100 * float(it):.0f}" for it in silent[:2]}
    assert {*ndcg[:2], *parts} <= told
