"""Plays the calls of the fragments' tools that a document shows, with the real server."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from rooms.fragments.activity import TOPIC
from tests.support.doc_sessions import CLIENTS, conversation

# An id as the documents show one: always with a digit, so that no word of a sentence is one.
_ID = re.compile(r"\b(?=[a-z2-9]*[2-9])[a-hj-km-np-z2-9]{8}\b")
FIRST_DAY = 3  # blocks that the first client plays, in a project of its own


def played(blocks: Sequence[str], folder: Path, lang: str) -> list[str]:
    """Return each block with what the server answers today, and the ids that the document shows.

    The fragments get theirs in the order in which the document names them first.
    """
    database = folder / "memory.db"
    environment = {"SENTINEL_MEMORY_LANG": lang, "SENTINEL_MEMORY_FRAGMENTS": str(database)}
    shown = list(dict.fromkeys(_ID.findall("\n".join(blocks))))

    def with_real_ids(block: str) -> str:
        real = dict(zip(shown, ids_of(database), strict=False))
        return _ID.sub(lambda found: real.get(found[0], found[0]), block)

    rooms = "lessons,fragments"
    days = ("shop", blocks[:FIRST_DAY]), ("blog", blocks[FIRST_DAY:])
    answers = [
        answer
        for client, (project, some) in zip(CLIENTS, days, strict=True)
        for answer in conversation(
            client, some, folder / project, rooms, environment, with_real_ids
        )
    ]
    ids = ids_of(database)
    assert len(ids) == len(shown)
    named = dict(zip(ids, shown, strict=True))
    return [re.sub("|".join(named), lambda found: named[found[0]], it) for it in answers]


def answered(calls: Sequence[str], folder: Path, environment: Mapping[str, str]) -> list[str]:
    """Return each call with its answer; `{0}` in one is the id of the first fragment saved."""
    database = folder / "memory.db"
    return conversation(
        CLIENTS[0],
        calls,
        folder / "shop",
        "lessons,fragments",
        {**environment, "SENTINEL_MEMORY_FRAGMENTS": str(database)},
        lambda call: call.format(*ids_of(database)),
    )


def ids_of(database: Path) -> list[str]:
    """Return the ids of the fragments that a caller has saved, in their order."""
    if not database.exists():
        return []
    connection = sqlite3.connect(database)
    try:
        return [
            id_
            for (id_,) in connection.execute(
                "SELECT id FROM fragments WHERE topic != ? ORDER BY number", (TOPIC,)
            )
        ]
    finally:
        connection.close()
