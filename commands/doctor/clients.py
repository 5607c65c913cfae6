"""Says what is wrong with the clients: server entries, hooks, approvals and rules, and the way out.

An error keeps a client from using the memory, or a part of it, and most clients do not tell. A
warning is less than setup would give. What is not there at all may be meant, and what is only
missing on this machine, in a file that git has, is somebody else's: both are notes.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from commands.doctor import codex
from commands.doctor.mending import line_of, setup_line, this_program
from commands.doctor.rules import rules_findings, rules_of
from commands.doctor.set_up import SetUp, missing_of, set_up_clients, why_left
from commands.doctor.team.entries import entry_findings
from commands.setup.client_machine import Machine, machine_of
from commands.setup.client_table import CLIENTS
from commands.setup.configured import Configured, configured_clients
from commands.setup.entries import LANG
from commands.setup.files import Remark, Tree
from commands.setup.here import SERVER, tree_of
from commands.setup.levels import known_files
from commands.setup.rules import rules_files
from core.lessons.upkeep import Finding, Severity
from core.messages import Facts

# Problems of an entry with which no server starts; and those that another machine need not have.
_FATAL = ("unreadable", "command_missing", "script_missing", "bad_setting", "project_missing")
_LOCAL = ("command_missing", "script_missing", "project_missing")
# Why a client itself reads nothing of a file; with another reason only setup leaves it alone.
_UNREAD = (
    *("unreadable", "not_utf8", "toml_syntax", "other_form"),
    *("json_syntax", "json_comments", "json_commas", "json_mark"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A machine with one project, what git says of it, and the clients that are set up there.

    without_rules: which of them have none.
    """

    machine: Machine
    tree: Tree | None
    set_up: Sequence[SetUp]
    without_rules: Sequence[SetUp]

    def command(self, it: SetUp, *wanted: str) -> str:
        """Return the line that sets a client up again, without the parts that it does not have.

        wanted: parts that it is to have from now on.
        """
        without = [part for part in it.absent if part not in wanted]
        without += ["rules"] if it in self.without_rules else []
        return setup_line([it.client.key], it.level, str(self.machine.root), without)

    def is_shared(self, path: Path) -> bool:
        """Return whether git has a file of the project, so that others have it, too."""
        root = self.machine.root
        below = path.relative_to(root).as_posix() if path.is_relative_to(root) else ""
        return bool(self.tree and below in self.tree.tracked)


def client_findings(root: Path, home: Path, environment: Mapping[str, str]) -> list[Finding]:
    """Return what somebody should know about the clients of this machine and the project `root`."""
    variables = {name: value for name, value in environment.items() if name != LANG}
    machine = machine_of(root, server=SERVER, home=home, environment=variables)
    tree = tree_of(root, [*known_files(), *rules_files(machine)])
    set_up = set_up_clients(machine, tree, this_program())
    rules = rules_of(machine, tree, set_up)
    without = [it for one in rules for group in one.absent.values() for it in group]
    scene = Scene(machine=machine, tree=tree, set_up=set_up, without_rules=without)
    entries = configured_clients(root, server=SERVER, home=home, environment=environment)
    blocked = {Path(str(it.facts["path"])) for one in set_up for it in one.problems}
    findings = []
    for client in CLIENTS:
        own = [entry for entry in entries if entry.client == client.name]
        for entry in own:
            if not (entry.problem == "unreadable" and entry.path in blocked):
                findings.append(_about_entry(entry, own, scene))
        for one in set_up:
            if one.client.key == client.key:
                findings += _about_parts(one, bool(own), scene)
    return [*findings, *rules_findings(rules, machine), *entry_findings(machine, tree)]


# Server entries.


def _about_entry(found: Configured, own: Sequence[Configured], scene: Scene) -> Finding:
    """Return a note on an entry for this or another project, or what is wrong with it.

    own: all entries of the client.
    """
    facts: Facts = {
        "client": found.client,
        "path": str(found.path),
        "entry": found.entry,
        "project": str(found.project or ""),
        "source": found.source,
    }
    if found.problem:
        severity: Severity = "error" if found.problem in _FATAL else "warning"
        if found.problem in _LOCAL and scene.is_shared(found.path):
            severity = "note"
        return Finding(
            f"client_{found.problem}", severity, facts=_with_command(facts, found, scene)
        )
    if _is_here(found, scene):
        return Finding("client_here", "note", facts=facts)
    row = next(row for row in CLIENTS if row.name == found.client)
    if row.places[0].directory != "root" or any(_is_here(it, scene) for it in own):
        return Finding("client_elsewhere", "note", facts=facts)
    facts["command"] = setup_line([row.key], "project", str(scene.machine.root), [])
    return Finding("client_elsewhere", "warning", facts=facts)


def _is_here(found: Configured, scene: Scene) -> bool:
    root = os.path.realpath(scene.machine.root)
    return (
        not found.problem and bool(found.project) and os.path.realpath(str(found.project)) == root
    )


def _with_command(facts: Facts, found: Configured, scene: Scene) -> Facts:
    """Return the facts with the command that mends an entry, if setup would change how it starts.

    It leaves the environment of an entry alone.
    """
    for it in scene.set_up if found.problem != "bad_setting" else ():
        if it.client.name == found.client and found.path in it.restarted:
            return {**facts, "command": scene.command(it)}
    return facts


# What setup writes beside the entry, and why it could not.


def _about_parts(it: SetUp, is_started: bool, scene: Scene) -> Iterator[Finding]:
    for problem in it.problems:
        yield _about_problem(problem, it, scene)
    facts: Facts = {"client": it.client.name}
    gone = _about_starts(it, scene)
    if gone:
        yield gone
    for part, path in it.outstanding.items():
        if part in it.there and not (part == "hooks" and gone):
            known: Facts = {**facts, "path": str(path), "command": scene.command(it)}
            why = it.recording if part == "hooks" else ""
            known |= {"rooms": ",".join(it.rooms)} if why else {}
            yield Finding(f"client_{part}_{why or 'outdated'}", "warning", facts=known)
    for part in it.absent:
        others = (one.there for one in scene.set_up if one.client.key == it.client.key)
        if any(part in there for there in others) or (part == "entry" and is_started):
            continue
        known = {**facts, "path": str(it.outstanding[part]), "command": scene.command(it, part)}
        severity: Severity = "warning" if part == "entry" else "note"
        yield Finding(f"client_{part}_absent", severity, facts=known)
    yield from _about_git(it, facts, scene)
    if it.client.key == codex.KEY and not gone:
        levels = [one.level for one in scene.set_up if one.client.key == codex.KEY]
        reason = codex.not_used(it, levels, scene.machine, scene.tree)
        if reason:
            path = it.there.get("entry" if reason == "untrusted" else "hooks", Path())
            yield Finding(f"client_{reason}", "warning", facts={**facts, "path": str(path)})


def _about_problem(problem: Remark, it: SetUp, scene: Scene) -> Finding:
    facts = why_left(problem, it.client.name, scene.command(it))
    if problem.key in _UNREAD:
        return Finding("client_unread", "error", facts=facts)
    return Finding("client_left_alone", "warning", facts=facts)


def _about_starts(it: SetUp, scene: Scene) -> Finding | None:
    """Return what the hooks would start and cannot; the client sees no failure in their line."""
    for words in sorted(it.starts):
        missing = missing_of(words, scene.machine)
        if missing:
            path = it.there["hooks"]
            facts: Facts = {"client": it.client.name, "path": str(path), "word": missing}
            facts["command"] = scene.command(it)
            severity: Severity = "note" if scene.is_shared(path) else "error"
            return Finding("client_hooks_gone", severity, facts=facts)
    return None


def _about_git(it: SetUp, facts: Facts, scene: Scene) -> Iterator[Finding]:
    """Yield what git should not have: files of this machine, and approvals of one person."""
    path = it.there.get("approvals")
    is_own = bool(it.client.approvals and it.client.approvals.file)
    if path and is_own and scene.is_shared(path):
        command = line_of("git", "-C", str(scene.machine.root), "rm", "--cached", str(path))
        known: Facts = {**facts, "path": str(path), "command": command}
        yield Finding("client_approvals_tracked", "warning", facts=known)
    elif it.is_shown_to_git and path:
        known = {**facts, "command": scene.command(it)}
        yield Finding("client_shown_to_git", "warning", facts=known)
