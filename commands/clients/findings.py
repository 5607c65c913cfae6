"""Checks the clients of a project and its user: their servers, projects and outdated files.

A client is wrong where setup would change its files. A part that is absent, or missing on this
machine alone, makes a note.
"""

import json
import os
import shlex
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urljoin

from commands.clients import entries
from commands.clients.files import Change, Job, Plan, Tree
from commands.clients.machine import Machine, installation_of, machine_here, this_program, trace_of
from commands.clients.plan import plan_setup, tree_of
from commands.clients.table import CLIENTS, ENTRY, LEVELS, PARTS, Client, Level, client_of
from core import program
from core.config import Project, no_project_kind
from core.disk import read_regular_file
from core.errors import RefusedError
from core.lessons.upkeep import Finding, Severity
from core.messages import Facts, say

_MOST_BYTES = 4_000_000
# Why a client itself reads nothing of a file; with another reason only setup leaves it alone.
_UNREAD = ("unreadable", "not_utf8", "toml_syntax", "json_syntax", "json_comments", "json_mark")
_CODEX = "codex"
_WAIT_S, _MOST_ANSWER_BYTES = 5.0, 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A project on a machine. told: files that a finding names already; clients share some."""

    machine: Machine
    tree: Tree | None
    configured: list[entries.ServerEntry]
    told: set[Path] = field(default_factory=set)

    def is_here(self, found: entries.ServerEntry) -> bool:
        root = os.path.realpath(self.machine.root)
        is_known = not found.problem and found.project
        return bool(is_known) and os.path.realpath(str(found.project)) == root

    def are_shared(self, paths: Iterable[Path]) -> bool:
        """Return whether git tracks all these files, so that others have them."""
        root, tracked = self.machine.root, self.tree.files if self.tree else ()
        return all(
            it.is_relative_to(root) and it.relative_to(root).as_posix() in tracked for it in paths
        )

    def command(self, row: Client, level: Level = "project", without: Iterable[str] = ()) -> str:
        """Return the command that sets a client up. without: unwanted parts."""
        words = ["setup", row.key, *(["--user"] if level == "user" else [])]
        words += [f"--no-{part}" for part in without if part != "entry"]
        words += ["--project", str(self.machine.root)] if level == "project" else []
        return f"{program.CLI} {shlex.join(words)}"


def client_findings(project: Project) -> Iterator[Finding]:
    """Yield findings on every client of this project and user; ask no server."""
    machine = machine_here(project.root)
    configured = entries.server_entries(machine)
    desk = Desk(machine=machine, tree=tree_of(project.root), configured=configured)
    for row in CLIENTS:
        yield from _about(row, desk)
    here = {found.client: None for found in desk.configured if desk.is_here(found)}
    if here:
        names = ", ".join(client_of(key).name for key in here)
        yield Finding("clients_ok", "ok", facts={"clients": names})
    teams = list(entries.team_entries(machine))
    for team in teams:
        facts: Facts = {"client": team.client.name, "path": str(team.path)}
        if team.has_key:
            yield Finding("team_key_in_file", "error", facts=facts)
        try:
            facts["url"] = url = entries.checked_url(team.url)
        except RefusedError:  # neither its key nor an odd address is said
            yield Finding("team_bad_url", "error", facts=facts)
            continue
        if entries.is_unencrypted(url):
            yield Finding("team_plain_http", "warning", facts=facts)
        if team.variable and not machine.variable(team.variable):
            yield Finding("team_key_unset", "warning", facts={**facts, "variable": team.variable})
        elif not team.has_key:
            yield Finding("team_ok", "ok", facts=facts)
    if not (desk.configured or teams) and not no_project_kind(project.folder, os.environ):
        named = [] if any(trace_of(row, machine) for row in CLIENTS) else ["CLIENT"]
        named += ["--project", project.folder] if project.source == "--project" else []
        command = f"{program.CLI} {shlex.join(['setup', *named])}"
        yield Finding("no_client", "note", facts={"command": command})


def _about(row: Client, desk: Desk) -> Iterator[Finding]:
    own = [found for found in desk.configured if found.client == row.key]
    for found in own:
        yield from _about_entry(row, found, desk)
    other = next((found for found in own if not found.problem), None)
    if other and row.entry["project"].startswith("root:") and not any(map(desk.is_here, own)):
        facts: Facts = {"client": row.name, "path": str(other.path)}
        facts |= {"project": str(other.project), "command": desk.command(row)}
        severity: Severity = "note" if desk.are_shared([other.path]) else "warning"
        yield Finding("client_elsewhere", severity, facts=facts)
    plans: dict[Level, Plan] = {}
    for level in (level for level in LEVELS if level in row.entry):
        path = desk.machine.path(row.entry[level])
        places = [getattr(it, level) for it in (row.hooks, row.approvals) if it]
        paths = [path, *(it for place in places for it in desk.machine.paths(place))]
        if not any(map(os.path.lexists, paths)):  # whatever is in it
            continue
        # The changes that setup would make, from another installation if the entry starts that.
        starting = (it for it in desk.configured if it.path == path and it.entry)
        known = [it for it in starting if it.problem not in ("command_missing", "script_missing")]
        installation = this_program()
        if known:
            installation = installation_of(known[0].start_words, windows=desk.machine.windows)
        job = Job(
            clients=(row.key,),
            present=frozenset(),
            machine=desk.machine,
            installation=installation,
            level=level,
            tree=desk.tree,
        )
        plans[level] = plan_setup(job)
    there = {level: _parts(row, level, whole, desk) for level, whole in plans.items()}
    for level, whole in plans.items():
        elsewhere = {part for other in there if other != level for part in there[other]}
        yield from _about_problems(whole, row, level, desk)
        if there[level]:
            yield from _about_level(row, level, whole, there[level], elsewhere, desk)


def _about_entry(row: Client, found: entries.ServerEntry, desk: Desk) -> Iterator[Finding]:
    facts: Facts = {"client": row.name, "path": str(found.path), "entry": found.entry}
    is_of_user = "user" in row.entry and found.path == desk.machine.path(row.entry["user"])
    command = desk.command(row, "user" if is_of_user else "project")
    facts |= {"project": str(found.project or ""), "command": command}
    is_shared = found.problem.endswith("_missing") and desk.are_shared([found.path])
    severity: Severity = "note" if is_shared else "error"
    if found.problem in ("command_missing", "script_missing"):
        word = found.start_words[0] if found.problem == "command_missing" else found.start_words[-1]
        kind = "client_gone_shared" if is_shared else "client_gone"
        yield Finding(kind, severity, facts={**facts, "word": word})
    elif found.problem in ("project_missing", "bad_setting"):
        yield Finding(f"client_{found.problem}", severity, facts=facts)
    elif found.problem in ("unexpanded", "no_project"):
        yield Finding("client_no_project", "warning", facts=facts)


def _kinds(change: Change) -> set[str]:
    return {"rules" if part.kind == "import" else part.kind for part in change.parts}


def _parts(row: Client, level: Level, whole: Plan, desk: Desk) -> set[str]:
    path = desk.machine.path(row.entry[level])
    there = {"rules" if kind == "import" else kind for kind in whole.present_kinds} & {*PARTS}
    if any(found.path == path and found.entry for found in desk.configured):
        there.add("entry")
    if row.allows and any(known["path"] == str(path) for _, known in whole.problems):
        there.add("approvals")  # nobody knows
    # Hooks in a file that clients share, and rules, may belong to another client.
    others = (client_of(found.client).hooks for found in desk.configured if found.client != row.key)
    own = row.hooks and getattr(row.hooks, level)
    is_anothers = any(hooks and getattr(hooks, level) == own for hooks in others)
    return there if "entry" in there or ("hooks" in there and not is_anothers) else set()


def _about_level(
    row: Client, level: Level, whole: Plan, there: set[str], elsewhere: set[str], desk: Desk
) -> Iterator[Finding]:
    job, path = whole.job, desk.machine.path(row.entry[level])
    can_have = {
        "entry": row.entry[level],
        "hooks": row.hooks and getattr(row.hooks, level),
        "rules": row.rules and (level == "project" or row.rules.user),
        "approvals": row.allows or (row.approvals and getattr(row.approvals, level)),
    }
    absent = [part for part in can_have if can_have[part] and part not in there]
    kept = replace(job, unwanted_parts=absent)
    put = plan_setup(kept) if absent else whole
    if any("hooks" in _kinds(change) for change in put.changes):
        other = job.installation._replace(cli=this_program().cli)
        put = min(
            put, plan_setup(replace(kept, installation=other)), key=lambda it: len(it.changes)
        )
    facts: Facts = {"client": row.name, "command": desk.command(row, level, absent)}
    changed = [it for it in put.changes if _kinds(it) - {"memory"} and it.path not in desk.told]
    is_said = any(it.path == path and not desk.is_here(it) for it in desk.configured)
    if "entry" in absent and not is_said:
        yield Finding("client_no_entry", "warning", facts=facts)
    elif changed and not is_said:
        desk.told.update(it.path for it in changed)
        paths = [str(it.path).removeprefix(f"{job.root}{os.sep}") for it in changed]
        files = ", ".join(path.replace(os.sep, "/") for path in paths)
        severity: Severity = "note" if desk.are_shared(it.path for it in changed) else "warning"
        yield Finding("client_outdated", severity, facts={**facts, "files": files})
    wanted = {kind for change in whole.changes for kind in _kinds(change)}
    for part in absent:
        if part != "entry" and part not in elsewhere and (part == "approvals" or part in wanted):
            command = desk.command(row, level, (it for it in absent if it != part))
            known: Facts = {"client": row.name, "command": command}
            yield Finding(f"client_no_{part}", "note", facts=known)
    for key, known in put.notes:
        if key == "switched_off":
            yield Finding("client_switched_off", "warning", facts={**known, "client": row.name})
    place = row.approvals.project if row.approvals and level == "project" else ""
    name = place.removeprefix("root:")
    if job.tree and name in job.tree.files:  # these are one person's
        command = shlex.join(["git", "-C", str(job.root), "rm", "--cached", name])
        facts = {"client": row.name, "path": str(job.root / name), "command": command}
        yield Finding("client_approvals_tracked", "warning", facts=facts)
    if row.key == _CODEX and level == "project":
        yield from _about_trust(row, job)


def _about_problems(whole: Plan, row: Client, level: Level, desk: Desk) -> Iterator[Finding]:
    """Yield the files of ours that the client or setup cannot use."""
    for key, known in whole.problems:
        path = Path(str(known["path"]))
        content = b""
        with suppress(OSError):
            content = read_regular_file(path, most_bytes=_MOST_BYTES)[0]
        is_ours = any(it.path == path and not it.entry for it in desk.configured)
        is_ours = is_ours or ENTRY.encode() in content or b"cli.py" in content
        if path not in desk.told and is_ours:
            desk.told.add(path)
            reason = say(f"setup.{key}", **known).partition("\n")[0]
            facts: Facts = {"client": row.name, "said": reason}
            facts["command"] = desk.command(row, level)
            kind = "client_unread" if key in _UNREAD else "client_left_alone"
            yield Finding(kind, "error" if key in _UNREAD else "warning", facts=facts)


def _about_trust(row: Client, job: Job) -> Iterator[Finding]:
    """Yield that Codex ignores an untrusted project; without its configuration nobody uses it."""
    path = job.machine.path("codex:config.toml")
    try:
        projects = entries.read_document(path).get("projects")
    except (OSError, ValueError):
        return
    tops = [job.root, Path(os.path.realpath(job.root)), job.top]
    tops += [job.tree.exclude_path.parents[2]] if job.tree else []
    known = projects if isinstance(projects, dict) else {}
    found = [known.get(str(top)) for top in tops]
    if not any(isinstance(it, dict) and it.get("trust_level") == "trusted" for it in found):
        facts = {"client": row.name, "path": str(job.machine.path(row.entry["project"]))}
        yield Finding("client_untrusted", "warning", facts=facts)


# Servers that others run.


def server_findings(project: Project) -> Iterator[Finding]:
    """Ask each server once whether it answers and takes the key.

    A key goes only where the user's own files send it: a project's file may be a stranger's.
    """
    machine = machine_here(project.root)
    by_url = dict[str, list[entries.TeamEntry]]()
    for team in entries.team_entries(machine):
        with suppress(RefusedError):
            by_url.setdefault(entries.checked_url(team.url), []).append(team)
    for url, teams in by_url.items():
        kind, reason = health_of(url)
        severity: Severity = "ok" if kind == "team_answers" else "error"
        yield Finding(kind, severity, facts={"url": url, "reason": reason})
        if kind != "team_answers" or entries.is_unencrypted(url):
            continue
        teams.sort(key=lambda team: team.path.is_relative_to(machine.root))
        for variable, team in {it.variable: it for it in reversed(teams) if it.variable}.items():
            facts: Facts = {"client": team.client.name, "path": str(team.path)}
            facts |= {"url": url, "variable": variable}
            key = machine.variable(variable) or ""
            if key and team.path.is_relative_to(machine.root):
                asked = shlex.quote(urljoin(url, "/health"))
                command = f'curl -H "Authorization: Bearer ${variable}" {asked}'
                yield Finding("team_key_untried", "note", facts=facts | {"command": command})
            elif key and health_of(url, key)[0] == "team_key_wrong":
                yield Finding("team_key_wrong", "error", facts=facts)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def health_of(url: str, key: str = "") -> tuple[str, str]:
    """Return the finding's kind and reason for `/health` beside a URL.

    No redirect is followed. key: "" sends none.
    """
    asked = urllib.request.Request(urljoin(url, "/health"))
    if key:
        asked.add_header("Authorization", f"Bearer {key}")
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(asked, timeout=_WAIT_S) as answer:
            body, code = answer.read(_MOST_ANSWER_BYTES), answer.status
    except urllib.error.HTTPError as error:
        if key and error.code == 401:
            return "team_key_wrong", ""
        body, code = error.read(_MOST_ANSWER_BYTES), error.code
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLCertVerificationError):
            return "team_not_proven", reason.verify_message.rstrip(".")
        return "team_silent", getattr(reason, "strerror", None) or type(reason).__name__
    try:
        state = str(json.loads(body)["status"]).lower()
    except (ValueError, KeyError, TypeError, RecursionError):
        return "team_silent", f"HTTP {code}"
    is_well = code == 200 and state in ("ok", "healthy", "up")
    return ("team_answers", "") if is_well else ("team_unwell", f"HTTP {code}: {state[:80]}")
