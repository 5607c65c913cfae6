"""Plans a setup: from the texts of files to the texts that they would have."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from commands.documents.edit_toml import BrokenTomlError, tables_of
from commands.documents.json_tree import check_taken
from commands.setup.approvals import items_of, with_approvals, without_approvals
from commands.setup.client_table import (
    CLIENTS,
    TEAM_ENTRY,
    THE_PROJECT,
    TOOLS,
    Approvals,
    Client,
    Hooks,
)
from commands.setup.entries import name_of, plan_entry, rooms_of
from commands.setup.files import (
    Change,
    Desk,
    EntryError,
    Job,
    Remark,
    Tree,
    strings_in,
    unless_made,
)
from commands.setup.hooks import Call, hook_strings, odd_key, with_hooks, without_hooks
from commands.setup.levels import at_level, machine_files
from commands.setup.remote.entry import plan_remote, remote_rooms
from commands.setup.rooms import idle_events, tools_of
from commands.setup.rules import put_in, put_out, rules_of_user
from core.config import CONTEXT_DIRECTORY, LOG_NAME
from core.lessons.file import COMPANIONS

MARK = "# sentinel-memory setup"  # in the list that git has for one machine
_SIGN = re.compile(r"[\\*?\[]|\A[#!]| \Z")


@dataclass(frozen=True, slots=True)
class Plan:
    """What would change, what is wrong with files that are left alone, and what to know.

    tools: those that the clients then offer.
    """

    changes: tuple[Change, ...]
    problems: tuple[Remark, ...]
    notes: tuple[Remark, ...]
    tools: tuple[str, ...] = ()


def plan(job: Job) -> Plan:
    """Return what a job would change."""
    desk, notes, tools = Desk(job.root), list[Remark](), dict[str, None]()
    asked = [client for client in CLIENTS if client.key in job.clients]
    idle = _idle(desk, job, asked)
    for client in asked:
        row = at_level(client, job.level)
        if row is None:
            notes.append(Remark("no_user_level", {"client": client.name}))
            continue
        if job.url or job.remove:
            notes += _plan_remote(desk, job, row, tools)
        if job.url:
            continue
        name, offered = name_of(desk, job, row), tools_of(rooms_of(desk, job, row))
        tools |= dict.fromkeys(offered)
        notes += plan_entry(desk, job, row)
        if job.approvals and row.approvals and row.approvals.file:
            _plan_approvals(desk, job, row, row.approvals, (name, offered))
        if job.hooks and row.hooks:
            notes += _plan_hooks(desk, job, row, row.hooks, idle[row.hooks.file])
            if row.hooks.beside and job.level == "project":
                _take_out(desk, job, client, row.hooks._replace(file=row.hooks.beside))
    if job.rules and not job.url:
        notes += _plan_rules(desk, job, asked)
    if job.level != "user" and not job.url:
        _plan_memory(desk, job)
    if job.level != "user" and job.tree:
        _plan_exclude(desk, job, asked, job.tree)
    return Plan(tuple(desk.changes()), tuple(desk.problems.values()), tuple(notes), tuple(tools))


# Approvals and hooks.


def _plan_remote(desk: Desk, job: Job, row: Client, tools: dict[str, None]) -> list[Remark]:
    """Plan the entry of a server that others run, and what allows its tools."""
    offered = tools_of(remote_rooms(job))
    notes = plan_remote(desk, job, row)
    if row.remote and job.approvals and row.approvals and row.approvals.file:
        _plan_approvals(desk, job, row, row.approvals, (TEAM_ENTRY, offered), "remote")
    if row.remote and job.url:
        tools |= dict.fromkeys(offered)
    return notes


def _plan_approvals(
    desk: Desk,
    job: Job,
    client: Client,
    approvals: Approvals,
    server: tuple[str, list[str]],
    part: str = "approvals",
) -> None:
    """Plan what allows the tools of a server. server: its name, and the tools that it offers."""
    name, tools = server
    top = os.path.realpath(job.top)
    keys = tuple(top if key == THE_PROJECT else key for key in approvals.keys)
    approvals = approvals._replace(keys=keys)
    with desk.editing(_path(job, approvals), part, client) as change:
        change.shown |= strings_in(items_of(approvals, name, tools_of(TOOLS)))
        if job.remove:
            change.after = unless_made(change, without_approvals(change.text, approvals, name))
        else:
            check_taken(change.text, approvals.takes)
            text = change.text
            if job.rooms is not None:
                text = without_approvals(text, approvals, name, kept=tools)
            change.after = with_approvals(text, approvals, name, tools)


def _idle(desk: Desk, job: Job, asked: Sequence[Client]) -> dict[str, frozenset[str]]:
    """Return by file of hooks the events that no room of its clients has a use for."""
    files = {client.hooks.file for client in asked if client.hooks}
    rooms = dict[str, list[str]]()
    for client in CLIENTS:
        row = at_level(client, job.level)
        if row and row.hooks and client.hooks and client.hooks.file in files:
            rooms.setdefault(row.hooks.file, []).extend(rooms_of(desk, job, row))
    return {file: idle_events(offered) for file, offered in rooms.items()}


def _plan_hooks(
    desk: Desk, job: Job, client: Client, hooks: Hooks, idle: frozenset[str]
) -> list[Remark]:
    if job.remove:
        others = [row for row in CLIENTS if row.key in job.present - set(job.clients)]
        if not any(row.hooks and row.hooks.file == hooks.file for row in others):
            _take_out(desk, job, client, hooks)
        return []
    with desk.editing(_path(job, hooks), "hooks", client) as change:
        _show(change, hooks)
        check_taken(change.text, hooks.takes)
        if odd := odd_key(change.text, hooks):
            raise EntryError("other_form", path=str(change.path), place=odd)
        is_named = hooks.names_project and not job.installation.is_command
        call = Call(
            installation=job.installation,
            client=hooks.called or client.key,
            project=job.project if is_named else "",
            lang="" if job.chosen == "en" else job.chosen,
        )
        change.after = with_hooks(change.text, hooks, call, idle=idle)
        _show(change, hooks)
    if hooks.merged_with and _has_hooks(desk, job, hooks.merged_with):
        return [Remark(f"{client.key}_hooks_twice", {})]
    return []


def _take_out(desk: Desk, job: Job, client: Client, hooks: Hooks) -> None:
    with desk.editing(_path(job, hooks), "hooks", client) as change:
        _show(change, hooks)
        change.after = unless_made(change, without_hooks(change.text, hooks))


def _path(job: Job, row: Hooks | Approvals) -> Path:
    return job.machine.directories[row.directory] / row.file


def _show(change: Change, hooks: Hooks) -> None:
    change.shown |= {event.matcher for event in hooks.events}
    change.shown |= {"1"} if hooks.version else set()
    change.shown |= set(hook_strings(change.text, hooks))


def _has_hooks(desk: Desk, job: Job, file: str) -> bool:
    try:
        return "hooks" in tables_of(desk.text(job.root / file) or "")
    except BrokenTomlError:
        return False


# What is not a client's own.


def _plan_rules(desk: Desk, job: Job, asked: Sequence[Client]) -> list[Remark]:
    if job.level == "user":
        return rules_of_user(desk, job, asked)
    return put_out(desk, job) if job.remove else put_in(desk, job)


def _plan_memory(desk: Desk, job: Job) -> None:
    """Make the directory of the memory, with git's two files, before there is a record.

    Without it a first session in a subdirectory would begin a memory there.
    """
    folder = job.root / CONTEXT_DIRECTORY
    if os.path.islink(folder) or os.path.lexists(folder / LOG_NAME):
        return
    is_last = job.remove and not job.present - set(job.clients)
    for name, text in COMPANIONS.items():
        path = folder / name
        is_team = f"{CONTEXT_DIRECTORY}/{name}" in job.tracked
        if is_last and not is_team and desk.text(path) == text:
            with desk.editing(path, "memory") as change:
                change.after = None
        elif not job.remove and not os.path.lexists(path):
            with desk.editing(path, "memory") as change:
                change.after = text


def _plan_exclude(desk: Desk, job: Job, asked: Sequence[Client], tree: Tree) -> None:
    """Keep the files of this machine out of git, and those no longer that are gone."""
    files = sorted(machine_files(asked) - tree.tracked)
    there = {change.path for change in desk.files.values() if change.after is not None}
    kept = {file for file in files if job.root / file in there and not job.remove}
    if not kept and MARK not in (desk.text(tree.exclude) or ""):
        return
    with desk.editing(tree.exclude, "exclude") as change:
        idle = () if job.url else files  # what else is set up there keeps them out
        freed = [f"{tree.prefix}{file}" for file in idle if file not in kept]
        change.after = unless_made(change, without_kept_out(change.text, freed))
        names = [f"{tree.prefix}{file}" for file in files if file in kept]
        change.after = with_kept_out(change.text, names) or change.after


def with_kept_out(text: str, names: list[str]) -> str:
    """Return the text of `info/exclude` with a line for each of these files, under one of ours."""
    lines = text.splitlines()
    for name in names:
        if _pattern(name) not in lines:
            pair = f"{MARK}\n{_pattern(name)}"
            text += f"{pair}\n" if text.endswith("\n") or not text else f"\n{pair}"
    return text


def without_kept_out(text: str, names: list[str]) -> str:
    """Return the text without the lines that setup has put in for these files."""
    text = f"\n{text}"
    for name in names:
        pair = f"\n{MARK}\n{_pattern(name)}"
        found = f"{pair}\n" in text
        text = text.replace(f"{pair}\n", "\n", 1) if found else text.removesuffix(pair)
    return text[1:]


def _pattern(name: str) -> str:
    """Return the pattern that means this path from the top of the work tree, and no other."""
    return "/" + _SIGN.sub(lambda found: f"\\{found[0]}", name)
