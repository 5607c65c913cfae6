"""Finds faults, archives, forgets and redacts sessions, in everything that is kept of them.

A save redacts already: a secret found here is older than its rule, or from another program. Columns
that this program does not know stay as they are.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from core.config import Settings
from core.disk import reason_of, replace_file
from core.errors import RefusedError, SentinelError
from core.git import HistoryError, WorkTree
from core.lessons.record import utc_now
from core.lessons.upkeep import Finding, Severity
from core.messages import Facts
from core.room import full_text
from core.room.copies import damaged_files, date_of, size_of
from core.room.database import Database, DatabaseError
from core.room.documents import as_json
from core.room.redaction import Redaction, Row, SecretPlace, clean_file, clean_rows, kinds_in_file
from rooms.sessions import rows
from rooms.sessions.actions import COUNTED_DAYS, count_dropped
from rooms.sessions.config import CONFIG, IGNORED, make_folder, unknown_keys
from rooms.sessions.document import FORMS, Entry, Head, context_of, whole_of
from rooms.sessions.search import bound_of, remove_former_copies, shared_roots, unshare_project
from rooms.sessions.session import Action, Session, SessionsError
from rooms.sessions.source import read_source
from rooms.sessions.store import ARCHIVE, CURRENT, SessionStore, open_sessions

_OLD = "archive = '' AND coalesce(nullif(updated_at, ''), created_at) < ?"
_HINTS = "SELECT archive, count(*) FROM contexts WHERE archive != '' GROUP BY archive"
_OF_JSON = "tags", "metadata"
_OF_ACTION = "id", "content", "result", "file_path"
_REDACTED = {
    "contexts": ("id", "goal", "summary", "status", "tags", "agent", "metadata", "process"),
    "actions": _OF_ACTION,
    "waiting_actions": _OF_ACTION,
}

_Fix = Callable[[], Facts | None]

# Faults in files, rows, settings and git: nothing changes before somebody asks for a repair


def examine(root: Path, settings: Settings, environment: Mapping[str, str]) -> list[Finding]:
    """Return the faults of a project's sessions, and shares of lost projects; last an `ok`.

    A repair raises SessionsError and DatabaseError.
    """
    lost = count_dropped(root, environment)
    not_recorded = [_found("dropped", "note", count=lost, days=COUNTED_DAYS)] if lost else []
    try:
        store = open_sessions(root, settings)
    except RefusedError as error:
        return [_found("config", "error", said=str(error)), *not_recorded]
    where, counted = str(root / CONFIG), Facts()
    found = [_found("unknown_key", "note", path=where, name=it) for it in unknown_keys(root)]
    with closing(store.beside()) as database:
        found += _of_file(database, store)
    with suppress(SentinelError), store.reading() as connection:  # said of the file
        [count] = connection.execute("SELECT count(*) FROM contexts").fetchone()
        [schema] = connection.execute("PRAGMA user_version").fetchone()
        for name, hints in connection.execute(_HINTS).fetchall():
            path = store.path.parent / str(name)
            if path in store.former_archives():
                found.append(_found("former_archive", "note", path=str(path), count=hints))
            else:
                found.append(_found("archive_missing", "warning", path=str(path), count=hints))
        counted |= {"count": count, "schema": schema}
    found += [_found("aside", "note", path=str(it)) for it in damaged_files(store.path)]
    found += _of_git(store)
    for gone in shared_roots(root, environment):
        if not os.path.isdir(gone):

            def fix(root: str = gone) -> None:
                unshare_project(root, environment)

            name = os.path.basename(gone)
            found.append(_found("project_gone", "note", fix, root=gone, name=name))
    found += not_recorded
    if counted:
        archives = [*store.archives(), *store.former_archives()]
        files = [store.path, Path(f"{store.path}-wal"), *archives]
        counted |= {"path": str(store.path), "bytes": sum(size_of(it) for it in files)}
        counted["archives"] = len(archives)
        found.append(Finding("sessions.health.ok", "ok", facts=counted))
    return found


def _found(kind: str, severity: Severity, fix: _Fix | None = None, **facts: str | int) -> Finding:
    return Finding(f"sessions.health.{kind}", severity, facts=facts, fixable=bool(fix), fix=fix)


def _of_file(database: Database, store: SessionStore) -> Iterator[Finding]:
    def is_index_whole(connection: Connection) -> bool:
        has_all = (
            "SELECT (SELECT count(*) FROM contexts) = (SELECT count(*) FROM contexts_fts_docsize)"
            " AND NOT EXISTS (SELECT 1 FROM contexts WHERE number NOT IN"
            " (SELECT id FROM contexts_fts_docsize))"
        )
        is_sound = full_text.is_index_sound(connection, rows.INDEX)
        return is_sound and bool(connection.execute(has_all).fetchone()[0])

    def put_back() -> Facts:
        store.database.close()
        with closing(store.beside()) as damaged:
            done = damaged.put_back_copy()
        store.write_current()
        return {"aside": str(done.aside), "copy": date_of(done.copy)}

    def index_anew() -> None:
        with closing(store.beside()) as own, own.writing() as connection:
            connection.execute("DELETE FROM counters WHERE name = 'index'")
            rows.update_index(connection, store.config.tokenizer)

    path = str(store.path)
    try:
        flaw = database.find_flaw(is_index_whole)
    except SentinelError as error:
        yield _found("unusable", "error", said=str(error))
    else:
        if flaw and flaw.part == "index":
            yield _found("index", "warning", index_anew, path=path)
        elif flaw:
            kind = "damaged" if flaw.copy else "damaged_alone"
            yield _found(kind, "error", put_back, path=path, reason=flaw.reason, copy=flaw.copy)


def _of_git(store: SessionStore) -> Iterator[Finding]:
    def ignore() -> None:
        make_folder(folder)  # refuses a link, which would lead elsewhere
        try:
            with open(folder / ".gitignore", "a", encoding="utf-8") as file:
                file.write(f"\n{IGNORED}")
        except OSError as error:
            raise DatabaseError("not_mended", path=where, reason=reason_of(error)) from error

    def tracked(pattern: str) -> list[str]:
        found = tree.ask("ls-files", "-z", "--", pattern).split(b"\0")
        return [os.fsdecode(it) for it in found if it]

    folder = store.path.parent
    if not folder.is_dir():
        return
    try:
        tree = WorkTree(store.root)
        below = folder.relative_to(store.root).as_posix()
        where = f"{below}/.gitignore"
        databases = tracked(f":(glob){below}/*.db*")
        for path in databases:
            yield _found("tracked", "warning", path=path)
        for path in tracked(f"{below}/{CURRENT}"):
            yield _found("current_tracked", "note", path=path)
        # The database, and the name of a copy, which need not be there.
        paths = () if databases else (str(store.path), f"{store.path}.copy-0")
        asking = "check-ignore", "--quiet", "--no-index", "--"
        if any(tree.run(*asking, path).returncode for path in paths):
            yield _found("not_ignored", "warning", ignore, path=where, name=store.path.name)
    except HistoryError:  # no git here; the doctor says so of the log
        return


# Archives: sessions are exported, read back, compared, and only then removed. Whoever is killed
# before has them twice at most, and an import takes none twice.


class Archived(NamedTuple):
    """An archive, made or planned."""

    sessions: list[Session]
    path: Path | None
    open: int  # how many old sessions stay, since they have not ended
    kept_sessions: list[Session]  # stay: with an open blocker, or continued by a session that stays


def archive_before(
    store: SessionStore, date: str, *, with_open: bool = False, dry_run: bool = False
) -> Archived:
    """Move sessions last saved before a day or moment, ISO 8601 in UTC, to a file.

    An import brings them back with ids, numbers, actions and links. with_open: also sessions that
    have not ended. Raises errors of the store, and SessionsError for an invalid date or a file that
    cannot be written or read back; then nothing is removed.
    """
    before = bound_of("before", date)
    with store.reading() as connection:
        old = list(rows.sessions_where(connection, f"{_OLD} ORDER BY number", (before,)))
        ended = [it for it in old if it.ended_at or with_open]
        going = {it.id: it for it in ended if not it.open_blockers}
        statement = "SELECT id, parent_id FROM contexts WHERE parent_id IS NOT NULL"
        children = connection.execute(statement).fetchall()
        while stay := {parent for id_, parent in children if parent in going and id_ not in going}:
            for id_ in stay:
                del going[id_]
        wholes = [whole_of(connection, it.number) for it in going.values()]
    kept = [it for it in ended if it.id not in going]
    left = Archived(list(going.values()), None, len(old) - len(ended), kept)
    if dry_run or not going:
        return left
    path = _exported(store, wholes)
    forget(store, going, is_meant=lambda it: it == going[it.id])
    return left._replace(path=path)


def _exported(store: SessionStore, wholes: list[Entry]) -> Path:
    """Write an archive, and compare it with the sessions. Raises SessionsError."""
    moment, form = utc_now(), FORMS["json"]
    sessions = [as_json({"number": it.session.number, **context_of(it)}) for it in wholes]
    folder = store.path.with_name(ARCHIVE)
    path = folder / f"sessions-{moment[:19].replace(':', '')}.json"
    begin, end = form.begin(Head(store.root.name, len(wholes), moment)), form.end(0)
    text = begin + ",".join(f"\n{it}" for it in sessions) + end

    def check(target: Path) -> None:
        if os.path.lexists(target):
            raise SessionsError("archive_there", path=str(path))

    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", encoding="ascii")
        replace_file(path, text.encode("utf-8", "replace"), check, is_private=True)
    except OSError as error:
        facts = {"path": str(path), "reason": reason_of(error)}
        raise SessionsError("archive_unwritten", **facts) from error

    def told(session: Session, actions: Iterable[Action]) -> object:
        done = [(it.kind, it.content, it.result, it.file_path) for it in actions]  # of any id
        return replace(session, has_warnings=False), done

    back = {it.session.id: told(it.session, it.actions) for it in read_source(path).items}
    for whole in wholes:
        if back.get(whole.session.id) != told(whole.session, whole.actions):
            path.unlink()
            name = f"#{whole.session.number}"
            raise SessionsError("archive_differs", path=str(path), name=name)
    return path


class Forgotten(NamedTuple):
    """The outcome of `forget`. unpurged: files that hold the bytes for now."""

    sessions: list[Session]
    unpurged: list[Path]


def forget(
    store: SessionStore, ids: Iterable[str], is_meant: Callable[[Session], bool] = lambda _: True
) -> Forgotten:
    """Remove sessions for good, with their actions and from the bytes.

    An unknown id is passed over. A session that continues a removed one stays, without its link.
    is_meant: whether a session is still as the caller saw it; else it stays. Archives of older
    versions come first, so that a second call completes an interrupted one.
    """
    wanted = list(dict.fromkeys(ids))
    with ExitStack() as stack:
        with store.writing() as connection:
            there = {it: rows.session_with_id(connection, it) for it in wanted}
            wanted = [id_ for id_, it in there.items() if it is None or is_meant(it)]
            changed = [store.database]
            for file in _former_archives(store, stack):
                with file.writing() as kept:
                    found = [it for id_ in wanted if (it := rows.session_with_id(kept, id_))]
                    for session in found:
                        delete_session(kept, session)
                changed += [file] if found else []
            removed = [it for id_ in wanted if (it := there[id_])]
            for session in removed:
                delete_session(connection, session)
        with suppress(OSError):
            store.current_path.unlink()
        store.write_current()
        remove_former_copies(store.root, os.environ)
        unpurged = [file.path for file in changed if not file.purge()]
    return Forgotten(removed, unpurged)


def delete_session(connection: Connection, session: Session) -> None:
    """Remove a session with its actions; sessions that continue it stay."""
    rows.index(connection, session, remove=True)
    connection.execute("DELETE FROM actions WHERE context_id = ?", (session.id,))
    connection.execute("DELETE FROM conversations WHERE context_id = ?", (session.id,))
    connection.execute("UPDATE contexts SET parent_id = NULL WHERE parent_id = ?", (session.id,))
    connection.execute("DELETE FROM contexts WHERE number = ?", (session.number,))
    connection.execute("UPDATE counters SET value = value + 1 WHERE name = 'removed'")


def _former_archives(store: SessionStore, stack: ExitStack) -> list[Database]:
    return [stack.enter_context(closing(store.beside(it))) for it in store.former_archives()]


def find_secrets(store: SessionStore) -> list[SecretPlace]:
    """Return each place with a secret: database, archives, `current.json`. Raises DatabaseError."""
    found, numbers = list[SecretPlace](), dict[str, int]()
    with ExitStack() as stack:
        for file in (store.database, *_former_archives(store, stack)):
            with file.reading() as connection:
                if connection is None:
                    continue
                if file is store.database:
                    numbers = dict(connection.execute("SELECT id, number FROM contexts"))
                found += _clean(connection, file.path, numbers, dry_run=True)
    for path in (store.current_path, *store.archives()):
        found += [SecretPlace(path, "", kinds)] if (kinds := kinds_in_file(path)) else []
    return found


def redact_secrets(store: SessionStore) -> Redaction:
    """Redact every place, and its bytes.

    The bytes go even without a finding: an earlier run may have stopped before. Raises OSError.
    """
    held = find_secrets(store)
    remove_former_copies(store.root, os.environ)
    if not os.path.lexists(store.path):
        return Redaction(held, held, [])
    paths = {it.path for it in held}
    with ExitStack() as stack:
        others = _former_archives(store, stack)
        for file in others:
            if file.path in paths:
                with file.writing() as kept:
                    _clean(kept, file.path, {}, dry_run=False)
        if paths & {file.path for file in (store.database, *others)}:
            with store.writing() as connection:  # a hint here may hold half a secret of an archive
                _clean(connection, store.path, {}, dry_run=False)
        unpurged = [it.path for it in (store.database, *others) if not it.purge()]
    if paths:
        store.write_current()
    for path in (store.current_path, *store.archives()):
        clean_file(path)
    return Redaction(held, find_secrets(store), unpurged)


def _groups(connection: Connection) -> Iterator[list[Row]]:
    """Yield the rows that share secrets: a session with its actions, then actions without one."""

    def rows_of(table: str, condition: str, *values: object) -> list[Row]:
        names = _REDACTED[table]
        statement = f"SELECT {', '.join(names)} FROM {table} WHERE {condition}"
        found = connection.execute(statement, values)
        return [{**dict(zip(names, row, strict=True)), "_table": table} for row in found]

    for id_ in connection.execute("SELECT id FROM contexts ORDER BY number").fetchall():
        yield [*rows_of("contexts", "id = ?", *id_), *rows_of("actions", "context_id = ?", *id_)]
    yield rows_of("actions", "context_id NOT IN (SELECT id FROM contexts)")
    yield rows_of("waiting_actions", "1")


def _clean(
    connection: Connection, path: Path, numbers: Mapping[str, int], *, dry_run: bool
) -> list[SecretPlace]:
    """Redact all rows of a file; return where secrets were. numbers: of sessions, by id."""
    found = list[SecretPlace]()
    for group in _groups(connection):
        done, kinds = clean_rows(group, _OF_JSON)
        if not kinds:
            continue
        is_session = done[0]["_table"] == "contexts"
        session = rows.session_with_id(connection, done[0]["id"]) if is_session else None
        id_ = session.id if session else ""
        found.append(SecretPlace(path, f"#{numbers[id_]}" if id_ in numbers else id_, kinds))
        if dry_run:
            continue
        if session:
            rows.index(connection, session, remove=True)
        for row in done:
            values = {name: it for name, it in row.items() if name not in ("_table", "id")}
            setting = ", ".join(f"{name} = ?" for name in values)
            statement = f"UPDATE {row['_table']} SET {setting} WHERE id = ?"
            connection.execute(statement, (*values.values(), row["id"]))
        if session:
            [session] = rows.sessions_where(connection, "id = ?", (session.id,))
            short = session.goal_short, session.summary_short, rows.next_revision(connection)
            setting = "goal_short = ?, summary_short = ?, revision = ?"
            connection.execute(f"UPDATE contexts SET {setting} WHERE id = ?", (*short, session.id))
            rows.index(connection, session)
    return found
