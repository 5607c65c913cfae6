"""Tests the corpus that measures the redactor: its places, its numbers, its repeatability."""

import random
import re
from collections import Counter
from itertools import pairwise

import pytest

from tests.support.lookalikes import lookalikes
from tests.support.secret_corpus import (
    EDGES,
    EDGES_WITH_OWN_VALUE,
    FORMATS,
    HANGUL,
    STRUCTURE_PLACES_EN,
    STRUCTURE_PLACES_KO,
    TOKEN_PLACES_EN,
    TOKEN_PLACES_KO,
    Case,
    cases,
)
from tests.support.secret_kinds import ALPHABETS, KINDS, fill, unmark

pytestmark = pytest.mark.long  # like the floors of the redactor, which are all it is for

AT_LEAST = {"token": 3400, "structure": 480, "assignment": 1200, "prose": 700, "edge": 300}
LEFTOVER = re.compile(r"[«»‹›]|\{[A-Za-z]\d+(-\d+)?\}|\{(uuid|jwt|pem|pw|spw|word)\}")


@pytest.fixture(scope="module")
def corpus() -> list[Case]:
    return cases()


def test_every_family_has_its_share_and_about_half_of_it_is_korean(corpus: list[Case]) -> None:
    found = Counter(case.family for case in corpus)
    korean = Counter(case.family for case in corpus if case.language == "ko")
    assert 5000 <= len(corpus) <= 7000
    assert set(found) == set(AT_LEAST)
    assert all(found[family] >= least for family, least in AT_LEAST.items()), found
    assert all(0.45 <= korean[family] / found[family] <= 0.55 for family in AT_LEAST), korean
    assert all((case.language == "ko") == bool(HANGUL.search(case.text)) for case in corpus)


def test_places_lie_within_the_text_and_a_secret_stands_nowhere_else(corpus: list[Case]) -> None:
    for case in corpus:
        places = sorted(case.secret_spans + case.label_spans)
        assert case.secret_spans, case
        assert all(0 <= start < end <= len(case.text) for start, end in places), case
        assert all(one[1] <= two[0] for one, two in pairwise(places)), case
        assert not LEFTOVER.search(case.text), case  # of a template
        for start, end in case.secret_spans:
            assert end - start >= 6, case
            assert case.text[start:end] not in f"{case.text[:start]}\n{case.text[end:]}", case


def test_the_kinds_are_many_and_every_kind_occurs(corpus: list[Case]) -> None:
    families = Counter(kind.family for kind in KINDS)
    assert len(KINDS) >= 270
    assert families["token"] >= 170
    assert families["structure"] >= 60
    assert len({kind.name for kind in KINDS}) == len(KINDS)
    assert not {kind.name for kind in KINDS} - {case.kind for case in corpus}


def test_every_placement_occurs(corpus: list[Case]) -> None:
    found = {(case.family, case.placement) for case in corpus}
    for family, places in (
        ("token", {**TOKEN_PLACES_EN, **TOKEN_PLACES_KO}),
        ("structure", {**STRUCTURE_PLACES_EN, **STRUCTURE_PLACES_KO}),
        ("edge", {**EDGES, **EDGES_WITH_OWN_VALUE}),
    ):
        assert not {(family, place) for place in places} - found
    assert not set(FORMATS) - {place.split("/")[0] for _, place in found}


def test_a_kind_makes_a_fresh_secret_every_time() -> None:
    for kind in KINDS:
        rng = random.Random(7)
        made = [kind.make(rng) for _ in range(8)]
        assert len({it.text[it.start : it.end] for it in made}) >= 7, kind.name
        for it in made:
            assert unmark(it.marked()) == (it.text, ((it.start, it.end),), it.labels)


def test_the_same_seed_gives_the_same_cases(corpus: list[Case]) -> None:
    assert cases() == corpus
    assert cases(1) != corpus
    assert len({case.text for case in corpus}) == len(corpus)


def test_filling_uses_the_alphabet_and_the_length() -> None:
    rng = random.Random(3)
    for letter, alphabet in ALPHABETS.items():
        text = fill(f"{{{letter}30-40}}", rng)
        assert 30 <= len(text) <= 40
        assert set(text) <= set(alphabet)


def test_lookalikes_are_many_different_and_half_korean(corpus: list[Case]) -> None:
    found = lookalikes()
    texts = [text for _, text in found]
    korean = sum(bool(HANGUL.search(text)) for text in texts)
    assert len(texts) >= 1100
    assert len(set(texts)) == len(texts)
    assert 0.45 <= korean / len(texts) <= 0.55
    assert lookalikes() == found
    assert not [text for text in texts if re.search(r"[«»‹›¦]|\{[a-zA-Z]\d", text)]
    assert not {*texts} & {case.text for case in corpus}
