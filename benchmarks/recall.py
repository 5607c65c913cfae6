"""Measures whether the records that a hook shows before an action are those that it needs.

`python benchmarks/recall.py [--check]` prints what was right, what was missed and when it rightly
stayed silent, on labelled actions of ten projects, beside two simpler ways in the same run, and
what a hook costs beside a process that does nothing. With `--check` the exit status is 1 when a
floor is missed; times have none. With `--real DIR` it prints the same of real changes instead, from
the clones in DIR, of the projects on which weights may be chosen; `--unseen` of the others.
README.md beside this file says how everything is counted.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

# A script finds only the modules of its own directory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import TYPICAL_RECORDS, make_project
from real_changes import (
    AT,
    OWN,
    ChangedSourceError,
    RealSet,
    changes,
    clone_of,
    missing,
    past,
    sets,
)

from commands.hook.events import MOST_TEXT_CHARS, new_lines, paths_inside, read_moment
from commands.hook.surroundings import MOST_COMMITS, MOST_FILES, MOST_OF_COMMIT
from core.lessons.action import Action
from core.lessons.briefing import action_briefing
from core.lessons.recall import MOST_RECORDS, Surroundings, choose, surroundings_of
from core.lessons.record import Record
from core.text.plain import estimate_tokens
from core.text.ranking import rank

ROOT = Path(__file__).resolve().parent.parent
SETS = {"tuned": "actions_tuned.jsonl", "unseen": "actions_unseen.jsonl"}
HEAD = f"{'':34}{'precision':>10}{'recall':>8}{'silence':>9}   needed"
LENGTHS = (150, 600, 2_000)  # characters of what an agent writes or runs
KINDS = ("edit", "write", "shell", "prompt")
LANGUAGES = ("en", "ko", "mixed")
CREATED = "2026-01-01T00:00:00+00:00"
ROUNDS = 15
SESSION_ACTIONS, SESSIONS = 26, 100
REAL_FLOORS = {"precision": 0.35, "recall": 0.1, "silence": 0.93}
LONG_RECORDS = 1_000
TARGETS_MS = {TYPICAL_RECORDS: 60.0, LONG_RECORDS: 100.0}
FLOORS = {"precision": 0.85, "recall": 0.5, "silence": 0.95}

Way = Callable[["Labelled"], Sequence[Record]]


@dataclass(frozen=True, slots=True)
class Labelled:
    """One action and the ids of the records that it needs, and of those that do no harm.

    parts: what it is counted in beside all. around: what is common in its project.
    """

    parts: Sequence[str]
    action: Action
    records: Sequence[Record]
    expected: frozenset[str]
    acceptable: frozenset[str]
    around: Surroundings = field(default_factory=Surroundings)


@dataclass(slots=True)
class Score:
    """How often a way was right. needed: records that should have been shown."""

    right: int = 0
    wrong: int = 0
    needed: int = 0
    quiet: int = 0
    rightly_quiet: int = 0

    def add(self, case: Labelled, shown: Sequence[Record]) -> None:
        """Count what was shown at one action."""
        ids = {record.id for record in shown}
        self.right += len(ids & case.expected)
        self.wrong += len(ids - case.expected - case.acceptable)
        self.needed += len(case.expected)
        if not case.expected and not case.acceptable:
            self.quiet += 1
            self.rightly_quiet += not ids

    def figures(self) -> dict[str, float]:
        """precision: of what was shown; recall: of what was needed; silence: where it was right."""
        return {
            "precision": self.right / (self.right + self.wrong) if self.right else 0.0,
            "recall": self.right / self.needed if self.needed else 1.0,
            "silence": self.rightly_quiet / self.quiet if self.quiet else 1.0,
        }


def labelled(name: str) -> Iterator[Labelled]:
    """The actions of one set, each with the memory of its project."""
    for line in (ROOT / "benchmarks" / SETS[name]).read_text("utf-8").splitlines():
        project = json.loads(line)
        records = [_record(given) for given in project["records"]]
        for given in project["actions"]:
            path = given.get("path")
            yield Labelled(
                parts=(
                    given["kind"],
                    project["language"],
                    "hard" if given.get("hard", False) else "not hard",
                ),
                action=Action(
                    paths=[path] if path else [],
                    command=given.get("command", ""),
                    text=given.get("content") or given.get("text") or "",
                ),
                records=records,
                expected=frozenset(given["expected"]),
                acceptable=frozenset(given["acceptable"]),
            )


def real(directory: Path, *, unseen: bool) -> Iterator[Labelled]:
    """The real changes of one half, as far as there are clones, read from what a client sends."""
    for project in sets():
        clone = clone_of(directory, project.project)
        if project.is_unseen == unseen and clone is not None:
            yield from of_set(project, clone)


def of_set(project: RealSet, clone: Path) -> Iterator[Labelled]:
    """The real changes of one project. Raises ChangedSourceError when its clone lacks one."""
    records = [_record(given) for given in project.lessons]
    files, hunks = past(project, clone, MOST_COMMITS, MOST_OF_COMMIT)
    around = surroundings_of(
        records,
        [Action(paths=(path,), text=it.added, removed=it.removed) for path, it in hunks],
        files[:: len(files) // MOST_FILES + 1],
    )
    for change in changes(project, clone):
        moment = read_moment(change.client, "before-action", change.payload)
        brought = "\n".join(new_lines(moment.text, change.before)) or moment.text
        length = next((it for it in LENGTHS if change.chars <= it), 0)
        yield Labelled(
            parts=(
                project.project,
                change.form,
                change.client,
                f"{change.draw} draw",
                project.about["language"],
                f"up to {length:,}" if length else "longer",
            ),
            action=Action(
                paths=tuple(dict.fromkeys(paths_inside(AT, moment))),
                command=moment.command,
                text=(brought if moment.is_whole else moment.text)[:MOST_TEXT_CHARS],
                removed=moment.removed,
            ),
            records=records,
            around=around,
            expected=change.needed,
            acceptable=change.optional,
        )


def _record(given: Mapping[str, Any]) -> Record:
    return Record(
        id=given["id"],
        type="principle" if given.get("type") == "principle" else "log",
        topic=given["topic"],
        missing_context=given["missing_context"],
        lesson=given["lesson"],
        ask_next_time=given.get("ask_next_time", ""),
        created=CREATED,
        paths=tuple(given.get("paths") or ()),
        when=tuple(given.get("when") or ()),
    )


def recalled(case: Labelled) -> Sequence[Record]:
    """What a hook shows."""
    return choose(case.action, case.records, surroundings=case.around).records


def best_of_the_search(case: Labelled) -> Sequence[Record]:
    """What a search for the words of the action puts first: always as many as may be shown."""
    action, records = case.action, case.records
    query = " ".join([*action.paths, action.command, action.text])
    texts = [f"{it.topic} {it.missing_context} {it.lesson} {it.ask_next_time}" for it in records]
    return [records[at] for at in rank(query, texts)[:MOST_RECORDS]]


def anchored_only(case: Labelled) -> Sequence[Record]:
    """Records whose path anchors stand for a file of the action, and nothing else."""
    from core.lessons.anchors import matches

    found = [
        it
        for it in case.records
        if any(matches(own, path) for own in it.paths for path in case.action.paths)
    ]
    return found[-MOST_RECORDS:]


WAYS: dict[str, Way] = {
    "recall": recalled,
    "path anchors alone": anchored_only,
    "first 3 of the search": best_of_the_search,
}


def scores(cases: Iterable[Labelled], way: Way) -> dict[str, Score]:
    """The score of a way on these cases: of all of them, and by their parts."""
    found: dict[str, Score] = {}
    for case in cases:
        shown = way(case)
        for part in ("all", *case.parts):
            found.setdefault(part, Score()).add(case, shown)
    return found


KINDS_OF_RECORDS: dict[str, Callable[[Record], bool]] = {
    "with paths": lambda it: bool(it.paths),
    "with triggers": lambda it: bool(it.when),
    "with paths or triggers": lambda it: bool(it.paths or it.when),
    "with neither": lambda it: not (it.paths or it.when),
}


def by_anchors(cases: Iterable[Labelled], way: Way) -> dict[str, Score]:
    """The score of a way, of records with path anchors, with triggers and with neither."""
    found = {name: Score() for name in KINDS_OF_RECORDS}
    for case in cases:
        shown = way(case)
        for name, is_meant in KINDS_OF_RECORDS.items():
            ids = {it.id for it in case.records if is_meant(it)}
            part = replace(case, expected=case.expected & ids, acceptable=case.acceptable & ids)
            found[name].add(part, [it for it in shown if it.id in ids])
    return found


def tokens(cases: Sequence[Labelled], way: Way) -> float:
    """The estimated tokens that an action pays in the mean."""
    said = (action_briefing(way(case)).text for case in cases)
    return statistics.fmean(map(estimate_tokens, said))


def wrong_in_a_session(cases: Sequence[Labelled], way: Way) -> float:
    """How many records are wrongly shown in a session of 26 actions, each record once at most.

    The actions of a session are drawn from the natural ones of one project.
    """
    draw, wrong = random.Random(18), list[int]()
    of_project: dict[str, list[Labelled]] = {}
    for case in cases:
        if "natural draw" in case.parts:
            of_project.setdefault(case.parts[0], []).append(case)
    for listed in of_project.values():
        for _ in range(SESSIONS):
            shown, bad = set[str](), set[str]()
            for case in draw.sample(listed, min(SESSION_ACTIONS, len(listed))):
                fresh = {it.id for it in way(case)} - shown
                bad |= fresh - case.expected - case.acceptable
                shown |= fresh
            wrong.append(len(bad))
    return statistics.fmean(wrong)


def hook_ms(event: str, name: str, more: dict[str, object], records: int) -> tuple[float, float]:
    """Median milliseconds of a hook process above one that does nothing, and of the latter.

    The two take turns. With byte code, as setup leaves it: in a directory of its own, whatever the
    environment says.
    """
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        make_project(root, records)
        environment = {
            **{name: it for name, it in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            "PYTHONPYCACHEPREFIX": str(root / "byte code"),
            "SENTINEL_MEMORY_STATE": str(root / "state"),
        }
        hook = [str(ROOT / "cli.py"), "hook", event, "--client", "claude-code"]

        def seconds(arguments: Sequence[str], payload: bytes = b"") -> float:
            begun = time.perf_counter()
            subprocess.run(
                [sys.executable, *arguments],
                input=payload,
                env=environment,
                stdout=subprocess.DEVNULL,
                check=True,
            )
            return time.perf_counter() - begun

        above, bare = [], []
        for number in range(ROUNDS + 1):
            told = {"session_id": str(number), "cwd": directory, "hook_event_name": name, **more}
            bare.append(seconds(["-c", "pass"]))
            above.append(seconds(hook, json.dumps(told).encode()) - bare[-1])
        del above[0], bare[0]  # the first one leaves the byte code
        return statistics.median(above) * 1_000, statistics.median(bare) * 1_000


EDIT: dict[str, object] = {
    "tool_name": "Edit",
    "tool_input": {
        "file_path": "src/payment/refund.py",
        "new_string": "refund(order)\nif order.total > 500: approve(order.user)",
    },
}
# What is measured: our event, the client's, what it tells, and the records of the memory.
EVENTS: Sequence[tuple[str, str, dict[str, object], int]] = (
    ("session-start", "SessionStart", {"source": "startup"}, TYPICAL_RECORDS),
    ("before-action", "PreToolUse", EDIT, TYPICAL_RECORDS),
    ("before-action", "PreToolUse", EDIT, LONG_RECORDS),
    ("stop", "Stop", {}, TYPICAL_RECORDS),
)


def row(label: str, score: Score) -> str:
    """One line of a table."""
    shown = "{precision:10.2f}{recall:8.2f}{silence:9.2f}".format(**score.figures())
    return f"{label:34}{shown}{score.needed:>9}"


def print_real(directory: Path, *, unseen: bool) -> int:
    """Print the table of real changes; 1 when there is no clone of any of their projects."""
    for line in missing(directory):
        print(f"missing: {line}", file=sys.stderr)
    cases = list(real(directory, unseen=unseen))
    if not cases:
        return 1
    print(HEAD)
    for way_name, way in WAYS.items():
        known = {id(case): way(case) for case in cases}
        parts = scores(cases, lambda case, known=known: known[id(case)])  # type: ignore[misc]
        print(row(f"{'unseen' if unseen else 'tuned'}, {way_name}", parts.pop("all")))
        if way is recalled:
            print_parts(cases, parts, lambda case, known=known: known[id(case)])  # type: ignore[misc]
    return 0


def print_parts(cases: Sequence[Labelled], parts: Mapping[str, Score], way: Way) -> None:
    """Print the table of parts of real changes, and what a session pays."""
    for part, score in sorted(({**parts, **by_anchors(cases, way)}).items()):
        print(row(f"  {part}", score))
    print(f"  tokens of an action {tokens(cases, way):.1f}")
    print(f"  wrongly shown in {SESSION_ACTIONS} actions {wrong_in_a_session(cases, way):.1f}")


def missed_here() -> list[str]:
    """Floors that the real changes of this repository miss, where its history is there."""
    [own] = [it for it in sets() if it.project == OWN]
    try:
        cases = list(of_set(own, ROOT))
    except ChangedSourceError:
        print("the real changes of this repository are left out: this clone lacks its history")
        return []
    score = scores(cases, recalled)["all"]
    print(row("real changes of this repository", score))
    figures = score.figures()
    return [f"real changes here: {it}" for it, low in REAL_FLOORS.items() if figures[it] < low]


def main() -> int:
    """Print the tables; 1 when asked to check and a floor is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="status 1 below a floor; no times")
    parser.add_argument("--real", type=Path, metavar="DIR", help="real changes, from these clones")
    parser.add_argument("--unseen", action="store_true", help="of those, what nothing is chosen on")
    arguments = parser.parse_args()
    if arguments.real:
        return print_real(arguments.real, unseen=arguments.unseen)
    check = arguments.check
    missed = []
    print(HEAD)
    for name in SETS:
        for way_name, way in WAYS.items():
            parts = scores(labelled(name), way)
            wanted = ("all", "not hard", *KINDS, *LANGUAGES) if way is recalled else ("all",)
            for part in wanted:
                print(row(f"{name}, {way_name}" if part == "all" else f"  {part}", parts[part]))
            if way is recalled:
                figures = parts["all"].figures()
                missed += [f"{name}: {it}" for it, low in FLOORS.items() if figures[it] < low]
    missed += missed_here()
    if not check:
        print("\na hook above `python -c pass`, median")
        for event, name, more, records in EVENTS:
            above, bare = hook_ms(event, name, more, records)
            target = TARGETS_MS[records]
            verdict = "ok" if above <= target else "above"
            of_all = f"{above:7.1f} ms of {target:3.0f}  {verdict:6} (bare {bare:.1f} ms)"
            print(f"  {event:16}{records:6,} records{of_all}")
    for floor in missed:
        print(f"below its floor: {floor}")
    return int(check and bool(missed))


if __name__ == "__main__":
    sys.exit(main())
