"""Rebuilds real changes of public projects, as a client's hook would carry them, and memories.

`real/*.jsonl` holds one project each: a first line about the project, its lessons, its actions.
An action names its place in the project's history and holds no text of it: the text comes from a
clone of the project. README.md beside this file says how actions and labels were made.
"""

import json
import os
import random
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from measure import CREATED, HERE, ROOT, read_lines

from core.lessons.log import MemoryLog
from core.lessons.record import Record

FOLDER = HERE / "real"
OWN = "."  # the project whose clone is this checkout
AT = "/project"  # where a client has the project open
DIGITS = 12
CONTEXT_LINES = 3
BEGIN, STEP = datetime.fromisoformat(CREATED), timedelta(hours=7)

# The settings of a user's git must not change the rebuilt texts.
DIFF = (
    *("diff-tree", "-p", "--root", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"),
    "--text",
    *("--diff-algorithm=myers", "--indent-heuristic", "--inter-hunk-context=0", "--full-index"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--no-relative", "--ignore-submodules=none"),
    f"-U{CONTEXT_LINES}",
)
_HEAD = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
_MARK = re.compile(r"\s*(?:- +)?(?:run: *)?(?:\$ +|% +|RUN +|@)?")
_NUMBER = re.compile(r" \(#\d+\)$")  # of a pull request, which a merge adds
_NAME = re.compile(r'\s*"?([\w:.@/-]+)"?(?:\s+\w+)*\s*:')


class _Client(NamedTuple):
    """How a client calls its tools: the event of its hooks, names of tools and of their fields."""

    event: str
    shell: str
    write: str = ""
    edit: str = ""
    fields: Sequence[str] = ("file_path", "old_string", "new_string")


_CLIENTS = {
    "claude-code": _Client("PreToolUse", "Bash", "Write", "Edit"),
    "codex": _Client("PreToolUse", "Bash"),
    "cursor": _Client("postToolUse", "Shell", "Write", "Write"),
    "gemini": _Client("AfterTool", "run_shell_command", "write_file", "replace"),
    "vscode": _Client(
        *("PostToolUse", "run_in_terminal", "create_file", "replace_string_in_file"),
        ("filePath", "oldString", "newString"),
    ),
}


class ChangedSourceError(Exception):
    """A clone lacks a labelled text, or holds another one."""


@dataclass(frozen=True, slots=True)
class RealSet:
    """One project: its first line, its lessons, and its actions as they stand in the file."""

    project: str
    about: Mapping[str, Any]
    lessons: Sequence[Mapping[str, Any]]
    # `draw` of an action: natural, towards files or tools of lessons, or how commits were made.
    actions: Sequence[Mapping[str, Any]]

    @property
    def is_unseen(self) -> bool:
        """Whether no weight may be chosen on it."""
        return bool(self.about["unseen"])


@dataclass(frozen=True, slots=True)
class Change:
    """One action: a client's message to a hook, and the lessons that are right there."""

    client: str
    payload: Mapping[str, Any]
    before: str  # the former text of a file that is written whole, "" for none
    needed: frozenset[str]  # an agent would be glad of them
    optional: frozenset[str]  # neither right nor wrong


def sets() -> list[RealSet]:
    """Return all projects, in the order of their names."""
    found = []
    for path in sorted(FOLDER.glob("*.jsonl")):
        rows = read_lines(path)
        lessons = [row["lesson"] for row in rows if "lesson" in row]
        actions = [row["action"] for row in rows if "action" in row]
        found.append(RealSet(rows[0]["project"], rows[0], lessons, actions))
    return found


def clone_of(directory: Path, project: str) -> Path | None:
    """Return where git finds a project's clone below a directory, bare or not; None without one."""
    if project == OWN:
        return ROOT
    place = directory / project.replace("/", "+")
    found = (place, place / "repo", place.with_name(f"{place.name}.git"))
    return next((it for it in found if (it / "HEAD").exists() or (it / ".git").exists()), None)


def changes(real: RealSet, clone: Path, at: str = AT) -> Iterator[Change]:
    """Yield the actions of a project with the messages of a client that has it open at `at`.

    Raises ChangedSourceError when the clone lacks a source or holds another one.
    """
    for given in real.actions:
        client, before = given["client"], ""
        tool, tool_input = _call(clone, given, at)
        if digest(_call(clone, given, AT)[1]) != given["sha"]:
            raise ChangedSourceError(f"{real.project} {given['id']}")
        told: dict[str, Any] = {"session_id": "s", "transcript_path": "/tmp/s.jsonl"}
        if client == "cursor":
            told = {"conversation_id": "c", "workspace_roots": [at]}
        told |= {"hook_event_name": _CLIENTS[client].event, "cwd": at}
        told |= {"tool_name": tool, "tool_input": tool_input}
        *parents, _ = parents_of(clone, given["commit"])
        listed = ("ls-tree", "--name-only", *parents, "--", given["path"])
        if given["form"] == "write" and parents and git_text(clone, *listed):
            before = content(clone, parents[0], given["path"])
        needed, optional = frozenset(given["needed"]), frozenset(given["optional"])
        yield Change(client, told, before, needed, optional)


def digest(tool_input: Mapping[str, Any]) -> str:
    """Return the start of SHA-256 over the arguments of a tool with the project open at AT."""
    return sha256(json.dumps(tool_input, sort_keys=True).encode("ascii")).hexdigest()[:DIGITS]


def hunks_in(diff: str) -> list[list[str]]:
    """Return the lines of each hunk, with their signs."""
    found: list[list[str]] = []
    for line in diff.split("\n"):
        if _HEAD.match(line):
            found.append([])
        elif found and line[:1] in ("+", "-", " ") and line:
            found[-1].append(line)
    return found


def signed(hunk: Sequence[str], signs: str) -> str:
    """Return the lines with these signs, without them: `-` and context are the old text."""
    return "\n".join(line[1:] for line in hunk if line[0] in signs)


def content(clone: Path, commit: str, path: str) -> str:
    """Return a file as it is after a commit."""
    return git_text(clone, "cat-file", "blob", f"{commit}:{path}")


def command(lines: Sequence[str], how: str = "") -> str:
    """Return the command in lines of a document, or for a target of the runner named by `how`."""
    if how:
        name = _NAME.match(lines[0])
        return f"{how} {name[1]}" if name else ""
    first = lines[0][_MARK.match(lines[0]).end() :]  # type: ignore[union-attr]
    return "\n".join((first, *(line.strip() for line in lines[1:]))).strip()


def _call(clone: Path, given: Mapping[str, Any], at: str) -> tuple[str, Mapping[str, Any]]:
    """Return the tool of an action, and its arguments."""
    commit, path, client = given["commit"], given["path"], given["client"]
    its, place = _CLIENTS[client], f"{at}/{path}"
    name, old, new = its.fields
    if given["form"] == "shell":
        more = {"cwd": at} if client == "cursor" else {}
        return its.shell, {"command": _typed(clone, given), **more}
    if given["form"] == "write":
        return its.write, {name: place, "content": content(clone, commit, path)}
    if given["form"] == "notebook":
        cells = json.loads(content(clone, commit, path)).get("cells", [])
        if given["cell"] >= len(cells):
            raise ChangedSourceError(f"{path} at {commit}")
        cell = cells[given["cell"]]
        return "NotebookEdit", {
            "notebook_path": place,
            "cell_id": str(cell.get("id", given["cell"])),
            "new_source": "".join(cell["source"]),
            "cell_type": cell["cell_type"],
            "edit_mode": given["mode"],
        }
    found = hunks_in(git_text(clone, *DIFF, *parents_of(clone, commit), "--", path))
    if not all(0 <= number < len(found) for number in given["hunks"]):
        raise ChangedSourceError(f"{path} at {commit}")
    chosen = [found[number] for number in given["hunks"]]
    if given["form"] == "patch":
        is_new = not signed(found[0], "- ") and len(found) == 1
        lines = ["*** Begin Patch", f"*** {'Add' if is_new else 'Update'} File: {path}"]
        for hunk in chosen:
            lines += hunk if is_new else ("@@", *hunk)
        return "apply_patch", {"command": "\n".join((*lines, "*** End Patch"))}
    parts = [{old: signed(hunk, "- "), new: signed(hunk, "+ ")} for hunk in chosen]
    if given["form"] == "edit":
        return its.edit, {name: place, **parts[0]}
    if client == "vscode":
        named = [{name: place, **part} for part in parts]
        return "multi_replace_string_in_file", {"replacements": named}
    return "MultiEdit", {name: place, "edits": parts}


def _typed(clone: Path, given: Mapping[str, Any]) -> str:
    """Return a command: how a commit was made, moved or removed a file, or a line of a document."""
    commit, path, how = given["commit"], given["path"], given.get("how", "")
    if how == "git commit":
        subject = git_text(clone, "log", "-1", "--format=%s", commit).strip()
        return f"git commit -m {quote(_NUMBER.sub('', subject))}"
    if how == "git mv":
        return f"git mv {quote(given['from'])} {quote(path)}"
    if how == "git rm":
        return f"git rm {quote(path)}"
    lines = content(clone, commit, path).split("\n")[given["line"] - 1 :]
    return command(lines[: given["lines"]], how)


def parents_of(clone: Path, commit: str) -> tuple[str, ...]:
    """Return a commit behind its first parent; alone when it has none."""
    first, *parents = git_text(clone, "rev-list", "--parents", "-1", commit).split()
    return (*parents[:1], first)


@lru_cache(maxsize=4_096)
def git_text(clone: Path, *words: str) -> str:
    """Return the output of a git command in a clone. Raises ChangedSourceError."""
    settings = ("-c", "core.quotePath=false", "-c", "diff.suppressBlankEmpty=false")
    call = ("git", *settings, "-C", str(clone), *words)
    # The variables that a git hook sets would name another repository.
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    done = subprocess.run(call, capture_output=True, check=False, env=environment)
    if done.returncode:
        raise ChangedSourceError(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout.decode("utf-8", "replace")


# Memories in which the lessons of a project stand among others.


def record(given: Mapping[str, Any]) -> Record:
    """Return a lesson as a record; its date is drawn later."""
    return Record(
        id=given["id"],
        type="principle" if given.get("type") == "principle" else "log",
        topic=given["topic"],
        missing_context=given.get("missing_context", ""),
        lesson=given["lesson"],
        ask_next_time=given.get("ask_next_time", ""),
        created=BEGIN.isoformat(),
        paths=tuple(given.get("paths") or ()),
        when=tuple(given.get("when") or ()),
    )


def written_elsewhere(project: str) -> list[Record]:
    """Return the lessons of other projects that this repository has, the unseen half left out."""
    others = [it for it in sets() if it.project != project and not it.is_unseen]
    found = [(f"{real.project}:{it['id']}", it) for real in others for it in real.lessons]
    for row in read_lines("actions_tuned.jsonl"):
        found += [(f"{row['project']}:{it['id']}", it) for it in row["records"]]
    found += [(f"demo {at}", it) for at, it in enumerate(read_lines("lessons.jsonl"))]
    queries = json.loads((ROOT / "tests" / "data" / "ranking_queries.json").read_text("utf-8"))
    found += [(f"query {at}", it) for at, it in enumerate(queries["records"])]
    return [record({**it, "id": name}) for name, it in found]


def memory(real: RealSet, size: int, draw: int) -> MemoryLog:
    """Return a memory with the lessons of a project anywhere among drawn ones of others."""
    rng = random.Random(f"{real.project} {size} {draw} False 0.0")
    others = written_elsewhere(real.project)
    rng.shuffle(others)
    lessons = [record(it) for it in real.lessons]
    found = lessons + others[: size - len(lessons)]
    rng.shuffle(found)
    lines = [
        replace(it, type="log", created=(BEGIN + at * STEP).isoformat()).to_line()
        for at, it in enumerate(found)
    ]
    return MemoryLog.parse(b"".join(lines))
