"""Finds faults, archives, forgets and redacts sessions, in everything that is kept of them.

A save redacts already: a secret found here is older than its rule, or from another program. Columns
that this program does not know stay as they are.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from core.config import Settings
from core.disk import errors_as, is_irregular, reason_of, remove_strays, replace_file
from core.errors import RefusedError, SentinelError
from core.git import HistoryError, WorkTree
from core.lessons.upkeep import Finding, Severity
from core.messages import Facts
from core.room import full_text
from core.room.copies import damaged_files, date_of, size_of
from core.room.database import Database, DatabaseError
from core.room.documents import dump_json
from core.room.redaction import Redaction, Row, SecretPlace, redact_file, redact_rows
from core.text.plain import utc_now
from rooms.sessions import rows
from rooms.sessions.actions import COUNTED_DAYS, count_dropped
from rooms.sessions.config import CONFIG, IGNORED, make_folder, unknown_config_keys
from rooms.sessions.document import FORMS, Entry, Head, context_of, entry_of
from rooms.sessions.search import remove_former_copies, shared_roots, unshare_project
from rooms.sessions.session import Session, SessionsError
from rooms.sessions.source import Incoming, read_source
from rooms.sessions.store import ARCHIVE, CURRENT, SessionStore, open_sessions

_OLD = "archive = '' AND coalesce(nullif(updated_at, ''), created_at) < ?"
_HINTS = "SELECT archive, count(*) FROM contexts WHERE archive != '' GROUP BY archive"
_JSON_COLUMNS = "tags", "metadata"
_ACTION_COLUMNS = "id", "content", "result", "file_path"
_REDACTED_COLUMNS = {
    "contexts": ("id", "goal", "summary", "status", "tags", "agent", "metadata", "process"),
    "actions": _ACTION_COLUMNS,
    "waiting_actions": _ACTION_COLUMNS,
}

_Fix = Callable[[], Facts | None]

# Faults in files, rows, settings and git: nothing changes before somebody asks for a repair


def examine(root: Path, settings: Settings, environment: Mapping[str, str]) -> list[Finding]:
    """Return the faults of a project's sessions, and shares of lost projects; last an `ok`.

    A repair raises SessionsError and DatabaseError.
    """
    count = count_dropped(root, environment)
    not_recorded = [_finding("dropped", "note", count=count, days=COUNTED_DAYS)] if count else []
    try:
        store = open_sessions(root, settings)
    except RefusedError as error:
        return [_finding("config", "error", said=str(error)), *not_recorded]
    file, figures = str(root / CONFIG), Facts()
    findings = [
        _finding("unknown_key", "note", path=file, name=name) for name in unknown_config_keys(root)
    ]
    with closing(store.open_database()) as database:
        findings += _file_findings(database, store)
    with suppress(SentinelError), store.reading() as connection:  # said of the file
        [count] = connection.execute("SELECT count(*) FROM contexts").fetchone()
        [schema] = connection.execute("PRAGMA user_version").fetchone()
        for name, hints in connection.execute(_HINTS).fetchall():
            path = store.path.parent / str(name)
            if path in store.list_former_archives():
                findings.append(_finding("former_archive", "note", path=str(path), count=hints))
            else:
                findings.append(_finding("archive_missing", "warning", path=str(path), count=hints))
        figures |= {"count": count, "schema": schema}
    findings += [_finding("aside", "note", path=str(path)) for path in damaged_files(store.path)]
    findings += _git_findings(store)
    for shared_root in shared_roots(root, environment):
        if not os.path.isdir(shared_root):

            def fix(root: str = shared_root) -> None:
                unshare_project(root, environment)

            name = os.path.basename(shared_root)
            findings.append(_finding("project_gone", "note", fix, root=shared_root, name=name))
    findings += not_recorded
    if figures:
        archives = [*store.list_archives(), *store.list_former_archives()]
        sizes = map(size_of, (store.path, Path(f"{store.path}-wal"), *archives))
        figures |= {"path": str(store.path), "bytes": sum(sizes), "archives": len(archives)}
        findings.append(Finding("sessions.health.ok", "ok", facts=figures))
    return findings


def _finding(kind: str, severity: Severity, fix: _Fix | None = None, **facts: str | int) -> Finding:
    return Finding(f"sessions.health.{kind}", severity, facts=facts, fixable=bool(fix), fix=fix)


def _file_findings(database: Database, store: SessionStore) -> Iterator[Finding]:
    def is_index_whole(connection: Connection) -> bool:
        statement = (
            "SELECT (SELECT count(*) FROM contexts) = (SELECT count(*) FROM contexts_fts_docsize)"
            " AND NOT EXISTS (SELECT 1 FROM contexts WHERE number NOT IN"
            " (SELECT id FROM contexts_fts_docsize))"
        )
        is_sound = full_text.is_index_sound(connection, rows.INDEX)
        return is_sound and bool(connection.execute(statement).fetchone()[0])

    def put_back_copy() -> Facts:
        repair = store.database.put_back_copy()
        store.write_current()
        return {"aside": str(repair.aside), "copy": date_of(repair.copy)}

    def make_index() -> None:
        with closing(store.open_database()) as writer, writer.writing() as connection:
            connection.execute("DELETE FROM counters WHERE name = 'index'")
            rows.update_index(connection, store.config.tokenizer)

    path = str(store.path)
    try:
        flaw = database.find_flaw(is_index_whole)
    except SentinelError as error:
        yield _finding("unusable", "error", said=str(error))
    else:
        if flaw and flaw.part == "index":
            yield _finding("index", "warning", make_index, path=path)
        elif flaw:
            kind = "damaged" if flaw.copy else "damaged_alone"
            facts = {"path": path, "reason": flaw.reason, "copy": flaw.copy}
            yield _finding(kind, "error", put_back_copy, **facts)


def _git_findings(store: SessionStore) -> Iterator[Finding]:
    def ignore() -> None:
        make_folder(folder)  # refuses a link, which would lead elsewhere
        ignored = folder / ".gitignore"
        with errors_as(DatabaseError, "not_mended", ignore_path), ignored.open("ab") as file:
            file.write(f"\n{IGNORED}".encode("ascii"))

    def find_tracked(pattern: str) -> list[str]:
        names = tree.ask("ls-files", "-z", "--", pattern).split(b"\0")
        return [os.fsdecode(name) for name in names if name]

    folder = store.path.parent
    if not folder.is_dir():
        return
    try:
        tree = WorkTree(store.root)
        folder_name = folder.relative_to(store.root).as_posix()
        ignore_path = f"{folder_name}/.gitignore"
        databases = find_tracked(f":(glob){folder_name}/*.db*")
        for path in databases:
            yield _finding("tracked", "warning", path=path)
        for path in find_tracked(f"{folder_name}/{CURRENT}"):
            yield _finding("current_tracked", "note", path=path)
        # The database, and the name of a copy, which need not be there.
        paths = () if databases else (str(store.path), f"{store.path}.copy-0")
        question = "check-ignore", "--quiet", "--no-index", "--"
        if any(tree.run(*question, path).returncode for path in paths):
            yield _finding("not_ignored", "warning", ignore, path=ignore_path, name=store.path.name)
    except HistoryError:  # no git here; the doctor says so of the log
        return


# Archives: sessions are exported, read back, compared, and only then removed. Whoever is killed
# before has them twice at most, and an import takes none twice.


class ArchiveOutcome(NamedTuple):
    """An archive, made or planned."""

    sessions: list[Session]
    path: Path | None
    open_count: int  # old sessions that stay, since they have not ended
    kept_sessions: list[Session]  # stay: with an open blocker, or continued by a session that stays


def archive_before(
    store: SessionStore, date: str, *, with_open: bool = False, dry_run: bool = False
) -> ArchiveOutcome:
    """Move sessions last saved before a day or moment, ISO 8601 in UTC, to a file.

    An import brings them back with ids, numbers, actions and links. with_open: also sessions that
    have not ended. Raises errors of the store, and SessionsError for a file that cannot be written
    or read back; then nothing is removed.
    """
    with store.reading() as connection:
        sessions = list(rows.sessions_where(connection, f"{_OLD} ORDER BY number", (date,)))
        ended_sessions = [session for session in sessions if session.ended_at or with_open]
        moves = {session.id: session for session in ended_sessions if not session.open_blockers}
        statement = "SELECT id, parent_id FROM contexts WHERE parent_id IS NOT NULL"
        children = connection.execute(statement).fetchall()
        while ids := {parent for id_, parent in children if parent in moves and id_ not in moves}:
            for id_ in ids:
                del moves[id_]
        entries = {id_: entry_of(connection, session.number) for id_, session in moves.items()}
    kept_sessions = [session for session in ended_sessions if session.id not in moves]
    open_count = len(sessions) - len(ended_sessions)
    plan = ArchiveOutcome(list(moves.values()), None, open_count, kept_sessions)
    if dry_run or not moves:
        return plan
    path = _write_archive(store, list(entries.values()))

    def is_archived(connection: Connection, session: Session) -> bool:
        return entry_of(connection, session.number) == entries[session.id]

    outcome = forget(store, entries, is_archived, new_archive=path)
    return plan._replace(sessions=outcome.sessions, path=path)


def _write_archive(store: SessionStore, entries: list[Entry]) -> Path:
    """Write an archive, and compare it with the sessions. Raises SessionsError."""
    moment, form = utc_now(), FORMS["json"]
    objects = [{"number": entry.session.number, **context_of(entry)} for entry in entries]
    folder = store.path.with_name(ARCHIVE)
    path = folder / f"sessions-{moment[:19].replace(':', '')}-{os.urandom(6).hex()}.json"
    begin, end = form.render_head(Head(store.root.name, len(entries), moment)), form.render_end(0)
    text = begin + ",".join(f"\n{dump_json(data)}" for data in objects) + end

    with errors_as(SessionsError, "archive_unwritten", path):
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", encoding="ascii", newline="\n")
        replace_file(path, text.encode("utf-8", "replace"), name=ARCHIVE, is_private=True)

    def contents_of(entry: Entry | Incoming) -> object:
        actions = [replace(action, id="", created_at="", context_id="") for action in entry.actions]
        return replace(entry.session, has_warnings=False), actions

    copies = {entry.session.id: contents_of(entry) for entry in read_source(path).items}
    for entry in entries:
        if copies.get(entry.session.id) != contents_of(entry):
            path.unlink()
            raise SessionsError("archive_differs", path=str(path), name=f"#{entry.session.number}")
    return path


class ForgetOutcome(NamedTuple):
    """The outcome of `forget`. unpurged: files that hold the bytes for now."""

    sessions: list[Session]
    unpurged: list[Path]


def forget(
    store: SessionStore,
    ids: Iterable[str],
    is_same: Callable[[Connection, Session], bool] = lambda *_: True,
    new_archive: Path | None = None,
) -> ForgetOutcome:
    """Remove sessions for good, with their actions and from the bytes.

    An unknown id is passed over. A session that continues a removed one stays, without its link.
    is_same: whether a session is still as the caller saw it; else it stays. Archives but for
    `new_archive` come first, so that a second call completes an interrupted one.
    """
    with ExitStack() as stack:
        with store.writing() as connection:
            sessions = {id_: rows.session_with_id(connection, id_) for id_ in ids}
            ids = [id_ for id_, row in sessions.items() if not row or is_same(connection, row)]
            for path in set(store.list_archives()) - {new_archive}:
                _cut_from_archive(path, ids)
            changed_files = [store.database]
            for file in _open_former_archives(store, stack):
                with file.writing() as archive:
                    matches = [rows.session_with_id(archive, id_) for id_ in ids]
                    for session in filter(None, matches):
                        delete_session(archive, session)
                changed_files += [file] if any(matches) else []
            removed_sessions = [session for session in map(sessions.get, ids) if session]
            for session in removed_sessions:
                delete_session(connection, session)
        with suppress(OSError):
            store.current_path.unlink()
        store.write_current()
        _remove_leftovers(store)
        unpurged = [file.path for file in changed_files if not file.purge()]
    return ForgetOutcome(removed_sessions, unpurged)


def _cut_from_archive(path: Path, ids: Sequence[str]) -> None:
    """Remove sessions from an archive; no link is followed. Raises SessionsError."""
    try:
        document = json.loads(b"" if is_irregular(path) else path.read_bytes())
        entries = [entry for entry in document["contexts"] if entry["id"] not in ids]
        if len(entries) < len(document["contexts"]):
            text = dump_json({**document, "count": len(entries), "contexts": entries}, indent=2)
            replace_file(path, text.encode("utf-8", "replace"), is_private=True)
    except OSError as error:
        raise SessionsError("output_write", path=str(path), reason=reason_of(error)) from error
    except (ValueError, LookupError, TypeError, RecursionError):
        return  # it is no archive of ours


def _remove_leftovers(store: SessionStore) -> None:
    """Remove the copies of texts that older versions and a killed `archive` have left."""
    remove_former_copies(store.root, os.environ)
    with suppress(OSError):
        remove_strays(store.path.with_name(ARCHIVE), ARCHIVE)


def delete_session(connection: Connection, session: Session) -> None:
    """Remove a session with its actions; sessions that continue it stay."""
    rows.index_session(connection, session, remove=True)
    connection.execute("DELETE FROM actions WHERE context_id = ?", (session.id,))
    connection.execute("DELETE FROM conversations WHERE context_id = ?", (session.id,))
    connection.execute("UPDATE contexts SET parent_id = NULL WHERE parent_id = ?", (session.id,))
    connection.execute("DELETE FROM contexts WHERE number = ?", (session.number,))
    connection.execute("UPDATE counters SET value = value + 1 WHERE name = 'removed'")


def _open_former_archives(store: SessionStore, stack: ExitStack) -> list[Database]:
    databases = map(store.open_database, store.list_former_archives())
    return [stack.enter_context(closing(database)) for database in databases]


def find_secrets(store: SessionStore) -> list[SecretPlace]:
    """Return each place with a secret: database, archives, `current.json`. Raises DiskError."""
    places, numbers = list[SecretPlace](), dict[str, int]()
    with ExitStack() as stack:
        for file in (store.database, *_open_former_archives(store, stack)):
            with file.reading() as connection:
                if connection is None:
                    continue
                if file is store.database:
                    numbers = dict(connection.execute("SELECT id, number FROM contexts"))
                places += _redact_rows(connection, file.path, numbers, dry_run=True)
    for path in (store.current_path, *store.list_archives()):
        kinds = redact_file(path, dry_run=True)
        places += [SecretPlace(path, "", kinds)] if kinds else []
    return places


def redact_secrets(store: SessionStore) -> Redaction:
    """Redact every place, and its bytes.

    The bytes go even without a finding: an earlier run may have stopped before. Raises DiskError.
    """
    places = find_secrets(store)
    _remove_leftovers(store)
    with ExitStack() as stack:
        archives = _open_former_archives(store, stack)
        for file in archives:
            with file.writing() as archive:
                _redact_rows(archive, file.path, {}, dry_run=False)
        databases = [store.database, *archives] if os.path.lexists(store.path) else archives
        if places and store.database in databases:
            with store.writing() as connection:  # a hint here may hold half a secret of an archive
                _redact_rows(connection, store.path, {}, dry_run=False)
            store.write_current()
        unpurged = [file.path for file in databases if not file.purge()]
    for path in (store.current_path, *store.list_archives()):
        redact_file(path)
    return Redaction(places, find_secrets(store), unpurged)


def _row_groups_in(connection: Connection) -> Iterator[list[Row]]:
    """Yield the rows that share secrets: a session with its actions, then actions without one."""

    def rows_of(table: str, condition: str, *values: object) -> list[Row]:
        names = _REDACTED_COLUMNS[table]
        statement = f"SELECT {', '.join(names)} FROM {table} WHERE {condition}"
        cursor = connection.execute(statement, values)
        return [{**dict(zip(names, row, strict=True)), "_table": table} for row in cursor]

    for id_ in connection.execute("SELECT id FROM contexts ORDER BY number").fetchall():
        yield [*rows_of("contexts", "id = ?", *id_), *rows_of("actions", "context_id = ?", *id_)]
    yield rows_of("actions", "context_id NOT IN (SELECT id FROM contexts)")
    yield rows_of("waiting_actions", "1")


def _redact_rows(
    connection: Connection, path: Path, numbers: Mapping[str, int], *, dry_run: bool
) -> list[SecretPlace]:
    """Redact all rows of a file; return where secrets were. numbers: of sessions, by id."""
    places = list[SecretPlace]()
    for group in _row_groups_in(connection):
        clean_group, kinds = redact_rows(group, _JSON_COLUMNS)
        if not kinds:
            continue
        is_session = clean_group[0]["_table"] == "contexts"
        session = rows.session_with_id(connection, clean_group[0]["id"]) if is_session else None
        id_ = session.id if session else ""
        places.append(SecretPlace(path, f"#{numbers[id_]}" if id_ in numbers else id_, kinds))
        if dry_run:
            continue
        if session:
            rows.index_session(connection, session, remove=True)
        for row in clean_group:
            values = {name: value for name, value in row.items() if name not in ("_table", "id")}
            setting = ", ".join(f"{name} = ?" for name in values)
            statement = f"UPDATE {row['_table']} SET {setting} WHERE id = ?"
            connection.execute(statement, (*values.values(), row["id"]))
        if session:
            [session] = rows.sessions_where(connection, "id = ?", (session.id,))
            cells = session.goal_short, session.summary_short, rows.next_revision(connection)
            setting = "goal_short = ?, summary_short = ?, revision = ?"
            connection.execute(f"UPDATE contexts SET {setting} WHERE id = ?", (*cells, session.id))
            rows.index_session(connection, session)
    return places
