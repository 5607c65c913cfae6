"""Tests the language, length and figures of the documents, and that both editions agree."""

import json
import re
import sys

import pytest

from commands.clients.table import CLIENTS, TOOLS
from commands.terminal.screen import cells
from core.config import ROOMS
from tests.support.documents import DOCUMENTS, EDITIONS, blocks, prose, text_of
from tests.support.sentences import sentences
from tests.support.tables import ROOT, none_of, table

sys.path.insert(0, str(ROOT / "benchmarks"))

from tokens import costs, tokenizer

READMES = ["README.md", "docs/README.ko.md"]
PAIRS = [READMES, *EDITIONS]
KOREAN = [name for name in DOCUMENTS if name.endswith(".ko.md")]
ENGLISH = [name for name in DOCUMENTS if name.endswith(".md") and name not in KOREAN]
# A term that reads translated, and the term of a Korean engineer.
TERMS: dict[str, str] = table("translated_terms")
# *Room* is 기억 종류; 방 would be one of a chat. 방법, 방식, 방금, 방지 and 방향 are other words.
A_ROOM = re.compile("(?<![가-힣])방(?!법|식|금|지|향).*")
# A sentence that ends in neither 해요체, as instructions do, nor 합니다체, as statements do.
WRONG_REGISTER = re.compile(r"[^.\n]*십시오|[^.\n]*(?<!니)다[.](?=\s|$)")
# Phrases that read translated: a word-for-word idiom, or a sentence without anybody who acts.
IDIOMS = re.compile(
    r"\b(?:stands? (?!alone)|stood\b|as (?:it|they) came\b|nobody is there\b|Missing then\b"
    r"|where it is valid\b|pass(?:es|ed)? over\b|speaks by itself|gives back what)"
)


def test_each_language_reads_as_its_speakers_write_it() -> None:
    faults = []
    for name in KOREAN:
        text = prose(text_of(name))
        faults += [f"{name}: {it} -> {better}" for it, better in TERMS.items() if it in text]
        faults += [f"{name}: {it.strip()}" for it in WRONG_REGISTER.findall(text)]
    for name in set(ENGLISH) - {"CHANGELOG.md"}:  # a history
        faults += [f"{name}: {it}" for it in IDIOMS.findall(prose(text_of(name)))]
    none_of(faults)


def test_no_korean_sentence_calls_a_kind_of_memory_a_room() -> None:
    texts = {name: text_of(name) for name in [*KOREAN, "core/data/rules.ko.md"]} | sentences("ko")
    assert {it.partition(".")[0] for it in texts} >= {"help", "fragments", "sessions", "http"}
    none_of(f"{name}: {found}" for name, text in texts.items() for found in A_ROOM.findall(text))


def typed(text: str, language: str) -> list[str]:
    """The lines of the blocks, without comments and the choice of a language."""
    lines = [line for block in blocks(text, language) for line in block.splitlines()]
    return [re.sub(r"SENTINEL_MEMORY_LANG=ko | +# .*", "", line) for line in lines]


def figures(row: str) -> list[str]:
    row = row.replace("Ten ", "10 ").replace("twelve ", "12 ")
    return sorted(it.strip(",.") for it in re.findall(r"\d[\d,.]*", row))


@pytest.mark.parametrize("editions", PAIRS, ids=[pair[0] for pair in PAIRS])
def test_both_editions_have_the_same_parts_commands_and_figures(editions: list[str]) -> None:
    english, korean = (text_of(name) for name in editions)
    for pattern in (r"^(#+) ", r"^(\|)", r"^( *[-*] |\d\. )", r"^(```\w*)$", r"(<details>)"):
        assert re.findall(pattern, english, re.M) == re.findall(pattern, korean, re.M), pattern
    for language in ("sh", "powershell", "yaml", "toml"):
        assert typed(english, language) == typed(korean, language)
    rows = [re.findall(r"^(?:\||- ).*$", prose(text), re.M) for text in (english, korean)]
    none_of(theirs for ours, theirs in zip(*rows, strict=True) if figures(ours) != figures(theirs))


def test_a_fact_has_one_owner_and_the_others_link_to_it() -> None:
    owners = {"- id: sentinel-memory-": "ci", '"mcpServers": {\n': "clients"}
    owners |= dict.fromkeys(("[[[cog settings()", '[[[cog limits("lessons")'), "reference")
    for fact, owner in owners.items():
        assert {it for it in DOCUMENTS if fact in text_of(it)} == {f"docs/{owner}.md"}, fact


@pytest.mark.parametrize(("name", "most_bytes"), [(READMES[0], 10_000), (READMES[1], 12_000)])
def test_the_readme_is_short_narrow_and_names_every_client(name: str, most_bytes: int) -> None:
    """A browser shows some 96 cells of a block in a page of 1,000 pixels; a lesson reads at 72."""
    text = text_of(name)
    assert len(text.encode()) <= most_bytes
    first = "## ".join(text.split("## ")[:2])  # the introduction, and how to install
    [lesson], [install] = blocks(first, "text"), blocks(first, "sh")
    assert max(map(cells, lesson.splitlines())) <= 72
    assert max(map(cells, install.splitlines())) <= 96
    introduction, rest = text.split("\n## ", 1)
    none_of(client.name for client in CLIENTS if client.name not in introduction)
    none_of(client.key for client in CLIENTS if f"`{client.key}`" not in rest)
    without = {client.name for client in CLIENTS if not client.hooks and client.key != "copilot"}
    assert without == {"Claude Desktop"}  # as its sentence says


# Figures: those that were measured, and none of them typed.

RESULTS = json.loads(text_of("benchmarks/results.json"))
ROOMS_PAGE = "docs/rooms.md"
MOST_BYTES = 7_168
BLOCK = re.compile(r"^<!-- \[\[\[cog .*?^<!-- \[\[\[end\]\]\] -->$", re.M | re.S)
FIGURE = re.compile(r"\d ?(?:%|ms|MB|x)(?!\w)|\d s(?!\w)")
WHOLLY_GENERATED = ["README.md", "docs/README.ko.md", "docs/benchmarks.md", ROOMS_PAGE]
# How a ratio is read, the method of the comparison, and a limit of a file.
OF_THE_METHOD = ("0.50 x", "10 ms", "5 %", "1 MB", "1MB")


@pytest.mark.parametrize("name", [ROOMS_PAGE, "docs/rooms.ko.md"])
def test_the_page_of_rooms_is_short_and_names_every_room_and_profile_with_its_tools(
    name: str,
) -> None:
    assert name != ROOMS_PAGE or len(text_of(name).encode()) <= MOST_BYTES
    rows = re.findall(r"^- `([a-z]+(?::[a-z]+)?)`: (.+)$", text_of(name), re.M)
    told = {room: re.findall(r"`(\w+)`", tools) for room, tools in rows}
    profiles = [(room, *(f"{room}:{it}" for it in more)) for room, more in ROOMS.items()]
    assert list(told) == [room for rooms in profiles for room in rooms]
    assert told == {room: [*tools] if len(tools) < 7 else [] for room, tools in TOOLS.items()}


@pytest.mark.filterwarnings("ignore:open_binary is deprecated")
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
