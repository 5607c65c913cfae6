"""Says what the entry of a server that others run means, and what is left to do for it."""

import argparse
import os
from collections.abc import Iterator, Sequence

from commands.setup.client_table import CLIENTS, TEAM_ENTRY
from commands.setup.files import Change, Job
from commands.setup.lines import shown_path
from commands.setup.remote.address import KEY_MARK, KEY_VARIABLE, AddressError, checked_url
from commands.terminal.ask import explain
from core.messages import say


def add_remote(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a server that others run, and how a client gets in there."""
    parser.add_argument("--url", metavar="URL", help=explain("setup_url"))
    parser.add_argument("--oauth", action="store_true", help=explain("setup_oauth"))


def url_of(arguments: argparse.Namespace) -> str:
    """Return the URL of the server, "" for none. Refuses what cannot be used: SystemExit(2)."""
    if arguments.oauth and not arguments.url:
        arguments.refuse(say("terminal.needs", one="--oauth", other="--url"))
    if not arguments.url:
        return ""
    try:
        return checked_url(arguments.url)
    except AddressError as error:
        arguments.refuse(say(f"setup.{error.fault}"))
        raise


def approval_lines(job: Job, changes: Sequence[Change], tools: Sequence[str]) -> Iterator[str]:
    """Say which tools clients call unasked, and where what they save goes."""
    given = {name for change in changes for part, name in change.parts if part == "remote"}
    named = [row.name for row in CLIENTS if row.name in given and row.approvals]
    if named and job.approvals and not job.remove:
        facts = {"clients": ", ".join(named), "tools": ", ".join(tools), "url": job.url}
        yield say("setup.approves_remote", **facts)


def next_steps(job: Job, written: Sequence[Change]) -> Iterator[str]:
    """Say what a person does for the server once the files are written."""
    if job.remove or not job.url:
        return
    is_set = bool(job.machine.variable(KEY_VARIABLE))
    if job.oauth:
        yield say("setup.next_oauth", url=job.url)
        if "codex" in job.clients:
            yield say("setup.next_oauth_codex", entry=TEAM_ENTRY)
    elif not is_set:
        shell = "setx {} {}…" if os.name == "nt" else "export {}={}…"
        line = shell.format(KEY_VARIABLE, KEY_MARK)
        yield say("setup.next_key", variable=KEY_VARIABLE, line=line)
    shared = [it for it in written if it.path.is_relative_to(job.root) and job.level == "project"]
    files = [shown_path(it.path, job.root) for it in shared if _is_for_all(it)]
    if files:
        yield say("setup.next_commit_remote", files=", ".join(files))


def _is_for_all(change: Change) -> bool:
    """Return whether a file holds an entry: approvals, which one person gives, are in others."""
    rows = [row for row in CLIENTS if any(name == row.name for _, name in change.parts)]
    return any(change.path.as_posix().endswith(row.places[0].file) for row in rows)
