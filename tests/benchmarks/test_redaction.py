"""Tests the figures of benchmarks/redaction.py with redactors and texts of which all is known."""

import re
import sys
from pathlib import Path

import pytest

from core.sanitizer import Secret, find
from tests.support.secret_corpus import Case, a_case, cases, lookalikes, sentences

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from redaction import (
    FLOORS,
    Figure,
    Find,
    counted,
    hostile_texts,
    missed,
    on_clock,
    on_corpus,
    on_lookalikes,
    on_own_texts,
    own_texts,
    table,
)


def hiding(*words: str) -> Find:
    """What finds these words and nothing else, each under its own name."""

    def found(text: str) -> list[Secret]:
        places = ((it.start(), word) for word in words for it in re.finditer(re.escape(word), text))
        return [Secret(start, start + len(word), word) for start, word in places]

    return found


def a_text(marked: str) -> Case:
    return a_case("edge", "kind", "place", marked)


def test_a_half_covered_secret_does_not_count() -> None:
    case = a_text("‹pw› one «abcdefgh» two «ijklmnop»")
    count = counted(case, hiding("abcd", "ijklmnop"))
    assert (count["secrets"], count["caught"]) == (2, 1)
    assert counted(case, hiding("abcd", "efgh", "ijklmnop"))["caught"] == 2


def test_innocent_characters_and_labels_are_counted_without_the_signs_beside_a_secret() -> None:
    case = a_text('‹user›: "‹ann›", ‹pw›: "«abcdefgh»" ok')
    assert counted(case, hiding("abcdefgh"))["innocent"] == len('user: "ann", pw') + len("ok")
    exact = counted(case, hiding('pw: "abcdefgh" o'))
    assert (exact["lost"], exact["labels"], exact["kept"]) == (3, 3, 2)
    assert counted(case, hiding('"abcdefgh" '))["lost"] == 0
    assert counted(case, hiding("ser"))["kept"] == 2


def test_guards_of_a_key_are_neutral() -> None:
    begin, end = (f"-----{word} PRIVATE KEY-----" for word in ("BEGIN", "END"))
    case = a_text(f"see\n{begin}\n«abcdefgh»\n{end}\nend")
    everything = counted(case, hiding(case.text))
    assert (everything["caught"], everything["innocent"], everything["lost"]) == (1, 8, 8)


def test_a_second_redaction_that_changes_something_is_seen() -> None:
    case = a_text("pw «abcdefgh»")
    assert counted(case, hiding("abcdefgh"))["unstable"] == 0
    assert counted(case, hiding("abcdefgh", "REDACTED"))["unstable"] == 1


def test_shares_are_split_by_family_and_language() -> None:
    corpus = [a_text("pw «abcdefgh»"), a_text("암호 «ijklmnop»")]
    figures = on_corpus(corpus, hiding("abcdefgh"))
    assert figures["caught whole, edge"] == Figure(50.0, "%", "en 100.00, ko 0.00")
    assert figures["caught whole, token"].value == 0
    changed = on_lookalikes(["one", "two", "셋", "넷"], hiding("one"))["look-alikes changed"]
    assert changed == Figure(25.0, "%", "en 50.00, ko 0.00")


def test_a_missed_floor_is_told_and_the_best_round_decides() -> None:
    good = {"labels kept": Figure(98.0, "%"), "time, 100 KB of text": Figure(9e9, "ms", best=1.0)}
    assert missed(good) == []
    bad = {"labels kept": Figure(97.9, "%"), "look-alikes changed": Figure(0.6, "%")}
    assert [line.split(":")[0] for line in missed(bad)] == ["labels kept", "look-alikes changed"]


def test_every_floor_has_its_figure_and_every_figure_its_row() -> None:
    nothing = hiding()
    figures = {
        **on_corpus([a_text("pw «abcdefgh»")], nothing),
        **on_lookalikes(["one"], nothing),
        **on_clock(["one two"], ["three"], ["a" * 1_000, "b" * 1_000], nothing),
    }
    assert FLOORS.keys() <= figures.keys()
    assert [row[0] for row in table(figures)[1:]] == list(figures)


def test_own_texts_are_paragraphs_with_their_places(tmp_path: Path) -> None:
    one, two = "first " * 12, "second " * 12
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(f"# short\n\n{one}\n\n\n{two}\nmore\n", "utf-8")
    (tmp_path / "b.txt").write_text(f"{one}\n\n{'x' * 2_000}", "utf-8")
    (tmp_path / "c.bin").write_bytes(b"\0" + one.encode())
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "d").write_text(two, "utf-8")
    texts = own_texts(tmp_path)
    assert texts == [("b.txt:1", one), ("docs/a.md:6", f"{two}\nmore\n")]
    figures, rows = on_own_texts(texts, hiding("second"))
    assert figures == {"own texts changed": Figure(50.0, "%", "1 of 2; en 50.00, ko 0.00")}
    assert rows == [("docs/a.md:6", "second")]


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
    figures = on_corpus(corpus, find) | on_lookalikes([text for _, text in lookalikes(seed)], find)
    assert missed(figures) == []
    assert len(FLOORS.keys() & figures.keys()) == 11
