"""Reports to GitHub Actions: annotations of lines, and the summary of the step.

The runner takes what a step prints at the beginning of a line for a command. So texts in an
annotation are escaped as the runner reads them, and around the report itself commands are stopped
with a word that nobody can know before.
"""

import os
import secrets
from collections.abc import Iterator, Mapping

from commands.clients.text_file import ExportError
from commands.report.findings import Report
from commands.scan.lines import finding_line, shown_path
from commands.terminal.safe_text import plain
from core.disk import reason_of
from core.messages import say
from core.sanitizer import safe

SUMMARY = "GITHUB_STEP_SUMMARY"
MOST_SUMMARY_BYTES = 1_048_576
MOST_ANNOTATIONS = 10

_IN_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_DATA, ":": "%3A", ",": "%2C"}


def annotations(report: Report) -> list[str]:
    """Return errors for what must not be merged, warnings for what should be read.

    GitHub shows no more than MOST_ANNOTATIONS of a kind, so the last one counts the rest.
    """
    errors, warnings = _errors(report), _warnings(report)
    return [*_limited("error", errors), *_limited("warning", warnings)]


def stopped(text: str) -> str:
    """Return the text so that the runner prints it and takes none of it for a command."""
    token = secrets.token_hex(16)
    return f"::stop-commands::{token}\n{text.rstrip()}\n::{token}::\n"


def room_in_summary() -> int | None:
    """Return how many bytes this step's summary can still take, None where there is none."""
    path = os.environ.get(SUMMARY)
    if not path:
        return None
    try:
        taken = os.path.getsize(path)
    except FileNotFoundError:
        taken = 0
    except OSError as error:
        raise ExportError("file_read", path=path, reason=reason_of(error)) from error
    return max(MOST_SUMMARY_BYTES - taken - 1, 0)


def add_to_summary(text: str) -> None:
    """Put the text below what the summary holds. Raises ExportError."""
    path = os.environ[SUMMARY]
    try:
        begin = "\n" if os.path.exists(path) and os.path.getsize(path) else ""
        with open(path, "a", encoding="utf-8", newline="\n") as file:
            file.write(begin + text)
    except OSError as error:
        raise ExportError("file_write", path=path, reason=reason_of(error)) from error


def _errors(report: Report) -> Iterator[str]:
    path = report.revisions.path
    for found in report.secrets:
        text = finding_line(found, _where(path, found.line))
        yield _annotation("error", say("report.title_secret"), text, path, found.line)
    for found in report.passing:
        commit = found.commit.short if found.commit else ""
        place = finding_line(found, _where(found.path, found.line))
        text = say("report.passing", commit=commit, found=place)
        yield _annotation("error", say("report.title_secret"), text)
    for damage in report.damage:
        text = say(f"report.{damage.kind}", where=_where(damage.path, damage.line))
        yield _annotation("error", say("report.title_damage"), text, damage.path, damage.line)


def _warnings(report: Report) -> Iterator[str]:
    path = report.revisions.path
    for found in (it for marked in report.marked for it in marked.found):
        text = finding_line(found, _where(path, found.line))
        yield _annotation("warning", say("report.title_marked"), text, path, found.line)


def _where(path: str, line: int) -> str:
    return f"{shown_path(path)}:{line}"


def _limited(kind: str, lines: Iterator[str]) -> list[str]:
    every = list(lines)
    if len(every) <= MOST_ANNOTATIONS:
        return every
    kept = every[: MOST_ANNOTATIONS - 1]
    more = say("report.more", count=len(every) - len(kept))
    return [*kept, _annotation(kind, say("report.title_more"), more)]


def _annotation(kind: str, title: str, text: str, path: str = "", line: int = 0) -> str:
    """Return one command of the runner, without its path where that may not be printed as it is."""
    properties = {"title": title}
    if path and safe(path) and plain(path) == path:
        properties = {"file": path, "line": str(line), "title": title}
    named = ",".join(f"{name}={_escaped(it, _IN_PROPERTY)}" for name, it in properties.items())
    return f"::{kind} {named}::{_escaped(text, _IN_DATA)}"


def _escaped(text: str, signs: Mapping[str, str]) -> str:
    return "".join(signs.get(char, char) for char in text)
