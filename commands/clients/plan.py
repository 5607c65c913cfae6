"""Plans a setup: from the files of clients as they are to the files as they would be.

    planned = plan(job)
    planned.changes     the files that would change; `change.file.write(change.after)` writes one
    planned.problems    why files are left alone
    planned.notes       for the user, such as a switch that turns our entry off

`setup` writes these, `doctor` reports them. Nothing here writes.
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from commands.clients import merge, table
from commands.clients.entries import OwnEntry, expander_of, is_unencrypted, own_entry_in, value_of
from commands.clients.files import Job, Plan, Tree
from commands.clients.merge import CannotEditError, Table, call_in, hooks_in
from commands.clients.rules import plan_rules
from commands.clients.table import Client, Hooks
from commands.terminal.ask import command_line
from core import config
from core.git import HistoryError, WorkTree
from core.lessons.file import COMPANIONS
from core.messages import LANG_VARIABLE

TEAM_ROOMS = ("fragments",)  # of a team's server, by default
# Events of ours that only one room needs.
_ROOM_OF = {table.RECORDING: "sessions", "stop": "lessons"}
# Variables for the place of the fragments, and for the agent that asks.
_OF_FRAGMENTS = ("SENTINEL_MEMORY_FRAGMENTS", "SENTINEL_MEMORY_AGENT", "XDG_DATA_HOME")


def tree_of(root: Path) -> Tree | None:
    """Return the git tree of a project, None where git says nothing."""
    log = f"{config.CONTEXT_DIRECTORY}/{config.LOG_NAME}"
    try:
        tree = WorkTree(root)
        listed = tree.ask("ls-files", "-z")
        exclude = tree.ask("rev-parse", "--git-path", "info/exclude")
        ignored = tree.run("check-ignore", "--verbose", "--", log)
    except HistoryError:
        return None
    rule = os.fsdecode(ignored.stdout).partition("\t")[0] if not ignored.returncode else ""
    return Tree(
        exclude_path=Path(os.path.abspath(root / os.fsdecode(exclude.removesuffix(b"\n")))),
        prefix=tree.prefix,
        files=frozenset(os.fsdecode(name) for name in listed.split(b"\0") if name),
        ignore_rule=rule,
    )


def plan_setup(job: Job) -> Plan:
    planned, folder = Plan(job), job.root / config.CONTEXT_DIRECTORY
    for row in job.rows:
        if job.level not in row.entry:
            planned.note("no_user_level", client=row.name)
            continue
        if job.url or job.remove:
            _plan_team(planned, row)
        if not job.url:
            _plan_entry(planned, row)
    for row in () if job.url else job.rows:
        if row.hooks and "hooks" not in job.unwanted_parts and job.level in row.entry:
            _plan_hooks(planned, row, row.hooks)
    if "rules" not in job.unwanted_parts and not job.url:
        plan_rules(planned)
    is_kept = os.path.islink(folder) or os.path.lexists(folder / config.LOG_NAME)
    if job.level == "project" and not (job.url or is_kept):
        _plan_companions(planned, folder)
    if job.level == "project" and job.tree:
        _plan_exclude(planned, job.tree)
        if job.tree.ignore_rule and not job.remove:
            planned.note("memory_ignored", rule=job.tree.ignore_rule)
    for row in () if job.remove else job.rows:
        _note_switches(planned, row)
    return planned


def _plan_companions(planned: Plan, folder: Path) -> None:
    """Plan the memory's directory: without it a session in a subdirectory would begin one there."""
    job = planned.job
    is_last = job.remove and not job.present - {*job.clients}
    for name, wanted in COMPANIONS.items():
        path, tracked = folder / name, job.tree.files if job.tree else ()
        is_team = f"{config.CONTEXT_DIRECTORY}/{name}" in tracked
        is_gone = is_last and not is_team and planned.text(path) == wanted
        if is_gone or not (job.remove or os.path.lexists(path)):
            planned.put(path, "memory", None if is_gone else wanted)


def _plan_exclude(planned: Plan, tree: Tree) -> None:
    job = planned.job
    places = (row.approvals.project for row in job.rows if row.approvals)
    own = {place.removeprefix("root:") for place in places if place.startswith("root:")}
    files = sorted(own - tree.files)  # the project's files of one person
    stays = not job.remove or job.url  # our own server's approvals stand in the same file
    kept = [file for file in files if stays and planned.text(job.root / file) is not None]
    if not kept and merge.MARK not in (planned.text(tree.exclude_path) or ""):
        return

    def edited(text: str) -> str | None:
        if stays:
            return merge.with_ignored_paths(text, [f"{tree.prefix}{file}" for file in kept])
        return merge.without_ignored_paths(text, [f"{tree.prefix}{file}" for file in files]) or None

    def ours(text: str) -> list[str]:
        lines = text.splitlines()
        return [line for before, line in pairwise(lines) if before == merge.MARK]

    planned.edit(tree.exclude_path, "exclude", edited, ours)


def _note_switches(planned: Plan, row: Client) -> None:
    job, name = planned.job, table.TEAM_ENTRY if planned.job.url else table.ENTRY
    if not job.url and job.level in row.entry:
        name = planned.entry_of(row).name
    root = str(job.root)
    for place, switch, off in row.switches:
        keys = [root if key == "$root" else filled(key, server=name) for key in switch.split(".")]
        for path in job.machine.paths(place):
            found = table.value_at(planned.data(path), keys)
            is_off = name in found if isinstance(found, list) else found is off or found == name
            if is_off and found is not None:
                facts = {"path": str(path), "switch": ".".join(keys[-2:])}
                planned.note("switched_off", client=row.name, **facts)


# The entry that starts our server. It keeps its name and its other keys, such as `env`.


def _plan_entry(planned: Plan, row: Client) -> None:
    """Plan our entry at the job's level and its approvals; `job.remove` takes them out."""
    job, name = planned.job, planned.entry_of(row).name
    paths = job.machine.paths(row.entry[job.level])
    if row.packaged and job.level == "project":
        paths += job.machine.paths(row.packaged)

    def wanted(data: Table, own: OwnEntry) -> Table | None:
        if not own.values and not job.remove and table.value_at(data, (row.under, table.ENTRY)):
            raise CannotEditError("foreign_entry", entry=table.ENTRY)
        other = ""  # the project that the user's entry serves
        if own.values and not row.entry[job.level].startswith("root:"):
            environment = {it: own.variable(it) for it in config.VARIABLES}
            argument = value_of("--project", own.arguments)
            with suppress(ValueError):  # a name that no system takes
                named = config.find_project(argument, environment, job.machine.home)
                is_this = os.path.realpath(named.root) == os.path.realpath(job.root)
                other = "" if is_this or named.source == "cwd" else str(named.root)
        if other:
            stays = "entry_stays" if job.remove else "served_before"
            key = stays if job.level == "project" else "served_one_before"
            planned.note(key, client=row.name, project=other)
        if row.allows and {*row.allows} <= {*own.values}:
            planned.present_kinds.add("approvals")
        if job.remove:
            return own.values if other else None
        return _entry_for(row, job, own)

    for path in paths:
        found = partial(own_entry_in, row=row, machine=job.machine)
        _plan_values(planned, row, path, "entry", found, wanted)
    sign = "${" if "{" in row.variables else row.variables[:1]
    for word in job.installation.server if sign and not job.remove else ():
        if sign in word:
            planned.note("variable", client=row.name, path=word, sign=sign)
    _plan_tools(planned, row, name, planned.rooms_of(row))


def _plan_values(
    planned: Plan,
    row: Client,
    path: Path,
    kind: str,
    found: Callable[[Any], OwnEntry],
    wanted: Callable[[Table, OwnEntry], Table | None],
) -> None:
    """Plan an entry. found: reads it. wanted: returns its new values, None to remove it."""

    def edited(held: Any, data: Table, put: Callable[..., Any]) -> Any:
        own = found(data)
        new = wanted(data, own)
        is_same = new == own.values or not (new or own.values)
        return held if is_same else put(held, (row.under, own.name), new)

    def ours(data: Any) -> list[str]:
        """Return the entry with `…` for the user's values and for a key that is written out."""
        own = found(data)
        known = {*row.stdio, *row.http, *row.key_in[:1], *row.allows, row.passes, "env"}
        shown: dict[str, Any] = {key: it if key in known else "…" for key, it in own.values.items()}
        for key, name, sign in ("env", LANG_VARIABLE, ""), ("headers", "Authorization", "$"):
            for it, value in shown[key].items() if isinstance(shown.get(key), dict) else ():
                is_shown = it == name and sign in str(value)
                shown[key] = {**shown[key], it: value if is_shown else "…"}
        text = json.dumps({own.name: shown}, ensure_ascii=False, indent=2)
        return [text] if own.values else []

    if path.suffix == ".toml":
        planned.edit(
            path,
            kind,
            lambda text: edited(text, merge.toml_data(text), merge.with_table) or None,
            lambda text: ours(merge.toml_data(text)),
            row.name,
        )
    else:
        planned.edit_json(path, kind, row, lambda data: edited(data, data, merge.with_value), ours)


def _entry_for(row: Client, job: Job, own: OwnEntry) -> Table:
    command, *args = job.installation.server
    project = row.project
    if project == "$root":
        is_free = job.level == "user" or job.installation.is_command
        project = "" if row.starts_in_project and is_free else job.project
    args += ["--project", project] if project else []
    if job.rooms is None:
        named = value_of("--rooms", own.arguments) or ""
    else:
        is_said = job.rooms != config.DEFAULT_ROOMS or own.variable(config.ROOMS_VARIABLE)
        named = ",".join(job.rooms) if is_said else ""
    args += ["--rooms", named] if named else []
    left_out = row.not_of_user if job.level == "user" else ()
    form = {key: it for key, it in row.stdio.items() if key not in left_out}
    granted = {} if "approvals" in job.unwanted_parts else row.allows
    entry = {**form, **granted, **own.values, "command": command, "args": args}
    now = "ko" if own.variable(LANG_VARIABLE).lower().startswith("ko") else "en"
    if job.language and job.language != now:
        env = own.values.get("env")
        entry["env"] = {**(env if isinstance(env, dict) else {}), LANG_VARIABLE: job.language}
    if row.passes:
        rooms = own.rooms if job.rooms is None else job.rooms
        wanted = _OF_FRAGMENTS if any(it.partition(":")[0] == "fragments" for it in rooms) else ()
        listed = own.values.get(row.passes)
        there = listed if isinstance(listed, list) else []
        passed = [it for it in there if it in wanted or it not in _OF_FRAGMENTS]
        entry[row.passes] = [*passed, *(it for it in wanted if it not in passed)]
        if not entry[row.passes]:
            del entry[row.passes]
    cwd = own.values.get("cwd")
    if not project and row.honours_cwd and isinstance(cwd, str):
        start = os.path.join(job.root, expander_of(row, job.machine)(cwd))
        if os.path.normpath(start) != str(job.root):  # it would name another project
            del entry["cwd"]
    return entry


# The entry of a server that others run, beside our own.


def _plan_team(planned: Plan, row: Client) -> None:
    """Plan the entry of a team's server; `job.remove` takes it out."""
    job, rooms = planned.job, planned.job.rooms or TEAM_ROOMS
    if not row.http:
        if not job.remove:
            planned.note(f"no_remote_{row.key}", client=row.name, url=job.url)
        return

    def found(data: Any) -> OwnEntry:
        there = table.value_at(data, (row.under, table.TEAM_ENTRY))
        is_ours = isinstance(there, dict) and "command" not in there
        return OwnEntry(table.TEAM_ENTRY, there if is_ours else {})

    def wanted(data: Table, own: OwnEntry) -> Table | None:
        if job.remove:
            return None
        if not own.values and table.value_at(data, (row.under, table.TEAM_ENTRY)):
            raise CannotEditError("foreign_entry", entry=table.TEAM_ENTRY)
        granted = {} if "approvals" in job.unwanted_parts else row.allows
        form = filled(row.http, url=job.url)
        made = {**form, **granted, **own.values, **form}
        # The key's variable; with `job.oauth` the client logs in without it.
        *keys, named = row.key_in
        key = None if job.oauth else filled(named, key=table.KEY_VARIABLE)
        return merge.with_value(made, keys, key)

    path = job.machine.path(row.entry[job.level])
    _plan_values(planned, row, path, "remote", found, wanted)
    _plan_tools(planned, row, table.TEAM_ENTRY, rooms)
    if job.remove:
        return
    if is_unencrypted(job.url):
        planned.note("plain_http", url=job.url)
    own = planned.entry_of(row)
    both = {*own.rooms} & {*rooms} if own.values else set()
    if both:
        facts = {"rooms": ", ".join(sorted(both)), "entry": own.name}
        planned.note("offered_twice", client=row.name, **facts)


def filled(form: Any, **words: str) -> Any:
    """Return a form of the table with its `$words` filled in, at any depth."""
    if isinstance(form, Mapping):
        return {key: filled(part, **words) for key, part in form.items()}
    for name, word in words.items() if isinstance(form, str) else ():
        form = form.replace(f"${name}", word)
    return form


def _plan_tools(planned: Plan, row: Client, name: str, rooms: Iterable[str]) -> None:
    """Plan approvals, which let a client call the tools of an entry unasked.

    A tool that the user refused, or kept for a question, stays so.
    """
    job, listed = planned.job, row.approvals
    offered = [tool for room in rooms for tool in table.TOOLS[room]]
    planned.tools += [tool for tool in offered if tool not in planned.tools]
    if not (listed and "approvals" not in job.unwanted_parts and getattr(listed, job.level)):
        return
    keys = [os.path.realpath(job.top) if key == "$top" else key for key in listed.keys]

    def items(tools: Iterable[str]) -> list[Any]:
        return [filled(listed.tool, server=name, tool=tool) for tool in tools]

    every = items(dict.fromkeys(tool for tools in table.TOOLS.values() for tool in tools))
    wanted = items(tool for tool in offered if tool not in table.UNGRANTED)

    def edited(data: Table) -> Table:
        if job.remove:
            return merge.with_items(data, keys, [], every)
        lists = [table.value_at(data, it) for it in (keys, *listed.refused)]
        settled = [item for it in lists if isinstance(it, list) for item in it]
        if any(filled(form, server=name) in settled for form in listed.whole):
            return data
        there = lists[0] if isinstance(lists[0], list) else []
        new = [item for item in wanted if item in there or item not in settled]
        return merge.with_items(data, keys, new, every if job.rooms is not None else [])

    def ours(data: Any) -> list[str]:
        there = table.value_at(data, keys)
        found = [it for it in there if it in every] if isinstance(there, list) else []
        return [json.dumps(it, ensure_ascii=False) for it in found]

    path = job.machine.path(getattr(listed, job.level))
    planned.edit_json(path, "approvals", row, edited, ours)


# Hooks.


def _plan_hooks(planned: Plan, row: Client, hooks: Hooks) -> None:
    job = planned.job
    place = getattr(hooks, job.level)
    if not place:
        return
    path = job.machine.path(place)
    sharing = [it for it in table.CLIENTS if it.hooks and getattr(it.hooks, job.level) == place]
    if job.remove and any(it.key in job.present - {*job.clients} for it in sharing):
        return
    rooms = [room for it in sharing if job.level in it.entry for room in planned.rooms_of(it)]
    offered = {"", *(room.partition(":")[0] for room in rooms)}

    def edited(data: Table) -> Table:
        if job.remove:
            after = merge.with_hooks(data, {})
            return {} if after == {"version": 1} and after != data else after
        odd = next((key for key in data if hooks.keys and key not in hooks.keys), "")
        version = data.get("version", 1)
        if odd or (hooks.version and (version != 1 or version is True)):
            raise CannotEditError("other_form", place=odd or "version")
        first = {"version": 1} if hooks.version and not data else {}
        there = [item.get("hooks", [item])[0] for _, item in hooks_in(data)]
        calls = [call["lang"] for call in map(call_in, there) if call and call["lang"]]
        lang = next(iter(calls), "") if job.language is None else job.language
        items: dict[str, dict[str, Table]] = {}
        for event in hooks.events:
            if _ROOM_OF.get(event.hook_event, "") not in offered:
                continue
            words = [
                *job.installation.cli,
                "hook",
                event.hook_event,
                "--client",
                hooks.called or row.key,
            ]
            words += ["--lang", lang] if lang and job.language != "en" else []
            if hooks.names_project and job.level == "project" and not job.installation.is_command:
                words += ["--project", job.project]
            handler = handler_of(hooks, words, event.hook_event, windows=job.installation.windows)
            matcher = {"matcher": event.matcher} if event.matcher else {}
            item = {**matcher, "hooks": [handler]} if hooks.grouped else {**handler, **matcher}
            items.setdefault(event.name, {})[event.hook_event] = item
        return merge.with_hooks({**first, **data}, items)

    def ours(data: Any) -> list[str]:
        known = {*hooks.handler, *hooks.windows, *hooks.unawaited, "hooks", "matcher"}
        shown = [{name: _pieces(it, known)} for name, it in hooks_in(data)]
        return [json.dumps(it, ensure_ascii=False) for it in shown]

    planned.edit_json(path, "hooks", row, edited, ours)
    other = hooks.merged_with and not job.remove and job.level == "project"
    if other and "hooks" in planned.data(job.machine.path(hooks.merged_with)):
        planned.note(f"{row.key}_hooks_twice")


def _pieces(item: Any, known: Collection[str]) -> Any:
    if isinstance(item, dict):
        return {key: _pieces(it, known) if key in known else "…" for key, it in item.items()}
    return [_pieces(it, known) for it in item] if isinstance(item, list) else item


def handler_of(hooks: Hooks, words: Sequence[str], event: str, *, windows: bool) -> dict[str, Any]:
    """Return the handler for one event of ours.

    It is a line for a shell: clients read each other's files, and not all know argument lists. It
    ends with status 0, so that a lost interpreter or checkout vetoes no tool call.
    """
    end = {"powershell": "; exit 0", "cmd": " & exit /b 0"}[hooks.shell] if windows else " || :"
    line = command_line(words, windows=windows, shell=hooks.shell) + end
    form = hooks.windows if windows and hooks.windows else hooks.handler
    unawaited = hooks.unawaited if event == table.RECORDING else {}
    return {**filled(form, event=event, line=line), **unawaited}
