"""Tests the corpus that measures the redactor: its places, its numbers, its repeatability."""

import random
import re
from collections import Counter
from itertools import pairwise

import pytest

from tests.support import secret_corpus
from tests.support.tables import none_of

pytestmark = pytest.mark.long  # like the floors of the redactor, which are all it is for

AT_LEAST = {"token": 3400, "structure": 480, "assignment": 1200, "prose": 700, "edge": 300}
LEFTOVER = re.compile(r"[«»‹›¦]|\{[A-Za-z]\d+(-\d+)?\}|\{(uuid|jwt|pem|pw|spw|word)\}")
PLACES = {
    "token": ("places of a token", "Korean places of a token"),
    "structure": ("places of a structure", "Korean places of a structure"),
    "edge": ("edges", "edges with a value of their own"),
}


@pytest.fixture(scope="module")
def corpus() -> list[secret_corpus.Case]:
    return secret_corpus.cases()


def test_each_family_and_language_has_its_share_and_so_have_lookalikes(
    corpus: list[secret_corpus.Case],
) -> None:
    found = Counter(case.family for case in corpus)
    korean = Counter(case.family for case in corpus if case.language == "ko")
    assert 5000 <= len(corpus) == len({case.text for case in corpus}) <= 7000
    assert all(found[family] >= least for family, least in AT_LEAST.items()), found
    assert all(0.45 <= korean[family] / found[family] <= 0.55 for family in AT_LEAST), korean
    assert all(
        (case.language == "ko") == bool(secret_corpus.HANGUL.search(case.text)) for case in corpus
    )
    families = Counter(kind.family for kind in secret_corpus.KINDS)
    assert (families["token"] >= 170, families["structure"] >= 60) == (True, True)
    assert 270 <= len(secret_corpus.KINDS) == len({kind.name for kind in secret_corpus.KINDS})
    none_of({kind.name for kind in secret_corpus.KINDS} - {case.kind for case in corpus})
    placed = {(case.family, case.placement) for case in corpus}
    for family, tables in PLACES.items():
        none_of(
            {(family, place) for name in tables for place in secret_corpus.TABLES[name]} - placed
        )
    none_of(set(secret_corpus.FORMATS) - {place.split("/")[0] for _, place in placed})
    texts = [text for _, text in secret_corpus.lookalikes()]
    korean_texts = sum(bool(secret_corpus.HANGUL.search(text)) for text in texts)
    assert 1100 <= len(texts) == len(set(texts))
    assert 0.45 <= korean_texts / len(texts) <= 0.55
    assert [text for _, text in secret_corpus.lookalikes()] == texts
    none_of(text for text in texts if LEFTOVER.search(text))
    none_of({*texts} & {case.text for case in corpus})


def test_secrets_lie_at_their_places_alone_and_are_fresh(corpus: list[secret_corpus.Case]) -> None:
    def is_sound(case: secret_corpus.Case) -> bool:
        places = sorted(case.secret_spans + case.label_spans)
        around = [f"{case.text[:start]}\n{case.text[end:]}" for start, end in case.secret_spans]
        secrets = [case.text[start:end] for start, end in case.secret_spans]
        return (
            all(0 <= start < end <= len(case.text) for start, end in places)
            and all(one[1] <= two[0] for one, two in pairwise(places))
            and not LEFTOVER.search(case.text)  # of a template
            and bool(secrets)
            and min(map(len, secrets)) >= 6
            and not any(it in rest for it, rest in zip(secrets, around, strict=True))
        )

    none_of(case for case in corpus if not is_sound(case))
    for kind in secret_corpus.KINDS:
        rng = random.Random(7)
        made = [secret_corpus.unmark(kind.make(rng)) for _ in range(8)]
        secrets = {text[start:end] for text, ((start, end),), _ in made}
        assert len(secrets) >= 7, kind.name
    assert secret_corpus.cases() == corpus != secret_corpus.cases(1)
