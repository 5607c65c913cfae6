"""The scan: secrets in a memory log, in other files or in git's history, and out of the log.

It says where a secret stands and of what kind it is, never what it is.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from commands.scan.findings import (
    MOST_BYTES,
    Scan,
    scan_history,
    scan_paths,
)
from commands.scan.lines import (
    INDENT,
    change_json,
    change_lines,
    finding_json,
    finding_line,
    shown_path,
)
from commands.scan.words import word
from commands.terminal.console import Opened, add_project, open_memory
from commands.terminal.safe_text import plain, plain_json
from core.lessons.git.errors import HistoryError
from core.lessons.git.versions import History
from core.lessons.git.words import word as git_word
from core.lessons.lines import UTF_16_MARKS
from core.lessons.log import MemoryLog
from core.lessons.upkeep.cleaning import Cleaning
from core.lessons.upkeep.secrets import safe
from core.messages import Language
from core.settings import read_settings

FOUND, FAILED = 1, 2
MINUTES = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `cli.py scan`."""
    places = parser.add_mutually_exclusive_group()
    places.add_argument(
        "paths",
        nargs="*",
        default=[],
        metavar="PATH",
        help="files, folders (what git tracks there), - for standard input; default: the log",
    )
    add_project(parser)
    places.add_argument("--redact", action="store_true", help="take the secrets out of the log")
    places.add_argument(
        "--history", action="store_true", help="look through all versions of the log in git"
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.set_defaults(refuse=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Look, redact if asked, and tell; 1 for secrets, 2 when something could not be looked at."""
    if arguments.paths:
        if arguments.project:
            arguments.refuse("--project and PATH do not go together")
        return _scan_paths(arguments)
    opened = open_memory(arguments, writes=arguments.redact)
    if arguments.redact:
        return _redact(opened, as_json=arguments.json)
    if arguments.history:
        return _scan_history(opened, as_json=arguments.json)
    return _scan_log(opened, as_json=arguments.json)


def _scan_paths(arguments: argparse.Namespace) -> int:
    settings = read_settings(os.environ)
    for warning in settings.warnings:
        print(warning, file=sys.stderr)
    scan = scan_paths(arguments.paths)
    return _tell(settings.lang, scan, as_json=arguments.json)


def _scan_log(opened: Opened, *, as_json: bool) -> int:
    scan, is_there = _scanned(opened)
    more = []
    if not is_there:
        more.append(word(opened.lang, "no_log", path=shown_path(opened.lang, _place(opened))))
    if scan.secrets:
        more.append(word(opened.lang, "would_redact"))
    return _tell(opened.lang, scan, more, as_json=as_json)


def _scanned(opened: Opened) -> tuple[Scan, bool]:
    """The log as it stands, and whether there is one."""
    scan, data = Scan(), opened.store.read_bytes()
    is_there = bool(data) or os.path.lexists(opened.store.path)
    if is_there:
        scan.add(_place(opened), data, is_log=True)
    return scan, is_there


def _place(opened: Opened) -> str:
    """The path of the log, from here when it is below."""
    path = str(opened.store.path)
    here = os.path.join(os.getcwd(), "")
    return path[len(here) :] if path.startswith(here) else path


def _tell(lang: Language, scan: Scan, more: Sequence[str] = (), *, as_json: bool) -> int:
    for path, reason in scan.unreadable:
        shown = word(lang, "unreadable", path=shown_path(lang, path), reason=plain(reason))
        print(shown, file=sys.stderr)
    if as_json:
        print(plain_json(_as_json(lang, scan)))
    else:
        counts = {"secrets": len(scan.secrets), "marks": len(scan.marks), "files": scan.files}
        print("\n".join([*_lines(lang, scan), word(lang, "summary", **counts), *more]))
    return FAILED if scan.unreadable else FOUND if scan.secrets else 0


def _lines(lang: Language, scan: Scan) -> list[str]:
    lines = [
        finding_line(lang, found, f"{shown_path(lang, found.path)}:{found.line}")
        for found in scan.found
    ]
    for path, why in scan.skipped:
        lines.append(word(lang, why, path=shown_path(lang, path), most=MOST_BYTES))
    return lines


def _as_json(lang: Language, scan: Scan) -> dict[str, object]:
    return {
        "findings": [finding_json(lang, found) for found in scan.found],
        "skipped": [
            {"path": shown_path(lang, path), "reason": reason} for path, reason in scan.skipped
        ],
        "unreadable": [
            {"path": shown_path(lang, path), "reason": reason} for path, reason in scan.unreadable
        ],
        "secrets": len(scan.secrets),
        "marks": len(scan.marks),
        "files": scan.files,
    }


def _scan_history(opened: Opened, *, as_json: bool) -> int:
    lang, scan, is_cut = opened.lang, Scan(), False
    try:
        repository = History(opened.store.path, MemoryLog()).repository
        scan, is_cut = scan_history(repository), repository.is_cut
    except HistoryError as error:
        if error.key != "no_commits":
            raise
    if as_json:
        print(plain_json({**_as_json(lang, scan), "shallow": is_cut}))
    else:
        print("\n".join(_history_lines(opened, scan, is_cut=is_cut)))
    return FOUND if scan.secrets else 0


def _history_lines(opened: Opened, scan: Scan, *, is_cut: bool) -> list[str]:
    lang, lines, last = opened.lang, list[str](), None
    for found in scan.found:
        commit = found.commit
        head = (commit.id if commit else "", found.path)
        if commit and head != last:
            date = commit.date[:MINUTES].replace("T", " ")
            who = [commit.short, date, safe(commit.author), shown_path(lang, found.path)]
            lines.append(INDENT.join(plain(fact) for fact in who if fact))
            last = head
        lines.append(INDENT + finding_line(lang, found, word(lang, "line", line=found.line)))
    if not scan.files:
        lines.append(word(lang, "no_history", path=shown_path(lang, _place(opened))))
    else:
        facts = {"secrets": len(scan.secrets), "files": scan.files}
        lines.append(word(lang, "history_summary", **facts))
    if is_cut:
        lines.append(git_word(lang, "cut"))
    return [*lines, word(lang, "history_advice")] if scan.secrets else lines


def _redact(opened: Opened, *, as_json: bool) -> int:
    lang = opened.lang
    if opened.store.read_bytes().startswith(UTF_16_MARKS):
        print(word(lang, "utf_16"), file=sys.stderr)
        return FAILED
    try:
        cleaning = opened.store.clean()
    except ModuleNotFoundError as error:  # only a writer needs it; a scan runs with any Python
        if error.name != "filelock":
            raise
        print(word(lang, "no_filelock"), file=sys.stderr)
        return FAILED
    left, _ = _scanned(opened)
    if as_json:
        print(plain_json(_redacted_json(lang, cleaning, left)))
    else:
        print("\n".join(_redacted_lines(opened, cleaning, left)))
    return FOUND if left.secrets else 0


def _redacted_lines(opened: Opened, cleaning: Cleaning, left: Scan) -> list[str]:
    lang = opened.lang
    lines = [word(lang, "nothing_to_redact")]
    if cleaning.changes:
        count = sum(len(change.kinds) for change in cleaning.changes)
        path = shown_path(lang, _place(opened))
        lines = [word(lang, "redacted", path=path, count=count)]
        for change in cleaning.changes:
            lines += change_lines(lang, change)
    if left.secrets:
        shown = [finding_line(lang, it, word(lang, "line", line=it.line)) for it in left.secrets]
        lines += [word(lang, "left"), *shown]
    if cleaning.changes:
        lines += [word(lang, key) for key in ("next_rotate", "next_diff", "next_clones")]
    return lines


def _redacted_json(lang: Language, cleaning: Cleaning, left: Scan) -> dict[str, object]:
    return {
        "redacted": [change_json(lang, change) for change in cleaning.changes],
        "left": [finding_json(lang, found) for found in left.secrets],
    }
