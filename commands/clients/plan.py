"""Plans a setup: from the files of clients as they are to the files as they would be.

    plan = plan_setup(job)
    plan.changes    the files that would change; `change.file.write(change.new_text)` writes one
    plan.problems   why files are left alone
    plan.notes      for the user, such as a switch that turns our entry off

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

from commands.clients import entries, merge, table
from commands.clients.files import Job, Plan, Tree
from commands.clients.merge import CannotEditError, Table, call_in, hooks_in
from commands.clients.rules import plan_rules
from commands.clients.table import Client, Hooks
from core import config
from core.git import HistoryError, WorkTree
from core.lessons.file import COMPANIONS
from core.messages import LANG_VARIABLE
from core.program import command_line

TEAM_ROOMS = ("fragments",)  # of a team's server, by default
# Events of ours that only one room needs.
_ROOM_OF = {table.RECORDING: "sessions", "stop": "lessons"}
# Variables for the place of the fragments, and for the agent that asks.
_FRAGMENT_VARIABLES = ("SENTINEL_MEMORY_FRAGMENTS", "SENTINEL_MEMORY_AGENT", "XDG_DATA_HOME")


def tree_of(root: Path) -> Tree | None:
    """Return the git tree of a project, None where git says nothing."""
    log = f"{config.CONTEXT_DIRECTORY}/{config.LOG_NAME}"
    try:
        tree = WorkTree(root)
        tracked = tree.ask("ls-files", "-z")
        exclude = tree.ask("rev-parse", "--git-path", "info/exclude")
        ignored = tree.run("check-ignore", "--verbose", "--", log)
    except HistoryError:
        return None
    rule = os.fsdecode(ignored.stdout).partition("\t")[0] if not ignored.returncode else ""
    return Tree(
        exclude_path=Path(os.path.abspath(root / os.fsdecode(exclude.removesuffix(b"\n")))),
        prefix=tree.prefix,
        files=frozenset(os.fsdecode(name) for name in tracked.split(b"\0") if name),
        ignore_rule=rule,
    )


def plan_setup(job: Job) -> Plan:
    plan, folder = Plan(job), job.root / config.CONTEXT_DIRECTORY
    for row in job.rows:
        if job.level not in row.entry:
            if not job.remove or row.key in job.old_clients:
                key = "no_user_level_remove" if job.remove else "no_user_level"
                plan.note(key, client=row.name, name=row.key)
            continue
        if job.url or job.remove:
            _plan_team(plan, row)
        if not job.url:
            _plan_entry(plan, row)
    for row in () if job.url else job.rows:
        if row.hooks and "hooks" not in job.unwanted_parts and job.level in row.entry:
            _plan_hooks(plan, row, row.hooks)
    if "rules" not in job.unwanted_parts and not job.url:
        plan_rules(plan)
    is_kept = os.path.islink(folder) or os.path.lexists(folder / config.LOG_NAME)
    if job.level == "project" and not (job.url or is_kept):
        _plan_companions(plan, folder)
    if job.level == "project" and job.tree:
        _plan_exclude(plan, job.tree)
        if job.tree.ignore_rule and not job.remove:
            plan.note("memory_ignored", rule=job.tree.ignore_rule)
    for row in () if job.remove else job.rows:
        _note_switches(plan, row)
    return plan


def _plan_companions(plan: Plan, folder: Path) -> None:
    """Plan the memory's directory: without it a session in a subdirectory would begin one there."""
    job = plan.job
    is_last = job.remove and not job.old_clients - {*job.clients}
    for name, text in COMPANIONS.items():
        path, tracked = folder / name, job.tree.files if job.tree else ()
        is_team = f"{config.CONTEXT_DIRECTORY}/{name}" in tracked
        is_gone = is_last and not is_team and plan.text(path) == text
        if is_gone or not (job.remove or os.path.lexists(path)):
            plan.put(path, "memory", None if is_gone else text)


def _plan_exclude(plan: Plan, tree: Tree) -> None:
    job = plan.job
    places = (row.approvals.project for row in job.rows if row.approvals)
    own_files = {place.removeprefix("root:") for place in places if place.startswith("root:")}
    files = sorted(own_files - tree.files)  # the project's files of one person
    is_kept = not job.remove or job.url  # our own server's approvals stand in the same file
    kept_files = [file for file in files if is_kept and plan.text(job.root / file) is not None]
    if not kept_files and merge.MARK not in (plan.text(tree.exclude_path) or ""):
        return

    def edit_text(text: str) -> str | None:
        if is_kept:
            return merge.with_ignored_paths(text, [f"{tree.prefix}{file}" for file in kept_files])
        return merge.without_ignored_paths(text, [f"{tree.prefix}{file}" for file in files]) or None

    def pieces_in(text: str) -> list[str]:
        lines = text.splitlines()
        return [line for previous, line in pairwise(lines) if previous == merge.MARK]

    plan.edit(tree.exclude_path, "exclude", edit_text, pieces_in)


def _note_switches(plan: Plan, row: Client) -> None:
    job, name = plan.job, table.TEAM_ENTRY if plan.job.url else table.ENTRY
    if not job.url and job.level in row.entry:
        name = plan.entry_of(row).name
    root = str(job.root)
    for place, switch, off in row.switches:
        keys = [root if key == "$root" else fill(key, server=name) for key in switch.split(".")]
        for path in job.machine.paths(place):
            value = table.value_at(plan.data(path), keys)
            is_off = name in value if isinstance(value, list) else value is off or value == name
            if is_off and value is not None:
                facts = {"path": str(path), "switch": ".".join(keys[-2:])}
                plan.note("switched_off", client=row.name, **facts)


# The entry that starts our server. It keeps its name and its other keys, such as `env`.


def _plan_entry(plan: Plan, row: Client) -> None:
    """Plan our entry at the job's level and its approvals; `job.remove` takes them out."""
    job, name = plan.job, plan.entry_of(row).name
    paths = job.machine.paths(row.entry[job.level])
    if row.packaged and job.level == "project":
        paths += job.machine.paths(row.packaged)

    def choose_values(data: Table, entry: entries.OwnEntry) -> Table | None:
        if not entry.values and not job.remove and table.value_at(data, (row.under, table.ENTRY)):
            raise CannotEditError("foreign_entry", entry=table.ENTRY)
        other_project = ""  # the project that the user's entry serves
        if entry.values and not row.entry[job.level].startswith("root:"):
            environment = {name: entry.variable(name) for name in config.VARIABLES}
            argument = entries.value_of("--project", entry.arguments)
            with suppress(ValueError):  # a name that no system takes
                project = config.find_project(argument, environment, job.machine.home)
                is_this = os.path.realpath(project.root) == os.path.realpath(job.root)
                other_project = "" if is_this or project.source == "cwd" else str(project.root)
        if other_project:
            stays = "entry_stays" if job.remove else "served_before"
            key = stays if job.level == "project" else "served_one_before"
            plan.note(key, client=row.name, project=other_project)
        if row.allows and {*row.allows} <= {*entry.values}:
            plan.present_kinds.add("approvals")
        if job.remove:
            return entry.values if other_project else None
        return _build_values(row, job, entry)

    for path in paths:
        entry_in = partial(entries.own_entry_in, row=row, machine=job.machine)
        _plan_values(plan, row, path, "entry", entry_in, choose_values)
    sign = "${" if "{" in row.variables else row.variables[:1]
    for word in job.installation.server if sign and not job.remove else ():
        if sign in word:
            plan.note("variable", client=row.name, path=word, sign=sign)
    _plan_tools(plan, row, name, plan.rooms_of(row))


def _plan_values(
    plan: Plan,
    row: Client,
    path: Path,
    kind: str,
    entry_in: Callable[[Any], entries.OwnEntry],
    choose_values: Callable[[Table, entries.OwnEntry], Table | None],
) -> None:
    """Plan an entry. entry_in: reads it. choose_values: its new values, None to remove it."""

    def edit(content: Any, data: Table, with_entry: Callable[..., Any]) -> Any:
        entry = entry_in(data)
        new_values = choose_values(data, entry)
        is_same = new_values == entry.values or not (new_values or entry.values)
        return content if is_same else with_entry(content, (row.under, entry.name), new_values)

    def pieces_in(data: Any) -> list[str]:
        """Return the entry with `…` for the user's values and for a key that is written out."""
        entry = entry_in(data)
        known_keys = {*row.stdio, *row.http, *row.key_in[:1], *row.allows, row.passes, "env"}
        values = {**entry.values, **{key: "…" for key in entry.values if key not in known_keys}}
        for key, name in ("env", LANG_VARIABLE), ("headers", "Authorization"):
            for field, value in values[key].items() if isinstance(values.get(key), dict) else ():
                match = entries.REFERENCE.fullmatch(str(value).removeprefix("Bearer "))
                is_reference = match and (row.variables == "$NAME" or not match["bare"])
                is_shown = field == name and (key == "env" or is_reference)
                values[key] = {**values[key], field: value if is_shown else "…"}
        text = json.dumps({entry.name: values}, ensure_ascii=False, indent=2)
        return [text] if entry.values else []

    if path.suffix == ".toml":
        plan.edit(
            path,
            kind,
            lambda text: edit(text, merge.toml_data(text), merge.with_table) or None,
            lambda text: pieces_in(merge.toml_data(text)),
            row.name,
        )
    else:
        plan.edit_json(path, kind, row, lambda data: edit(data, data, merge.with_value), pieces_in)


def _build_values(row: Client, job: Job, entry: entries.OwnEntry) -> Table:
    command, *args = job.installation.server
    project = row.project
    if project == "$root":
        is_free = job.level == "user" or job.installation.is_command
        project = "" if row.starts_in_project and is_free else job.project
    args += ["--project", project] if project else []
    if job.rooms is None:
        room_names = entries.value_of("--rooms", entry.arguments) or ""
    else:
        is_explicit = job.rooms != config.DEFAULT_ROOMS or entry.variable(config.ROOMS_VARIABLE)
        room_names = ",".join(job.rooms) if is_explicit else ""
    args += ["--rooms", room_names] if room_names else []
    omitted_keys = row.not_of_user if job.level == "user" else ()
    form = {key: value for key, value in row.stdio.items() if key not in omitted_keys}
    grants = {} if "approvals" in job.unwanted_parts else row.allows
    values = {**form, **grants, **entry.values, "command": command, "args": args}
    language = "ko" if entry.variable(LANG_VARIABLE).lower().startswith("ko") else "en"
    if job.language and job.language != language:
        env = entry.values.get("env")
        values["env"] = {**(env if isinstance(env, dict) else {}), LANG_VARIABLE: job.language}
    if row.passes:
        rooms = entry.rooms if job.rooms is None else job.rooms
        has_fragments = any(room.startswith("fragments") for room in rooms)
        new_names = _FRAGMENT_VARIABLES if has_fragments else ()
        value = entry.values.get(row.passes)
        old_names = value if isinstance(value, list) else []
        names = [name for name in old_names if name in new_names or name not in _FRAGMENT_VARIABLES]
        values[row.passes] = [*names, *(name for name in new_names if name not in names)]
        if not values[row.passes]:
            del values[row.passes]
    cwd = entry.values.get("cwd")
    if not project and row.honours_cwd and isinstance(cwd, str):
        directory = os.path.join(job.root, entries.expander_of(row, job.machine)(cwd))
        if os.path.normpath(directory) != str(job.root):  # it would name another project
            del values["cwd"]
    return values


# The entry of a server that others run, beside our own.


def _plan_team(plan: Plan, row: Client) -> None:
    """Plan the entry of a team's server; `job.remove` takes it out."""
    job, rooms = plan.job, plan.job.rooms or TEAM_ROOMS
    if not row.http:
        if not job.remove:
            plan.note(f"no_remote_{row.key}", client=row.name, url=job.url)
        return

    def entry_in(data: Any) -> entries.OwnEntry:
        values = table.value_at(data, (row.under, table.TEAM_ENTRY))
        is_ours = isinstance(values, dict) and "command" not in values
        return entries.OwnEntry(table.TEAM_ENTRY, values if is_ours else {})

    def choose_values(data: Table, entry: entries.OwnEntry) -> Table | None:
        if job.remove:
            return None
        if not entry.values and table.value_at(data, (row.under, table.TEAM_ENTRY)):
            raise CannotEditError("foreign_entry", entry=table.TEAM_ENTRY)
        grants = {} if "approvals" in job.unwanted_parts else row.allows
        form = fill(row.http, url=job.url)
        values = {**form, **grants, **entry.values, **form}
        # The key's variable; with `job.oauth` the client logs in without it.
        *keys, key_form = row.key_in
        key = None if job.oauth else fill(key_form, key=table.KEY_VARIABLE)
        return merge.with_value(values, keys, key)

    path = job.machine.path(row.entry[job.level])
    _plan_values(plan, row, path, "remote", entry_in, choose_values)
    _plan_tools(plan, row, table.TEAM_ENTRY, rooms)
    if job.remove:
        return
    if entries.is_unencrypted(job.url):
        plan.note("plain_http", url=job.url)
    entry = plan.entry_of(row)
    shared_rooms = {*entry.rooms} & {*rooms} if entry.values else set()
    if shared_rooms:
        facts = {"rooms": ", ".join(sorted(shared_rooms)), "entry": entry.name}
        plan.note("offered_twice", client=row.name, **facts)


def fill(form: Any, **words: str) -> Any:
    """Return a form of the table with its `$words` filled in, at any depth."""
    if isinstance(form, Mapping):
        return {key: fill(part, **words) for key, part in form.items()}
    for name, word in words.items() if isinstance(form, str) else ():
        form = form.replace(f"${name}", word)
    return form


def _plan_tools(plan: Plan, row: Client, name: str, rooms: Iterable[str]) -> None:
    """Plan approvals, which let a client call the tools of an entry unasked.

    A tool that the user refused, or kept for a question, stays so.
    """
    job, approvals = plan.job, row.approvals
    tools = [tool for room in rooms for tool in table.TOOLS[room]]
    plan.tools += [tool for tool in tools if tool not in plan.tools]
    if not (approvals and "approvals" not in job.unwanted_parts and getattr(approvals, job.level)):
        return
    keys = [os.path.realpath(job.top) if key == "$top" else key for key in approvals.keys]

    def items_for(tools: Iterable[str]) -> list[Any]:
        return [fill(approvals.tool, server=name, tool=tool) for tool in tools]

    all_items = items_for(dict.fromkeys(tool for tools in table.TOOLS.values() for tool in tools))
    granted_items = items_for(tool for tool in tools if tool not in table.UNGRANTED)

    def edit_data(data: Table) -> Table:
        if job.remove:
            return merge.with_items(data, keys, [], all_items)
        lists = [table.value_at(data, path) for path in (keys, *approvals.refused)]
        settled_items = [item for value in lists if isinstance(value, list) for item in value]
        if any(fill(form, server=name) in settled_items for form in approvals.whole):
            return data
        items = lists[0] if isinstance(lists[0], list) else []
        new_items = [item for item in granted_items if item in items or item not in settled_items]
        return merge.with_items(data, keys, new_items, all_items if job.rooms is not None else [])

    def pieces_in(data: Any) -> list[str]:
        items = table.value_at(data, keys)
        own_items = [item for item in items if item in all_items] if isinstance(items, list) else []
        return [json.dumps(item, ensure_ascii=False) for item in own_items]

    path = job.machine.path(getattr(approvals, job.level))
    plan.edit_json(path, "approvals", row, edit_data, pieces_in)


# Hooks.


def _plan_hooks(plan: Plan, row: Client, hooks: Hooks) -> None:
    job, level = plan.job, plan.job.level
    place = getattr(hooks, level)
    if not place:
        return
    path = job.machine.path(place)
    peers = [peer for peer in table.CLIENTS if peer.hooks and getattr(peer.hooks, level) == place]
    if job.remove and any(peer.key in job.old_clients - {*job.clients} for peer in peers):
        return
    rooms = [room for peer in peers if level in peer.entry for room in plan.rooms_of(peer)]
    room_names = {"", *(room.partition(":")[0] for room in rooms)}

    def edit_data(data: Table) -> Table:
        if job.remove:
            rest = merge.with_hooks(data, {})
            return {} if hooks.version and rest == {"version": 1} != data else rest
        odd_key = next((key for key in data if hooks.keys and key not in hooks.keys), "")
        version = data.get("version", 1)
        if odd_key or (hooks.version and (version != 1 or version is True)):
            raise CannotEditError("other_form", place=odd_key or "version")
        version_entry = {"version": 1} if hooks.version and not data else {}
        handlers = [item.get("hooks", [item])[0] for _, item in hooks_in(data)]
        calls = [call["lang"] for call in map(call_in, handlers) if call and call["lang"]]
        lang = next(iter(calls), "") if job.language is None else job.language
        items: dict[str, dict[str, Table]] = {}
        for event_name, hook_event, matcher, _ in hooks.events:
            if _ROOM_OF.get(hook_event, "") not in room_names:
                continue
            words = [*job.installation.cli, "hook", hook_event, "--client", hooks.called or row.key]
            words += ["--lang", lang] if lang and job.language != "en" else []
            if hooks.names_project and level == "project" and not job.installation.is_command:
                words += ["--project", job.project]
            handler = handler_of(hooks, words, hook_event, windows=job.machine.windows)
            matching = {"matcher": matcher} if matcher else {}
            item = {**matching, "hooks": [handler]} if hooks.grouped else {**handler, **matching}
            items.setdefault(event_name, {})[hook_event] = item
        return merge.with_hooks({**version_entry, **data}, items)

    def pieces_in(data: Any) -> list[str]:
        known_keys = {*hooks.handler, *hooks.windows, *hooks.unawaited, "hooks", "matcher"}
        items = [{name: _mask(item, known_keys)} for name, item in hooks_in(data)]
        return [json.dumps(item, ensure_ascii=False) for item in items]

    plan.edit_json(path, "hooks", row, edit_data, pieces_in)
    is_merged = hooks.merged_with and not job.remove and level == "project"
    if is_merged and "hooks" in plan.data(job.machine.path(hooks.merged_with)):
        plan.note(f"{row.key}_hooks_twice")


def _mask(item: Any, keys: Collection[str]) -> Any:
    if isinstance(item, dict):
        return {key: _mask(part, keys) if key in keys else "…" for key, part in item.items()}
    return [_mask(part, keys) for part in item] if isinstance(item, list) else item


def handler_of(hooks: Hooks, words: Sequence[str], event: str, *, windows: bool) -> dict[str, Any]:
    """Return the handler for one event of ours.

    It is a line for a shell: clients read each other's files, and not all know argument lists. It
    ends with status 0, so that a lost interpreter or checkout vetoes no tool call.
    """
    end = {"powershell": "; exit 0", "cmd": " & exit /b 0"}[hooks.shell] if windows else " || :"
    line = command_line(words, windows=windows, shell=hooks.shell) + end
    form = hooks.windows if windows and hooks.windows else hooks.handler
    unawaited = hooks.unawaited if event == table.RECORDING else {}
    return {**fill(form, event=event, line=line), **unawaited}
