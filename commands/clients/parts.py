"""Plans the parts of a client: server entries, approvals of tools, hooks."""

import json
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from commands.clients import merge
from commands.clients.entries import OwnEntry, expander, is_readable_on_the_way, own_entry, value_of
from commands.clients.files import Job, Plan
from commands.clients.merge import CannotEditError, Table, hooks_in
from commands.clients.table import (
    ASKED_FOR,
    CLIENTS,
    ENTRY,
    EVENTS,
    KEY_VARIABLE,
    RECORDING,
    TEAM_ENTRY,
    TOOLS,
    Approvals,
    Client,
    Hooks,
)
from core.config import DEFAULT_ROOMS, ROOMS_VARIABLE, find_project

LANG = "SENTINEL_MEMORY_LANG"
TEAM_ROOMS = ("fragments",)  # of a team's server, by default
# Events of ours that only one room needs.
_ROOM_OF = {RECORDING: "sessions", "stop": "lessons"}
# Variables for a room's place outside the project, and for the agent that asks.
_PLACES = {"fragments": ("SENTINEL_MEMORY_FRAGMENTS", "SENTINEL_MEMORY_AGENT", "XDG_DATA_HOME")}
_NEXT = r"""["']?[\s=]+["']?"""
# Another program may have a `cli.py hook`, too; only ours names a client of the table.
_CALL = re.compile(
    rf"""(?:^|[/\\\s"'])(?:cli\.py|{ENTRY}(?:\.exe)?){_NEXT}hook{_NEXT}(?P<event>[a-z-]+)"""
    rf"""{_NEXT}--client{_NEXT}(?:{"|".join(row.key for row in CLIENTS)})(?![\w-])"""
    rf"""(?:{_NEXT}--lang{_NEXT}(?P<lang>en|ko)(?![\w-]))?"""
)


# The entry that starts our server. It keeps its name and its other keys, such as `env`.


def entry_of(planned: Plan, row: Client) -> OwnEntry:
    """Return our entry, as planned so far."""
    data = planned.data(planned.job.machine.path(row.entry[planned.job.level]))
    return own_entry(data, row, planned.job.machine)


def rooms_of(planned: Plan, row: Client) -> tuple[str, ...]:
    """Return the rooms of our entry; those of the job, if it names any."""
    job = planned.job
    is_said = job.rooms is not None and row.key in job.clients
    return (job.rooms or ()) if is_said else entry_of(planned, row).rooms


def tools_of(rooms: Iterable[str]) -> list[str]:
    return [tool for room in rooms for tool in TOOLS[room]]


def plan_entry(planned: Plan, row: Client) -> None:
    """Plan our entry at the job's level; `job.remove` takes it out."""
    job = planned.job
    paths = job.machine.paths(row.entry[job.level])
    if row.packaged and job.level == "project":
        paths += job.machine.paths(row.packaged)

    def found(data: Any) -> OwnEntry:
        return own_entry(data, row, job.machine)

    def wanted(data: Table, own: OwnEntry) -> Table | None:
        if not own.values and not job.remove and merge.value_at(data, (row.under, ENTRY)):
            raise CannotEditError("foreign_entry", entry=ENTRY)
        other = _other_project(own, row, job) if own.values else ""
        if other:
            stays = "entry_stays" if job.remove else "served_before"
            key = stays if job.level == "project" else "served_one_before"
            planned.note(key, client=row.name, project=other)
        if row.allows and {*row.allows} <= {*own.values}:
            planned.there.add("approvals")
        if job.remove:
            return own.values if other else None
        return _entry_for(row, job, own)

    for path in paths:
        _plan_values(planned, row, path, "entry", found, wanted)
    sign = "${" if "{" in row.variables else row.variables[:1]
    for word in job.installation.server if sign and not job.remove else ():
        if sign in word:
            planned.note("variable", client=row.name, path=word, sign=sign)


def _plan_values(
    planned: Plan,
    row: Client,
    path: Path,
    kind: str,
    found: Callable[[Any], OwnEntry],
    wanted: Callable[[Table, OwnEntry], Table | None],
) -> None:
    """Plan an entry. found: reads it. wanted: returns its new values, None to remove it."""

    def edited(data: Table) -> Table:
        own = found(data)
        new = wanted(data, own)
        is_same = new == own.values or not (new or own.values)
        return data if is_same else merge.with_value(data, (row.under, own.name), new)

    def edited_toml(text: str) -> str | None:
        data = merge.toml_data(text)
        own = found(data)
        new = wanted(data, own)
        is_same = new == own.values or not (new or own.values)
        return text if is_same else merge.with_table(text, (row.under, own.name), new) or None

    def ours(data: Any) -> list[str]:
        own = found(data)
        shown = {own.name: _shown(own.values, row)}
        return [json.dumps(shown, ensure_ascii=False, indent=2)] if own.values else []

    if path.suffix == ".toml":
        planned.edit(path, kind, edited_toml, lambda text: ours(merge.toml_data(text)), row.name)
    else:
        planned.edit_json(path, kind, row, edited, ours)


def _shown(entry: Table, row: Client) -> Table:
    """Return the entry with `…` for the user's values and for a key that is written out."""
    own_keys = {*row.stdio, *row.http, *row.key_in, *row.allows, row.passes, "env"}
    shown: dict[str, Any] = {key: it if key in own_keys else "…" for key, it in entry.items()}
    for key, own in ("env", (LANG,)), ("headers", ("Authorization",)):
        if isinstance(shown.get(key), dict):
            shown[key] = {name: it if name in own else "…" for name, it in shown[key].items()}
    header = merge.value_at(shown, ("headers", "Authorization"))
    if isinstance(header, str) and "$" not in header:
        shown["headers"]["Authorization"] = "…"
    return shown


def _entry_for(row: Client, job: Job, own: OwnEntry) -> Table:
    command, *args = job.installation.server
    project = row.project
    if project == "$root":
        is_free = job.level == "user" or job.installation.is_command
        project = "" if row.starts_in_project and is_free else job.project
    args += ["--project", project] if project else []
    args += _rooms_option(job, own)
    left_out = row.not_of_user if job.level == "user" else ()
    form = {key: it for key, it in row.stdio.items() if key not in left_out}
    granted = row.allows if job.approvals else {}
    entry = {**form, **granted, **own.values, "command": command, "args": args}
    now = "ko" if own.variable(LANG).lower().startswith("ko") else "en"
    if job.chosen and job.chosen != now:
        env = own.values.get("env")
        entry["env"] = {**(env if isinstance(env, dict) else {}), LANG: job.chosen}
    if row.passes:
        rooms = own.rooms if job.rooms is None else job.rooms
        entry[row.passes] = _passed(own.values.get(row.passes), rooms)
        if not entry[row.passes]:
            del entry[row.passes]
    cwd = own.values.get("cwd")
    if not project and row.honours_cwd and isinstance(cwd, str):
        start = os.path.join(job.root, expander(row, job.machine)(cwd))
        if os.path.normpath(start) != str(job.root):  # it would name another project
            del entry["cwd"]
    return entry


def _rooms_option(job: Job, own: OwnEntry) -> list[str]:
    if job.rooms is None:
        named = value_of("--rooms", own.arguments)
        return ["--rooms", named] if named else []
    is_said = job.rooms != DEFAULT_ROOMS or bool(own.variable(ROOMS_VARIABLE))
    return ["--rooms", ",".join(job.rooms)] if is_said else []


def _passed(listed: Any, rooms: Iterable[str]) -> list[Any]:
    wanted = [name for room in rooms for name in _PLACES.get(room.partition(":")[0], ())]
    idle = {name for names in _PLACES.values() for name in names} - {*wanted}
    own = [it for it in listed if it not in idle] if isinstance(listed, list) else []
    return [*own, *(it for it in wanted if it not in own)]


def _other_project(own: OwnEntry, row: Client, job: Job) -> str:
    """Return the other project that the user's entry serves, or ""."""
    if row.entry[job.level].startswith("root:"):
        return ""
    env = own.values.get("env")
    said = env.items() if isinstance(env, dict) else ()
    environment = {key: value for key, value in said if isinstance(value, str)}
    try:
        named = find_project(value_of("--project", own.arguments), environment, job.machine.home)
        is_this = os.path.realpath(named.root) == os.path.realpath(job.root)
    except ValueError:  # a name that no system takes
        return ""
    return "" if is_this or named.source == "cwd" else str(named.root)


# The entry of a server that others run, beside our own.


def plan_team(planned: Plan, row: Client) -> None:
    """Plan the entry of a team's server; `job.remove` takes it out."""
    job, rooms = planned.job, planned.job.rooms or TEAM_ROOMS
    if not row.http:
        if not job.remove:
            planned.note(f"no_remote_{row.key}", client=row.name, url=job.url)
        return

    def found(data: Any) -> OwnEntry:
        there = merge.value_at(data, (row.under, TEAM_ENTRY))
        is_ours = isinstance(there, dict) and "command" not in there
        return OwnEntry(TEAM_ENTRY, there if is_ours else {})

    def wanted(data: Table, own: OwnEntry) -> Table | None:
        if job.remove:
            return None
        if not own.values and merge.value_at(data, (row.under, TEAM_ENTRY)):
            raise CannotEditError("foreign_entry", entry=TEAM_ENTRY)
        granted = row.allows if job.approvals else {}
        form = filled(row.http, url=job.url)
        return _with_key({**form, **granted, **own.values, **form}, row, job)

    path = job.machine.path(row.entry[job.level])
    _plan_values(planned, row, path, "remote", found, wanted)
    if job.approvals and row.approvals:
        plan_approvals(planned, row, row.approvals, TEAM_ENTRY, tools_of(rooms))
    if job.remove:
        return
    planned.tools += [tool for tool in tools_of(rooms) if tool not in planned.tools]
    if is_readable_on_the_way(job.url):
        planned.note("plain_http", url=job.url)
    own = entry_of(planned, row)
    both = {*own.rooms} & {*rooms} if own.values else set()
    if both:
        facts = {"rooms": ", ".join(sorted(both)), "entry": own.name}
        planned.note("offered_twice", client=row.name, **facts)


def _with_key(entry: Table, row: Client, job: Job) -> Table:
    """Return the entry with the key's variable, without it for `job.oauth`."""
    made = dict(entry)
    for name, value in filled(row.key_in, key=KEY_VARIABLE).items():
        if isinstance(value, dict):  # headers, of which the user may have others
            there = made.get(name)
            others = {**(there if isinstance(there, dict) else {}), **value}
            kept = {key: it for key, it in others.items() if not job.oauth or key not in value}
            made[name] = kept
        else:
            made[name] = "" if job.oauth else value
        if not made[name]:
            del made[name]
    return made


def filled(form: Any, **words: str) -> Any:
    """Return a form of the table with its `$words` filled in, at any depth."""
    if isinstance(form, Mapping):
        return {key: filled(part, **words) for key, part in form.items()}
    for name, word in words.items() if isinstance(form, str) else ():
        form = form.replace(f"${name}", word)
    return form


# Approvals let a client call our tools unasked. A tool that the user refused, or kept for a
# question, stays so.


def plan_approvals(
    planned: Plan, row: Client, listed: Approvals, name: str, offered: Sequence[str]
) -> None:
    job = planned.job
    place = getattr(listed, job.level)
    if not place:
        return
    keys = [os.path.realpath(job.top) if key == "$top" else key for key in listed.keys]

    def items(tools: Iterable[str]) -> list[Any]:
        return [filled(listed.tool, server=name, tool=tool) for tool in tools]

    every = items(dict.fromkeys(tool for tools in TOOLS.values() for tool in tools))
    wanted = items(tool for tool in offered if tool not in ASKED_FOR)

    def edited(data: Table) -> Table:
        if job.remove:
            return merge.with_items(data, keys, [], every)
        lists = [merge.value_at(data, it) for it in (keys, *listed.refused)]
        settled = [item for it in lists if isinstance(it, list) for item in it]
        if any(filled(form, server=name) in settled for form in listed.whole):
            return data
        there = lists[0] if isinstance(lists[0], list) else []
        new = [item for item in wanted if item in there or item not in settled]
        return merge.with_items(data, keys, new, every if job.rooms is not None else [])

    def ours(data: Any) -> list[str]:
        there = merge.value_at(data, keys)
        found = [it for it in there if it in every] if isinstance(there, list) else []
        return [json.dumps(it, ensure_ascii=False) for it in found]

    planned.edit_json(job.machine.path(place), "approvals", row, edited, ours)


# Hooks.


def called(handler: Any) -> str:
    """Return the event of ours that a handler calls, "" for a stranger's handler."""
    match = _call_in(handler)
    return match["event"] if match and match["event"] in EVENTS else ""


def _call_in(handler: Any) -> re.Match[str] | None:
    if not isinstance(handler, dict):
        return None
    listed = handler.get("args")
    words = [word for word in listed if isinstance(word, str)] if isinstance(listed, list) else []
    keys = ("command", "bash", "powershell", "exec", "windows", "linux", "osx")
    texts = [text for text in (handler.get(key) for key in keys) if isinstance(text, str)]
    return next(filter(None, map(_CALL.search, (*texts, " ".join(words)))), None)


def plan_hooks(planned: Plan, row: Client, hooks: Hooks) -> None:
    job = planned.job
    place = getattr(hooks, job.level)
    if not place:
        return
    path = job.machine.path(place)
    sharing = [it for it in CLIENTS if it.hooks and getattr(it.hooks, job.level) == place]
    if job.remove and any(it.key in job.present - {*job.clients} for it in sharing):
        return
    offered = {
        room.partition(":")[0]
        for it in sharing
        if job.level in it.entry
        for room in rooms_of(planned, it)
    }

    def edited(data: Table) -> Table:
        if job.remove:
            after = merge.with_hooks(data, {}, called)
            return {} if after == {"version": 1} and after != data else after
        odd = next((key for key in data if hooks.keys and key not in hooks.keys), "")
        version = data.get("version", 1)
        if odd or (hooks.version and (version != 1 or version is True)):
            raise CannotEditError("other_form", place=odd or "version")
        first = {"version": 1} if hooks.version and not data else {}
        items = _items(row, hooks, job, data, offered)
        return merge.with_hooks({**first, **data}, items, called, optional=("prompt",))

    def ours(data: Any) -> list[str]:
        known = {*hooks.handler, *hooks.windows, *hooks.unawaited, "hooks", "matcher"}
        shown = [{name: _pieces(it, known)} for name, it in hooks_in(data, called)]
        return [json.dumps(it, ensure_ascii=False) for it in shown]

    planned.edit_json(path, "hooks", row, edited, ours)
    other = hooks.merged_with and not job.remove and job.level == "project"
    if other and "hooks" in planned.data(job.machine.path(hooks.merged_with)):
        planned.note(f"{row.key}_hooks_twice")


def _pieces(item: Any, known: Collection[str]) -> Any:
    if isinstance(item, dict):
        return {key: _pieces(it, known) if key in known else "…" for key, it in item.items()}
    return [_pieces(it, known) for it in item] if isinstance(item, list) else item


def _items(
    row: Client, hooks: Hooks, job: Job, data: Table, offered: Collection[str]
) -> dict[str, dict[str, Table]]:
    there = [item.get("hooks", [item])[0] for _, item in hooks_in(data, called)]
    calls = [call["lang"] for call in map(_call_in, there) if call and call["lang"]]
    lang = next(iter(calls), "") if job.chosen is None else job.chosen
    wanted: dict[str, dict[str, Table]] = {}
    for event in hooks.events:
        if _ROOM_OF.get(event.ours, "") not in {"", *offered}:
            continue
        words = [*job.installation.cli, "hook", event.ours, "--client", hooks.called or row.key]
        words += ["--lang", lang] if lang and job.chosen != "en" else []
        if hooks.names_project and job.level == "project" and not job.installation.is_command:
            words += ["--project", job.project]
        handler = handler_of(hooks, words, event.ours, windows=job.installation.windows)
        matcher = {"matcher": event.matcher} if event.matcher else {}
        item = {**matcher, "hooks": [handler]} if hooks.grouped else {**handler, **matcher}
        wanted.setdefault(event.name, {})[event.ours] = item
    return wanted


def handler_of(hooks: Hooks, words: Sequence[str], event: str, *, windows: bool) -> dict[str, Any]:
    """Return the handler for one event of ours.

    It is a line for a shell: clients read each other's files, and not all know argument lists. It
    ends with status 0, so that a lost interpreter or checkout vetoes no tool call.
    """
    end = {"powershell": "; exit 0", "cmd": " & exit /b 0"}[hooks.shell] if windows else " || :"
    line = command_line(words, windows=windows, shell=hooks.shell) + end
    form = hooks.windows if windows and hooks.windows else hooks.handler
    unawaited = hooks.unawaited if event == RECORDING else {}
    return {**filled(form, event=event, line=line), **unawaited}


def command_line(words: Sequence[str], *, windows: bool, shell: str = "powershell") -> str:
    """Return the words, quoted, as a line for a shell. shell: the one of Windows."""
    if not windows:
        return shlex.join(words)
    if all(re.fullmatch(r"[\w.:/+=-]+", word) for word in words):
        return " ".join(words)
    if shell == "powershell":
        return "& " + " ".join("'" + word.replace("'", "''") + "'" for word in words)
    # A line that begins with a quote would lose its outermost quotes in cmd.
    return "call " + " ".join(f'"{word}"' for word in words)
