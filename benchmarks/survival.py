"""Measures how often the lesson that matters is shown in full, at small and large budgets.

`python benchmarks/survival.py [--check]` seeds the lessons of `survival.jsonl` among those of ten
other projects, asks for each of them with two tasks, one English and one Korean, through the real
answer of a search, and prints the share of the answers that hold the lesson whole. Nothing in it is
random. With `--check` the exit status is 1 when a floor is missed.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

# A script finds only the modules of its own directory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.config import CONTEXT_DIRECTORY, LOG_NAME, read_settings
from core.lessons.answers import Frame, search_answer
from core.lessons.record import Draft, Record, new_record
from core.lessons.record_text import record_block
from core.store import MemoryStore

ROOT = Path(__file__).resolve().parent.parent
OTHER_PROJECTS = ("actions_tuned.jsonl", "actions_unseen.jsonl")
CREATED = "2026-01-01T00:00:00+00:00"
BUDGETS_TOKENS = (1_000, 5_000, 20_000)
SIZES = (200, 500, 2_000)
WAYS = (
    "keywords",
    "keywords, other language",
    "task, same language",
    "task, other language",
    "nothing",
)
# A search with the keywords that its description asks for, among 500 records.
FLOORS = {1_000: 0.9, 5_000: 0.95, 20_000: 0.98}
FLOOR_SIZE = 500


@dataclass(frozen=True, slots=True)
class Task:
    """What a user asks for, what an agent would search for then, and the lesson that it needs."""

    language: str
    task: str
    query: str
    lesson: Record
    lesson_language: str

    @property
    def crosses(self) -> bool:
        """Whether task and lesson are in different languages: only keywords connect them."""
        return self.lesson_language not in (self.language, "mixed")


@dataclass(frozen=True, slots=True)
class Share:
    """Of how many tasks the lesson was shown whole, by the way of asking."""

    size: int
    budget_tokens: int
    tasks: int
    by_way: Mapping[str, float]


def seeded() -> list[Task]:
    """The tasks, two for each lesson, in the order of the file."""
    tasks = []
    for line in (ROOT / "benchmarks" / "survival.jsonl").read_text("utf-8").splitlines():
        given = json.loads(line)
        lesson = _record(given)
        for asked in given["tasks"]:
            tasks.append(
                Task(asked["language"], asked["task"], asked["query"], lesson, given["language"])
            )
    return tasks


def _record(given: Mapping[str, str]) -> Record:
    draft = Draft(
        topic=given["topic"],
        missing_context=given["missing_context"],
        lesson=given["lesson"],
        ask_next_time=given["ask_next_time"],
    )
    return new_record(draft, now=CREATED)


def distractors() -> Iterator[Record]:
    """Records of ten other projects, then the gaps of some with the lessons of others."""
    given = [
        record
        for name in OTHER_PROJECTS
        for line in (ROOT / "benchmarks" / name).read_text("utf-8").splitlines()
        for record in json.loads(line)["records"]
        if record["missing_context"]
    ]
    yield from map(_record, given)
    for shift in range(1, len(given)):
        for at, one in enumerate(given):
            other = given[(at + 7 * shift) % len(given)]
            yield _record({**one, "lesson": other["lesson"], "ask_next_time": ""})


def seeded_log(path: Path, lessons: Sequence[Record], size: int) -> None:
    """A log of so many records in which the lessons stand at even distances."""
    path.parent.mkdir(parents=True)
    lines = [record.to_line() for record in islice(distractors(), size - len(lessons))]
    step = size / len(lessons)
    for at, lesson in enumerate(lessons):
        lines.insert(int(at * step), lesson.to_line())
    path.write_bytes(b"".join(lines))


def shares(sizes: Sequence[int] = SIZES, tasks: Sequence[Task] | None = None) -> Iterator[Share]:
    """For each size and budget the share of tasks whose lesson is shown whole."""
    tasks = seeded() if tasks is None else tasks
    lessons = list(dict.fromkeys(task.lesson.id for task in tasks))
    records = {task.lesson.id: task.lesson for task in tasks}
    with tempfile.TemporaryDirectory(prefix="sentinel-memory-survival-") as scratch:
        for size in sizes:
            path = Path(scratch, str(size), CONTEXT_DIRECTORY, LOG_NAME)
            seeded_log(path, [records[it] for it in lessons], size)
            for budget_tokens in BUDGETS_TOKENS:
                yield _share(path, size, budget_tokens, tasks)


def _share(path: Path, size: int, budget_tokens: int, tasks: Sequence[Task]) -> Share:
    settings = read_settings({"SENTINEL_MEMORY_BUDGET": str(budget_tokens)})
    frame = Frame(project="/shop", settings=settings)
    log = MemoryStore(path).read()
    found: dict[str, list[bool]] = {}
    for task in tasks:
        block = f"\n{record_block(task.lesson)}\n"
        for way, query in (("keywords", task.query), ("task", task.task), ("nothing", "")):
            shown = block in search_answer(log, frame, query=query) + "\n"
            found.setdefault(way, []).append(shown)
            if query:
                language = "other" if task.crosses else "same"
                found.setdefault(f"{way}, {language} language", []).append(shown)
    by_way = {way: sum(hits) / len(hits) for way, hits in found.items()}
    return Share(size, budget_tokens, len(tasks), by_way)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="How often the lesson that matters is shown whole")
    parser.add_argument("--check", action="store_true", help="status 1 when a floor is missed")
    check = parser.parse_args().check
    missed = False
    for share in shares((FLOOR_SIZE,) if check else SIZES):
        ways = "  ".join(f"{way} {share.by_way[way]:.2f}" for way in WAYS)
        print(f"{share.size:>6,} records, {share.budget_tokens:>6,} tokens  {ways}", flush=True)
        if share.size == FLOOR_SIZE:
            missed |= share.by_way["keywords"] < FLOORS[share.budget_tokens]
    return int(missed and check)


if __name__ == "__main__":
    sys.exit(main())
