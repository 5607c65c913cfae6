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


def plan_rules(plan: Plan) -> None:
    """Plan the rules for the rooms of their readers: clients of the job or with our entry."""
    job = plan.job
    for row in job.rows if job.level == "user" or job.remove else ():
        if row.rules and job.level == "project":
            _remove_rules(plan, row, row.rules)
        elif row.rules and "user" in row.entry:
            _plan_user_rules(plan, row, row.rules)
    if job.level == "user" or job.remove:
        return
    rows = [row for row in CLIENTS if row.rules and (row in job.rows or plan.entry_of(row).values)]
    rooms = tuple(dict.fromkeys(room for row in rows for room in plan.rooms_of(row)))
    bodies, readers = dict[str, str](), dict[str, list[Client]]()
    for row in job.rows:
        for name, body in _find_bodies(plan, row, row.rules).items() if row.rules else ():
            bodies[name] = body
            readers.setdefault(name, []).append(row)
    for name, body in bodies.items():
        path, clients = job.root / name, ", ".join(row.name for row in readers[name])
        edit = partial(merge.with_block, body=body or rules_for(_language_of(plan, name), rooms))
        plan.edit(path, "import" if body else "rules", edit, _block_lines, clients)
        text = plan.text(path) or ""
        for row in readers[name]:
            most_bytes = row.rules.most_bytes if row.rules else 0
            if most_bytes and len(text[: text.find(merge.END)].encode()) > most_bytes:
                plan.note(f"{row.key}_cuts", file=name, kib=most_bytes // 1024)


def _find_bodies(plan: Plan, row: Client, places: Rules) -> dict[str, str]:
    """Return the body by file: an import line, or "" for the rules."""
    files = [_read_file(plan, name) for name in _find_names(plan, row, places)]
    names, agents = [file.name for file in files], _read_file(plan, AGENTS)
    if any(file.is_copied for file in files):
        return {}  # a person keeps the rules there
    if AGENTS in names:
        # rules that an older version put elsewhere are renewed there
        old = [file.name for file in files if file.block not in (None, file.import_line)]
        return {name: "" for name in old} if old and AGENTS not in old else {AGENTS: ""}
    if places.instead in names:
        return {places.instead: ""}
    homes = [file for file in files if file.name in places.homes and file.is_there]
    home = next((file for file in homes if file.block is not None), (*homes, *files)[0])
    shared = {} if agents.is_copied else {AGENTS: ""}
    if any(_has_import(plan, file) for file in files):
        return shared
    if home.block != home.import_line and home.own_text and agents.own_text:
        return {home.name: ""}  # the user keeps the two apart
    if agents.block or (plan.is_sound(plan.job.root / AGENTS) and not agents.is_broken):
        return {**shared, home.name: home.import_line}
    if not home.own_text:  # the new file would hide AGENTS.md
        plan.note("without_rules", client=row.name)
        return shared
    return {home.name: ""}


def _find_names(plan: Plan, row: Client, places: Rules) -> Sequence[str]:
    job = plan.job
    if places.instead and os.path.lexists(job.root / places.instead):
        return (places.instead,)
    for level in ("project", "user") if places.setting else ():
        value = value_at(plan.data(job.machine.path(row.entry[level])), places.setting)
        names = value if isinstance(value, list) else [value]
        sound_names = tuple(
            name
            for name in names  # below the project, outside `.git`
            if isinstance(name, str) and name and not os.path.isabs(name) and ".." not in name
            if ".git" not in name.casefold().replace("\\", "/").split("/")
        )
        if sound_names:
            return sound_names
    return places.reads


def _remove_rules(plan: Plan, row: Client, places: Rules) -> None:
    """Take the rules out where no client that stays reads them."""
    job = plan.job
    names = dict.fromkeys(_find_names(plan, row, places))
    if not (job.tree and AGENTS in job.tree.files):  # else it may be for a colleague's client
        names[AGENTS] = None
    for file in [_read_file(plan, name) for name in names]:
        if file.block is None and not file.is_broken:
            continue
        rows = [row for row in CLIENTS if row.key in job.old_clients - {*job.clients}]
        readers = [row.name for row in rows if row.rules and _may_read(plan, row, row.rules, file)]
        if readers and not (file.block == file.import_line and file.name in places.homes):
            plan.note("kept", file=file.name, clients=", ".join(readers))
            continue
        plan.edit(job.root / file.name, "rules", _without_rules, _block_lines, row.name)


def _may_read(plan: Plan, row: Client, places: Rules, file: "_File") -> bool:
    """Return whether a client reads a file, also by a link or an import."""
    names, root = _find_names(plan, row, places), plan.job.root
    if os.path.realpath(root / file.name) in (os.path.realpath(root / name) for name in names):
        return True
    files = [_read_file(plan, name) for name in names] if file.name == AGENTS else []
    return any(_has_import(plan, other) or other.block == other.import_line for other in files)


def _without_rules(text: str) -> str | None:
    """Return the text without our block, None if nothing is left."""
    rest = merge.without_block(text)
    bare_text = rest.replace("\r\n", "\n").strip("\ufeff \n")
    is_ours = bare_text in ("", *(front_matter(lang).strip() for lang in ("en", "ko")))
    return None if is_ours else rest


def _plan_user_rules(plan: Plan, row: Client, places: Rules) -> None:
    job, rooms = plan.job, plan.rooms_of(row)
    if not places.user:
        if not job.remove:
            plan.note("no_user_rules", client=row.name)
        return
    path = job.machine.path(places.user)
    other_path = path.with_name(places.instead or path.name)
    path = other_path if plan.text(other_path) is not None else path

    def edit_text(text: str) -> str | None:
        block = merge.block_in(text)
        if job.remove:
            return text if block is None else _without_rules(text)
        lang = job.language or (language_of(block) if block else "en")
        with use_language(lang):
            body = f"{say('setup.only_where_kept')}\n\n{rules_for(lang, rooms)}"
        return merge.with_block(text, body)

    plan.edit(path, "rules", edit_text, _block_lines, row.name)


# The files of the project.


def _block_lines(text: str) -> list[str]:
    block = merge.block_in(text)
    return [] if block is None else [block]


class _File(NamedTuple):
    """A file in which a client may look for rules.

    is_broken: half of our block is there. own_text: the user's; all of a file that cannot be
    edited, "?" for an unreadable one.
    """

    name: str
    is_there: bool
    block: str | None
    is_broken: bool
    own_text: str

    @property
    def import_line(self) -> str:
        """The line that imports AGENTS.md, such as `@../AGENTS.md`."""
        return f"@{'../' * self.name.count('/')}{AGENTS}"

    @property
    def is_copied(self) -> bool:
        """Whether a person has copied the rules into it."""
        return all(tool in self.own_text for tool in TOOLS["lessons"])


def _read_file(plan: Plan, name: str) -> _File:
    path = plan.job.root / name
    text = plan.text(path)
    if text is None:
        return _File(name, False, None, False, "?" if os.path.lexists(path) else "")
    try:
        block, own_text = merge.block_in(text), merge.without_block(text)
    except CannotEditError:
        return _File(name, True, None, True, text)
    return _File(name, True, block, False, own_text if own_text.strip("\ufeff \t\r\n") else "")


def _has_import(plan: Plan, file: _File) -> bool:
    """Return whether a file is AGENTS.md under another name, or the user's text imports it.

    In doubt a line is no import: a model reads rules twice rather than never.
    """
    root = plan.job.root
    if os.path.realpath(root / file.name) == os.path.realpath(root / AGENTS):
        return True
    import_path = file.import_line.removeprefix("@")
    pattern = re.compile(rf"(?<!\S)@(?:\./)?{re.escape(import_path)}(?!\S)")
    in_fence = in_comment = False
    for line in file.own_text.splitlines():
        is_fence = bool(_FENCE.match(line))
        in_fence ^= is_fence
        in_comment = in_comment or "<!--" in line
        is_indented = line.startswith(("    ", "\t"))
        is_code = in_fence or is_fence or in_comment or is_indented or "`" in line
        if not is_code and pattern.search(line):
            return True
        in_comment = in_comment and "-->" not in line
    return False


def _language_of(plan: Plan, name: str) -> Language:
    """Return the user's language if set, else that of the rules there, which a team keeps."""
    chosen = plan.job.language
    rule_names = [name for row in CLIENTS if row.rules for name in row.rules.reads]
    for file_name in (name, AGENTS, *rule_names):
        file = _read_file(plan, file_name)
        if file.block and file.block != file.import_line:
            if chosen not in (None, old_language := language_of(file.block)):
                plan.note(f"rules_to_{chosen}", file=file_name, clients=" ".join(plan.job.clients))
            return chosen or old_language
    return chosen or "en"
