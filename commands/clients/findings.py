"""Checks the clients of a project and its user: their servers, projects and outdated files.

A client is wrong where setup would change its files. A part that is absent, or missing on this
machine alone, makes a note.
"""

import json
import os
import shlex
import ssl
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from commands.clients import entries
from commands.clients.files import Change, Job, Plan, Tree
from commands.clients.machine import Machine, installation_of, machine_here, this_program, trace_of
from commands.clients.plan import plan_setup, tree_of
from commands.clients.table import CLIENTS, ENTRY, LEVELS, PARTS, Client, Level, client_of, value_at
from core import program
from core.config import Project, no_project_kind
from core.disk import read_regular_file
from core.errors import RefusedError
from core.lessons.upkeep import Finding, Severity
from core.messages import Facts, say

_MOST_BYTES = 4_000_000
# Why a client itself reads nothing of a file; with another reason only setup leaves it alone.
_UNREAD = ("unreadable", "not_utf8", "toml_syntax", "json_syntax", "json_comments", "json_mark")
_CANNOT_START = ("command_missing", "script_missing")  # problems of a server
_WAIT_S, _MOST_ANSWER_BYTES = 5.0, 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A project on a machine. named_paths: of files in earlier findings; clients share some."""

    machine: Machine
    tree: Tree | None
    servers: list[entries.ServerEntry]
    named_paths: set[Path] = field(default_factory=set)

    def is_here(self, entry: entries.ServerEntry) -> bool:
        root = os.path.realpath(self.machine.root)
        is_known = not entry.problem and entry.project
        return bool(is_known) and os.path.realpath(str(entry.project)) == root

    def are_shared(self, paths: Iterable[Path]) -> bool:
        """Return whether git tracks all these files, so that others have them."""
        root, tracked = self.machine.root, self.tree.files if self.tree else ()
        return all(
            path.is_relative_to(root) and path.relative_to(root).as_posix() in tracked
            for path in paths
        )

    def command(self, row: Client, level: Level = "project", absent: Iterable[str] = ()) -> str:
        """Return the command that sets a client up. absent: unwanted parts."""
        words = ["setup", row.key, *(["--user"] if level == "user" else [])]
        words += [f"--no-{part}" for part in absent if part != "entry"]
        words += ["--project", str(self.machine.root)] if level == "project" else []
        return f"{program.CLI} {shlex.join(words)}"


def client_findings(project: Project) -> Iterator[Finding]:
    """Yield findings on every client of this project and user; ask no server."""
    machine = machine_here(project.root)
    servers = entries.server_entries(machine)
    site = Site(machine=machine, tree=tree_of(project.root), servers=servers)
    for row in CLIENTS:
        yield from _check_client(row, site)
    keys = {entry.client: None for entry in site.servers if site.is_here(entry)}
    if keys:
        names = ", ".join(client_of(key).name for key in keys)
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
        else:
            yield Finding("team_ok", "ok", facts=facts)
    if not (site.servers or teams) and not no_project_kind(project.folder, os.environ):
        words = [] if any(trace_of(row, machine) for row in CLIENTS) else ["CLIENT"]
        words += ["--project", project.folder] if project.source == "--project" else []
        command = f"{program.CLI} {shlex.join(['setup', *words])}"
        yield Finding("no_client", "note", facts={"command": command})


def _check_client(row: Client, site: Site) -> Iterator[Finding]:
    servers = [entry for entry in site.servers if entry.client == row.key]
    for entry in servers:
        yield from _check_entry(row, entry, site)
    other = next((entry for entry in servers if not entry.problem), None)
    if other and row.entry["project"].startswith("root:") and not any(map(site.is_here, servers)):
        facts: Facts = {"client": row.name, "path": str(other.path)}
        facts |= {"project": str(other.project), "command": site.command(row)}
        severity: Severity = "note" if site.are_shared([other.path]) else "warning"
        yield Finding("client_elsewhere", severity, facts=facts)
    plans: dict[Level, Plan] = {}
    for level in (level for level in LEVELS if level in row.entry):
        path = site.machine.path(row.entry[level])
        places = [getattr(part, level) for part in (row.hooks, row.approvals) if part]
        paths = [path, *(file for place in places for file in site.machine.paths(place))]
        if not any(map(os.path.lexists, paths)):  # whatever a file holds, it counts
            continue
        # The changes that setup would make, from another installation if the entry starts that.
        starters = (entry for entry in site.servers if entry.path == path and entry.entry)
        starter = next((entry for entry in starters if entry.problem not in _CANNOT_START), None)
        installation = this_program()
        if starter:
            installation = installation_of(starter.start_words)
        job = Job(
            clients=(row.key,),
            machine=site.machine,
            installation=installation,
            level=level,
            tree=site.tree,
        )
        plans[level] = plan_setup(job)
    parts = {level: _find_parts(row, level, plan, site) for level, plan in plans.items()}
    for level, plan in plans.items():
        other_parts = {part for other in parts if other != level for part in parts[other]}
        yield from _check_files(plan, row, level, site)
        if parts[level]:
            yield from _check_level(row, level, plan, parts[level], other_parts, site)


def _check_entry(row: Client, entry: entries.ServerEntry, site: Site) -> Iterator[Finding]:
    facts: Facts = {"client": row.name, "path": str(entry.path), "entry": entry.entry}
    is_of_user = "user" in row.entry and entry.path == site.machine.path(row.entry["user"])
    command = site.command(row, "user" if is_of_user else "project")
    facts |= {"project": str(entry.project or ""), "command": command}
    is_shared = entry.problem.endswith("_missing") and site.are_shared([entry.path])
    severity: Severity = "note" if is_shared else "error"
    if entry.problem in _CANNOT_START:
        word = entry.start_words[0] if entry.problem == "command_missing" else entry.start_words[-1]
        kind = "client_gone_shared" if is_shared else "client_gone"
        yield Finding(kind, severity, facts={**facts, "word": word})
    elif entry.problem in ("project_missing", "bad_setting"):
        yield Finding(f"client_{entry.problem}", severity, facts=facts)
    elif entry.problem in ("unexpanded", "no_project"):
        yield Finding("client_no_project", "warning", facts=facts)


def _kinds_of(change: Change) -> set[str]:
    return {"rules" if part.kind == "import" else part.kind for part in change.parts}


def _find_parts(row: Client, level: Level, plan: Plan, site: Site) -> set[str]:
    path = site.machine.path(row.entry[level])
    parts = {"rules" if kind == "import" else kind for kind in plan.present_kinds} & {*PARTS}
    if any(entry.path == path and entry.entry for entry in site.servers):
        parts.add("entry")
    if row.allows and any(facts["path"] == str(path) for _, facts in plan.problems):
        parts.add("approvals")  # in a file that cannot be read
    # Hooks in a file that clients share, and rules, may belong to another client.
    others = (client_of(entry.client).hooks for entry in site.servers if entry.client != row.key)
    own_place = row.hooks and getattr(row.hooks, level)
    is_anothers = any(hooks and getattr(hooks, level) == own_place for hooks in others)
    return parts if "entry" in parts or ("hooks" in parts and not is_anothers) else set()


def _check_level(
    row: Client, level: Level, plan: Plan, parts: set[str], other_parts: set[str], site: Site
) -> Iterator[Finding]:
    job, path = plan.job, site.machine.path(row.entry[level])
    can_have = {
        "entry": row.entry[level],
        "hooks": row.hooks and getattr(row.hooks, level),
        "rules": row.rules and (level == "project" or row.rules.user),
        "approvals": row.allows or (row.approvals and getattr(row.approvals, level)),
    }
    absent = [part for part in can_have if can_have[part] and part not in parts]
    kept_job = replace(job, unwanted_parts=absent)
    renewal = plan_setup(kept_job) if absent else plan
    if any("hooks" in _kinds_of(change) for change in renewal.changes):
        own_job = replace(kept_job, installation=job.installation._replace(cli=this_program().cli))
        renewal = min(renewal, plan_setup(own_job), key=lambda candidate: len(candidate.changes))
    facts: Facts = {"client": row.name, "command": site.command(row, level, absent)}
    changes = [change for change in renewal.changes if change.path not in site.named_paths]
    paths = [change.path for change in changes if _kinds_of(change) - {"memory"}]
    is_reported = any(entry.path == path and not site.is_here(entry) for entry in site.servers)
    if "entry" in absent and not is_reported:
        yield Finding("client_no_entry", "warning", facts=facts)
    elif paths and not is_reported:
        site.named_paths.update(paths)
        names = (str(path).removeprefix(f"{job.root}{os.sep}") for path in paths)
        files = ", ".join(name.replace(os.sep, "/") for name in names)
        severity: Severity = "note" if site.are_shared(paths) else "warning"
        yield Finding("client_outdated", severity, facts={**facts, "files": files})
    kinds = {kind for change in plan.changes for kind in _kinds_of(change)}
    for part in absent:
        if part != "entry" and part not in other_parts and (part == "approvals" or part in kinds):
            command = site.command(row, level, (other for other in absent if other != part))
            part_facts: Facts = {"client": row.name, "command": command}
            yield Finding(f"client_no_{part}", "note", facts=part_facts)
    for key, note in renewal.notes:
        if key == "switched_off":
            yield Finding("client_switched_off", "warning", facts={**note, "client": row.name})
    place = row.approvals.project if row.approvals and level == "project" else ""
    name = place.removeprefix("root:")
    if job.tree and name in job.tree.files:  # these are one person's
        command = shlex.join(["git", "-C", str(job.root), "rm", "--cached", name])
        facts = {"client": row.name, "path": str(job.root / name), "command": command}
        yield Finding("client_approvals_tracked", "warning", facts=facts)
    if row.key == "codex" and level == "project":
        yield from _check_trust(row, job)


def _check_files(plan: Plan, row: Client, level: Level, site: Site) -> Iterator[Finding]:
    """Yield the files of ours that the client or setup cannot use."""
    for key, problem in plan.problems:
        path = Path(str(problem["path"]))
        content = b""
        with suppress(OSError):
            content = read_regular_file(path, most_bytes=_MOST_BYTES)[0]
        is_ours = any(entry.path == path and not entry.entry for entry in site.servers)
        is_ours = is_ours or ENTRY.encode() in content or b"cli.py" in content
        if path not in site.named_paths and is_ours:
            site.named_paths.add(path)
            reason = say(f"setup.{key}", **problem).partition("\n")[0]
            facts: Facts = {"client": row.name, "said": reason}
            facts["command"] = site.command(row, level)
            kind = "client_unread" if key in _UNREAD else "client_left_alone"
            yield Finding(kind, "error" if key in _UNREAD else "warning", facts=facts)


def _check_trust(row: Client, job: Job) -> Iterator[Finding]:
    """Yield that Codex ignores an untrusted project; without its configuration nobody uses it."""
    path = job.machine.path("codex:config.toml")
    try:
        projects = entries.read_document(path).get("projects")
    except (OSError, ValueError):
        return
    tops = [job.root, Path(os.path.realpath(job.root)), job.top]
    tops += [job.tree.exclude_path.parents[2]] if job.tree else []
    if "trusted" not in [value_at(projects, (str(top), "trust_level")) for top in tops]:
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
        by_variable = {team.variable: team for team in reversed(teams) if team.variable}
        for variable, team in by_variable.items():
            facts: Facts = {"client": team.client.name, "path": str(team.path)}
            facts |= {"url": url, "variable": variable}
            key = machine.variable(variable) or ""
            if key and team.path.is_relative_to(machine.root):
                health_url = shlex.quote(urljoin(url, "/health"))
                command = f'curl -H "Authorization: Bearer ${variable}" {health_url}'
                yield Finding("team_key_untried", "note", facts=facts | {"command": command})
            elif key and health_of(url, key)[0] == "team_key_wrong":
                yield Finding("team_key_wrong", "error", facts=facts)


def health_of(url: str, key: str = "") -> tuple[str, str]:
    """Return the finding's kind and reason for `/health` beside a URL.

    No redirect is followed. key: "" sends none.
    """
    request = Request(urljoin(url, "/health"))
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    opener = OpenerDirector()  # it takes errors and redirects for answers
    for handler in (ProxyHandler(), HTTPHandler(), HTTPSHandler()):
        opener.add_handler(handler)
    try:
        with opener.open(request, timeout=_WAIT_S) as answer:
            body, code = answer.read(_MOST_ANSWER_BYTES), answer.status
    except (OSError, ValueError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLCertVerificationError):
            return "team_not_proven", reason.verify_message.rstrip(".")
        return "team_silent", getattr(reason, "strerror", None) or type(reason).__name__
    if key and code == 401:
        return "team_key_wrong", ""
    try:
        state = str(json.loads(body)["status"]).lower()
    except (ValueError, KeyError, TypeError, RecursionError):
        return "team_silent", f"HTTP {code}"
    is_well = code == 200 and state in ("ok", "healthy", "up")
    return ("team_answers", "") if is_well else ("team_unwell", f"HTTP {code}: {state[:80]}")
