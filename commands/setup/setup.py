"""Puts what a client needs for this memory into its files, or takes it out again.

The user sees every change first. Entries, comments and formatting of the user stay.
"""

import argparse
import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from commands.clients.text_file import ExportError
from commands.setup.client_machine import is_passing
from commands.setup.client_table import CLIENTS
from commands.setup.entries import LANG
from commands.setup.files import Change, Installation, Job, Remark
from commands.setup.here import (
    HERE,
    commands_here,
    installed,
    machine_here,
    missing_packages,
    present_clients,
    runner_of,
    trace_of,
    tree_of,
    tried_hook,
)
from commands.setup.hooks import command_line
from commands.setup.levels import known_files
from commands.setup.lines import change_lines, shown_path
from commands.setup.plan import Plan, plan
from commands.setup.remote.telling import add_remote, approval_lines, next_steps, url_of
from commands.setup.rooms import given_rooms, tell_rooms
from commands.setup.rules import rules_files
from commands.terminal.ask import (
    add_confirmation,
    add_examples,
    explain,
    is_confirmed,
    open_memory,
)
from commands.terminal.safe_text import complain, plain, plain_lines
from commands.terminal.screen import INDENT, painted_diff, print_lines, said, screen_here
from core.config import Project
from core.errors import SentinelError
from core.messages import Facts, has_sentence, language, language_of, say
from core.parser import add_project, one_of

KEYS = [client.key for client in CLIENTS]


class SetupError(SentinelError, RuntimeError):
    """Nothing here can be set up, or nothing here can start the server; no file was written."""

    table = "setup"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py setup`."""
    clients = explain("setup_clients", clients=", ".join(KEYS))
    parser.add_argument("clients", nargs="*", type=one_of(KEYS), metavar="CLIENT", help=clients)
    add_project(parser)
    add_confirmation(parser)
    for option in ("all", "remove", "no-rules", "no-hooks", "no-approvals", "user"):
        help_text = explain(f"setup_{option.replace('-', '_')}")
        parser.add_argument(f"--{option}", action="store_true", help=help_text)
    parser.add_argument("--rooms", metavar="ROOMS", help=explain("setup_rooms"))
    add_remote(parser)
    parser.set_defaults(refuse=parser.error)
    add_examples(parser, "setup --all --dry-run", "setup claude-code cursor")


def run(arguments: argparse.Namespace) -> int:
    """Plan, show, ask, write; 1 when anything asked for could not be done."""
    _check(arguments)
    url = url_of(arguments)
    opened = open_memory(arguments, writes=not arguments.user)
    project = opened.project
    installation = _installation(is_idle=arguments.remove or bool(url))
    if installation is None:
        return 1
    job = _job(arguments, project, installation)
    job = replace(job, url=url, oauth=arguments.oauth)
    _tell_project(arguments, project, job)
    tell_rooms(job)
    if arguments.all and not arguments.remove:
        _tell_found(job)
    planned = plan(job)
    screen = screen_here()
    for change in planned.changes:
        head, *lines = change_lines(change, job.root)
        print("", screen.painted(head, "bold"), *painted_diff(lines, screen), sep="\n")
    _tell_remarks(planned, job)
    if not planned.changes:
        return _nothing(planned, job)
    ask = say("setup.ask_remove" if job.remove else "setup.ask", count=len(planned.changes))
    if not is_confirmed(arguments, ask, table="setup"):
        return int(not arguments.dry_run or bool(planned.problems))
    failed = _write(planned, job)
    return 1 if failed or planned.problems else 0


def _tell_project(arguments: argparse.Namespace, project: Project, job: Job) -> None:
    """Say whose memory it is, and what that means for the directory that was named."""
    if job.level == "user":
        print_lines([say("setup.of_user")])
        return
    print(say("setup.project", path=plain(str(job.root))))
    named = arguments.project if project.source == "--project" else ""
    here = Path(os.path.abspath(os.path.expanduser(named)))
    if job.root in here.parents:
        print_lines([say("setup.above", root=plain(str(job.root)), here=plain(str(here)))])
    if job.tree and job.tree.prefix and not os.path.lexists(project.log_path.parent):
        option = shlex.join(["--project", str(job.top)])
        facts = {"top": plain(str(job.top)), "option": plain(option)}
        print_lines([say("setup.below_top", **facts)])


def _tell_approvals(planned: Plan, job: Job) -> None:
    """Say what is granted, to whom, and why that is safe."""
    parts = [part for change in planned.changes for part in change.parts]
    named = ", ".join(client.name for client in CLIENTS if ("approvals", client.name) in parts)
    if named and not job.remove:
        tools = ", ".join(planned.tools)
        print_lines([say("setup.approves", clients=named, tools=tools)])
        for tool, key in (
            ("context_export", "approves_export"),
            ("remember", "approves_fragments"),
        ):
            if tool in planned.tools:
                print_lines([say(f"setup.{key}")])


def _check(arguments: argparse.Namespace) -> None:
    if bool(arguments.clients) == arguments.all:
        arguments.refuse(say("setup.name_clients", clients=", ".join(KEYS)))


def _installation(*, is_idle: bool) -> Installation | None:
    """Return what starts the server, None (and print how to install) where packages are missing.

    is_idle: nothing that it would start is written down.
    """
    windows, missing = os.name == "nt", missing_packages()
    on_path = commands_here(sys.executable, os.environ)
    runner = runner_of(sys.executable, os.environ)
    if is_idle:
        return installed(runner or (sys.executable,), str(HERE), windows=windows)
    if on_path and not missing:
        return on_path
    if is_passing(str(HERE)):
        raise SetupError("passing", path=str(HERE))
    if runner is None:
        raise SetupError("no_uv")
    if missing:
        pip = HERE / ".venv" / ("Scripts/pip.exe" if windows else "bin/pip")
        lines = [
            [sys.executable, "-m", "venv", str(HERE / ".venv")],
            [str(pip), "install", "-r", str(HERE / "requirements.txt")],
        ]
        shown = (command_line(line, windows=windows) for line in lines)
        commands = "\n".join(f"  {plain(line)}" for line in shown)
        facts = {"packages": ", ".join(missing), "commands": commands}
        _complain(say("setup.no_packages", **facts))
        return None
    return installed(runner, str(HERE), windows=windows)


def _job(arguments: argparse.Namespace, project: Project, installation: Installation) -> Job:
    spoken = language()
    machine, clients = machine_here(project), tuple(arguments.clients)
    if arguments.all:
        found = (client.key for client in CLIENTS if arguments.remove or trace_of(client, machine))
        clients = tuple(found)
    return Job(
        clients=clients,
        present=present_clients(machine),
        machine=machine,
        installation=installation,
        lang=language_of(os.environ),
        chosen=spoken if os.environ.get(LANG, "").strip().lower()[:2] == spoken else None,
        remove=arguments.remove,
        rules=not arguments.no_rules,
        hooks=not arguments.no_hooks,
        approvals=not arguments.no_approvals,
        rooms=given_rooms(arguments),
        level="user" if arguments.user else "project",
        tree=tree_of(project.root, [*known_files(), *rules_files(machine)]),
    )


def _tell_found(job: Job) -> None:
    """Say which clients `--all` has found, and by what. Raises SetupError for none."""
    if not job.clients:
        raise SetupError("none_found", clients=", ".join(KEYS))
    found = []
    for client in CLIENTS:
        if client.key in job.clients:
            where = plain(trace_of(client, job.machine))
            found.append(f"{client.name} ({where})")
    print_lines([say("setup.found", clients=", ".join(found))])


def _tell_remarks(planned: Plan, job: Job) -> None:
    if planned.changes or planned.notes:
        print()
    _tell_approvals(planned, job)
    print_lines([*approval_lines(job, planned.changes, planned.tools)])
    for note in planned.notes:
        print_lines(_sentence(note).split("\n"))
    sys.stdout.flush()
    for problem in planned.problems:
        _complain(_sentence(problem))


def _sentence(remark: Remark) -> str:
    """Return a sentence; a block in it keeps its lines."""
    shown = dict[str, str | int]()
    for key, fact in remark.facts.items():
        shown[key] = plain(fact) if isinstance(fact, str) else fact
        if key == "block":
            shown[key] = "\n".join(plain_lines(str(fact)))
    return say(f"setup.{remark.key}", **shown)


def _complain(text: str) -> None:
    """Print a sentence on standard error, and lines to copy, which may follow it."""
    first, *block = text.split("\n")
    complain(first, block=block)


def _nothing(planned: Plan, job: Job) -> int:
    key = "nothing_to_remove" if job.remove else "nothing_to_do"
    print(say(f"setup.{'only_problems' if planned.problems else key}"))
    return 1 if planned.problems else 0


def _write(planned: Plan, job: Job) -> int:
    """Write every file, one by one, and tell which; how many could not be."""
    written, failed = [], 0
    for change in planned.changes:
        try:
            change.write(job.root)
        except ExportError as error:
            failed += 1
            keys = {"file_write": "not_written", "file_changed": "changed_meanwhile"}
            key = keys.get(error.key, error.key)
            facts: Facts = {**error.facts, "path": shown_path(change.path, job.root)}
            complain(say(f"setup.{key}", **facts))
        else:
            written.append(change)
    if written:
        print_lines(_done_lines(job, written))
        has_hooks = any(part == "hooks" for change in written for part, _ in change.parts)
        reason = tried_hook(job.installation) if has_hooks and not job.remove else ""
        if reason:
            failed += 1
            complain(say("setup.hook_fails", reason=plain(reason)))
        _tell_next(job, written)
    return failed


def _done_lines(job: Job, done: list[Change]) -> list[str]:
    """Return the files that are gone, and apart from them those that have a new text."""
    files: dict[str, list[str]] = {}
    for change in done:
        kept = "changed" if job.remove else "written"
        key = kept if os.path.lexists(change.path) else "removed"
        files.setdefault(key, []).append(shown_path(change.path, job.root))
    return [say(f"setup.{key}", files=", ".join(names)) for key, names in files.items()]


def _tell_next(job: Job, written: list[Change]) -> None:
    """Print what a person does now: a list, whose last line can be copied whole."""
    screen = screen_here()
    print("", screen.painted(say("setup.next"), "bold"), sep="\n")
    for text in _next_steps(job, written):
        print("\n".join(said(text, screen, "- ", INDENT)))
    if not job.remove and not job.url:
        words = [*job.installation.cli, "doctor", "--project", job.project]
        command = command_line(words, windows=job.machine.windows)
        print(f"- {say('setup.next_doctor', command=plain(command))}")


def _next_steps(job: Job, written: list[Change]) -> Iterator[str]:
    clients = [client for client in CLIENTS if client.key in job.clients]
    names = {change.path: shown_path(change.path, job.root) for change in written}
    if job.remove:
        yield say("setup.next_removed", clients=", ".join(client.name for client in clients))
        return
    for client in clients:
        key = f"next_user_{client.key}" if job.level == "user" else f"next_{client.key}"
        known = key if has_sentence(f"setup.{key}") else "next_client"
        yield say(f"setup.{known}", client=client.name)
    yield from next_steps(job, written)
    shared = [names[change.path] for change in written if _is_shared(change, job)]
    local = [names[change.path] for change in written if _is_of_machine(change, job)]
    is_free = job.installation.is_command and job.level == "project"
    says_local = "next_command" if is_free else "next_local"
    for key, files in (("next_commit", shared), (says_local, local)):
        if files:
            yield say(f"setup.{key}", files=", ".join(files))


def _is_shared(change: Change, job: Job) -> bool:
    """Return whether a file is for the whole team."""
    is_plain = all(part in ("rules", "memory") for part, _ in change.parts)
    return is_plain and change.path.is_relative_to(job.root) and job.level != "user"


def _is_of_machine(change: Change, job: Job) -> bool:
    """Return whether a file of the project starts this program."""
    parts = {part for part, _ in change.parts}
    return bool(parts & {"entry", "hooks"}) and change.path.is_relative_to(job.root)
