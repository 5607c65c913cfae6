"""Plans what setup changes in the files that hold the rules, with notes for the user."""

import os
from collections.abc import Collection, Sequence
from functools import cache

from commands.clients.text_file import ExportError
from commands.documents.json_tree import data_of, value_at
from commands.documents.marked_block import (
    BrokenBlockError,
    block_in,
    markers,
    with_block,
    without_block,
)
from commands.setup.client_machine import Machine, paths_of
from commands.setup.client_table import AGENTS, CLIENTS, Client
from commands.setup.entries import rooms_together
from commands.setup.files import Change, Desk, Job, Remark, opened
from commands.setup.rules_files import (
    BLOCK,
    IMPORTER,
    ROWS,
    Body,
    Homes,
    RulesFiles,
    copies,
    depends,
    homes_for,
    import_of,
    names_beside,
    read_by,
    reads,
)
from core.lessons.rules import front_matter, language_of, rules
from core.messages import Facts, Language, say, speaking

# The files that are made for our rules alone.
OWN_FILES = [row.home for row in ROWS.values() if row.own_file]


def put_in(desk: Desk, job: Job) -> list[Remark]:
    """Put the rules where the clients read them, and take them out elsewhere; what to know."""
    files = _rules_now(desk, job)
    ours, others = files.ours, job.present - set(job.clients)
    readers = {*job.clients, *(key for key in others if depends(files, key))}
    homes = homes_for(files, readers)
    sound = {name: body for name, body in homes.items() if files.is_sound(name)}
    # What git has was put in by a colleague, for a client that may not be set up here.
    kept = {files.real(name) for name in job.tracked}
    staying: Homes = {
        name: "rules" for name in ours if files.real(name) in kept and not files.imports_ours(name)
    }
    notes = [*_import_notes(files, sound), *_reader_notes(files, {**staying, **sound}, job)]
    for name, body in homes.items():
        keys = [IMPORTER] if body == "import" else readers
        reading = [row for row in _rows(keys) if reads(files, row.key, name, homes)]
        with desk.editing(job.root / name, "rules", *reading) as change:
            said = rules(_language(files, name, job), rooms_together(desk, job, reading))
            change.after = _with_rules(change, name, body, said)
    kept |= set(map(files.real, homes))
    for name in ours:
        if files.real(name) not in kept:
            _take_out(desk, job, name)
    _refuse_broken(desk, job, files)
    return notes + _cut_notes(files, sound, desk, job)


def rules_files(machine: Machine) -> list[str]:
    """Return the files of a project that may hold rules, and that git can be asked about."""
    names = names_beside(_named(Desk(machine.root), machine))
    return [name for name in names if name.isprintable()]


def put_out(desk: Desk, job: Job) -> list[Remark]:
    """Take the rules out where no client that stays set up reads them; what to know.

    An import is kept for Claude Code alone.
    """
    files, notes = _rules_now(desk, job), list[Remark]()
    others = job.present - set(job.clients)
    for name in files.ours:
        followers = others & {IMPORTER} if files.imports_ours(name) else others
        keeping = [row.name for row in _rows(followers) if reads(files, row.key, name)]
        if not keeping:
            _take_out(desk, job, name)
        elif any(reads(files, key, name) for key in job.clients):
            notes.append(Remark("kept", {"file": name, "clients": ", ".join(keeping)}))
    _refuse_broken(desk, job, files)
    return notes


def rules_of_user(desk: Desk, job: Job, clients: Sequence[Client]) -> list[Remark]:
    """Put the rules into the user's own files, or take them out; what to know."""
    notes = []
    for client in clients:
        if client.of_user is None:
            continue
        if client.of_user.rules is None:
            if not job.remove:
                notes.append(Remark("no_user_rules", {"client": client.name}))
            continue
        directory, file = client.of_user.rules
        path, instead = job.machine.directories[directory] / file, ROWS[client.key].instead
        if instead and desk.text(path.with_name(instead)) is not None:
            path = path.with_name(instead)
        if job.remove:
            _take_out(desk, job, str(path))
            continue
        with desk.editing(path, "rules", client) as change:
            held = block_in(change.text, BLOCK)
            lang = language_of(held) if held and not _names_language(job) else job.lang
            said = rules(lang, rooms_together(desk, job, [client]))
            with speaking(lang):
                body = f"{say('setup.only_where_kept')}\n\n{said}"
            change.after = with_block(change.text, BLOCK, body)
    return notes


def _import_notes(files: RulesFiles, homes: Homes) -> list[Remark]:
    """Say that Claude Code gets AGENTS.md with a text of the user by way of a new import."""
    new = [
        name for name, body in homes.items() if body == "import" and not files.imports_ours(name)
    ]
    return [Remark("imports", {"file": name}) for name in new if files.has_text(AGENTS)]


def _reader_notes(files: RulesFiles, homes: Homes, job: Job) -> list[Remark]:
    """Say which clients get the rules twice, not at all, or by a file that is another client's."""
    notes = []
    for client in _rows({*job.clients, *job.present}):
        names, is_asked = copies(files, client.key, homes), client.key in job.clients
        facts: Facts = {"client": client.name}
        if len(names) > 1:
            notes.append(Remark("two_copies", {**facts, "files": ", ".join(names)}))
        elif is_asked and not names and client.rules:
            notes.append(Remark("without_rules", facts))
        elif is_asked and client.rules and names and names[0] in client.rules.unsure:
            notes.append(Remark(f"{client.key}_by_claude", {"file": names[0]}))
    return notes


def _cut_notes(files: RulesFiles, homes: Homes, desk: Desk, job: Job) -> list[Remark]:
    """Name the files that a client would not read to the end of the rules."""
    notes = []
    for client in (row for row in _rows(job.clients) if row.rules and row.rules.most_bytes):
        most_bytes = ROWS[client.key].most_bytes
        for name in (read for read in read_by(files, client.key) if read in homes):
            text = desk.text(job.root / name) or ""
            if len(text[: text.find(markers(BLOCK)[1])].encode()) > most_bytes:
                facts: Facts = {"file": name, "kib": most_bytes // 1024}
                notes.append(Remark(f"{client.key}_cuts", facts))
    return notes


def _rules_now(desk: Desk, job: Job) -> RulesFiles:
    """Return the rules files as they are before anything is changed."""

    @cache
    def text(name: str) -> str | None:
        return desk.text(job.root / name)

    @cache
    def is_sound(name: str) -> bool:
        try:
            block_in(opened(job.root / name, job.root).text, BLOCK)
        except (ExportError, BrokenBlockError):
            return False
        return True

    def real(name: str) -> str:
        return os.path.realpath(job.root / name)

    return RulesFiles(text, real, is_sound, _named(desk, job.machine))


def _language(files: RulesFiles, name: str, job: Job) -> Language:
    """Return the language of the rules there, so that a team keeps its own, unless one is set."""
    if _names_language(job):
        return job.lang
    held = [
        file for file in (name, *files.ours) if files.block(file) and not files.imports_ours(file)
    ]
    return language_of(files.block(held[0]) or "") if held else job.lang


def _names_language(job: Job) -> bool:
    wanted = (job.machine.variable("SENTINEL_MEMORY_LANG") or "").strip().lower()
    return wanted.startswith(("en", "ko"))


def _with_rules(change: Change, name: str, body: Body, said: str) -> str:
    """Return the text with the rules, which say this, or with the import."""
    text, lang = change.text, language_of(said)
    if name in OWN_FILES and _is_all_ours(without_block(text, BLOCK)):
        newline = "\r\n" if "\r\n" in text else "\n"
        made = with_block(front_matter(lang).replace("\n", newline), BLOCK, said)
        return text if text.splitlines() == made.splitlines() else made
    return with_block(text, BLOCK, said if body == "rules" else import_of(name))


def _take_out(desk: Desk, job: Job, name: str) -> None:
    """Take out the block, and with it a file that was made for it."""
    with desk.editing(job.root / name, "rules") as change:
        if block_in(change.text, BLOCK) is None:  # gone with another name of the file
            return
        rest = without_block(change.text, BLOCK)
        is_made = not rest and change.text.endswith("\n")
        is_rule = name in OWN_FILES and _is_all_ours(rest)
        change.after = None if is_made or is_rule else rest


def _refuse_broken(desk: Desk, job: Job, files: RulesFiles) -> None:
    """Make half a block a problem of the file, also where the rest of it passes for rules."""
    for name in files.names:
        is_broken = files.text(name) is not None and not files.is_sound(name)
        if is_broken and any(reads(files, key, name) for key in job.clients):
            with desk.editing(job.root / name, "rules") as change:
                block_in(change.text, BLOCK)


def _is_all_ours(rest: str) -> bool:
    """Return whether a file made for the rules holds nothing of the user beside the block."""
    return rest.replace("\r\n", "\n") in ("", front_matter("en"), front_matter("ko"))


def _named(desk: Desk, machine: Machine) -> dict[str, tuple[str, ...]]:
    """Return, by client, the files its settings name: those of the project, else of the user."""
    found: dict[str, tuple[str, ...]] = {}
    for client in (row for row in CLIENTS if row.rules and row.rules.setting):
        for path in (file for place in client.places for file in paths_of(place, machine)):
            names = _names_in(desk.text(path) or "", ROWS[client.key].setting)
            if names:
                found.setdefault(client.key, names)
    return found


def _names_in(text: str, setting: Sequence[str]) -> tuple[str, ...]:
    try:
        value = data_of(text)
    except ValueError:
        return ()
    value = value_at(value, setting)
    names = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(name for name in names if _is_name(name))


def _is_name(name: object) -> bool:
    """Return whether a setting names a file below the project, and none of git's own."""
    if not isinstance(name, str) or not name or os.path.isabs(name):
        return False
    parts = name.casefold().replace("\\", "/").split("/")
    return ".git" not in parts and ".." not in name


def _rows(keys: Collection[str]) -> list[Client]:
    return [client for client in CLIENTS if client.key in keys]
