"""Plans a setup: from the texts of files to the texts that they would have."""

from dataclasses import dataclass

from commands.clients.table import CLIENTS, Client, Hooks
from commands.documents.edit_toml import BrokenTomlError, tables_of
from commands.setup.entries import plan_entry
from commands.setup.files import Change, Desk, Job, Remark, unless_made
from commands.setup.hooks import Call, hook_strings, with_hooks, without_hooks
from commands.setup.rules import put_in, put_out


@dataclass(frozen=True, slots=True)
class Plan:
    """What would change, what is wrong with files that are left alone, and what to know."""

    changes: tuple[Change, ...]
    problems: tuple[Remark, ...]
    notes: tuple[Remark, ...]


def plan(job: Job) -> Plan:
    """Return what a job would change."""
    desk, notes = Desk(job.root), list[Remark]()
    for client in CLIENTS:
        if client.key not in job.clients:
            continue
        notes += plan_entry(desk, job, client)
        if job.hooks and client.hooks:
            notes += _plan_hooks(desk, job, client, client.hooks)
    if job.rules and job.remove:
        notes += put_out(desk, job)
    elif job.rules:
        notes += put_in(desk, job)
    return Plan(tuple(desk.changes()), tuple(desk.problems.values()), tuple(notes))


# Hooks.


def _plan_hooks(desk: Desk, job: Job, client: Client, hooks: Hooks) -> list[Remark]:
    with desk.editing(job.root / hooks.file, "hooks", client) as change:
        change.shown |= {event.matcher for event in hooks.events}
        change.shown |= set(hook_strings(change.text, hooks))
        if job.remove:
            change.after = unless_made(change, without_hooks(change.text, hooks))
            return []
        call = Call(
            installation=job.installation,
            client=client.key,
            project=job.project if hooks.names_project else "",
            lang="" if job.chosen == "en" else job.chosen,
        )
        change.after = with_hooks(change.text, hooks, call, prompt=job.prompt)
        change.shown |= set(hook_strings(change.text, hooks))
    notes = []
    if job.prompt and all(event.ours != "prompt" for event in hooks.events):
        notes.append(Remark("no_prompt_hook", {"client": client.name}))
    if hooks.merged_with and _has_hooks(desk, job, hooks.merged_with):
        notes.append(Remark(f"{client.key}_hooks_twice", {}))
    return notes


def _has_hooks(desk: Desk, job: Job, file: str) -> bool:
    try:
        return "hooks" in tables_of(desk.text(job.root / file) or "")
    except BrokenTomlError:
        return False
