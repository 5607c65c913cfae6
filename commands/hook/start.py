"""Says at a session's start what the memory holds, what is open, and what the client refuses.

Git is not asked which files differ, since it may run a filter that the repository names: the size
and time that it lists are compared with the disk. Untracked files would take a walk through the
tree, and are left out.
"""

import os
import re
import stat
import time
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from commands.clients.table import ENTRY, TEAM_ENTRY, client_of, value_at
from commands.hook.events import linked_project, path_inside
from commands.hook.scene import Scene, complain
from core.config import CONTEXT_DIRECTORY
from core.errors import SentinelError
from core.git import HistoryError, WorkTree
from core.lessons.briefing import Briefing, session_briefing
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from core.lessons.task import MOST_FILES, Work, choose_by_work
from core.messages import say
from core.text.plain import estimate_tokens

WAIT_S = 1
MOST_COMMITS = 5
MOST_WITH_GIT = 5_000  # records of a log for which there is still time to ask git and to rank
MOST_LISTED_BYTES = 3_000_000  # some 15,000 files; looking at more would take too long
_MOST_SETTINGS_BYTES, _MOST_TOML_CHARS, _MOST_LINE_CHARS = 1_000_000, 32_768, 500

_BRANCHES = "refs/heads/"
_OPTIONS = ("--name-only", "--no-renames", "--relative", "-z", "--no-ext-diff", "--no-textconv")
# Written by `ls-files --debug` behind each file.
_INDEX_ENTRY = re.compile(
    rb"  ctime: [^\n]*+\n  mtime: (\d++):\d++\n  dev: [^\n]*+\n  uid: [^\n]*+\n"
    rb"  size: (\d++)\tflags: [^\n]*+\n"
)


def briefing_of(scene: Scene, log: MemoryLog) -> Briefing:
    """Return the lessons, then a notice and open sessions, whatever fails of these."""
    is_first = not scene.moment.agent and not scene.session.events
    root, cwd, notice = scene.root, scene.moment.cwd, ""
    if is_first and not scene.moment.asks_nobody and asks_for_our_tools(scene.client, root):
        notice = say("answers.not_approved", client=scene.client)

    def choose_near() -> Sequence[Record]:
        if log.count > MOST_WITH_GIT:
            return []
        is_below = cwd == root or path_inside(root, cwd)
        is_elsewhere = cwd and (not is_below or linked_project(root, f"{cwd}/."))
        return choose_by_work(log.records, work_in(Path(cwd if is_elsewhere else root)))

    tokens = scene.settings.hook_tokens - estimate_tokens(notice)
    briefing = session_briefing(
        log,
        project=root,
        settings=scene.settings._replace(hook_tokens=max(tokens, 1)),
        find_nearest=choose_near,
    )
    texts = [briefing.text, notice]
    spare_tokens = tokens - estimate_tokens(briefing.text)
    if spare_tokens > 0 and os.path.lexists(os.path.join(root, CONTEXT_DIRECTORY, "sessions")):
        from sqlite3 import Error  # only where there are sessions

        from rooms.sessions.hints import choose_start_lines
        from rooms.sessions.store import open_sessions

        try:
            store = open_sessions(Path(root), scene.settings)
            if os.path.lexists(store.path):
                lines = choose_start_lines(store, spare_tokens)
                store.database.close()
                texts.append("\n".join(lines))
        except (SentinelError, OSError, Error) as error:
            complain(error)
    return briefing._replace(text="\n\n".join(filter(None, texts)))


def asks_for_our_tools(name: str, root: str) -> bool:
    """Return whether the client asks before the model calls our tools.

    False where the user has settled that, where we are not set up, or in doubt.
    """
    client = client_of(name)
    entries = value_at(_read(client.entry.get("project", ""), root), (client.under,))
    names = [name for name in (ENTRY, TEAM_ENTRY) if isinstance(entries, dict) and name in entries]
    approvals = client.approvals
    if not approvals or "$top" in approvals.keys:  # where these are is not looked for
        keys = {*client.allows, "tools"}
        entry_lists = (entries[name] for name in names if client.allows)
        return any(isinstance(entry, dict) and not keys & entry.keys() for entry in entry_lists)
    # A tool that the user has allowed, refused or kept for a question is settled.
    places = [approvals.project, approvals.user, client.hooks.project if client.hooks else ""]
    paths, files = (approvals.keys, *approvals.refused), [_read(place, root) for place in places]
    values = [value_at(data, keys) for data in files for keys in paths]
    settled_items = [item for value in values if isinstance(value, list) for item in value]
    forms = (str(approvals.tool).replace("$tool", "log_memory"), *approvals.whole)
    items = [[str(form).replace("$server", name) for form in forms] for name in names]
    return any(not any(item in settled_items for item in own_items) for own_items in items)


def _read(place: str, root: str) -> Any:
    kind, _, file_name = place.partition(":")
    claude = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    folders = {"root": root, "home": os.path.expanduser("~"), "claude-home": claude}
    path = os.path.join(folders.get(kind, ""), file_name)
    try:
        if kind not in folders or not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            text = file.read(_MOST_SETTINGS_BYTES).decode("utf-8-sig")
        if not path.endswith(".toml"):
            import json

            return json.loads(text)
        import tomllib

        # The time that one dotted name takes grows with the square of its length.
        longest = max(map(len, text[:_MOST_TOML_CHARS].splitlines()), default=0)
        is_long = len(text) > _MOST_TOML_CHARS or longest > _MOST_LINE_CHARS
        return None if is_long else tomllib.loads(text)
    except (OSError, ValueError, RecursionError):
        return None


# The work in git.


def work_in(folder: Path) -> Work:
    """Return the work in a git folder; git has WAIT_S seconds for it."""
    try:
        tree = WorkTree(folder, deadline_s=time.monotonic() + WAIT_S)
    except (HistoryError, OSError):
        return Work()
    log = ("log", f"--max-count={MOST_COMMITS}", "--no-merges", "--format=%x01%s", *_OPTIONS)
    commits = []
    for part in _ask_git(tree, *log).split(b"\1")[1:]:
        subject, _, paths = part.partition(b"\0")
        commits.append((subject.decode("utf-8", "replace"), tuple(_paths_in(paths))))
    staged_paths = _paths_in(_ask_git(tree, "diff-index", "--cached", *_OPTIONS, "HEAD", "--"))
    listing = _ask_git(tree, "ls-files", "-z", "--debug")
    changed_paths = dict.fromkeys((*_find_changed(folder, listing), *staged_paths))
    branch = _ask_git(tree, "symbolic-ref", "--quiet", "HEAD").decode("utf-8", "replace").strip()
    return Work(
        branch=branch.removeprefix(_BRANCHES),
        # Of a tree that was copied, git knows no time of any file.
        changed_files=tuple(changed_paths) if len(changed_paths) <= MOST_FILES else (),
        commits=tuple(commits),
    )


def _ask_git(tree: WorkTree, *arguments: str) -> bytes:
    try:
        return tree.ask(*arguments)
    except HistoryError:
        return b""


def _paths_in(data: bytes) -> Iterator[str]:
    """Yield paths in NFC, without those of the memory."""
    for name in data.split(b"\0"):
        path = unicodedata.normalize("NFC", os.fsdecode(name.strip(b"\n")))
        if path and not path.startswith(f"{CONTEXT_DIRECTORY}/"):
            yield path


def _find_changed(folder: Path, listing: bytes) -> Iterator[str]:
    """Yield the files whose size or time differs from git's; a deleted file is none."""
    name, *parts = listing.split(b"\0") if len(listing) <= MOST_LISTED_BYTES else [b""]
    for part in parts:
        match = _INDEX_ENTRY.match(part)
        if not match:
            return
        try:
            stats = os.lstat(os.path.join(os.fsencode(folder), name))
        except (OSError, ValueError):
            stats = None
        is_same = stats and (int(stats.st_mtime), stats.st_size) == (int(match[1]), int(match[2]))
        if stats and stat.S_ISREG(stats.st_mode) and not is_same:
            yield from _paths_in(name)
        name = part[match.end() :]
