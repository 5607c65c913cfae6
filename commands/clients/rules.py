"""Plans which files hold the rules, so that every client reads them beside the user's texts.

The rules stand in AGENTS.md. A client that reads another file gets an import there, since a new
CLAUDE.md or GEMINI.md would hide AGENTS.md. Only a removal takes rules out.
"""

import os
import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from commands.clients import merge
from commands.clients.files import Plan
from commands.clients.merge import CannotEditError
from commands.clients.table import AGENTS, CLIENTS, TOOLS, Client, Rules, value_at
from core.lessons.briefing import front_matter, language_of, rules_for
from core.messages import Language, say, use_language

_FENCE = re.compile(r"[ >]*(?:```|~~~)")


def plan_rules(planned: Plan) -> None:
    """Plan the rules for the rooms of their readers: clients of the job or with our entry."""
    job = planned.job
    for row in job.rows if job.level == "user" or job.remove else ():
        if row.rules and job.level == "project":
            _take_out(planned, row, row.rules)
        elif row.rules and "user" in row.entry:
            _plan_of_user(planned, row, row.rules)
    if job.level == "user" or job.remove:
        return
    known = [it for it in CLIENTS if it.rules and (it in job.rows or planned.entry_of(it).values)]
    rooms = tuple(dict.fromkeys(room for row in known for room in planned.rooms_of(row)))
    bodies, readers = dict[str, str](), dict[str, list[Client]]()
    for row in job.rows:
        for name, body in _bodies(planned, row, row.rules).items() if row.rules else ():
            bodies[name] = body
            readers.setdefault(name, []).append(row)
    for name, body in bodies.items():
        path, clients = job.root / name, ", ".join(row.name for row in readers[name])
        edited = partial(merge.with_block, body=body or rules_for(_language(planned, name), rooms))
        planned.edit(path, "import" if body else "rules", edited, _block_lines, clients)
        text = planned.text(path) or ""
        for row in readers[name]:
            most = row.rules.most_bytes if row.rules else 0
            if most and len(text[: text.find(merge.END)].encode()) > most:
                planned.note(f"{row.key}_cuts", file=name, kib=most // 1024)


def _bodies(planned: Plan, row: Client, kept: Rules) -> dict[str, str]:
    """Return the body by file: an import line, or "" for the rules."""
    files = [_file(planned, name) for name in _reads(planned, row, kept)]
    reads, agents = [file.name for file in files], _file(planned, AGENTS)
    if any(file.is_copied for file in files):
        return {}  # by a person
    if AGENTS in reads:
        # rules that an older version put elsewhere are renewed there
        held = [it.name for it in files if it.block not in (None, it.import_line)]
        return {name: "" for name in held} if held and AGENTS not in held else {AGENTS: ""}
    if kept.instead in reads:
        return {kept.instead: ""}
    there = [file for file in files if file.name in kept.homes and file.is_there]
    home = next((file for file in there if file.block is not None), (*there, *files)[0])
    shared = {} if agents.is_copied else {AGENTS: ""}
    if any(_imports(planned, file) for file in files):
        return shared
    if home.block != home.import_line and home.own and agents.own:
        return {home.name: ""}  # the user keeps the two apart
    if planned.is_sound(planned.job.root / AGENTS) and not agents.is_broken:
        return {**shared, home.name: home.import_line}
    if not home.own:  # the new file would hide AGENTS.md
        planned.note("without_rules", client=row.name)
        return shared
    return {home.name: ""}


def _reads(planned: Plan, row: Client, kept: Rules) -> Sequence[str]:
    job = planned.job
    if kept.instead and os.path.lexists(job.root / kept.instead):
        return (kept.instead,)
    for level in ("project", "user") if kept.setting else ():
        value = value_at(planned.data(job.machine.path(row.entry[level])), kept.setting)
        names = value if isinstance(value, list) else [value]
        sound = tuple(
            name
            for name in names  # below the project, outside `.git`
            if isinstance(name, str) and name and not os.path.isabs(name) and ".." not in name
            if ".git" not in name.casefold().replace("\\", "/").split("/")
        )
        if sound:
            return sound
    return kept.reads


def _take_out(planned: Plan, row: Client, kept: Rules) -> None:
    """Take the rules out where no client that stays reads them."""
    job = planned.job
    names = dict.fromkeys(_reads(planned, row, kept))
    if not (job.tree and AGENTS in job.tree.files):  # else it may be for a colleague's client
        names[AGENTS] = None
    for file in [_file(planned, name) for name in names]:
        if file.block is None and not file.is_broken:
            continue
        others = [it for it in CLIENTS if it.key in job.present - {*job.clients}]
        staying = [it.name for it in others if it.rules and _follows(planned, it, it.rules, file)]
        if staying and not (file.block == file.import_line and file.name in kept.homes):
            planned.note("kept", file=file.name, clients=", ".join(staying))
            continue
        planned.edit(job.root / file.name, "rules", _without, _block_lines, row.name)


def _follows(planned: Plan, row: Client, kept: Rules, file: "_File") -> bool:
    """Return whether a client reads a file, also by a link or an import."""
    reads, root = _reads(planned, row, kept), planned.job.root
    if os.path.realpath(root / file.name) in (os.path.realpath(root / name) for name in reads):
        return True
    read = [_file(planned, name) for name in reads] if file.name == AGENTS else []
    return any(_imports(planned, it) or it.block == it.import_line for it in read)


def _without(text: str) -> str | None:
    """Return the text without our block, None if nothing is left."""
    rest = merge.without_block(text)
    bare = rest.replace("\r\n", "\n").strip("\ufeff \n")
    is_ours = bare in ("", *(front_matter(lang).strip() for lang in ("en", "ko")))
    return None if is_ours else rest


def _plan_of_user(planned: Plan, row: Client, kept: Rules) -> None:
    job, rooms = planned.job, planned.rooms_of(row)
    if not kept.user:
        if not job.remove:
            planned.note("no_user_rules", client=row.name)
        return
    path = job.machine.path(kept.user)
    instead = path.with_name(kept.instead or path.name)
    path = instead if planned.text(instead) is not None else path

    def edited(text: str) -> str | None:
        held = merge.block_in(text)
        if job.remove:
            return text if held is None else _without(text)
        lang = job.language or (language_of(held) if held else "en")
        with use_language(lang):
            body = f"{say('setup.only_where_kept')}\n\n{rules_for(lang, rooms)}"
        return merge.with_block(text, body)

    planned.edit(path, "rules", edited, _block_lines, row.name)


# The files of the project.


def _block_lines(text: str) -> list[str]:
    held = merge.block_in(text)
    return [] if held is None else [held]


class _File(NamedTuple):
    """A file in which a client may look for rules.

    is_broken: half of our block is there. own: the user's text; all of a file that cannot be
    edited, "?" for an unreadable one.
    """

    name: str
    is_there: bool
    block: str | None
    is_broken: bool
    own: str

    @property
    def import_line(self) -> str:
        """The line that imports AGENTS.md, such as `@../AGENTS.md`."""
        return f"@{'../' * self.name.count('/')}{AGENTS}"

    @property
    def is_copied(self) -> bool:
        """Whether a person has copied the rules into it."""
        return all(tool in self.own for tool in TOOLS["lessons"])


def _file(planned: Plan, name: str) -> _File:
    path = planned.job.root / name
    text = planned.text(path)
    if text is None:
        return _File(name, False, None, False, "?" if os.path.lexists(path) else "")
    try:
        block, own = merge.block_in(text), merge.without_block(text)
    except CannotEditError:
        return _File(name, True, None, True, text)
    return _File(name, True, block, False, own if own.strip("\ufeff \t\r\n") else "")


def _imports(planned: Plan, file: _File) -> bool:
    """Return whether a file is AGENTS.md under another name, or the user's text imports it.

    In doubt a line is no import: a model reads rules twice rather than never.
    """
    root = planned.job.root
    if os.path.realpath(root / file.name) == os.path.realpath(root / AGENTS):
        return True
    wanted = file.import_line.removeprefix("@")
    pattern = re.compile(rf"(?<!\S)@(?:\./)?{re.escape(wanted)}(?!\S)")
    in_fence = in_comment = False
    for line in file.own.splitlines():
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
    """Return the user's language if set, else that of the rules there, which a team keeps."""
    chosen = planned.job.language
    others = [it for row in CLIENTS if row.rules for it in row.rules.reads]
    for file in (name, AGENTS, *others):
        held = _file(planned, file)
        if held.block and held.block != held.import_line:
            if chosen not in (None, before := language_of(held.block)):
                planned.note(f"rules_to_{chosen}", file=file, clients=" ".join(planned.job.clients))
            return chosen or before
    return chosen or "en"
