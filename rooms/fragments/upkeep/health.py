"""Finds what is wrong with the fragments of a user: their file, its rows, and its vectors.

Nothing is changed.
"""

import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.config import Settings
from core.errors import SentinelError
from core.lessons.upkeep import Finding
from core.room.copies import kept_aside
from core.room.full_text import is_sound
from rooms.fragments.config import (
    config_path,
    database_path,
    database_server,
    read_config,
    unknown_keys,
)
from rooms.fragments.models import check, missing
from rooms.fragments.redis.place import place_of
from rooms.fragments.sqlite import index
from rooms.fragments.sqlite.adapter import SqliteEngine
from rooms.fragments.upkeep.server_health import ServerHealth, look_at

OTHERS = 0o077  # of a mode: what is not for the user alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What is known of the fragments of a user.

    path: of the file, or the server's name. count: those that are not in the bin, None where they
    cannot be counted; in_bin: those that are. schema: the version. size: bytes of the file and its
    journal, or of the server's database. mode: who may read the file, as `chmod` takes it. engine:
    the server's version, "" for a file; agents: whose fragments it keeps.
    """

    path: Path | str
    findings: list[Finding] = field(default_factory=list)
    count: int | None = None
    in_bin: int = 0
    schema: int = 0
    size: int = 0
    mode: str = ""
    engine: str = ""
    agents: int = 0


def look(settings: Settings, environment: Mapping[str, str]) -> Health | None:
    """Examine the fragments of this user, None where there are none."""
    try:
        path, server = database_path(environment), database_server(environment)
    except SentinelError as error:
        return Health(path=Path(), findings=[_unusable("fragments_config", error)])
    if server:
        others = [*_about_settings(path, environment), *_about_redis(environment)]
        return _of_server(look_at(server), others)
    aside = [Finding("fragments_aside", "note", facts={"path": str(it)}) for it in kept_aside(path)]
    if not os.path.lexists(path):
        return Health(path=path, findings=aside, count=0) if aside else None
    engine = SqliteEngine(path, timeout_s=settings.lock_timeout_s)
    try:
        return _look(engine, [*_about_settings(path, environment), *aside])
    finally:
        engine.close()


def _of_server(it: ServerHealth, others: list[Finding]) -> Health:
    return Health(
        path=it.name,
        findings=[*it.findings, *others],
        count=it.kept,
        in_bin=it.in_bin,
        schema=it.schema,
        size=it.size,
        engine=it.engine,
        agents=it.agents,
    )


def _look(engine: SqliteEngine, others: list[Finding]) -> Health:
    path = engine.path
    findings, count, in_bin, schema = [*_about_file(engine)], None, 0, 0
    try:
        with engine.database.reading() as connection:
            if connection:
                count, in_bin = _counted(connection)
                schema = connection.execute("PRAGMA user_version").fetchone()[0]
                findings += _about_vectors(connection, path)
            else:
                count = 0
    except SentinelError:  # said about the file
        pass
    status = os.lstat(path)
    mode = stat.S_IMODE(status.st_mode)
    if os.name == "posix" and mode & OTHERS and stat.S_ISREG(status.st_mode):
        facts = {"path": str(path), "mode": f"{mode:o}"}
        findings.append(Finding("fragments_mode", "warning", facts=facts, fixable=True))
    return Health(
        path=path,
        findings=[*findings, *others],
        count=count,
        in_bin=in_bin,
        schema=schema,
        size=sum(map(_size, (path, Path(f"{path}-wal")))),
        mode=f"{mode:o}",
    )


def _about_settings(path: Path, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what is wrong with `config.json`, and what the models that are named lack."""
    try:
        read_config(environment)
        for name in unknown_keys(path):
            facts = {"path": str(config_path(path)), "name": name}
            yield Finding("fragments_unknown_key", "warning", facts=facts)
    except SentinelError as error:
        yield _unusable("fragments_config", error)
    for problem in (*check(environment), *missing(environment)):
        yield _unusable("fragments_models", problem)


def _about_redis(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield that Redis is switched on and does not answer."""
    try:
        place = place_of(environment)
    except SentinelError:  # said about the settings
        return
    if place:
        from rooms.fragments.redis.client import Client

        client = Client(place)
        if not client.ask(lambda redis: redis.ping()):
            yield Finding("fragments_redis", "warning", facts={"path": place.name})
        client.close()


def _about_file(engine: SqliteEngine) -> Iterator[Finding]:
    facts = {"path": engine.name}
    try:
        flaw = engine.database.flaw(_has_whole_index)
    except SentinelError as error:
        yield _unusable("fragments_unusable", error)
        return
    if flaw and flaw.of == "index":
        yield Finding("fragments_index", "warning", facts=facts, fixable=True)
    elif flaw:
        facts |= {"reason": flaw.reason, "copy": flaw.copy}
        yield Finding("fragments_damaged", "error", facts=facts, fixable=True)


def _has_whole_index(connection: sqlite3.Connection) -> bool:
    return is_sound(connection, index.INDEX) and index.is_current(connection)


def _counted(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many fragments there are, and how many in the bin."""
    [kept, in_bin] = connection.execute(
        "SELECT count(*) FILTER (WHERE deleted_at = ''), count(*) FILTER (WHERE deleted_at != '')"
        " FROM fragments"
    ).fetchone()
    return kept, in_bin


def _about_vectors(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    rows = connection.execute(
        "SELECT length(embedding) / 4, count(*) FROM fragment_vectors GROUP BY 1 ORDER BY 2 DESC, 1"
    ).fetchall()
    if len(rows) > 1:
        told = ", ".join(f"{length} ({count:,})" for length, count in rows)
        facts = {"path": str(path), "lengths": told}
        yield Finding("fragments_vectors", "warning", facts=facts)


def _unusable(kind: str, error: SentinelError) -> Finding:
    """Return a finding that says an error's own sentence."""
    return Finding(kind, "error", facts={"said": str(error)})


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
