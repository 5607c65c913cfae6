"""Tests that a recall finds what answers a question, and nothing for a question about other things.

The labelled questions are those of `benchmarks/ranking.py`; `pytest -rP` shows what was measured.
"""

import sys
from pathlib import Path

import pytest

from tests.support.stdio_client import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

from fragment_quality import indexed, measured, own_pools, recalled, room_of
from fragments import FLOORS, HITS_BESIDE

LEAST_SILENT = 0.5


@pytest.mark.row("002 2.21", "004 4.5")
@pytest.mark.long
@pytest.mark.parametrize("name", FLOORS)
def test_what_answers_is_found_and_foreign_questions_find_little(tmp_path: Path, name: str) -> None:
    pool = own_pools()[name]
    texts = pool.labelled.texts
    found = measured(recalled(room_of(tmp_path / "memory.db", texts)), pool)
    plain = measured(indexed(texts, "AND"), pool)
    print(f"{name}: {found}; all words in an index alone: {plain}")
    assert found.ndcg >= FLOORS[name]
    assert found.hit >= HITS_BESIDE * plain.hit
    assert found.silent is not None
    assert found.silent >= LEAST_SILENT
