"""Finds what setup has put into the files of clients: it plans both ways, and writes nothing.

What a removal would take out is there; what a setup would change is outstanding. So there is no
second knowledge of what setup writes.
"""

import contextlib
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from commands.documents.edit_toml import tables_of
from commands.documents.json_tree import object_of, value_at
from commands.setup.client_machine import Machine, paths_of
from commands.setup.client_table import CLIENTS, COMMANDS, ENTRY, RECORDING, Client
from commands.setup.configured import cannot_start
from commands.setup.entries import rooms_of
from commands.setup.files import LEVELS, Change, Desk, Installation, Job, Level, Remark, Tree
from commands.setup.hooks import hook_strings, places_of
from commands.setup.levels import at_level
from commands.setup.plan import Plan, plan
from core.disk import read_regular
from core.messages import Facts, say

_MOST_BYTES = 4_000_000
_STARTED = ("command", "args", "cwd")  # of an entry: whether these work is known without a plan
_WORD = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|[^\s;&]+""")
_SCRIPT = "cli.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """A client that is set up at one level.

    client: its row, with the files of the level. there: by part, the file that holds it.
    outstanding: by part, a file that setup would change. restarted: files in which setup would
    change how the server starts. is_shown_to_git: whether files of this machine are not kept out of
    git. problems: why setup would leave files alone. starts: the words before `hook` in its hooks.
    rooms: those that its entry offers. recording: "missing" or "idle" where setup would add the
    hooks that record what the client does, or take them out; else "".
    """

    client: Client
    level: Level
    there: Mapping[str, Path]
    outstanding: Mapping[str, Path]
    restarted: frozenset[Path]
    is_shown_to_git: bool
    problems: tuple[Remark, ...]
    starts: frozenset[tuple[str, ...]]
    rooms: tuple[str, ...]
    recording: str

    @property
    def absent(self) -> list[str]:
        """The parts that are not there at all, as a user may have wanted."""
        return [part for part in self.outstanding if part not in self.there]


def set_up_clients(machine: Machine, tree: Tree | None, here: Installation) -> list[SetUp]:
    """Return the clients that are set up, those of the project before those of the user.

    here: this program, for hooks that start what does not exist.
    """
    found: list[SetUp] = []
    for client in CLIENTS:
        for level in LEVELS:
            row = at_level(client, level)
            if row:
                job = Job(
                    clients=(client.key,),
                    present=frozenset(),
                    machine=machine,
                    installation=here,
                    rules=False,
                    level=level,
                    tree=tree,
                )
                found += _set_up(row, job)
    return [it for it in found if not _only_shares(it, found)]


def _only_shares(it: SetUp, found: list[SetUp]) -> bool:
    """Return whether all that a client has are hooks of another one, in a file that both read."""
    paths = {one.there.get("hooks") for one in found if "entry" in one.there}
    return set(it.there) == {"hooks"} and it.there["hooks"] in paths


def why_left(problem: Remark, clients: str, command: str) -> Facts:
    """Return the facts of a file that setup would leave alone."""
    given = {**problem.facts, "cause": problem.facts.get("reason", ""), "client": clients}
    reason = say(f"doctor.left_{problem.key}", **given)
    return {**given, "reason": reason, "command": command}


def files_of(row: Client, machine: Machine) -> dict[str, list[Path]]:
    """Return the files of a client at a level, by part."""
    folders, hooks, approvals = machine.directories, row.hooks, row.approvals
    named = {"entry": paths_of(row.places[0], machine)} if row.places else {}
    if hooks:
        named["hooks"] = [folders[hooks.directory] / hooks.file]
    if approvals:
        file = approvals.file and [folders[approvals.directory] / approvals.file]
        named["approvals"] = file or named["entry"]
    return named


def _set_up(row: Client, job: Job) -> Iterator[SetUp]:
    """Yield the client if anything of ours is in its files at this level."""
    files = files_of(row, job.machine)
    starts = _starts(row, Desk(job.root), job.machine)
    sound = next((words for words in sorted(starts) if not missing_of(words, job.machine)), ())
    if sound:
        start = replace(job.installation, cli=sound, is_command=len(sound) == 1)
        job = replace(job, installation=start)
    out, put = plan(replace(job, remove=True)), plan(job)
    there = {
        part: path
        for part, path in _parts(out, row)
        if part in files and _is_among(path, files[part])
    }
    problems = [it for it in put.problems if _is_among(Path(str(it.facts["path"])), _all(files))]
    if not there and not any(map(_is_ours, problems)):
        return
    bare = plan(replace(job, approvals=False))
    changes = [it for it in bare.changes if ("entry", row.name) in it.parts]
    outstanding = {part: path for part, path in _parts(put, row) if part != "entry"}
    older = [change.path for change in changes if _gets_more(change, row)]
    outstanding |= {"entry": older[0]} if older else {}
    yield SetUp(
        client=row,
        level=job.level,
        there=there,
        outstanding=outstanding,
        restarted=frozenset(change.path for change in changes),
        is_shown_to_git=any(("exclude", "") in change.parts for change in put.changes),
        problems=tuple(problems),
        starts=starts,
        rooms=rooms_of(Desk(job.root), job, row),
        recording=next(filter(None, (_recording(it, row) for it in put.changes)), ""),
    )


def _recording(change: Change, row: Client) -> str:
    """Return whether hooks that record are "missing" or "idle"; "" where they stay as they are."""
    if not row.hooks or ("hooks", row.name) not in change.parts:
        return ""
    before, after = (
        any(place.ours == RECORDING for place in places_of(text or "{}", row.hooks))
        for text in (change.before, change.after)
    )
    return "" if before == after else "missing" if after else "idle"


def _parts(planned: Plan, row: Client) -> Iterator[tuple[str, Path]]:
    for change in planned.changes:
        yield from ((part, change.path) for part, name in change.parts if name == row.name)


def _is_among(path: Path, files: list[Path]) -> bool:
    return os.path.realpath(path) in map(os.path.realpath, files)


def _all(files: Mapping[str, list[Path]]) -> list[Path]:
    return [path for paths in files.values() for path in paths]


def _is_ours(problem: Remark) -> bool:
    """Return whether a file that cannot be edited seems to hold something of ours."""
    if problem.key == "leads_out":
        return False
    try:
        data = read_regular(Path(str(problem.facts["path"])), most_bytes=_MOST_BYTES)[0]
    except OSError:
        return False
    return any(name.encode() in data for name in (ENTRY, _SCRIPT))


def _gets_more(change: Change, row: Client) -> bool:
    """Return whether an entry would get another key or value than what starts the server."""
    return _settled(change.before or "", row) != _settled(change.text, row)


def _settled(text: str, row: Client) -> dict[str, Any]:
    """Return the entries of a configuration without what starts them."""
    data = tables_of(text) if row.form == "toml" else object_of(text)
    table = value_at(data, row.places[0].keys[0])
    entries = table if isinstance(table, dict) else {}
    return {
        name: {key: value for key, value in entry.items() if key not in _STARTED}
        for name, entry in entries.items()
        if isinstance(entry, dict)
    }


# What a hook starts.


def _starts(row: Client, desk: Desk, machine: Machine) -> frozenset[tuple[str, ...]]:
    """Return the words with which the hooks of a client start this program."""
    if not row.hooks:
        return frozenset()
    text = desk.text(machine.directories[row.hooks.directory] / row.hooks.file) or ""
    with contextlib.suppress(ValueError):
        lines = hook_strings(text, row.hooks)
        started = (start_of(line, windows=machine.windows) for line in lines)
        return frozenset(filter(None, started))
    return frozenset()


def missing_of(words: Sequence[str], machine: Machine) -> str:
    """Return which of these words, an interpreter or our script, is not on this machine; or ""."""
    command, script = words[0], words[-1] if len(words) > 1 else ""
    missing = {"command_missing": command, "script_missing": script, "": ""}
    return missing[cannot_start(command, script, Path(), machine)]


def start_of(line: str, *, windows: bool) -> tuple[str, ...]:
    """Return the words of a hook's line that start this program, () for another text."""
    if windows:
        found = [word.strip("\"'").replace("''", "'") for word in _WORD.findall(line)]
        words = found[1:] if found[:1] == ["call"] else found
    else:
        try:
            words = shlex.split(line)
        except ValueError:
            return ()
    for at, word in enumerate(words[1:], start=1):
        name = os.path.basename(words[at - 1].replace("\\", "/")).removesuffix(".exe")
        if word == "hook" and name in (_SCRIPT, COMMANDS[1]):
            return tuple(words[:at])
    return ()
