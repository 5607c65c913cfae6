"""Repairs what a check of the fragments has found: a damaged file, its index, its mode."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

from core.config import Settings
from core.disk import reason_of
from core.lessons.upkeep import Finding
from core.postgres.pool import Pool
from core.postgres.server import Server
from core.room.copies import date_of
from core.room.database import DatabaseError
from rooms.fragments.config import database_path, database_server
from rooms.fragments.postgres.schema import Schema
from rooms.fragments.storage.sqlite import SqliteEngine, SqliteRows
from rooms.fragments.upkeep.health import OTHERS


def mend(
    findings: Iterable[Finding], settings: Settings, environment: Mapping[str, str]
) -> list[Finding]:
    """Repair what these findings say, and return them with what was done as further facts.

    Raises FragmentsError and DatabaseError, also for a file that could not be written.
    """
    path, server = database_path(environment), database_server(environment)
    if server:
        return _mended_on_server(findings, server)
    engine = SqliteEngine(path, timeout_s=settings.lock_timeout_s)
    done = list[Finding]()
    try:
        for finding in findings:
            facts = _mended(finding, engine, settings)
            done.append(replace(finding, facts={**finding.facts, **facts}))
    except DatabaseError:
        raise
    except OSError as error:
        raise DatabaseError("not_mended", path=str(path), reason=reason_of(error)) from error
    finally:
        engine.close()
    return done


def _mended_on_server(findings: Iterable[Finding], server: Server) -> list[Finding]:
    """Repair what is wrong with the security of rows. Raises DatabaseError."""
    pool = Pool(server)
    try:
        done = [it for it in findings if it.kind == "fragments.health.server_open"]
        if done:
            Schema(pool).secure()
        return done
    finally:
        pool.close()


def _mended(finding: Finding, engine: SqliteEngine, settings: Settings) -> Mapping[str, str | int]:
    match finding.kind:
        case "fragments.health.damaged" | "fragments.health.damaged_alone":
            engine.close()
            done = engine.database.put_back_copy()
            return {"aside": str(done.aside), "copy": date_of(done.copy)}
        case "fragments.health.index":
            with engine.database.writing() as connection:
                SqliteRows(connection).make_index()
        case "fragments.health.mode":
            for name in ("", "-wal", "-shm"):
                file = f"{engine.path}{name}"
                if os.path.exists(file) and not os.path.islink(file):
                    os.chmod(file, os.lstat(file).st_mode & ~OTHERS & 0o777)
    return {}
