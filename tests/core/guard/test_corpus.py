"""Tests the corpus that measures the redactor: its places, its numbers, its repeatability."""

import random
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import pytest

from tests.core.guard import secret_corpus
from tests.core.guard.secret_corpus import FORMATS, HANGUL, KINDS, TABLES, Case, lookalikes
from tests.support.tables import none_of

AT_LEAST = {"token": 3400, "structure": 480, "assignment": 1200, "prose": 700, "edge": 300}
LEFTOVER = re.compile(r"[«»‹›¦]|\{[A-Za-z]\d+(-\d+)?\}|\{(uuid|jwt|pem|pw|spw|word)\}")
PLACES = {
    "token": ("places of a token", "Korean places of a token"),
    "structure": ("places of a structure", "Korean places of a structure"),
    "edge": ("edges", "edges with a value of their own"),
}


def are_half_korean(texts: Sequence[str]) -> bool:
    return 0.45 <= sum(bool(HANGUL.search(text)) for text in texts) / len(texts) <= 0.55


@pytest.mark.long  # like the floors of the redactor, which are all it is for
def test_each_kind_and_language_has_its_share_and_secrets_lie_at_their_places_alone() -> None:
    corpus = secret_corpus.cases()
    assert 5000 <= len(corpus) == len({case.text for case in corpus}) <= 7000
    none_of(case for case in corpus if (case.language == "ko") != bool(HANGUL.search(case.text)))
    for family, least in AT_LEAST.items():
        texts = [case.text for case in corpus if case.family == family]
        assert len(texts) >= least and are_half_korean(texts), family
    families = Counter(kind.family for kind in KINDS)
    assert families["token"] >= 170 and families["structure"] >= 60
    assert 270 <= len(KINDS) == len({kind.name for kind in KINDS})
    none_of({kind.name for kind in KINDS} - {case.kind for case in corpus})
    placed = {(case.family, case.placement) for case in corpus}
    wanted = {(family, at) for family, names in PLACES.items() for it in names for at in TABLES[it]}
    none_of(wanted - placed)
    none_of(set(FORMATS) - {place.split("/")[0] for _, place in placed})

    def is_sound(case: Case) -> bool:
        places = sorted(case.secret_spans + case.label_spans)
        around = [f"{case.text[:start]}\n{case.text[end:]}" for start, end in case.secret_spans]
        secrets = [case.text[start:end] for start, end in case.secret_spans]
        return (
            all(0 <= start < end <= len(case.text) for start, end in places)
            and all(one[1] <= two[0] for one, two in pairwise(places))
            and not LEFTOVER.search(case.text)  # of a template
            and min(map(len, secrets), default=0) >= 6
            and not any(it in rest for it, rest in zip(secrets, around, strict=True))
        )

    none_of(case for case in corpus if not is_sound(case))
    for kind in KINDS:  # fresh ones
        rng = random.Random(7)
        made = [secret_corpus.unmark(kind.make(rng)) for _ in range(8)]
        assert len({text[start:end] for text, ((start, end),), _ in made}) >= 7, kind.name
    assert secret_corpus.cases() == corpus != secret_corpus.cases(1)
    texts = [text for _, text in lookalikes()]
    assert 1100 <= len(texts) == len(set(texts)) and are_half_korean(texts)
    assert [text for _, text in lookalikes()] == texts
    none_of(text for text in texts if LEFTOVER.search(text))
    none_of({*texts} & {case.text for case in corpus})
