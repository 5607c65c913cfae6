"""Puts the parts that a client needs into its files, or takes them out.

The user sees every change first. The user's own entries, hooks and texts stay.
"""

import argparse
import difflib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from commands.clients import machine
from commands.clients.entries import checked_url, server_entries
from commands.clients.files import Change, Job, Plan
from commands.clients.plan import plan_setup, tree_of
from commands.clients.table import CLIENTS, COMPLAINT, KEY_VARIABLE, PARTS, TEAM_ENTRY, UNGRANTED
from commands.clients.text_file import ExportError
from commands.terminal import screen as terminal
from commands.terminal.ask import CODE_ROOT, command_line, is_confirmed, need_packages, open_memory
from commands.terminal.screen import complain, plain, print_lines, screen_here
from core.config import CONTEXT_DIRECTORY, FRAGMENTS_VARIABLE, Project, read_rooms
from core.errors import RefusedError, SentinelError
from core.messages import LANG_VARIABLE, Facts, has_sentence, language, say
from core.sanitizer import redact

HOOK_TIMEOUT_S = 60  # uv may have to make an environment first
# Of a file, by whether it is there before and after.
_SIGNS = {(False, True): "+", (True, False): "-", (True, True): "~"}
# These belong to whoever runs setup, not to the client: no byte code; Cursor started it.
_MISLEADING = ("PYTHONDONTWRITEBYTECODE", "CURSOR_VERSION")
# What a room's tools cost in every session (o200k_base); a test of benchmarks/tokens.py holds it.
TOKENS = {
    "lessons": 613,
    "sessions": 1_135,
    "sessions:core": 846,
    "fragments": 1_452,
    "fragments:core": 650,
}


def setup(arguments: argparse.Namespace) -> int:
    """Plan, show, ask, write; 1 if anything asked for could not be done."""
    if arguments.oauth and not arguments.url:
        arguments.refuse(say("terminal.needs", one="--oauth", other="--url"))
    if arguments.remove and arguments.rooms is not None:
        arguments.refuse(say("terminal.together", one="--remove", other="--rooms"))
    try:
        url = checked_url(arguments.url) if arguments.url else ""
        rooms = None if arguments.rooms is None else read_rooms(arguments.rooms)
    except RefusedError as error:
        known = str(error.facts.get("known", ""))
        arguments.refuse(say("setup.bad_rooms", known=known) if known else str(error))
    project = open_memory(arguments).project
    project.check(os.environ, writes=not arguments.user)
    installation = _installation(is_idle=arguments.remove or bool(url))
    here, spoken = machine.machine_here(project.root), language()
    found = [row for row in CLIENTS if arguments.remove or machine.trace_of(row, here)]
    clients = tuple(arguments.clients or [row.key for row in found])
    if not clients:
        raise SentinelError("setup.none_found", clients=", ".join(row.key for row in CLIENTS))
    job = Job(
        clients=clients,
        present=frozenset(it.client for it in server_entries(here) if it.entry),
        machine=here,
        installation=installation,
        language=spoken
        if os.environ.get(LANG_VARIABLE, "").strip().lower()[:2] == spoken
        else None,
        remove=arguments.remove,
        unwanted_parts=[it for it in PARTS if getattr(arguments, f"no_{it}", False)],
        rooms=rooms,
        level="user" if arguments.user else "project",
        tree=tree_of(project.root),
        url=url,
        oauth=arguments.oauth,
    )
    _tell_project(arguments, project, job)
    planned = plan_setup(job)
    _tell_plan(planned)
    if not planned.changes:
        key = "nothing_to_remove" if job.remove else "nothing_to_do"
        print(say(f"setup.{'only_problems' if planned.problems else key}"))
        return 1 if planned.problems else 0
    if arguments.dry_run:
        _show(planned)
    question = say("setup.ask_remove" if job.remove else "setup.ask", count=len(planned.changes))
    if not is_confirmed(arguments, question, table="setup", details=lambda: _show(planned)):
        return int(not arguments.dry_run or bool(planned.problems))
    return 1 if _write(planned) or planned.problems else 0


def _installation(*, is_idle: bool) -> machine.Installation:
    """Return the installation to write down. Raises SentinelError, also without the packages."""
    program = machine.this_program()
    if is_idle or program.is_command:
        return program
    if machine.is_temporary(str(CODE_ROOT)):
        raise SentinelError("setup.passing", path=str(CODE_ROOT))
    if machine.runner_of(sys.executable, os.environ) is None:
        raise SentinelError("setup.no_uv")
    need_packages()
    return program


# Before the question.


def _tell_project(arguments: argparse.Namespace, project: Project, job: Job) -> None:
    if job.level == "user":
        print_lines([say("setup.of_user")])
    else:
        print(say("setup.project", path=plain(str(job.root))))
        named = arguments.project if project.source == "--project" else ""
        here = Path(os.path.abspath(os.path.expanduser(named)))
        if job.root in here.parents:
            print_lines([say("setup.above", root=plain(str(job.root)), here=plain(str(here)))])
        if job.tree and job.tree.prefix and not os.path.lexists(project.log_path.parent):
            option = plain(shlex.join(["--project", str(job.top)]))
            print_lines([say("setup.below_top", top=plain(str(job.top)), option=option)])
    if not arguments.clients and not job.remove:
        traces = [(row.name, plain(machine.trace_of(row, job.machine))) for row in job.rows]
        print_lines([say("setup.found", clients=", ".join(f"{a} ({b})" for a, b in traces))])
    for room in job.rooms or () if not (job.remove or job.url) else ():
        if has_sentence(f"setup.room_{room}"):
            facts = {"tokens": TOKENS[room], "core": TOKENS.get(f"{room}:core", 0)}
            print_lines([say(f"setup.room_{room}", **facts)])
        if room.startswith("fragments") and job.machine.variable(FRAGMENTS_VARIABLE):
            print_lines([say("setup.place_stays", variable=FRAGMENTS_VARIABLE)])


def _tell_plan(planned: Plan) -> None:
    lines = list[str]()
    for change in planned.changes:
        sign = _SIGNS[change.before is not None, change.after is not None]
        kinds = dict[str, int]()
        for part in change.parts:
            count = len(part.after or part.before)
            kinds[part.kind] = max(kinds.get(part.kind, 0), count)
        said_kinds = [
            say(f"setup.{kind}") + (f" ({count})" if kind in ("hooks", "approvals") else "")
            for kind, count in kinds.items()
        ]
        path = shown_path(change.path, planned.job.root)
        painted = terminal.paint(sign, terminal.SIGN_STYLES[sign])
        lines.append(f"  {painted} {path}: {', '.join(said_kinds)}")
    print_lines(["", *lines] if lines or planned.notes else [])
    # The tools that are granted, to whom, and why that is safe.
    job = planned.job
    parts = [part for change in planned.changes for part in change.parts]
    granting = ("remote",) if job.url else ("entry", "approvals")
    names = {part.client for part in parts if part.kind in granting}
    rows = [row for row in job.rows if row.name in names and (row.approvals or row.allows)]
    if rows and "approvals" not in job.unwanted_parts and not job.remove:
        is_whole = any(row.allows for row in rows)  # such a client can only allow a whole server
        count = sum(is_whole or tool not in UNGRANTED for tool in planned.tools)
        granted: Facts = {"clients": ", ".join(row.name for row in rows), "count": count}
        print_lines([say(f"setup.approves{'_remote' if job.url else ''}", **granted, url=job.url)])
        reasons = {"context_export": "approves_export", "remember": "approves_fragments"}
        shown = [] if job.url else [it for it in reasons if it in planned.tools]
        print_lines([say(f"setup.{reasons[it]}") for it in shown])
    for key, facts in planned.notes:
        print_lines(_sentence(key, facts))
    sys.stdout.flush()
    for key, facts in planned.problems:
        first, *block = _sentence(key, facts)
        complain(first, block=block)


def _show(planned: Plan) -> None:
    """Print the changes of our own parts: the rest may hold secrets."""
    for change in planned.changes:
        print("", terminal.paint(shown_path(change.path, planned.job.root), "bold"), sep="\n")
        for part in change.parts:
            old, new = ("\n".join(pieces).splitlines() for pieces in (part.before, part.after))
            lines = [*difflib.unified_diff(old, new, lineterm="", n=2)][2:]
            safe = [plain(redact(line).text) for line in lines if not line.startswith("@@")]
            print(*terminal.paint_diff(safe, screen_here()), sep="\n", end="\n" if safe else "")


def shown_path(path: Path, root: Path) -> str:
    """Return a path to print, relative below the project."""
    return plain(path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path))


def _sentence(key: str, facts: Facts) -> list[str]:
    """Return a sentence and the lines of its block, with facts that are safe to print."""
    shown: Facts = {}
    for name, fact in facts.items():
        lines = str(fact).split("\n") if name == "block" else [str(fact)]
        shown[name] = "\n".join(map(plain, lines)) if isinstance(fact, str) else fact
    return say(f"setup.{key}", **shown).split("\n")


# After the question.


def _write(planned: Plan) -> int:
    """Write every file; return how many failed."""
    job, failed = planned.job, 0
    written, files = list[Change](), dict[str, list[str]]()
    for change in planned.changes:
        path = shown_path(change.path, job.root)
        try:
            change.file.write(change.after, job.root)
        except ExportError as error:
            failed += 1
            keys = {"file_write": "not_written", "file_changed": "changed_meanwhile"}
            key = keys.get(error.key, error.key)
            complain(say(f"setup.{key}", **{**error.facts, "path": path}))
        else:
            written.append(change)
            kept = "changed" if job.remove else "written"
            files.setdefault(kept if os.path.lexists(change.path) else "removed", []).append(path)
    print_lines([say(f"setup.{key}", files=", ".join(names)) for key, names in files.items()])
    has_hooks = any(part.kind == "hooks" for change in written for part in change.parts)
    if has_hooks and not job.remove and (reason := try_hook(job.installation)):
        failed += 1
        complain(say("setup.hook_fails", reason=plain(reason)))
    if steps := [*_next_steps(job, written)] if written else []:
        print("", terminal.paint(say("setup.next"), "bold"), sep="\n")
    for text in steps:
        print("\n".join(terminal.sentence_lines(text, "- ")))
    return failed


def try_hook(installation: machine.Installation) -> str:
    """Start a hook once, as a client would, in an empty project; return its complaint, or "".

    This leaves byte code beside the modules, which every hook would otherwise compile anew.
    """
    moment = {"tool_name": "Edit", "tool_input": {"file_path": "README.md"}}
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(os.path.join(directory, CONTEXT_DIRECTORY))  # without a memory it does nothing
        words = [*installation.cli, "hook", "before-action", "--client", "claude-code"]
        kept = {key: value for key, value in os.environ.items() if key not in _MISLEADING}
        try:
            done = subprocess.run(
                [*words, "--project", directory],
                cwd=directory,  # in the project, uv would follow a stranger's uv.toml
                input=json.dumps(moment).encode(),
                env={**kept, "SENTINEL_MEMORY_STATE": directory},
                capture_output=True,
                timeout=HOOK_TIMEOUT_S,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return getattr(error, "strerror", None) or type(error).__name__
    complaint = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode or COMPLAINT in complaint:  # uv tells of its own work there, too
        return complaint or f"status {done.returncode}"
    return ""


def _next_steps(job: Job, written: Sequence[Change]) -> Iterator[str]:
    named = ", ".join(part.client for change in written for part in change.parts)
    rows = [row for row in job.rows if row.name in named]
    if job.remove:  # a file of rules is of several, named for one that was perhaps never here
        rows = [row for row in rows if row.key in job.present] or rows
        if rows:
            yield say("setup.next_removed", clients=", ".join(row.name for row in rows))
        return
    for row in rows:
        key = f"next_user_{row.key}" if job.level == "user" else f"next_{row.key}"
        if row.key == "codex" and (job.url or "hooks" in job.unwanted_parts):
            key = "next_codex_no_hooks"  # hooks would wait for a review
        known = key if has_sentence(f"setup.{key}") else "next_client"
        yield say(f"setup.{known}", client=row.name)
    if job.oauth:
        yield say("setup.next_oauth", url=job.url)
        if "codex" in job.clients:
            yield say("setup.next_oauth_codex", entry=TEAM_ENTRY)
    elif job.url and not job.machine.variable(KEY_VARIABLE):
        shell = "setx {} smk_…" if os.name == "nt" else "export {}=smk_…"
        yield say("setup.next_key", variable=KEY_VARIABLE, line=shell.format(KEY_VARIABLE))
    if job.level == "project" and job.tree:
        yield from _for_the_team(job, written)
    if not job.url:
        words = [*job.installation.cli, "doctor", "--project", job.project]
        command = command_line(words, windows=job.machine.windows)
        yield say("setup.next_doctor", command=plain(command))


def _for_the_team(job: Job, written: Sequence[Change]) -> Iterator[str]:
    shared, own = list[str](), list[str]()
    for change in written:
        kinds = {part.kind for part in change.parts}
        if not change.path.is_relative_to(job.root) or kinds & {"approvals", "exclude"}:
            continue
        if kinds == {"memory"} and job.tree and job.tree.ignore_rule:
            continue
        is_plain = job.installation.is_command or not kinds & {"entry", "hooks"}
        (shared if is_plain else own).append(change.path.relative_to(job.root).as_posix())
    is_here = os.path.realpath(os.getcwd()) == os.path.realpath(job.root)
    where = [] if is_here else ["-C", str(job.root)]
    if shared:
        yield say("setup.next_commit", command=plain(shlex.join(["git", *where, "add", *shared])))
    if own:
        yield say("setup.next_local", files=", ".join(map(plain, own)))
    if shared or own:
        option = ["--url", job.url, *(["--oauth"] if job.oauth else [])] if job.url else []
        words = ["sentinel-memory", "setup", *job.clients, *option]
        yield say("setup.next_colleagues", command=plain(shlex.join(words)))
