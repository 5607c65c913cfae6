"""Opens a record in the user's editor, checks what comes back and saves it; no typing is lost."""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from commands.records.lines import commit_lines, redacted_lines, whole
from commands.terminal.ask import add_examples, add_id, explain, open_memory
from commands.terminal.safe_text import complain, plain
from commands.terminal.screen import print_within, screen_here
from core.errors import RefusedError, SentinelError
from core.lessons.anchors import MOST_PATHS, normalise_paths
from core.lessons.changes import Outcome
from core.lessons.history import one_named
from core.lessons.reach import reach_of
from core.lessons.record import LIMITS_BYTES, Record
from core.messages import say
from core.parser import add_project
from rooms.room import Opened

USUAL = ("nano", "vi", "notepad")
SECTIONS = (*LIMITS_BYTES, "paths", "when")

_HEADING = re.compile(r"== (\w+) ==\s*")
_LIKE_HEADING = re.compile(r"\\*== \w+ ==\s*")

Texts = Mapping[str, str]
Save = Callable[[Texts, Texts], list[str]]  # what a person had in the editor, and what came back


class EditedTextError(RefusedError):
    """The editor failed, or what came back from it cannot be read."""

    table = "records"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py edit`."""
    add_id(parser)
    add_from(parser)
    add_project(parser)
    add_examples(parser, "edit 3f2a")


def run(arguments: argparse.Namespace) -> int:
    """Open the record in an editor and save what comes back; 1 when that could not be done."""
    opened = open_memory(arguments, writes=True)
    record = one_named(arguments.id, opened.store.read())
    given, save = text_of_record(record), partial(_changed, opened, record)
    if arguments.source:
        return from_file(given, arguments.source, save)
    return in_editor(given, save, f"edit {plain(record.id)}")


def add_from(parser: argparse.ArgumentParser) -> None:
    """Add `--from`, which takes the place of the editor; see `from_file`."""
    parser.add_argument("--from", dest="source", metavar="FILE", help=explain("from"))


def from_file(given: str, source: str, save: Save) -> int:
    """Save the text that an earlier call has kept, and leave the file; 1 when it was not saved."""
    try:
        before, after = sections_in(given), _read(Path(source).read_bytes())
    except OSError:
        raise EditedTextError("no_file", path=plain(source)) from None
    lines = [say("terminal.not_changed")]
    if before and after and before != after:
        lines = save(before, after)
    print_within(lines)
    return 0 if lines else 1


def in_editor(given: str, save: Save, again: str) -> int:
    """Open a text in an editor and save what comes back; 1 when that could not be done.

    save: does it; what to print, nothing when the text was not saved and is to be kept. again: the
    command that takes a kept text up. Raises EditedTextError where there is no editor.
    """
    editor = editor_in(os.environ, is_terminal=sys.stdin.isatty() and sys.stdout.isatty())
    if not editor:
        raise EditedTextError("no_editor")
    data = given.encode("utf-8", "replace")
    handle, name = tempfile.mkstemp(prefix="sentinel-memory-", suffix=".txt")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    path, lines = Path(name), list[str]()
    try:
        before, after = sections_in(data.decode()), _typed(editor, path)
        if before and after and before != after:
            lines = save(before, after)
        else:
            lines = [say("terminal.not_changed")]
    except SentinelError as error:  # printed here, above the place where the text is kept
        complain(str(error))
    finally:
        if lines or _content(path) in (b"", data):
            path.unlink(missing_ok=True)
        else:  # in one line, so that the path can be copied
            shown = plain(name)
            shown = f'"{shown}"' if " " in shown else shown
            complain(say("records.text_kept", path=shown, again=again))
    print_within(lines)
    return 0 if lines else 1


def editor_in(environment: Mapping[str, str], *, is_terminal: bool) -> list[str]:
    """Return the editor's command: of VISUAL, EDITOR, else a usual one; [] where there is none."""
    for name in ("VISUAL", "EDITOR"):
        if command := environment.get(name, "").strip():
            try:
                parts = shlex.split(command, posix=os.name != "nt")
            except ValueError:  # a quote is open
                return []
            return [part.strip('"') for part in parts] if os.name == "nt" else parts
    found = [name for name in USUAL if shutil.which(name)] if is_terminal else []
    return found[:1]


def text_of_record(record: Record) -> str:
    """Return what somebody who corrects a record has in the editor; see `text_for_editor`."""
    facts = {"token": plain(record.token), "type": record.type, "limits": limits()}
    texts = (*record.texts, "\n".join(record.paths), "\n".join(record.when))
    return text_for_editor(say("records.edit_head", **facts), texts)


def text_for_editor(head: str, texts: Sequence[str]) -> str:
    r"""Return comment lines, then a section per text; a line that looks like a heading gets `\`."""
    lines = [f"# {line}" for line in head.splitlines()]
    for name, text in zip(SECTIONS, texts, strict=True):
        body = [f"\\{it}" if _LIKE_HEADING.fullmatch(it) else it for it in text.split("\n")]
        lines += ["", f"== {name} ==", *(body if text else ())]
    return "\n".join(lines) + "\n"


def limits() -> str:
    """Return the limits of the texts, for the head of a text in an editor."""
    return ", ".join(f"{name} {limit_bytes:,}" for name, limit_bytes in LIMITS_BYTES.items())


def sections_in(text: str) -> dict[str, str] | None:
    """Return the texts by their names, None for an emptied file. Raises EditedTextError.

    Blank lines around a text do not count, nor does what stands before the first section.
    """
    if not text.strip():
        return None
    found: dict[str, list[str]] = {}
    body: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        heading = _HEADING.fullmatch(line)
        if not heading:
            body.append(line[1:] if line[:1] == "\\" and _LIKE_HEADING.fullmatch(line) else line)
            continue
        name = heading[1]
        if name not in SECTIONS or name in found:
            raise EditedTextError("bad_section", name=name, names=", ".join(SECTIONS))
        body = found[name] = []
    for name in SECTIONS:
        if name not in found:
            raise EditedTextError("no_section", name=name)
    return {name: _without_blank_lines(lines) for name, lines in found.items()}


def edited(record: Record, before: Texts, after: Texts, root: Path) -> tuple[Record, list[str]]:
    """Return the record with the texts that differ, and what to say of its paths and triggers.

    One left alone stays as it is stored. Raises what `normalise_paths` and `reach_of` raise. root:
    the directory of the project.
    """
    texts = {name: after[name] for name in LIMITS_BYTES if after[name] != before[name]}
    paths, when, notes = record.paths, record.when, list[str]()
    if after["paths"] != before["paths"]:
        lines = after["paths"].split("\n")
        paths = normalise_paths(lines, str(root), most=max(MOST_PATHS, len(paths)))
    if after["when"] != before["when"]:
        lines = [line for line in after["when"].split("\n") if line.strip()]
        reach = reach_of(paths, lines, root, when)
        kept = when if reach.common else ()  # where all new ones go, the old ones stay
        when, notes = reach.triggers or kept, reach.notes
    elif after["paths"] != before["paths"]:
        notes = reach_of(paths, (), root).notes
    changed = replace(
        record,
        topic=texts.get("topic", record.topic),
        missing_context=texts.get("missing_context", record.missing_context),
        lesson=texts.get("lesson", record.lesson),
        ask_next_time=texts.get("ask_next_time", record.ask_next_time),
        paths=paths,
        when=when,
    )
    return changed, notes


def _typed(editor: list[str], path: Path) -> dict[str, str] | None:
    """Wait for the editor; the texts that it left. Raises EditedTextError."""
    try:
        is_done = not subprocess.run([*editor, str(path)], check=False).returncode
    except OSError:
        is_done = False
    if not is_done:
        raise EditedTextError("editor_failed", editor=editor[0])
    return _read(_content(path))


def _read(data: bytes) -> dict[str, str] | None:
    try:
        return sections_in(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise EditedTextError("not_utf8") from None


def _changed(opened: Opened, record: Record, before: Texts, after: Texts) -> list[str]:
    changed, notes = edited(record, before, after, opened.project.root)
    renewed = opened.store.renew({record.token: changed}, join=False)
    return [*_saved(opened, record, renewed), *notes]


def _content(path: Path) -> bytes:
    """Return the content of the file, nothing for one that the editor has removed."""
    return path.read_bytes() if path.exists() else b""


def _saved(opened: Opened, record: Record, saved: Outcome) -> list[str]:
    after = saved.records[0]
    lines = [say("records.edited"), *whole(after, screen_here())]
    lines += redacted_lines(saved.redacted)
    if saved.suspicious:
        fields = ", ".join(saved.suspicious)
        lines.append(say("records.suspicious_saved", fields=fields, id=plain(after.id)))
    if after.id != record.id:
        lines.append(say("records.other_id", old=plain(record.id), new=plain(after.id)))
    return lines + commit_lines(opened)


def _without_blank_lines(lines: list[str]) -> str:
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines)
