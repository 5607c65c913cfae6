"""Tests that secrets in sentences without a known shape go, whatever words stand around them."""

from collections import Counter
from functools import cache

import pytest

from core.sanitizer import Secret, find
from tests.support.rows import none_of
from tests.support.secret_corpus import Case
from tests.support.secret_sentences import sentences

LEAST = {"password-en": 0.94, "password-ko": 0.94, "key-en": 0.95, "key-ko": 0.97}


@cache
def looked_at(seed: int) -> tuple[tuple[Case, tuple[Secret, ...]], ...]:
    """Return every sentence with what is found in it."""
    return tuple((case, tuple(find(case.text))) for case in sentences(seed))


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_most_secrets_in_sentences_are_found_whole(seed: int) -> None:
    found, count = Counter[str](), Counter[str]()
    for case, told in looked_at(seed):
        ((start, end),) = case.secret_spans
        count[case.kind] += 1
        found[case.kind] += any(it.start <= start and end <= it.end for it in told)
    shares = {kind: found[kind] / count[kind] for kind in count}
    assert min(count.values()) > 150
    assert not {kind: share for kind, share in shares.items() if share < LEAST[kind]}, shares


def test_what_a_sentence_says_beside_its_secret_stays() -> None:
    faults = []
    for case, told in looked_at(0):
        ((start, end),) = case.secret_spans
        if any(it.end < start or it.start > end for it in told):
            faults.append(case.text)
    none_of(faults)
