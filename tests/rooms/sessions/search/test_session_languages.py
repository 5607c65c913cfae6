"""Tests that no form of a word hides a session among few others or very many, in two languages."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.settings import Settings
from rooms.sessions.search.found import Criteria
from rooms.sessions.search.searching import resembling, search
from rooms.sessions.session import Session
from rooms.sessions.store import SessionStore, insert, open_sessions
from tests.support.rows import none_of
from tests.support.session_samples import sample_sessions

MADE: tuple[tuple[str, str], ...] = (
    (
        "환율변환 웹훅을 재시도한다",
        "환율변환 | 환율 변환 | 환율변환을 | 웹훅이 | 웹훅 재시도했습니다 | 환율표",
    ),
    ("캐시를 언제 무효화하는가", "캐시무효화 | 캐시 무효화 | 무효화했다 | 캐시는 무효화"),
    ("반올림을 feeRate에 한다", "fee_rate | feeRate를 | fee rate 반올림 | 반올림은"),
    ("Reconcile the webhook_retries of OAuth2Client", "webhookRetries | reconciling | oauth2"),
    ("An idempotent migration of utf8mb4 columns", "migrations idempotent | utf8mb4"),
)


def others(count: int) -> Iterator[Session]:
    """So many sessions beside; their words are those of the samples, mixed."""
    chance = random.Random(5)
    samples = [session for session, _ in sample_sessions(200)]
    words = " ".join(f"{it.goal} {it.summary}" for it in samples).split()
    for number in range(1, count + 1):
        yield replace(
            samples[number % len(samples)],
            number=number,
            id=f"ctx_{number:012x}",
            parent_id="",
            summary=" ".join(chance.choices(words, k=20)),
        )


def store_of(root: Path, count: int) -> SessionStore:
    """The sessions that are looked for, in the midst of so many others."""
    store = open_sessions(root, Settings())
    at = [count * place // (len(MADE) + 1) for place in range(1, len(MADE) + 1)]
    with store.writing() as connection:
        for session in others(count):
            if session.number in at:
                goal, _ = MADE[at.index(session.number)]
                session = replace(session, goal=goal, approaches=(), blockers=(), decisions=())
            insert(connection, session)
    return store


@pytest.mark.row("003 T66")
@pytest.mark.parametrize(
    "count",
    [100, *(pytest.param(many, marks=pytest.mark.long) for many in (2_000, 10_000, 100_000))],
)
def test_a_session_is_found_by_every_form_of_its_words(tmp_path: Path, count: int) -> None:
    store = store_of(tmp_path, count)
    faults = list[tuple[str, str]]()
    for goal, queries in MADE:
        for query in queries.split(" | "):
            hits = search(store, Criteria(query=query), limit=5).hits
            if goal not in {hit.session.goal for hit in hits}:
                faults.append((query, goal))
        best, *_ = resembling(store, f"{goal}: 2", limit=3)
        if (best.session.goal, best.level) != (goal, "high"):
            faults.append((goal, best.session.goal))
    none_of(faults)
