"""A record in the editor of a person: checked before it is saved, and nothing typed is lost."""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from commands.records.edit_text import EditedTextError, edited, sections_in, text_for_editor
from commands.records.filters import screen_here
from commands.records.lines import print_within, whole
from commands.records.words import word
from commands.terminal.console import Opened, add_project, open_memory
from commands.terminal.records import redacted_lines
from commands.terminal.safe_text import plain
from core.errors import SentinelError
from core.lessons.git.naming import one_named
from core.lessons.git.repository import HistoryError, tell
from core.lessons.log import Renewed
from core.lessons.record import Record

USUAL = ("nano", "vi", "notepad")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `cli.py edit`."""
    parser.add_argument("id", metavar="ID", help="an id, its first 4 or more characters, or id@fp")
    add_project(parser)


def run(arguments: argparse.Namespace) -> int:
    """Open the record in an editor and save what comes back; 1 when that could not be done."""
    opened = open_memory(arguments, writes=True)
    try:
        record = one_named(arguments.id, opened.store.read())
    except HistoryError as error:
        return tell(error, opened.lang)
    editor = editor_in(os.environ, is_terminal=sys.stdin.isatty() and sys.stdout.isatty())
    if not editor:
        print_within([word(opened.lang, "no_editor")], error=True)
        return 1
    given = text_for_editor(record, opened.lang).encode("utf-8", "replace")
    handle, name = tempfile.mkstemp(prefix="sentinel-memory-", suffix=".txt")
    with os.fdopen(handle, "wb") as file:
        file.write(given)
    path = Path(name)
    is_done = False
    try:
        is_done = _edited(opened, record, editor, path)
    finally:
        if is_done or _content(path) in (b"", given):
            path.unlink(missing_ok=True)
        else:  # in one line, so that the path can be copied
            print(word(opened.lang, "text_kept", path=plain(name)), file=sys.stderr)
    return 0 if is_done else 1


def editor_in(environment: Mapping[str, str], *, is_terminal: bool) -> list[str]:
    """The command of the editor: of VISUAL, EDITOR, else a usual one; [] where there is none."""
    for name in ("VISUAL", "EDITOR"):
        if command := environment.get(name, "").strip():
            try:
                parts = shlex.split(command, posix=os.name != "nt")
            except ValueError:  # a quote is open
                return []
            return [part.strip('"') for part in parts] if os.name == "nt" else parts
    found = [it for it in USUAL if shutil.which(it)] if is_terminal else []
    return found[:1]


def _edited(opened: Opened, record: Record, editor: list[str], path: Path) -> bool:
    """Whether all is well: saved, or nothing to save. Says what happened."""
    lang = opened.lang
    before = sections_in(_content(path).decode())
    try:
        done = subprocess.run([*editor, str(path)], check=False).returncode == 0
    except OSError:
        done = False
    if not done:
        print_within([word(lang, "editor_failed", editor=plain(editor[0]))], error=True)
        return False
    try:
        after = sections_in(_content(path).decode("utf-8-sig"))
        if not before or not after or before == after:
            print_within([word(lang, "not_changed")])
            return True
        changed = edited(record, before, after)
        saved = opened.store.renew({record.token: changed}, join=False)
    except UnicodeDecodeError:
        print_within([word(lang, "not_utf8")], error=True)
        return False
    except EditedTextError as error:
        print_within([word(lang, error.key, **error.facts)], error=True)
        return False
    except SentinelError as error:
        print_within([plain(error.text(lang))], error=True)
        return False
    print_within(_told(opened, record, saved))
    return True


def _content(path: Path) -> bytes:
    """The file; nothing for one that the editor has removed."""
    return path.read_bytes() if path.exists() else b""


def _told(opened: Opened, record: Record, saved: Renewed) -> list[str]:
    lang, after = opened.lang, saved.renewals[0].after
    lines = [word(lang, "edited"), *whole(after, screen_here(), lang)]
    lines += redacted_lines(saved.redacted, lang)
    if saved.suspicious:
        lines.append(word(lang, "suspicious", fields=", ".join(saved.suspicious)))
    if after.id != record.id:
        lines.append(word(lang, "other_id", old=plain(record.id), new=plain(after.id)))
    return lines
