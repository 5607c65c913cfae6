"""Tests that a recall finds the answers to a question, and nothing for one about other things.

The labelled questions are those of `benchmarks/labelled.py`; `pytest -rP` shows the figures.
"""

import sys
from pathlib import Path

import pytest

from rooms.fragments.models import vectors
from tests.support.tables import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import quality
from labelled import meaning_pool, own_pools

LEAST_SILENT = 0.5


@pytest.mark.row("002 2.21", "004 4.5")
@pytest.mark.long
@pytest.mark.parametrize("name", quality.RECALL_FLOORS)
def test_answers_are_found_and_foreign_questions_find_little(tmp_path: Path, name: str) -> None:
    pool = own_pools()[name]
    texts = pool.labelled.texts
    found = quality.measured(quality.recalled(quality.room_of(tmp_path / "memory.db", texts)), pool)
    plain = quality.measured(quality.indexed(texts, "AND"), pool)
    print(f"{name}: {found}; all words in an index alone: {plain}")
    assert found.ndcg >= quality.RECALL_FLOORS[name]
    assert found.hit >= quality.HITS_BESIDE * plain.hit
    assert found.silent is not None and found.silent >= LEAST_SILENT


@pytest.mark.row("002 2.22", "004 4.5")
@pytest.mark.long
@pytest.mark.parametrize(("name", "least"), [("words", (21, 11)), ("local", (28, 13))])
def test_questions_in_other_words_and_languages_are_answered(
    tmp_path: Path, name: str, least: tuple[int, int]
) -> None:
    pool, embedder = meaning_pool(), None
    counts = len(pool.labelled.texts), len(pool.labelled.questions), len(pool.foreign)
    assert counts == (60, 40, 15)
    room = quality.room_of(tmp_path / "memory.db", pool.labelled.texts)
    if name == "local":
        pytest.importorskip(vectors.LOCAL_MODULE)
        embedder = vectors.Embedder(vectors.LocalModel(), vectors.LOCAL_MODEL)
        vectors.embed_missing(room, embedder)
    first, silent = quality.answered_first(quality.recalled(room, embedder), pool)
    print(f"{name}: first {first} of 40, silent {silent} of 15")
    assert first >= least[0] and silent >= least[1]
