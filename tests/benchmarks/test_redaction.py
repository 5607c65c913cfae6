"""Tests the figures of redaction, with redactors of which all is known, and the cost of tools."""

import json
import re
import sys
from pathlib import Path

import pytest

from commands.clients.setup import TOKENS
from core.sanitizer import Secret, find_secrets
from tests.core.guard.secret_corpus import Case, a_case, cases, lookalikes, sentences
from tests.support.tables import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

from measure import Figure, record
from redaction import Find, counted, hostile_texts, on_corpus, on_lookalikes
from tokens import Count, costs, room_costs, session_costs, tokenizer

pytestmark = pytest.mark.filterwarnings("ignore:open_binary is deprecated")


def hiding(*words: str) -> Find:
    """A redactor that finds only these words, each under its own name."""

    def found(text: str) -> list[Secret]:
        places = ((it.start(), word) for word in words for it in re.finditer(re.escape(word), text))
        return [Secret(start, start + len(word), word) for start, word in places]

    return found


def a_text(marked: str) -> Case:
    return a_case("edge", "kind", "place", marked)


def test_each_text_adds_its_secrets_to_the_figures() -> None:
    case = a_text("‹pw› one «abcdefgh» two «ijklmnop»")
    half = counted(case, hiding("abcd", "ijklmnop"))  # half a secret counts as none
    assert (half["secrets"], half["caught"]) == (2, 1)
    assert counted(case, hiding("abcd", "efgh", "ijklmnop"))["caught"] == 2
    # The signs beside a secret are neither innocent nor secret.
    case = a_text('‹user›: "‹ann›", ‹pw›: "«abcdefgh»" ok')
    assert counted(case, hiding("abcdefgh"))["innocent"] == len('user: "ann", pw') + len("ok")
    exact = counted(case, hiding('pw: "abcdefgh" o'))
    assert (exact["lost"], exact["labels"], exact["kept"]) == (3, 3, 2)
    assert counted(case, hiding('"abcdefgh" '))["lost"] == 0
    assert counted(case, hiding("ser"))["kept"] == 2
    # So are the guards of a key.
    begin, end = (f"-----{word} PRIVATE KEY-----" for word in ("BEGIN", "END"))
    case = a_text(f"see\n{begin}\n«abcdefgh»\n{end}\nend")
    everything = counted(case, hiding(case.text))
    assert (everything["caught"], everything["innocent"], everything["lost"]) == (1, 8, 8)
    case = a_text("pw «abcdefgh»")
    assert counted(case, hiding("abcdefgh"))["unstable"] == 0
    assert counted(case, hiding("abcdefgh", "REDACTED"))["unstable"] == 1


def test_shares_are_by_family_and_language_and_a_missed_floor_is_told() -> None:
    corpus = [a_text("pw «abcdefgh»"), a_text("암호 «ijklmnop»")]
    figures = {it.name: it for it in on_corpus(corpus, hiding("abcdefgh"))}
    edge = figures["caught whole, edge"]
    assert (edge.value, edge.note, edge.is_missed) == (50.0, "en 100.00, ko 0.00", True)
    assert not figures["second redaction changes"].is_missed
    changed, _ = on_lookalikes(["one", "two", "셋", "넷"], hiding("one"))
    assert (changed.value, changed.is_missed) == (25.0, True)


@pytest.mark.long  # it costs much
def test_hostile_texts_have_their_length_and_are_the_same_every_time() -> None:
    texts = hostile_texts(1)
    assert len(texts) > 1_000
    assert {len(text) for text in texts} == {1_000}
    assert texts == hostile_texts(1)


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 20])
def test_our_redactor_reaches_its_floors_on_the_corpus(seed: int) -> None:
    corpus = [*cases(seed), *sentences(seed)]
    harmless = [text for _, text in lookalikes(seed)]
    figures = [*on_corpus(corpus, find_secrets), *on_lookalikes(harmless, find_secrets)]
    assert [it.line() for it in figures if it.is_missed] == []
    limited = [it for it in figures if it.least is not None or it.most is not None]
    assert len(limited) == 11


# The cost of the tools.


@pytest.fixture(scope="module")
def count() -> Count:
    found = tokenizer()
    assert found, "bpe-openai of requirements-dev.txt is missing"
    return found


def test_a_session_and_the_tools_of_every_room_cost_no_more_than_promised(count: Count) -> None:
    limits = {it.name: it.most for it in costs(count) if it.most}
    assert list(limits.values()) == [900, 1_050, 1_200, 850, 1_700, 650]
    assert [it.line() for it in costs(count) if it.is_missed] == []


def test_setup_names_the_tokens_of_the_tools_of_each_room(count: Count) -> None:
    rooms = {room: parts["tools"] for room, parts in room_costs(count).items()}
    assert {"lessons": session_costs("en", count)["tools"], **rooms} == TOKENS


def test_a_figure_is_missed_outside_its_limits_and_recorded_with_its_day(tmp_path: Path) -> None:
    missed = [Figure("x", value, least=1, most=2).is_missed for value in (0.9, 1, 2, 2.1)]
    assert missed == [True, False, False, True]
    path = tmp_path / "results.json"
    record("one", "what", {"a": 1, "b": 2}, path)
    record("two", "what", {"c": {"d": 0.12345678}}, path)
    record("one", "what", {"a": 3}, path)
    found = json.loads(path.read_text("utf-8"))
    assert [it["figures"] for it in found.values()] == [{"a": 3}, {"c": {"d": 0.123457}}]
    assert all(it["date"] and it["machine"] for it in found.values())
