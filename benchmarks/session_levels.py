"""Counts how often a session that resembles a goal is about the same work, by its level.

`python benchmarks/session_levels.py DIR` reads clones of the projects that `session_levels.jsonl`
names, each `DIR/OWNER+NAME`, bare or not. A commit counts as a session, its subject
as the goal and its body as the summary; which earlier ones are about the same work was written down
before any ranking was seen. README.md beside this file says how they were drawn.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

# A script finds only the modules of its own directory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from real_changes import clone_of, git_text

from core.config import Settings
from rooms.sessions.search import Level, resembling
from rooms.sessions.session import GOAL_CHARS, SUMMARY_CHARS, Session
from rooms.sessions.store import insert, open_sessions

LABELS = Path(__file__).with_suffix(".jsonl")
LEVELS: Sequence[str] = get_args(Level)  # the best first
DIGITS = 12  # of a commit's hash


def commits(clone: Path, first: str, named: set[str]) -> list[tuple[str, str, str]]:
    """Hash, subject and body of the commits from one on to the last that is named, oldest first."""
    listed = git_text(clone, "log", "--no-merges", "--reverse", "--format=%H%x00%s%x00%b%x01")
    rows = [row.strip("\n").split("\0") for row in listed.split("\x01")]
    found = [(row[0][:DIGITS], row[1], row[2]) for row in rows if len(row) == 3]
    hashes = [commit for commit, _, _ in found]
    last = max(hashes.index(commit) for commit in named)
    return found[hashes.index(first) : last + 1]


def levels(earlier: Sequence[tuple[str, str, str]], goal: str) -> Iterator[tuple[str, str]]:
    """Yield the commits that resemble a goal, each with its level."""
    with tempfile.TemporaryDirectory(prefix="sentinel-memory-levels-") as scratch:
        store = open_sessions(Path(scratch), Settings())
        with store.writing() as connection:
            for number, (commit, subject, body) in enumerate(earlier, 1):
                when = f"2026-01-01T00:{number // 60:02d}:{number % 60:02d}+00:00"
                session = Session(
                    number=number,
                    id=commit,
                    goal=subject[:GOAL_CHARS],
                    summary=body.strip()[:SUMMARY_CHARS],
                    created_at=when,
                    updated_at=when,
                )
                insert(connection, session)
        for hit in resembling(store, goal, limit=len(earlier)):
            yield hit.session.id, str(hit.level)
        store.database.close()


def count(clone: Path, rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Counter[str]]]:
    """Yield for each goal its half, and what was wanted, found and right by level."""
    named = {row["goal"] for row in rows} | {it for row in rows for it in row["same_work"]}
    found = commits(clone, rows[0]["first"], named)
    hashes = [commit for commit, _, _ in found]
    for row in rows:
        at, wanted = hashes.index(row["goal"]), set(row["same_work"])
        counted = Counter(wanted=len(wanted), earlier=at)
        for commit, level in levels(found[:at], found[at][1]):
            for name in LEVELS[LEVELS.index(level) :]:
                counted[f"{name} found"] += 1
                counted[f"{name} right"] += commit in wanted
        yield row["half"], counted


def main() -> int:
    """Print precision and recall of hits of at least a level, for both halves."""
    parser = argparse.ArgumentParser(description="How often a session of a level is about the same")
    parser.add_argument("directory", type=Path, metavar="DIR", help="holds the clones")
    directory = parser.parse_args().directory
    labels = [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]
    halves: dict[str, Counter[str]] = {}
    for project in dict.fromkeys(row["repository"] for row in labels):
        clone = clone_of(directory, project)
        if clone is None:
            print(f"no clone: git clone https://github.com/{project} in {directory}")
            return 1
        for half, counted in count(clone, [row for row in labels if row["repository"] == project]):
            halves.setdefault(half, Counter()).update(counted)
    for half, counted in sorted(halves.items()):
        print(f"{half}: {counted['wanted']} about the same among {counted['earlier']:,}")
        for name in LEVELS:
            right, found = counted[f"{name} right"], counted[f"{name} found"]
            precision, recall = right / max(found, 1), right / counted["wanted"]
            print(f"  at least {name:<7} precision {precision:.2f}  recall {recall:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
