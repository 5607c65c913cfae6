"""Makes memories of any size in which the lessons of a real project stand among others.

The others are lessons of other projects that this repository has, paragraphs of public documents in
the clones of a directory, read at run time, or messages of the project's own commits. README.md
beside this file says what each is for.
"""

import contextlib
import json
import os
import random
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from real_changes import RealSet, clone_of, sets

from core.lessons.log import MemoryLog
from core.lessons.record import Record

ROOT = Path(__file__).resolve().parent.parent
BEGIN, STEP = datetime.fromisoformat("2026-01-01T00:00:00+00:00"), timedelta(hours=7)
GUIDES = re.compile(
    r"(?:^|/)(?:CONTRIBUTING|AGENTS|CLAUDE|DEVELOPMENT)\.md$|^docs?/.*\.(?:md|rst)$"
)
TRAILER = re.compile(r"^(?:[A-Z][\w-]+-by: |\(cherry).*$", re.M)
MOST_GUIDES, MOST_OF_A_PROJECT = 12, 40


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of a clone, as far as a session start or a prompt could tell of it."""

    parent: str
    subject: str
    body: str
    files: tuple[str, ...]


@lru_cache(maxsize=4_096)
def git(clone: Path, *words: str) -> str:
    """Return what git prints of a clone."""
    environment = {name: it for name, it in os.environ.items() if name[:4] != "GIT_"}
    call = ("git", "-c", "core.quotePath=false", "-C", str(clone), *words)
    return subprocess.run(call, capture_output=True, check=True, env=environment).stdout.decode(
        "utf-8", "replace"
    )


def commit_of(clone: Path, name: str) -> Commit:
    """Return a commit, its files as they differ from its first parent."""
    parents, subject, body = git(clone, "log", "-1", "--format=%P%x00%s%x00%b", name).split("\0")
    first = parents.split()[:1]
    names = ("--no-commit-id", "--name-only", "--no-renames", "-r", "--root", *first, name)
    files = git(clone, "diff-tree", *names).splitlines()
    body = TRAILER.sub("", body).strip()
    return Commit(first[0] if first else "", subject, body, tuple(files))


def record(given: Mapping[str, Any]) -> Record:
    """Return a lesson as a log; its date and kind are drawn later."""
    return Record(
        id=given["id"],
        type="log",
        topic=given["topic"],
        missing_context=given.get("missing_context", ""),
        lesson=given["lesson"],
        ask_next_time=given.get("ask_next_time", ""),
        created=BEGIN.isoformat(),
        paths=tuple(given.get("paths") or ()),
    )


def written_elsewhere(project: str) -> Iterator[Record]:
    """Yield the lessons of other projects that this repository has, the unseen half left out."""
    for real in sets():
        if real.project != project and not real.is_unseen:
            yield from (record({**it, "id": f"{real.project}:{it['id']}"}) for it in real.lessons)
    for line in (ROOT / "benchmarks" / "actions_tuned.jsonl").read_text("utf-8").splitlines():
        given = json.loads(line)
        name = given["project"]
        yield from (record({**it, "id": f"{name}:{it['id']}"}) for it in given["records"])
    lines = (ROOT / "benchmarks" / "lessons.jsonl").read_text("utf-8").splitlines()
    yield from (record({**json.loads(it), "id": f"demo {at}"}) for at, it in enumerate(lines))
    queries = json.loads((ROOT / "tests" / "data" / "ranking_queries.json").read_text("utf-8"))
    yield from (record({**it, "id": f"query {at}"}) for at, it in enumerate(queries["records"]))


@lru_cache(maxsize=1)
def guidance(directory: Path) -> tuple[tuple[str, Record], ...]:
    """Return paragraphs of the documents of all clones, each as a lesson with its project."""
    unseen = {real.project for real in sets() if real.is_unseen}
    found = []
    for place in sorted(directory.iterdir()):
        project = place.name.replace("+", "/")
        clone = clone_of(directory, project)
        if clone is None or project in unseen:
            continue
        try:
            names = git(clone, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
        except subprocess.CalledProcessError:
            continue
        rng = random.Random(project)
        names = [name for name in names if GUIDES.search(name)]
        own: list[Record] = []
        for name in rng.sample(names, min(len(names), MOST_GUIDES)):
            with contextlib.suppress(subprocess.CalledProcessError):  # a clone may lack some files
                own += _paragraphs(project, name, git(clone, "cat-file", "blob", f"HEAD:{name}"))
        found += [(project, it) for it in rng.sample(own, min(len(own), MOST_OF_A_PROJECT))]
    return tuple(found)


def _paragraphs(project: str, name: str, text: str) -> Iterator[Record]:
    for at, part in enumerate(re.split(r"\n\s*\n", text)):
        words = re.sub(r"^[-*#>\d. ]+", "", " ".join(part.split()))
        if 80 <= len(words) <= 500 and words[0].isalpha() and "```" not in words:
            gap, _, rule = words.partition(". ")
            texts = {"missing_context": gap, "lesson": rule} if rule else {"lesson": words}
            topic = name.rsplit("/", 1)[-1].partition(".")[0][:40]
            yield record({"id": f"{project} {name} {at}", "topic": topic, **texts})


def own_history(clone: Path, until: str) -> Iterator[Record]:
    """Yield the messages of a project's own commits, each as a lesson: the hardest neighbours."""
    asked = ("--no-merges", "--no-renames", "--name-only", "--format=%x01%H%x00%s%x00%b%x00")
    said = git(clone, "log", *asked, until)
    for part in said.split("\1")[1:]:
        name, subject, body, files = part.split("\0")
        body = " ".join(TRAILER.sub("", body).split())[:400]
        places = files.split()
        if len(subject) < 25 or not places:
            continue
        topic = (places[0].split("/")[-2:-1] or ["root"])[0][:40]
        texts = {"missing_context": subject, "lesson": body} if body else {"lesson": subject}
        yield record({"id": name, "topic": topic, **texts})


def memory(
    directory: Path, real: RealSet, size: int, *, draw: int, is_own: bool, principles: float
) -> MemoryLog:
    """Return a memory with the lessons of a project anywhere in it; what else is there is drawn."""
    rng = random.Random(f"{real.project} {size} {draw} {is_own} {principles}")
    clone = clone_of(directory, real.project)
    others = list(written_elsewhere(real.project))
    guides = [it for project, it in guidance(directory) if project != real.project]
    rng.shuffle(others)
    rng.shuffle(guides)
    if is_own and clone:
        history = list(own_history(clone, real.about.get("lessons_until", "HEAD")))
        rng.shuffle(history)
        others = history + others
    lessons = [record(it) for it in real.lessons]
    found = lessons + (others + guides)[: size - len(lessons)]
    if len(found) < size:
        raise SystemExit(
            f"{directory}: too few documents for {size:,} records; clone more projects"
        )
    rng.shuffle(found)
    lines = [
        replace(
            it,
            created=(BEGIN + at * STEP).isoformat(),
            type="principle" if rng.random() < principles else "log",
        ).to_line()
        for at, it in enumerate(found)
    ]
    return MemoryLog.parse(b"".join(lines))
