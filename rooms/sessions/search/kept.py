"""Keeps the texts of a project's sessions in the process, so that a search reads only what is new.

Only what the ranking needs is kept: the words of each session and its number. Every change of a
session raises its `revision`, and a removal the counter `removed`, whichever process makes it.
"""

import os
import sqlite3
import threading
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

from core.text.ranking import Corpus
from rooms.sessions.rows import sessions_where

MOST_SESSIONS = 20_000  # above, the index of the database chooses what is ranked
MOST_CHARS = 40_000_000  # of all their texts, which take up to four times that in bytes
_MOST_FILES = 2

State = tuple[int, int]  # the counters of changes and of removals


class Texts(NamedTuple):
    """The words of all sessions of a database: the numbers, ascending, and the text of each."""

    numbers: list[int]
    corpus: Corpus


class _Kept:
    """What is known of one database file."""

    def __init__(self, identity: tuple[int, int]) -> None:
        self.identity = identity
        self.state: State = (-1, -1)
        self.newest: tuple[int, str] | None = None  # the number and id of the last change
        self.texts: dict[int, str] = {}
        self.chars = 0
        self.is_too_long = False
        self.view = Texts([], Corpus(()))


_GUARD = threading.Lock()
_FILES: OrderedDict[Path, _Kept] = OrderedDict()


def texts_of(connection: sqlite3.Connection, path: Path) -> Texts | None:
    """Return the texts of all sessions in the state that a connection sees.

    path: the file of the connection. None where there are too many to be kept. Safe for threads.
    """
    with _GUARD:
        status = os.stat(path)
        identity = status.st_dev, status.st_ino
        kept = _FILES.pop(path, None)
        if kept is None or kept.identity != identity or not _goes_on(connection, kept):
            kept = _Kept(identity)
        if _is_small(connection):
            _follow(connection, kept)
        else:
            kept = _Kept(identity)
            kept.is_too_long = True
        _FILES[path] = kept
        while len(_FILES) > _MOST_FILES:
            _FILES.popitem(last=False)
        return None if kept.is_too_long else kept.view


def _is_small(connection: sqlite3.Connection) -> bool:
    counted = f"SELECT count(*) FROM (SELECT 1 FROM contexts LIMIT {MOST_SESSIONS + 1})"
    [number] = connection.execute(counted).fetchone()
    return bool(number <= MOST_SESSIONS)


def _state(connection: sqlite3.Connection) -> State:
    statement = "SELECT value FROM counters WHERE name IN ('removed', 'revision') ORDER BY name"
    [(removed,), (revision,)] = connection.execute(statement)
    return revision, removed


def _goes_on(connection: sqlite3.Connection, kept: _Kept) -> bool:
    """Return whether the database has come from what is known, not from an older copy."""
    revision, removed = _state(connection)
    if revision < kept.state[0] or removed < kept.state[1]:
        return False
    if kept.newest is None or removed > kept.state[1]:
        return True
    number, id_ = kept.newest
    statement = "SELECT revision FROM contexts WHERE number = ? AND id = ?"
    found = connection.execute(statement, (number, id_)).fetchone()
    return found is not None and found[0] >= kept.state[0]


def _follow(connection: sqlite3.Connection, kept: _Kept) -> None:
    """Take in what has changed."""
    state = _state(connection)
    if state == kept.state or (kept.is_too_long and state[1] == kept.state[1]):
        return
    if state[1] != kept.state[1]:
        left = {number for (number,) in connection.execute("SELECT number FROM contexts")}
        for number in kept.texts.keys() - left:
            kept.chars -= len(kept.texts.pop(number))
    for session in sessions_where(connection, "revision > ?", (kept.state[0],)):
        text = "\n".join(session.texts)
        kept.chars += len(text) - len(kept.texts.get(session.number, ""))
        kept.texts[session.number] = text
        if kept.chars > MOST_CHARS:
            break
    kept.state, kept.is_too_long = state, kept.chars > MOST_CHARS
    if kept.is_too_long:
        kept.texts, kept.chars, kept.view = {}, 0, Texts([], Corpus(()))
        return
    statement = "SELECT number, id FROM contexts ORDER BY revision DESC LIMIT 1"
    kept.newest = connection.execute(statement).fetchone()
    numbers = sorted(kept.texts)
    corpus = Corpus([kept.texts[number] for number in numbers], kept.view.corpus)
    kept.view = Texts(numbers, corpus)
