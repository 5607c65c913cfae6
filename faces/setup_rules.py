"""Works out what setup would change in the files that hold the rules."""

import os
from collections.abc import Collection

from faces.jsonc import data_of
from faces.marked_block import with_block, without_block
from faces.rules_plan import BLOCK, CURSOR_RULE, GEMINI, Body, Rules, import_of
from faces.setup_files import Desk, Job, Remark, unless_made
from faces.setup_table import TARGETS, Target
from faces.workflow import cursor_rule, rules


def put_in(desk: Desk, job: Job) -> list[Remark]:
    """Put the rules where the clients read them, and take them out elsewhere; what to know."""
    files, ours, readers = _rules_now(desk, job)
    readers |= set(job.clients)
    homes = files.homes(readers)
    for name, body in homes.items():
        keys = ["claude-code"] if body == "import" else readers
        reading = [it for it in _targets(keys) if name in files.read_by(it.key, homes)]
        with desk.editing(job.root / name, "rules", *reading) as change:
            change.after = _with_rules(change.text, name, body, job)
    for name in ours:
        if name not in homes:
            _take_out(desk, job, name)
    notes = []
    for target in _targets(readers):
        names = files.copies(target.key, homes)
        if len(names) > 1:
            facts: dict[str, str | int] = {"client": target.client.name, "files": ", ".join(names)}
            notes.append(Remark("two_copies", facts))
    return notes


def put_out(desk: Desk, job: Job) -> None:
    """Take the rules out where no client that stays set up reads them.

    An import is kept for Claude Code alone.
    """
    files, ours, readers = _rules_now(desk, job)
    for name in ours:
        followers = readers & {"claude-code"} if files.imports_ours(name) else readers
        if not any(name in files.read_by(it) for it in followers):
            _take_out(desk, job, name)


def _rules_now(desk: Desk, job: Job) -> tuple[Rules, list[str], set[str]]:
    """The rules files, those that hold something of ours, and which other clients read that."""
    texts: dict[str, str | None] = {}

    def text(name: str) -> str | None:
        if name not in texts:
            texts[name] = desk.text(job.root / name)
        return texts[name]

    files = Rules(text, lambda name: os.path.realpath(job.root / name), _gemini_names(desk, job))
    ours = [name for name in files.names if files.holds_ours(name)]
    others = job.present - set(job.clients)
    return files, ours, {it for it in others if set(ours).intersection(files.read_by(it))}


def _with_rules(text: str, name: str, body: Body, job: Job) -> str:
    if body == "file":
        return cursor_rule(job.lang)
    return with_block(text, BLOCK, rules(job.lang) if body == "rules" else import_of(name))


def _take_out(desk: Desk, job: Job, name: str) -> None:
    with desk.editing(job.root / name, "rules") as change:
        text = without_block(change.text, BLOCK)
        change.after = None if name == CURSOR_RULE else unless_made(change, text)


def _gemini_names(desk: Desk, job: Job) -> tuple[str, ...]:
    """The files that Gemini CLI reads: what the project's settings say, else the user's."""
    for directory in (job.root, job.machine.home):
        try:
            data = data_of(desk.text(directory / ".gemini/settings.json") or "")
        except ValueError:
            continue
        context = data.get("context") if isinstance(data, dict) else None
        named = context.get("fileName") if isinstance(context, dict) else None
        names = [named] if isinstance(named, str) else named
        if isinstance(names, list) and (given := [it for it in names if _is_name(it)]):
            return tuple(given)
    return (GEMINI,)


def _is_name(name: object) -> bool:
    """Whether a setting names a file below the project."""
    return isinstance(name, str) and bool(name) and not os.path.isabs(name) and ".." not in name


def _targets(keys: Collection[str]) -> list[Target]:
    return [target for target in TARGETS if target.key in keys]
