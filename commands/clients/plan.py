"""Plans a setup: from the files of clients as they are to the files as they would be.

    planned = plan(job)
    planned.changes     the files that would change; `change.write(job.root)` writes one
    planned.problems    why files are left alone
    planned.notes       for the user, such as a switch that turns our entry off

`setup` writes these, `doctor` reports them. Nothing here writes.
"""

import os
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from commands.clients import merge
from commands.clients.files import Job, Plan, Tree
from commands.clients.parts import (
    entry_of,
    filled,
    plan_approvals,
    plan_entry,
    plan_hooks,
    plan_team,
    rooms_of,
    tools_of,
)
from commands.clients.rules import plan_rules
from commands.clients.table import AGENTS, CLIENTS, ENTRY, TEAM_ENTRY, Client
from core.config import CONTEXT_DIRECTORY, LOG_NAME
from core.git import HistoryError, WorkTree
from core.lessons.file import COMPANIONS


def plan(job: Job) -> Plan:
    planned = Plan(job)
    for row in job.rows:
        if job.level in row.entry:
            _plan_entries(planned, row)
        else:
            planned.note("no_user_level", client=row.name)
    if not job.url:
        for row in job.rows:
            if job.hooks and row.hooks and job.level in row.entry:
                plan_hooks(planned, row, row.hooks)
        if job.rules:
            plan_rules(planned)
        if job.level == "project":
            _plan_memory(planned)
    if job.level == "project" and job.tree:
        _plan_exclude(planned, job.tree)
        if job.tree.ignored and not job.remove:
            planned.note("memory_ignored", rule=job.tree.ignored)
    for row in job.rows if not job.remove else ():
        _note_switches(planned, row)
    return planned


def _plan_entries(planned: Plan, row: Client) -> None:
    job = planned.job
    if job.url or job.remove:
        plan_team(planned, row)
    if job.url:
        return
    name = entry_of(planned, row).name
    plan_entry(planned, row)
    offered = tools_of(rooms_of(planned, row))
    planned.tools += [tool for tool in offered if tool not in planned.tools]
    if job.approvals and row.approvals:
        plan_approvals(planned, row, row.approvals, name, offered)


# Files that belong to no client.


def _plan_memory(planned: Plan) -> None:
    """Make the memory's directory, or a session in a subdirectory would begin one there."""
    job, folder = planned.job, planned.job.root / CONTEXT_DIRECTORY
    if os.path.islink(folder) or os.path.lexists(folder / LOG_NAME):
        return
    is_last = job.remove and not job.present - {*job.clients}
    tracked = job.tree.tracked if job.tree else ()
    for name, wanted in COMPANIONS.items():
        path = folder / name
        is_team = f"{CONTEXT_DIRECTORY}/{name}" in tracked
        is_gone = is_last and not is_team and planned.text(path) == wanted
        if is_gone or not (job.remove or os.path.lexists(path)):
            planned.put(path, "memory", None if is_gone else wanted)


def _machine_files(rows: Iterable[Client] = CLIENTS) -> set[str]:
    """Return the project's files for one person: approvals."""
    places = [row.approvals.project.partition(":") for row in rows if row.approvals]
    return {file for directory, _, file in places if directory == "root"}


def _plan_exclude(planned: Plan, tree: Tree) -> None:
    job = planned.job
    files = sorted(_machine_files(job.rows) - tree.tracked)
    stays = not job.remove or job.url  # our own server's approvals stand in the same file
    kept = [file for file in files if stays and planned.text(job.root / file) is not None]
    if not kept and merge.MARK not in (planned.text(tree.exclude) or ""):
        return

    def edited(text: str) -> str | None:
        if stays:
            return merge.with_kept_out(text, [f"{tree.prefix}{file}" for file in kept])
        return merge.without_kept_out(text, [f"{tree.prefix}{file}" for file in files]) or None

    def ours(text: str) -> list[str]:
        lines = text.splitlines()
        return [line for before, line in pairwise(lines) if before == merge.MARK]

    planned.edit(tree.exclude, "exclude", edited, ours)


def _note_switches(planned: Plan, row: Client) -> None:
    job, name = planned.job, TEAM_ENTRY if planned.job.url else ENTRY
    if not job.url and job.level in row.entry:
        name = entry_of(planned, row).name
    for place, switch, off in row.switches:
        keys = [
            str(job.root) if key == "$root" else filled(key, server=name)
            for key in switch.split(".")
        ]
        for path in job.machine.paths(place):
            found = merge.value_at(planned.data(path), keys)
            is_off = name in found if isinstance(found, list) else found is off or found == name
            if is_off and found is not None:
                facts = {"path": str(path), "switch": ".".join(keys[-2:])}
                planned.note("switched_off", client=row.name, **facts)


def tree_of(root: Path) -> Tree | None:
    """Return the git tree of a project, None where git says nothing."""
    names = [*(f"{CONTEXT_DIRECTORY}/{name}" for name in COMPANIONS), *_machine_files(), AGENTS]
    log = f"{CONTEXT_DIRECTORY}/{LOG_NAME}"
    try:
        tree = WorkTree(root)
        said = tree.ask("ls-files", "-z", "--", *(f":(literal){name}" for name in names))
        exclude = tree.ask("rev-parse", "--git-path", "info/exclude")
        ignored = tree.run("check-ignore", "--verbose", "--", log)
    except HistoryError:
        return None
    rule = os.fsdecode(ignored.stdout).partition("\t")[0] if not ignored.returncode else ""
    return Tree(
        exclude=Path(os.path.abspath(root / os.fsdecode(exclude.removesuffix(b"\n")))),
        prefix=tree.prefix,
        tracked=frozenset(os.fsdecode(name) for name in said.split(b"\0") if name),
        ignored=rule,
    )
