"""Finds and takes out secrets wherever the fragments are kept: in a file, or on a server."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from core.config import FRAGMENTS_PLACE, Settings
from core.postgres.server import is_server
from core.room.redaction import Held, Redaction
from rooms.fragments.config import database_path, database_server
from rooms.fragments.storage.redis import Cache, place_of
from rooms.fragments.storage.sqlite import SqliteEngine
from rooms.fragments.upkeep.secrets import redact_held, secrets_held

if TYPE_CHECKING:  # most fragments are in a file
    from rooms.fragments.storage.postgres import PostgresEngine


def place_here(environment: Mapping[str, str]) -> Path | None:
    """Return the file of the fragments, None for a server."""
    if is_server(environment.get(FRAGMENTS_PLACE, "").strip()):
        return None
    return database_path(environment)


def secrets_here(settings: Settings, environment: Mapping[str, str]) -> list[Held]:
    """Return each fragment with a secret, and each table beside them. Raises DatabaseError."""
    path = place_here(environment)
    if path:
        return secrets_held(SqliteEngine(path, timeout_s=settings.lock_timeout_s))
    from rooms.fragments.upkeep.secrets_on_server import secrets_on_server

    with _server(settings, environment) as server:
        return secrets_on_server(server)


def redact_here(settings: Settings, environment: Mapping[str, str]) -> Redaction:
    """Take the secrets out, and have Redis forget what it keeps. Raises DatabaseError."""
    path = place_here(environment)
    if path:
        return redact_held(SqliteEngine(path, timeout_s=settings.lock_timeout_s))
    from rooms.fragments.upkeep.secrets_on_server import redact_on_server

    with _server(settings, environment) as server:
        done = redact_on_server(server)
    place = place_of(environment)
    if done.changed and place:
        with closing(Cache(place, server.name)) as cache:
            cache.clear()
    return done


@contextmanager
def _server(settings: Settings, environment: Mapping[str, str]) -> "Iterator[PostgresEngine]":
    """Open the server for whoever keeps it."""
    from rooms.fragments.storage.postgres import PostgresEngine

    found = database_server(environment)
    assert found is not None
    with closing(PostgresEngine(found, timeout_s=settings.lock_timeout_s)) as server:
        yield server
