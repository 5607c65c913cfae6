"""Plans which files hold the rules, so that every client reads them, and the user's own texts too.

The rules stand in AGENTS.md. A client that reads another file gets an import of it there, so that a
new CLAUDE.md or GEMINI.md hides nothing. Setup never takes rules out of a file; a removal does.
"""

import os
import re
from functools import partial

from commands.clients import merge
from commands.clients.files import Plan
from commands.clients.merge import CannotEditError
from commands.clients.parts import entry_of, rooms_of
from commands.clients.table import AGENTS, CLIENTS, TOOLS, Client, Rules
from core.lessons.rules import front_matter, language_of, rules
from core.messages import Language, say, speaking

_FENCE = re.compile(r"[ >]*(?:```|~~~)")


def plan_rules(planned: Plan) -> None:
    """Plan the files of rules, which say what the rooms of their readers ask for.

    Their readers are the clients that are meant, and those that have an entry there.
    """
    job = planned.job
    rooms_by_client = {
        row.key: rooms_of(planned, row)
        for row in CLIENTS
        if job.level in row.entry and (row in job.rows or entry_of(planned, row).values)
    }
    if job.level == "user":
        for row in job.rows:
            _of_user(planned, row, rooms_by_client.get(row.key, ()))
        return
    rows = [row for row in CLIENTS if row.rules and row.key in rooms_by_client]
    rooms = tuple({room: None for row in rows for room in rooms_by_client[row.key]})
    if job.remove:
        for row in CLIENTS:
            if row.rules and row.key in job.clients:
                _take_out(planned, row)
        return
    bodies, readers = dict[str, str](), dict[str, list[str]]()
    for row in job.rows:
        if row.rules:
            for name, body in _bodies(planned, row, row.rules).items():
                bodies[name] = body
                readers.setdefault(name, []).append(row.name)
    for name, body in bodies.items():
        text = body or rules(_language(planned, name), rooms)
        planned.edit(
            job.root / name,
            "import" if body else "rules",
            partial(merge.with_block, body=text),
            _block_lines,
            ", ".join(readers[name]),
        )
    for row in job.rows:
        most = row.rules.most_bytes if row.rules else 0
        for name in (name for name in bodies if most and row.name in readers[name]):
            text = planned.text(job.root / name) or ""
            if len(text[: text.find(merge.END)].encode()) > most:
                planned.note(f"{row.key}_cuts", file=name, kib=most // 1024)


def _bodies(planned: Plan, row: Client, kept: Rules) -> dict[str, str]:
    """Return by file what it gets for a client: an import, or "" for the rules themselves."""
    root = planned.job.root
    reads = _reads(planned, row, kept)
    if any(_is_copied(planned, name) for name in reads):
        return {}  # by a person
    held = [name for name in reads if _block(planned, name) not in (None, _import_of(name))]
    if AGENTS in reads:
        # what an older version has put elsewhere is renewed there
        return {name: "" for name in held} if held and AGENTS not in held else {AGENTS: ""}
    if kept.instead in reads:
        return {kept.instead: ""}
    there = [name for name in reads if name in kept.homes and planned.text(root / name) is not None]
    home = next((name for name in there if _block(planned, name) is not None), (*there, *reads)[0])
    shared = {} if _is_copied(planned, AGENTS) else {AGENTS: ""}
    if any(_imports(planned, name) for name in reads):
        return shared
    is_ours = _block(planned, home) == _import_of(home)
    if not is_ours and _own_text(planned, home) and _own_text(planned, AGENTS):
        return {home: ""}  # the user keeps the two apart
    if planned.is_sound(root / AGENTS) and _block(planned, AGENTS, broken=True) != "broken":
        return {**shared, home: _import_of(home)}
    if not _own_text(planned, home):  # it would hide what stands in the other
        planned.note("without_rules", client=row.name)
        return shared
    return {home: ""}


def _reads(planned: Plan, row: Client, kept: Rules) -> tuple[str, ...]:
    """Return the files that a client reads, as its settings say."""
    job = planned.job
    if kept.instead and os.path.lexists(job.root / kept.instead):
        return (kept.instead,)
    for level in ("project", "user") if kept.setting else ():
        value = merge.value_at(planned.data(job.machine.path(row.entry[level])), kept.setting)
        names = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        sound = tuple(name for name in names if _is_name(name))
        if sound:
            return sound
    return kept.reads


def _is_name(name: object) -> bool:
    """Return whether a setting names a file below the project, and none of git's own."""
    if not isinstance(name, str) or not name or os.path.isabs(name):
        return False
    parts = name.casefold().replace("\\", "/").split("/")
    return ".git" not in parts and ".." not in name


def _take_out(planned: Plan, row: Client) -> None:
    """Take the rules out of what a client reads, unless a client that stays set up reads it."""
    job = planned.job
    assert row.rules
    names = dict.fromkeys(_reads(planned, row, row.rules))
    if not (job.tree and AGENTS in job.tree.tracked):  # else it may be for a colleague's client
        names[AGENTS] = None
    for name in names:
        path = job.root / name
        block = _block(planned, name, broken=True)
        if block is None:
            continue
        staying = [
            other.name
            for other in CLIENTS
            if other.key in job.present - {*job.clients}
            and other.rules
            and _follows(planned, other, other.rules, name)
        ]
        if staying and not (block == _import_of(name) and name in row.rules.homes):
            planned.note("kept", file=name, clients=", ".join(staying))
            continue
        planned.edit(path, "rules", _without, _block_lines, row.name)


def _follows(planned: Plan, row: Client, kept: Rules, name: str) -> bool:
    reads = _reads(planned, row, kept)
    real = os.path.realpath(planned.job.root / name)
    if real in (os.path.realpath(planned.job.root / it) for it in reads):
        return True
    is_imported = any(
        _imports(planned, it) or _block(planned, it) == _import_of(it) for it in reads
    )
    return name == AGENTS and is_imported


def _without(text: str) -> str | None:
    """Return the text without our block, None for a file that held no more."""
    rest = merge.without_block(text)
    bare = rest.replace("\r\n", "\n").strip("\ufeff \n")
    is_ours = bare in ("", *(front_matter(lang).strip() for lang in ("en", "ko")))
    return None if is_ours else rest


def _of_user(planned: Plan, row: Client, rooms: tuple[str, ...]) -> None:
    """Plan the rules in a user's own file, which hold for every project with a memory."""
    job = planned.job
    if row.rules is None or "user" not in row.entry:
        return
    if not row.rules.user:
        if not job.remove:
            planned.note("no_user_rules", client=row.name)
        return
    path = job.machine.path(row.rules.user)
    instead = path.with_name(row.rules.instead or path.name)
    path = instead if planned.text(instead) is not None else path

    def edited(text: str) -> str | None:
        held = merge.block_in(text)
        if job.remove:
            return text if held is None else _without(text)
        lang = language_of(held) if held and not _names_language(planned) else job.lang
        with speaking(lang):
            body = f"{say('setup.only_where_kept')}\n\n{rules(lang, rooms)}"
        return merge.with_block(text, body)

    planned.edit(path, "rules", edited, _block_lines, row.name)


# What stands in a file of the project.


def _block_lines(text: str) -> list[str]:
    held = merge.block_in(text)
    return [] if held is None else [held]


def _block(planned: Plan, name: str, *, broken: bool = False) -> str | None:
    """Return our block in a file, None for no block. broken: "broken" for half a block."""
    try:
        return merge.block_in(planned.text(planned.job.root / name) or "")
    except CannotEditError:
        return "broken" if broken else None


def _own_text(planned: Plan, name: str) -> str:
    """Return what the user has in a file beside our block; all of one that cannot be read."""
    path = planned.job.root / name
    text = planned.text(path)
    if text is None:
        return "?" if os.path.lexists(path) else ""
    try:
        text = merge.without_block(text)
        return text if text.strip("\ufeff \t\r\n") else ""
    except CannotEditError:
        return text


def _is_copied(planned: Plan, name: str) -> bool:
    """Return whether a person has copied the rules into a file."""
    own = _own_text(planned, name)
    return all(tool in own for tool in TOOLS["lessons"])


def _import_of(name: str) -> str:
    """Return the line by which a file imports AGENTS.md; its path counts from there."""
    return f"@{'../' * name.count('/')}{AGENTS}"


def _imports(planned: Plan, name: str) -> bool:
    """Return whether a file is AGENTS.md under another name, or a text of the user imports it.

    In doubt a line is no import: a model reads rules twice rather than never.
    """
    root = planned.job.root
    if os.path.realpath(root / name) == os.path.realpath(root / AGENTS):
        return True
    wanted = _import_of(name).removeprefix("@")
    pattern = re.compile(rf"(?<!\S)@(?:\./)?{re.escape(wanted)}(?!\S)")
    in_fence = in_comment = False
    for line in _own_text(planned, name).splitlines():
        is_fence = bool(_FENCE.match(line))
        in_fence ^= is_fence
        in_comment = in_comment or "<!--" in line
        is_code = (
            in_fence or is_fence or in_comment or "`" in line or line.startswith(("    ", "\t"))
        )
        if not is_code and pattern.search(line):
            return True
        in_comment = in_comment and "-->" not in line
    return False


def _language(planned: Plan, name: str) -> Language:
    """Return the language of the rules there, so that a team keeps its own, unless one is set."""
    if not _names_language(planned):
        files = [name, AGENTS, *(it for row in CLIENTS if row.rules for it in row.rules.reads)]
        for file in files:
            held = _block(planned, file)
            if held and held != _import_of(file):
                return language_of(held)
    return planned.job.lang


def _names_language(planned: Plan) -> bool:
    wanted = planned.job.machine.variable("SENTINEL_MEMORY_LANG") or ""
    return wanted.strip().lower().startswith(("en", "ko"))
