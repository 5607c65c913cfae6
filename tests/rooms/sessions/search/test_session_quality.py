"""Tests that the index puts the sessions that answer a question nearly as high as the ranker does.

The labelled questions are those of `benchmarks/ranking.py`; `pytest -rP` shows what was measured.
"""

import sys
from pathlib import Path

import pytest

from core.full_text.candidates import Candidates
from core.settings import Settings
from rooms.sessions.search.index import INDEX
from rooms.sessions.session import Session
from rooms.sessions.store import insert, open_sessions
from tests.support.stdio_client import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

from ranking import labelled_sets, ndcg_at_10

FLOORS = {"turns": 0.33, "observations": 0.75, "lessons": 0.91, "lessons among others": 0.71}


@pytest.mark.row("003 T37")
@pytest.mark.long
@pytest.mark.parametrize("name", FLOORS)
def test_the_sessions_that_answer_come_first(tmp_path: Path, name: str) -> None:
    labelled = labelled_sets()[name]
    store = open_sessions(tmp_path, Settings())
    with store.writing() as connection:
        for number, text in enumerate(labelled.texts, 1):
            goal, _, rest = text.partition("\n")
            insert(connection, Session(number=number, id=f"c{number}", goal=goal, summary=rest))
    with store.database.reading() as reading:
        assert reading

        def order(query: str, _: object) -> list[int]:
            found = Candidates(reading, INDEX, query, least=0.0)
            return [number - 1 for number in found.page(0, len(labelled.texts))]

        measured = ndcg_at_10(order, labelled)
    print(f"nDCG@10, {name}: {measured:.3f}")
    assert measured >= FLOORS[name]
