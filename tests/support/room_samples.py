"""Holds one item of each room, all about redis, and makes sources for an import of fragments."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.text.plain import estimate_tokens
from rooms.fragments.fragment import Fragment, hash_of
from rooms.fragments.storage.sqlite import SqliteEngine
from rooms.sessions.session import Action, Session
from tests.support.samples import a_record
from tests.support.tables import DATA

RECORD = a_record("Which tests need Redis", topic="build", lesson="Run make redis before tests")
DAY = "2020-03-{:02}T10:00:00+00:00"


def a_session(number: int, **more: str) -> Session:
    day = DAY.format(number)
    dates: dict[str, Any] = {"started_at": day, "created_at": day, "updated_at": day}
    goal = f"Move redis to the new host {number}"
    session = Session(number=number, id=f"ctx_{number:012x}", goal=goal, status="coding", **dates)
    return replace(session, **more)  # type: ignore[arg-type]


def a_lesson(number: int, result: str, *, file: str = "a.py") -> Action:
    return Action(
        id="act_" + hash_of(f"{number} {file} {result}")[:12],
        context_id=f"ctx_{number:012x}",
        kind="lesson",
        content=f"{RECORD.id}: Run make redis",
        result=result,
        file_path=file,
        created_at=DAY.format(number + (result == "followed")),
    )


def a_fragment(id_: str, content: str = "NOAUTH from redis: no password given.") -> Fragment:
    day = DAY.format(1)
    dates = {"created_at": day, "updated_at": day, "verified_at": day}
    about: dict[str, Any] = {
        **dates,
        "topic": "redis",
        "kind": "error",
        "importance": 0.8,
        "estimated_tokens": estimate_tokens(content),
    }
    return Fragment(id=id_, content=content, content_hash=hash_of(content), **about)


def keep_fragments(path: Path, fragments: Sequence[Fragment]) -> SqliteEngine:
    """The engine of a file with these fragments, as they are."""
    engine = SqliteEngine(path, timeout_s=5)
    with engine.writing() as writing:
        writing.add(fragments)
    return engine


COLUMNS = ("id", "type", "content", "importance", "privacy_scope", "created_at", "pinned")


def make_memory_db(path: Path, *rows: Sequence[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((DATA / "memory_item.sql").read_text(encoding="utf-8"))
        names, places = ", ".join(COLUMNS), ", ".join("?" * len(COLUMNS))
        connection.executemany(f"INSERT INTO memory_item ({names}) VALUES ({places})", rows)
        connection.commit()
    return path
