"""Writes the actions of a client into the sessions of a project, and never delays the client.

    record_actions(root, [Deed("command", "npm test")], Caller("codex", "cx-1"), environment)

A hook calls this at every step. Where another process writes for longer than WAIT_S, the action is
dropped and counted. The answer of `context_save` binds a client's conversation to a session. Until
then actions wait, and again after its end: they may belong to the next.
"""

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from core.config import state_directory
from core.room.database import DatabaseBusyError
from core.text.plain import utc_now
from rooms.sessions import rows
from rooms.sessions.config import Config, make_folder, read_config
from rooms.sessions.session import Action

WAIT_S = 0.05
CONTENT_CHARS, RESULT_CHARS, PATH_CHARS = 500, 300, 500
MOST_WAITING = 1_000  # actions of one conversation that saves nothing; the oldest go
DROPPED = "dropped-actions.txt"  # in the state directory: a line with the time of each
COUNTED_DAYS = 30
AT_ONCE_S = 2  # hooks of the project and of the user may both be started
_SAME_ACTION = (
    "SELECT 1 FROM (SELECT * FROM actions ORDER BY rowid DESC LIMIT 20) WHERE context_id IS ?"
    " AND type IS ? AND content IS ? AND result IS ? AND file_path IS ?"
    f" AND created_at >= strftime('{rows.MOMENT_FORMAT}', ?, '-{AT_ONCE_S} seconds')"
)
_FRESH_DAYS = 1 / 144  # ten minutes: the greatest age of a save whose answer comes in

# Read of a text, without a cut word: the redactor does not know a part of a secret.
_MOST_READ_CHARS = 4_000
_CUT_END, _CUT_BEGINNING = re.compile(r"\s\S{1,1999}\Z"), re.compile(r"\A\S{1,1999}\s")
_MOST_COUNTED_BYTES = 100_000
_DAY_S = 86_400

_END = "(?![0-9A-Za-z_])"  # no \b: a Korean particle may follow at once, as in `#8로 저장했습니다`
_SESSION_NAME = re.compile(rf"\b(ctx_[0-9A-Za-z]{{1,40}}){_END}|(?<![\w#])#([0-9]{{1,15}}){_END}")


class Deed(NamedTuple):
    """An action of a client."""

    kind: str  # command or edit
    content: str  # the command line, or the change to the file
    has_failed: bool | None = None  # None if unknown
    output: str = ""  # printed by the command
    file_path: str = ""  # relative to the project


class Caller(NamedTuple):
    """A client, as its hooks name it, and its id of the conversation."""

    agent: str
    conversation: str

    @property
    def waiting_id(self) -> str:
        """The stand-in for a session's id while the actions wait."""
        return f"{rows.WAITING_PREFIX}{self.agent}:{self.conversation}"


def record_actions(
    root: Path,
    deeds: Sequence[Deed],
    caller: Caller,
    environment: Mapping[str, str],
    *,
    strict: bool = False,
    now: str = "",
) -> bool:
    """Write the actions that `config.json` wants; False if dropped.

    strict: leave out an action with a secret, redacted otherwise. Raises ConfigError, SessionsError
    and DatabaseError.
    """
    config, actions = read_config(root), list[Action]()
    for deed in deeds if config.logs_actions else ():
        if deed.kind == "edit":
            is_wanted = config.logs_errors if deed.has_failed else config.logs_edits
        else:
            is_wanted = is_recorded(deed.content, config.include, config.exclude)
        if is_wanted and (action := _action_of(deed, config, strict)):
            actions.append(action)
    if not actions:
        return True

    def write(connection: Connection) -> None:
        moment = now or utc_now()
        row = connection.execute(
            "SELECT c.id FROM conversations b JOIN contexts c ON c.id = b.context_id"
            " WHERE b.agent = ? AND b.client_session = ? AND c.ended_at IS NULL AND c.archive = ''",
            caller,
        ).fetchone()
        session_id = str(row[0]) if row else caller.waiting_id
        for action in actions:
            entry = replace(action, context_id=session_id, created_at=moment)
            id_, *values = rows.values_of_action(entry)
            # Another hook may have written the same.
            if connection.execute(_SAME_ACTION, values).fetchone() is None:
                connection.execute(f"INSERT {rows.INTO_ACTIONS}", (id_, *values))
        if session_id == caller.waiting_id:
            connection.execute(
                "DELETE FROM actions WHERE rowid IN (SELECT rowid FROM actions"
                " WHERE context_id = ? ORDER BY rowid DESC LIMIT -1 OFFSET ?)",
                (session_id, MOST_WAITING),
            )
            # Where no save has settled for long, so that a project without saves stays small.
            unclaimed = f"SELECT 1 FROM actions WHERE {rows.UNCLAIMED} LIMIT 1"
            if connection.execute(unclaimed, (moment,)).fetchone():
                rows.settle_actions(connection, moment)

    return _write_or_count(root, config, environment, write)


def bind_conversation(
    root: Path, caller: Caller, answer: str, environment: Mapping[str, str], *, now: str = ""
) -> bool:
    """Bind a conversation to the session that an answer of `context_save` names first.

    Waiting actions join it. A session not saved within ten minutes is not bound. False if dropped.
    Raises ConfigError, SessionsError and DatabaseError.
    """
    config, match = read_config(root), _SESSION_NAME.search(answer)
    if not (config.logs_actions and match):
        return True

    def write(connection: Connection) -> None:
        moment = now or utc_now()
        row = connection.execute(
            "SELECT id FROM contexts WHERE (id = ? OR number = ?) AND archive = ''"
            " AND julianday(updated_at) > julianday(?) - ?",
            (match[1], int(match[2] or 0), moment, _FRESH_DAYS),
        ).fetchone()
        if row is None:
            return
        connection.execute(
            "INSERT OR REPLACE INTO conversations (agent, client_session, context_id, seen_at)"
            " VALUES (?, ?, ?, ?)",
            (*caller, row[0], moment),
        )
        statement = "UPDATE actions SET context_id = ? WHERE context_id = ?"
        connection.execute(statement, (row[0], caller.waiting_id))

    return _write_or_count(root, config, environment, write)


def _action_of(deed: Deed, config: Config, strict: bool) -> Action | None:
    """Return a redacted action, None for a deed that may not be kept."""
    # Most commands are not recorded, and need not wait for the redactor.
    from core.sanitizer import redact_together

    # The database takes no lone surrogates and no NUL.
    content, output, path = (
        text.encode("utf-8", "replace").decode("utf-8").replace("\0", "?")
        for text in (deed.content, deed.output, deed.file_path)
    )
    if len(content) > _MOST_READ_CHARS:
        content = _CUT_END.sub("", content[:_MOST_READ_CHARS])
    if len(output) > _MOST_READ_CHARS:
        output = _CUT_BEGINNING.sub("", output[-_MOST_READ_CHARS:])
    texts = redact_together([content, output, path])
    if strict and any(kinds for _, kinds in texts):
        return None
    content, output, path = (text for text, _ in texts)
    result = {None: "", False: "success", True: "failed"}[deed.has_failed]
    if deed.has_failed and (end := output.strip()):
        most_chars = RESULT_CHARS - len("failed: …")
        result = f"failed: {end if len(end) <= most_chars else f'…{end[-most_chars:]}'}"
    return Action(
        id=f"act_{os.urandom(6).hex()}",
        kind="error" if deed.has_failed and config.logs_errors else deed.kind,
        content=content if len(content) <= CONTENT_CHARS else f"{content[: CONTENT_CHARS - 1]}…",
        result=result,
        file_path=path[:PATH_CHARS],
    )


def _write_or_count(
    root: Path, config: Config, environment: Mapping[str, str], write: Callable[[Connection], None]
) -> bool:
    """Carry out a write; False, and counted, if the database was busy."""
    path = config.database_path(root)
    make_folder(path.parent)
    with contextlib.closing(rows.database_at(path, timeout_s=WAIT_S)) as database:
        try:
            with database.writing() as connection:
                write(connection)
            return True
        except DatabaseBusyError:
            directory = state_directory(str(root), environment)
            with contextlib.suppress(OSError):
                os.makedirs(directory, mode=0o700, exist_ok=True)
                # In one call, so that lines of several hooks stay apart.
                with open(Path(directory, DROPPED), "ab", buffering=0) as file:
                    if os.fstat(file.fileno()).st_size < _MOST_COUNTED_BYTES:
                        file.write(f"{utc_now()}\n".encode("ascii"))
            return False


def count_dropped(root: Path, environment: Mapping[str, str]) -> int:
    """Count the actions that were dropped within COUNTED_DAYS."""
    oldest = time.strftime("%Y-%m-%d", time.gmtime(time.time() - COUNTED_DAYS * _DAY_S))
    directory, data = state_directory(str(root), environment), b""
    if directory:  # there is none without a home
        with contextlib.suppress(OSError), open(os.path.join(directory, DROPPED), "rb") as file:
            data = file.read(_MOST_COUNTED_BYTES)
    return sum(line >= oldest for line in data.decode("ascii", "replace").splitlines())


# A command line is recorded that runs a command which is included and not excluded. A command is
# known by its leading words (`npm test`). Options may stand between them, and a wrapper such as
# `sudo` or `time` does not count.

MOST_CHARS = 16_000  # of a command line, which are looked at
_MOST_SHELLS = 3  # one within another: sh -c "sh -c …"

_PIECE = re.compile(
    r"""(?P<end>[;&|\n()]++)|(?P<note>\#[^\n]*+)"""
    r"""|(?P<word>(?:[^\s;&|()<>'"`\\]|\\.|'[^']*+'|"(?:[^"\\]|\\.)*+")++)|.""",
    re.DOTALL,
)
_HERE_DOCUMENT = re.compile(r"""(?<!<)<<-?\s*+(["']?)([A-Za-z_]\w*+)\1""")
_QUOTED = re.compile(r"""\\(.)|'([^']*+)'|"((?:[^"\\]|\\.)*+)\"""", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*+\+?=")
_SUFFIX = re.compile(r"\.(?:exe|cmd|bat)\Z", re.I)
_VERSION = re.compile(r"(?<=[A-Za-z])[0-9]++(?:\.[0-9]++)*+\Z")  # python3.11 is python, too
# Wrappers before the real command, with their options that take a value.
_WRAPPERS = {
    **dict.fromkeys("command exec builtin nohup time then do else if while until ! {".split(), ""),
    "sudo": "-u -g -h -p -C -D -R -T",
    "doas": "-u -C",
    "env": "-u -C",
    "nice": "-n",
    "timeout": "-k -s",
    "xargs": "-n -I -P -L -d",
}
_LINE_OPTION = re.compile(r"-(?!-).*c", re.DOTALL)  # an option of a shell before a line to run
_SHELLS = frozenset("sh bash zsh dash ksh".split())


def is_recorded(line: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Return whether a command line runs a command to record.

    include, exclude: leading words of commands. An empty `include` means all; `exclude` wins.

    >>> is_recorded("cd web && sudo npm test", ["npm test"], [])
    True
    """
    inclusions, exclusions = ([name.split() for name in names] for names in (include, exclude))
    return any(
        (not inclusions or any(_is_name_of(name, command) for name in inclusions))
        and not any(_is_name_of(name, command) for name in exclusions)
        for command in commands_in(line)
    )


def commands_in(line: str, shells: int = _MOST_SHELLS) -> Iterator[list[str]]:
    """Yield the words of each simple command, from the bare name of its program.

    >>> [*commands_in("cd web && sudo -u me /bin/npm test")]
    [['cd', 'web'], ['npm', 'test']]
    """
    lines, end = list[str](), ""
    for text in line[:MOST_CHARS].split("\n"):
        if end:  # of a here document
            end = "" if text.strip() == end else end
            continue
        lines.append(text)
        here_document = _HERE_DOCUMENT.search(text)
        end = here_document[2] if here_document else ""
    commands = [list[str]()]
    for piece in _PIECE.finditer("\n".join(lines)):
        if piece["word"]:
            word = _QUOTED.sub(lambda match: match[1] or match[2] or match[3] or "", piece["word"])
            commands[-1].append(word)
        elif piece["end"]:
            commands.append([])
    for words in commands:
        _unwrap(words)
        if not words:
            continue
        words[0] = _SUFFIX.sub("", re.split(r"[/\\]", words[0])[-1])
        i = next((i for i, word in enumerate(words[:4]) if _LINE_OPTION.fullmatch(word)), 0)
        if words[0] in _SHELLS and i and shells:
            yield from commands_in(" ".join(words[i + 1 :]), shells - 1)
        else:
            yield words


def _unwrap(words: list[str]) -> None:
    """Remove the wrappers and assignments before a command."""
    while words:
        name = words[0].rpartition("/")[2]
        if _ASSIGNMENT.match(words[0]):
            del words[0]
            continue
        if name not in _WRAPPERS:
            break
        value_options = _WRAPPERS[name].split()
        del words[0]
        while words and words[0].startswith("-"):
            del words[: 2 if words[0] in value_options else 1]
        if name == "timeout":
            del words[:1]  # how long


def _is_name_of(name: Sequence[str], command: Sequence[str]) -> bool:
    if not name or name[0] not in (command[0], _VERSION.sub("", command[0])):
        return False
    i = 1
    for word in name[1:]:
        while i < len(command) and command[i] != word:
            previous = command[i - 1]
            is_value = i > 1 and previous.startswith("-") and "=" not in previous
            if not command[i].startswith("-") and not is_value:
                return False
            i += 1
        if i == len(command):
            return False
        i += 1
    return True
