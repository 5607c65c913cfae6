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
from commands.terminal.ask import is_confirmed, need_packages, open_memory
from commands.terminal.screen import complain, plain, print_lines, screen_here
from core.config import CONTEXT_DIRECTORY, DEFAULT_ROOMS, FRAGMENTS_VARIABLE, Project, read_rooms
from core.errors import RefusedError, SentinelError
from core.messages import LANG_VARIABLE, Facts, has_sentence, language, say
from core.program import ROOT, command_line
from core.sanitizer import redact

HOOK_TIMEOUT_S = 60  # uv may have to make an environment first
# The sign of a change, by whether the file is there before and after.
_SIGNS = {(False, True): "+", (True, False): "-", (True, True): "~"}
# Variables of the person who runs setup, not of the client: no byte code; Cursor started it.
_MISLEADING = ("PYTHONDONTWRITEBYTECODE", "CURSOR_VERSION")
# What a room's tools cost in every session (o200k_base); a test of benchmarks/tokens.py holds it.
TOKENS = {
    "lessons": 613,
    "sessions": 1_135,
    "sessions:core": 846,
    "fragments": 1_452,
    "fragments:core": 650,
}


def setup(options: argparse.Namespace) -> int:
    """Plan, show, ask, write; 1 if anything asked for could not be done."""
    if options.oauth and not options.url:
        options.refuse(say("terminal.needs", one="--oauth", other="--url"))
    if options.remove and options.rooms is not None:
        options.refuse(say("terminal.together", one="--remove", other="--rooms"))
    try:
        url = checked_url(options.url) if options.url else ""
        rooms = None if options.rooms is None else read_rooms(options.rooms)
    except RefusedError as error:
        known_rooms = str(error.facts.get("known", ""))
        options.refuse(say("setup.bad_rooms", known=known_rooms) if known_rooms else str(error))
    project = open_memory(options).project
    project.check(os.environ, writes=not options.user)
    installation = _find_installation(is_idle=options.remove or bool(url))
    own_machine, lang = machine.machine_here(project.root), language()
    rows = [row for row in CLIENTS if options.remove or machine.trace_of(row, own_machine)]
    clients = tuple(options.clients or [row.key for row in rows])
    if not clients:
        raise SentinelError("setup.none_found", clients=", ".join(row.key for row in CLIENTS))
    job = Job(
        clients=clients,
        old_clients=frozenset(entry.client for entry in server_entries(own_machine) if entry.entry),
        machine=own_machine,
        installation=installation,
        language=lang if os.environ.get(LANG_VARIABLE, "").strip().lower()[:2] == lang else None,
        remove=options.remove,
        unwanted_parts=[part for part in PARTS if getattr(options, f"no_{part}", False)],
        rooms=rooms,
        level="user" if options.user else "project",
        tree=tree_of(project.root),
        url=url,
        oauth=options.oauth,
    )
    _print_project(options, project, job)
    plan = plan_setup(job)
    _print_plan(plan)
    if not plan.changes:
        key = "nothing_to_remove" if job.remove else "nothing_to_do"
        print(say(f"setup.{'only_problems' if plan.problems else key}"))
        return 1 if plan.problems else 0
    if options.dry_run:
        _print_diff(plan)
    question = say("setup.ask_remove" if job.remove else "setup.ask", count=len(plan.changes))
    if not is_confirmed(options, question, table="setup", details=lambda: _print_diff(plan)):
        return int(not options.dry_run or bool(plan.problems))
    return 1 if _write_files(plan) or plan.problems else 0


def _find_installation(*, is_idle: bool) -> machine.Installation:
    """Return the installation to write down. Raises SentinelError, also without the packages."""
    program = machine.this_program()
    if is_idle or program.is_command:
        return program
    if machine.is_temporary(ROOT):
        raise SentinelError("setup.passing", path=ROOT)
    if machine.runner_of(sys.executable, os.environ) is None:
        raise SentinelError("setup.no_uv")
    need_packages()
    return program


# Before the question.


def _print_project(options: argparse.Namespace, project: Project, job: Job) -> None:
    if job.level == "user":
        print_lines([say("setup.of_user")])
    else:
        print(say("setup.project", path=plain(str(job.root))))
        name = options.project if project.source == "--project" else ""
        directory = Path(os.path.abspath(os.path.expanduser(name)))
        if job.root in directory.parents:
            print_lines([say("setup.above", root=plain(str(job.root)), here=plain(str(directory)))])
        if job.tree and job.tree.prefix and not os.path.lexists(project.log_path.parent):
            option = plain(shlex.join(["--project", str(job.top)]))
            print_lines([say("setup.below_top", top=plain(str(job.top)), option=option)])
    if not options.clients and not job.remove:
        traces = [(row.name, plain(machine.trace_of(row, job.machine))) for row in job.rows]
        print_lines([say("setup.found", clients=", ".join(f"{a} ({b})" for a, b in traces))])
    for room in job.rooms or () if not (job.remove or job.url) else ():
        if has_sentence(f"setup.room_{room}"):
            facts = {"tokens": TOKENS[room], "core": TOKENS.get(f"{room}:core", 0)}
            print_lines([say(f"setup.room_{room}", **facts)])
        if room.startswith("fragments") and job.machine.variable(FRAGMENTS_VARIABLE):
            print_lines([say("setup.place_stays", variable=FRAGMENTS_VARIABLE)])


def _print_plan(plan: Plan) -> None:
    lines = list[str]()
    for change in plan.changes:
        sign = _SIGNS[change.old_text is not None, change.new_text is not None]
        kinds = dict[str, int]()
        for part in change.parts:
            count = len(part.new_pieces or part.old_pieces)
            kinds[part.kind] = max(kinds.get(part.kind, 0), count)
        kind_texts = [
            say(f"setup.{kind}") + (f" ({count})" if kind in ("hooks", "approvals") else "")
            for kind, count in kinds.items()
        ]
        path = printable_path(change.path, plan.job.root)
        painted = screen_here().paint(sign, terminal.SIGN_STYLES[sign])
        lines.append(f"  {painted} {path}: {', '.join(kind_texts)}")
    print_lines(["", *lines] if lines or plan.notes else [])
    # The tools that are granted, to whom, and why that is safe.
    job = plan.job
    changes = {(part.client, part.kind) for change in plan.changes for part in change.parts}
    entry_kind = "remote" if job.url else "entry"
    grants = [(row, entry_kind if row.allows else "approvals") for row in job.rows]
    rows = [row for row, kind in grants if (row.name, kind) in changes]
    if rows and "approvals" not in job.unwanted_parts and not job.remove:
        is_whole = any(row.allows for row in rows)  # such a client can only allow a whole server
        count = sum(is_whole or tool not in UNGRANTED for tool in plan.tools)
        facts: Facts = {"clients": ", ".join(row.name for row in rows), "count": count}
        print_lines([say(f"setup.approves{'_remote' if job.url else ''}", **facts, url=job.url)])
        reasons = {"context_export": "approves_export", "remember": "approves_fragments"}
        granted_tools = [] if job.url else [tool for tool in reasons if tool in plan.tools]
        print_lines([say(f"setup.{reasons[tool]}") for tool in granted_tools])
    for key, facts in plan.notes:
        print_lines(_sentence_lines(key, facts))
    print(end="", flush=True)
    for key, facts in plan.problems:
        first, *block = _sentence_lines(key, facts)
        complain(first, block=block)


def _print_diff(plan: Plan) -> None:
    """Print the changes of our own parts: the rest may hold secrets."""
    for change in plan.changes:
        print("", screen_here().paint(printable_path(change.path, plan.job.root), "bold"), sep="\n")
        for part in change.parts:
            old, new = ("\n".join(side).splitlines() for side in (part.old_pieces, part.new_pieces))
            lines = [*difflib.unified_diff(old, new, lineterm="", n=2)][2:]
            texts = [plain(redact(line).text) for line in lines if not line.startswith("@@")]
            print(*terminal.paint_diff(texts, screen_here()), sep="\n", end="\n" if texts else "")


def printable_path(path: Path, root: Path) -> str:
    """Return a path to print, relative below the project."""
    return plain(path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path))


def _sentence_lines(key: str, facts: Facts) -> list[str]:
    """Return a sentence and the lines of its block, with facts that are safe to print."""
    printable_facts: Facts = {}
    for name, fact in facts.items():
        lines = str(fact).split("\n") if name == "block" else [str(fact)]
        printable_facts[name] = "\n".join(map(plain, lines)) if isinstance(fact, str) else fact
    return say(f"setup.{key}", **printable_facts).split("\n")


# After the question.


def _write_files(plan: Plan) -> int:
    """Write every file; return how many failed."""
    job, failures = plan.job, 0
    changes, files = list[Change](), dict[str, list[str]]()
    for change in plan.changes:
        path = printable_path(change.path, job.root)
        try:
            change.file.write(change.new_text, job.root)
        except ExportError as error:
            failures += 1
            keys = {"file_write": "not_written", "file_changed": "changed_meanwhile"}
            key = keys.get(error.key, error.key)
            complain(say(f"setup.{key}", **{**error.facts, "path": path}))
        else:
            changes.append(change)
            key = "changed" if job.remove else "written"
            files.setdefault(key if os.path.lexists(change.path) else "removed", []).append(path)
    print_lines([say(f"setup.{key}", files=", ".join(names)) for key, names in files.items()])
    has_hooks = any(part.kind == "hooks" for change in changes for part in change.parts)
    if has_hooks and not job.remove and (reason := try_hook(job.installation)):
        failures += 1
        complain(say("setup.hook_fails", reason=plain(reason)))
    if steps := [*_next_steps(plan, changes)] if changes else []:
        print("", screen_here().paint(say("setup.next"), "bold"), sep="\n")
    for text in steps:
        print("\n".join(terminal.sentence_lines(text, "- ")))
    return failures


def try_hook(installation: machine.Installation) -> str:
    """Start a hook once, as a client would, in an empty project; return its complaint, or "".

    This leaves byte code beside the modules, which every hook would otherwise compile anew.
    """
    moment = {"tool_name": "Edit", "tool_input": {"file_path": "README.md"}}
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(os.path.join(directory, CONTEXT_DIRECTORY))  # without a memory it does nothing
        words = [*installation.cli, "hook", "before-action", "--client", "claude-code"]
        environment = {key: value for key, value in os.environ.items() if key not in _MISLEADING}
        try:
            process = subprocess.run(
                [*words, "--project", directory],
                cwd=directory,  # in the project, uv would follow a stranger's uv.toml
                input=json.dumps(moment).encode(),
                env={**environment, "SENTINEL_MEMORY_STATE": directory},
                capture_output=True,
                timeout=HOOK_TIMEOUT_S,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return getattr(error, "strerror", None) or type(error).__name__
    complaint = process.stderr.decode("utf-8", "replace").strip()
    if process.returncode or COMPLAINT in complaint:  # uv tells of its own work there, too
        return complaint or f"status {process.returncode}"
    return ""


def _next_steps(plan: Plan, changes: Sequence[Change]) -> Iterator[str]:
    job, names = plan.job, ", ".join(part.client for change in changes for part in change.parts)
    rows = [row for row in job.rows if row.name in names]
    if job.remove:  # several share a file of rules; its change may name one that was never here
        rows = [row for row in rows if row.key in job.old_clients] or rows
        if rows:
            yield say("setup.next_removed", clients=", ".join(row.name for row in rows))
        return
    for row in rows:
        key = f"next_user_{row.key}" if job.level == "user" else f"next_{row.key}"
        if row.key == "codex" and (job.url or "hooks" in job.unwanted_parts):
            key = "next_codex_no_hooks"  # hooks would wait for a review
        known_key = key if has_sentence(f"setup.{key}") else "next_client"
        yield say(f"setup.{known_key}", client=row.name)
    if job.oauth:
        yield say("setup.next_oauth", url=job.url)
        if "codex" in job.clients:
            yield say("setup.next_oauth_codex", entry=TEAM_ENTRY)
    elif job.url and not job.machine.variable(KEY_VARIABLE):
        shell = "setx {} smk_…" if os.name == "nt" else "export {}=smk_…"
        yield say("setup.next_key", variable=KEY_VARIABLE, line=shell.format(KEY_VARIABLE))
    if job.level == "project" and job.tree:
        yield from _team_steps(plan, changes)
    if not job.url:
        words = [*job.installation.cli, "doctor", "--project", job.project]
        command = command_line(words, windows=job.machine.windows)
        yield say("setup.next_doctor", command=plain(command))


def _team_steps(plan: Plan, changes: Sequence[Change]) -> Iterator[str]:
    job, commit, rest = plan.job, list[str](), list[str]()
    for change in changes:
        kinds = {part.kind for part in change.parts}
        if not change.path.is_relative_to(job.root) or kinds & {"approvals", "exclude"}:
            continue
        if kinds == {"memory"} and job.tree and job.tree.ignore_rule:
            continue
        is_plain = job.installation.is_command or not kinds & {"entry", "hooks"}
        (commit if is_plain else rest).append(change.path.relative_to(job.root).as_posix())
    place = [] if os.path.samefile(os.curdir, job.root) else ["-C", str(job.root)]
    if commit:
        yield say("setup.next_commit", command=plain(shlex.join(["git", *place, "add", *commit])))
    if rest:
        yield say("setup.next_local", files=", ".join(map(plain, rest)))
    if commit or rest:
        option = ["--url", job.url, *(["--oauth"] if job.oauth else [])] if job.url else []
        kept_rooms = () if job.url else max(map(plan.rooms_of, job.rows), key=len)
        rooms = job.rooms or (kept_rooms if kept_rooms != DEFAULT_ROOMS else ())
        room_option = ["--rooms", ",".join(rooms)] if rooms else []
        words = ["sentinel-memory", "setup", *job.clients, *option, *room_option]
        yield say("setup.next_colleagues", command=plain(shlex.join(words)))
