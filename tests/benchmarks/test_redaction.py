"""Tests the figures of benchmarks/redaction.py with redactors and texts of which all is known."""

import re
import sys
from pathlib import Path

import pytest

from core.sanitizer import Secret, find
from tests.support.secret_corpus import Case, a_case, cases, lookalikes, sentences
from tests.support.stdio_client import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

from redaction import (
    Find,
    counted,
    hostile_texts,
    on_corpus,
    on_lookalikes,
    on_own_texts,
    own_texts,
)


def hiding(*words: str) -> Find:
    """What finds these words and nothing else, each under its own name."""

    def found(text: str) -> list[Secret]:
        places = ((it.start(), word) for word in words for it in re.finditer(re.escape(word), text))
        return [Secret(start, start + len(word), word) for start, word in places]

    return found


def a_text(marked: str) -> Case:
    return a_case("edge", "kind", "place", marked)


def test_what_one_text_adds_to_the_figures() -> None:
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


def test_own_texts_are_paragraphs_with_their_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = "first " * 12, "second " * 12
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(f"# short\n\n{one}\n\n\n{two}\nmore\n", "utf-8")
    (tmp_path / "b.txt").write_text(f"{one}\n\n{'x' * 2_000}", "utf-8")
    (tmp_path / "c.bin").write_bytes(b"\0" + one.encode())
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "d").write_text(two, "utf-8")
    texts = own_texts(tmp_path)
    assert texts == [("b.txt:1", one), ("docs/a.md:6", f"{two}\nmore\n")]
    [figure] = on_own_texts(texts, hiding("second"))
    assert (figure.value, figure.note) == (50.0, "1 of 2")
    assert capsys.readouterr().out == "docs/a.md:6: second\n"


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
    figures = [*on_corpus(corpus, find), *on_lookalikes(harmless, find)]
    assert [it.line() for it in figures if it.is_missed] == []
    limited = [it for it in figures if it.least is not None or it.most is not None]
    assert len(limited) == 11
