"""Rebuilds real changes of public projects, as a client's hook would carry them, and memories.

`real/*.jsonl` holds one project each: a first line about the project, its lessons, its actions.
An action names where it stands in the project's history, never what it says; the text comes from a
clone that whoever measures has. README.md beside this file says how actions and labels were made.
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
from typing import Any

from measure import CREATED, HERE, ROOT

from core.lessons.log import MemoryLog
from core.lessons.record import Record

FOLDER = HERE / "real"
OWN = "."  # the project whose clone is this checkout
AT = "/project"  # where a client has the project open
DIGITS = 12
CONTEXT_LINES = 3
BEGIN, STEP = datetime.fromisoformat(CREATED), timedelta(hours=7)

# What may be set by whoever measures must not change what is rebuilt.
_DIFF = (
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

# How each client calls its tools: name of the tool, and those of its fields.
_EDITS: Mapping[str, tuple[str, str, str, str]] = {
    "claude-code": ("Edit", "file_path", "old_string", "new_string"),
    "cursor": ("Write", "file_path", "old_string", "new_string"),
    "gemini": ("replace", "file_path", "old_string", "new_string"),
    "vscode": ("replace_string_in_file", "filePath", "oldString", "newString"),
}
_WRITES: Mapping[str, tuple[str, str]] = {
    "claude-code": ("Write", "file_path"),
    "cursor": ("Write", "file_path"),
    "gemini": ("write_file", "file_path"),
    "vscode": ("create_file", "filePath"),
}
_SHELLS: Mapping[str, str] = {
    "claude-code": "Bash",
    "codex": "Bash",
    "cursor": "Shell",
    "gemini": "run_shell_command",
    "vscode": "run_in_terminal",
}
_EVENTS: Mapping[str, str] = {
    "claude-code": "PreToolUse",
    "codex": "PreToolUse",
    "cursor": "postToolUse",
    "gemini": "AfterTool",
    "vscode": "PostToolUse",
}


class ChangedSourceError(Exception):
    """What a clone holds is not what was labelled."""


@dataclass(frozen=True, slots=True)
class RealSet:
    """One project: its first line, its lessons, and its actions as they stand in the file."""

    project: str
    about: Mapping[str, Any]
    lessons: Sequence[Mapping[str, Any]]
    actions: Sequence[Mapping[str, Any]]

    @property
    def is_unseen(self) -> bool:
        """Whether no weight may be chosen on it."""
        return bool(self.about["unseen"])


@dataclass(frozen=True, slots=True)
class Change:
    """One action: what a client tells a hook, and the lessons that are right there.

    needed: an agent would be glad of them. optional: neither right nor wrong. draw: `natural`,
    `files` (towards files that lessons are about), `tools` (the same for commands) or `commits`
    (how commits were made). before: what a file held that is written whole.
    """

    id: str
    project: str
    draw: str
    form: str
    client: str
    payload: Mapping[str, Any]
    before: str
    needed: frozenset[str]
    optional: frozenset[str]


@dataclass(frozen=True, slots=True)
class Hunk:
    """A hunk of a diff, its lines with their signs."""

    lines: tuple[str, ...]

    @property
    def old(self) -> str:
        """The lines before the change, with their context."""
        return "\n".join(line[1:] for line in self.lines if line[0] != "+")

    @property
    def new(self) -> str:
        """The lines after the change, with their context."""
        return "\n".join(line[1:] for line in self.lines if line[0] != "-")

    @property
    def added(self) -> str:
        """The lines that the change brings, without signs."""
        return "\n".join(line[1:] for line in self.lines if line[0] == "+")

    @property
    def removed(self) -> str:
        """The lines that it takes away, without signs."""
        return "\n".join(line[1:] for line in self.lines if line[0] == "-")


def read_set(path: Path) -> RealSet:
    """Return what a file of `real/` holds."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return RealSet(
        project=rows[0]["project"],
        about=rows[0],
        lessons=[row["lesson"] for row in rows if "lesson" in row],
        actions=[row["action"] for row in rows if "action" in row],
    )


def sets(folder: Path = FOLDER) -> list[RealSet]:
    """Return all projects, in the order of their names."""
    return [read_set(path) for path in sorted(folder.glob("*.jsonl"))]


def past(
    real: RealSet, clone: Path, most_commits: int, most_of_commit: int
) -> tuple[list[str], list[tuple[str, Hunk]]]:
    """Return the files of a project when its lessons end, and hunks of the commits before that.

    most_commits, most_of_commit: how many commits, and hunks of each.
    """
    at = real.about["lessons_until"]
    files = git_text(clone, "ls-tree", "-r", "-z", "--name-only", at).split("\0")[:-1]
    found: list[tuple[str, Hunk]] = []
    for commit in git_text(clone, "rev-list", "--no-merges", f"-n{most_commits}", at).split():
        try:
            changed = git_text(clone, *_DIFF, "-r", *_parents(clone, commit))
        except ChangedSourceError:  # a clone may lack what is large
            continue
        listed = [
            (part.partition("\n")[0].rpartition(" b/")[2], hunk)
            for part in f"\n{changed}".split("\ndiff --git ")
            for hunk in _hunks_in(part)
        ]
        found += listed[:: len(listed) // most_of_commit + 1]
    return files, found


def clone_of(directory: Path, project: str) -> Path | None:
    """Return where git finds a project's clone below a directory, bare or not; None without one."""
    if project == OWN:
        return ROOT
    place = directory / project.replace("/", "+")
    found = (place, place / "repo", place.with_name(f"{place.name}.git"))
    return next((it for it in found if (it / "HEAD").exists() or (it / ".git").exists()), None)


def changes(real: RealSet, clone: Path, at: str = AT) -> Iterator[Change]:
    """Yield the actions of a project with what a client would send, the project open at `at`.

    Raises ChangedSourceError when the clone lacks a source or holds another one.
    """
    for given in real.actions:
        tool, tool_input = _call(clone, given, at)
        if digest(_call(clone, given, AT)[1]) != given["sha"]:
            raise ChangedSourceError(f"{real.project} {given['id']}")
        yield Change(
            id=given["id"],
            project=real.project,
            draw=given["draw"],
            form=given["form"],
            client=given["client"],
            payload=_payload(given["client"], tool, tool_input, at),
            before=_before(clone, given) if given["form"] == "write" else "",
            needed=frozenset(given["needed"]),
            optional=frozenset(given["optional"]),
        )


def digest(tool_input: Mapping[str, Any]) -> str:
    """Return the start of SHA-256 over what a tool gets with the project open at AT."""
    told = json.dumps(tool_input, sort_keys=True)
    return sha256(told.encode("ascii")).hexdigest()[:DIGITS]


def hunks(clone: Path, commit: str, path: str) -> list[Hunk]:
    """Return what a commit changes in a file, against its first parent."""
    return _hunks_in(git_text(clone, *_DIFF, *_parents(clone, commit), "--", path))


def _hunks_in(diff: str) -> list[Hunk]:
    found: list[list[str]] = []
    for line in diff.split("\n"):
        if _HEAD.match(line):
            found.append([])
        elif found and line[:1] in ("+", "-", " ") and line:
            found[-1].append(line)
    return [Hunk(tuple(lines)) for lines in found]


def content(clone: Path, commit: str, path: str) -> str:
    """Return a file as it is after a commit."""
    return git_text(clone, "cat-file", "blob", f"{commit}:{path}")


def command(lines: Sequence[str], how: str = "") -> str:
    """Return what is typed for lines of a document, or for a target of a runner named by `how`."""
    if how:
        name = _NAME.match(lines[0])
        return f"{how} {name[1]}" if name else ""
    first = lines[0][_MARK.match(lines[0]).end() :]  # type: ignore[union-attr]
    return "\n".join((first, *(line.strip() for line in lines[1:]))).strip()


def cells(text: str) -> list[Mapping[str, Any]]:
    """Return the cells of a notebook, each with its source as one text."""
    return [
        {**cell, "source": "".join(cell["source"])} for cell in json.loads(text).get("cells", [])
    ]


def _call(clone: Path, given: Mapping[str, Any], at: str) -> tuple[str, Mapping[str, Any]]:
    """Return the tool of an action, and what it gets."""
    commit, path, client = given["commit"], given["path"], given["client"]
    if given["form"] == "shell":
        text = _typed(clone, given)
        more = {"cwd": at} if client == "cursor" else {}
        return _SHELLS[client], {"command": text, **more}
    if given["form"] == "write":
        tool, key = _WRITES[client]
        text = content(clone, commit, path)
        return tool, {key: f"{at}/{path}", "content": text}
    if given["form"] == "notebook":
        return _notebook_edit(clone, given, at)
    found = hunks(clone, commit, path)
    if not all(0 <= number < len(found) for number in given["hunks"]):
        raise ChangedSourceError(f"{path} at {commit}")
    chosen = [found[number] for number in given["hunks"]]
    if given["form"] == "patch":
        is_new = not found[0].old and len(found) == 1
        return "apply_patch", {"command": _patch(path, chosen, is_new=is_new)}
    tool, name, old, new = _EDITS[client]
    if given["form"] == "edit":
        one = chosen[0]
        return tool, {name: f"{at}/{path}", old: one.old, new: one.new}
    parts = [{old: hunk.old, new: hunk.new} for hunk in chosen]
    if client == "vscode":
        named = [{name: f"{at}/{path}", **part} for part in parts]
        return "multi_replace_string_in_file", {"replacements": named}
    return "MultiEdit", {name: f"{at}/{path}", "edits": parts}


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


def _before(clone: Path, given: Mapping[str, Any]) -> str:
    """Return what a file held before its change, "" where there was none."""
    *parents, _ = _parents(clone, given["commit"])
    names = (
        git_text(clone, "ls-tree", "--name-only", parents[0], "--", given["path"])
        if parents
        else ""
    )
    return content(clone, parents[0], given["path"]) if names else ""


def _notebook_edit(clone: Path, given: Mapping[str, Any], at: str) -> tuple[str, Mapping[str, Any]]:
    now = cells(content(clone, given["commit"], given["path"]))
    if given["cell"] >= len(now):
        raise ChangedSourceError(f"{given['path']} at {given['commit']}")
    cell = now[given["cell"]]
    told = {
        "notebook_path": f"{at}/{given['path']}",
        "cell_id": str(cell.get("id", given["cell"])),
        "new_source": cell["source"],
        "cell_type": cell["cell_type"],
        "edit_mode": given["mode"],
    }
    return "NotebookEdit", told


def _patch(path: str, chosen: Sequence[Hunk], *, is_new: bool) -> str:
    """Return hunks in the form of Codex."""
    lines = ["*** Begin Patch", f"*** {'Add' if is_new else 'Update'} File: {path}"]
    for hunk in chosen:
        if not is_new:
            lines.append("@@")
        lines += hunk.lines
    return "\n".join((*lines, "*** End Patch"))


def _payload(client: str, tool: str, tool_input: Mapping[str, Any], at: str) -> Mapping[str, Any]:
    """Return the JSON that a client gives a hook on its standard input."""
    told: dict[str, Any] = {
        "hook_event_name": _EVENTS[client],
        "cwd": at,
        "tool_name": tool,
        "tool_input": tool_input,
    }
    if client == "cursor":
        return {"conversation_id": "c", "workspace_roots": [at], **told}
    return {"session_id": "s", "transcript_path": "/tmp/s.jsonl", **told}


def _parents(clone: Path, commit: str) -> tuple[str, ...]:
    """Return a commit behind its first parent; alone when it has none."""
    first, *parents = git_text(clone, "rev-list", "--parents", "-1", commit).split()
    return (*parents[:1], first)


@lru_cache(maxsize=4_096)
def git_text(clone: Path, *words: str) -> str:
    """Return what git prints of a clone. Raises ChangedSourceError."""
    settings = ("-c", "core.quotePath=false", "-c", "diff.suppressBlankEmpty=false")
    call = ("git", *settings, "-C", str(clone), *words)
    # What a git hook sets would name another repository.
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    done = subprocess.run(call, capture_output=True, check=False, env=environment)
    if done.returncode:
        raise ChangedSourceError(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout.decode("utf-8", "replace")


def missing(directory: Path, folder: Path = FOLDER) -> list[str]:
    """Return for each project without a clone the command that gets one."""
    return [
        f"git clone --bare https://github.com/{real.project} "
        f"{directory / real.project.replace('/', '+')}"
        for real in sets(folder)
        if clone_of(directory, real.project) is None
    ]


# Memories in which the lessons of a project stand among others.


def commit_of(clone: Path, name: str) -> tuple[str, list[str]]:
    """Return the first parent of a commit, "" for none, and the files that differ from it."""
    *parents, _ = _parents(clone, name)
    names = ("--no-commit-id", "--name-only", "--no-renames", "-r", "--root", *parents, name)
    return "".join(parents), git_text(clone, "diff-tree", *names).splitlines()


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


def written_elsewhere(project: str) -> Iterator[Record]:
    """Yield the lessons of other projects that this repository has, the unseen half left out."""
    for real in sets():
        if real.project != project and not real.is_unseen:
            yield from (record({**it, "id": f"{real.project}:{it['id']}"}) for it in real.lessons)
    for line in (HERE / "actions_tuned.jsonl").read_text("utf-8").splitlines():
        given = json.loads(line)
        name = given["project"]
        yield from (record({**it, "id": f"{name}:{it['id']}"}) for it in given["records"])
    lines = (HERE / "lessons.jsonl").read_text("utf-8").splitlines()
    yield from (record({**json.loads(it), "id": f"demo {at}"}) for at, it in enumerate(lines))
    queries = json.loads((ROOT / "tests" / "data" / "ranking_queries.json").read_text("utf-8"))
    yield from (record({**it, "id": f"query {at}"}) for at, it in enumerate(queries["records"]))


def memory(real: RealSet, size: int, draw: int) -> MemoryLog:
    """Return a memory with the lessons of a project anywhere among drawn ones of others."""
    rng = random.Random(f"{real.project} {size} {draw} False 0.0")
    others = list(written_elsewhere(real.project))
    rng.shuffle(others)
    lessons = [record(it) for it in real.lessons]
    found = lessons + others[: size - len(lessons)]
    rng.shuffle(found)
    lines = [
        replace(it, type="log", created=(BEGIN + at * STEP).isoformat()).to_line()
        for at, it in enumerate(found)
    ]
    return MemoryLog.parse(b"".join(lines))
