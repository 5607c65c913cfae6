"""Measures whether hooks show the lessons that an action needs, and no others.

Without DIR: labelled actions of ten invented projects, and the real changes of this repository.
DIR holds clones of public projects, each as owner+name; what is missing there is named. With it:
their real changes, and marks on the points of guidance files.
"""

import json
import random
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from changes import (
    AT,
    DIGITS,
    OWN,
    ChangedSourceError,
    RealSet,
    changes,
    clone_of,
    content,
    missing,
    past,
    record,
    sets,
)
from measure import HERE, ROOT, Figure, options, reported

from commands.hook.events import MOST_TEXT_CHARS, new_lines, paths_inside, read_moment
from commands.hook.surroundings import MOST_COMMITS, MOST_FILES, MOST_OF_COMMIT
from core.guard.injection import marks_of
from core.lessons.action import Action
from core.lessons.anchors import matches
from core.lessons.briefing import action_briefing
from core.lessons.recall import MOST_RECORDS, Surroundings, choose, surroundings_of
from core.lessons.record import Record
from core.text.plain import estimate_tokens
from core.text.ranking import rank

SETS = {"tuned": "actions_tuned.jsonl", "unseen": "actions_unseen.jsonl"}
FLOORS = {"precision": 0.85, "recall": 0.5, "silence": 0.95}
# Of the real changes of this repository, and of the halves of those of public projects.
OWN_FLOORS = {"precision": 0.35, "recall": 0.1, "silence": 0.93}
REAL_FLOORS = {"precision": 0.4, "recall": 0.33, "silence": 0.86}
SESSION_ACTIONS, SESSIONS = 26, 100
MOST_MARKED = 0.01
MARKS = HERE / "marks.jsonl"
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ x]\]\s+)?")
_QUOTE = re.compile(r"\s*>\s?")
_OTHER = re.compile(r"\s*(?:#{1,6}\s|\||<|---|===|```|~~~|\.\. |:\w+:|@)")
_FENCE = re.compile(r"\s*(?:>\s*)?(```|~~~)")

Way = Callable[["Labelled"], Sequence[Record]]


# Actions.


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


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled commit or prompt: the lessons that it needs, and those that do no harm."""

    expected: frozenset[str]
    acceptable: frozenset[str]
    commit: str = ""
    path: str = ""
    prompt: str = ""


@dataclass(slots=True)
class Score:
    """How often a way was right. needed: records that should have been shown."""

    right: int = 0
    wrong: int = 0
    needed: int = 0
    quiet: int = 0
    rightly_quiet: int = 0

    def add(self, case: "Labelled | Case", shown: Sequence[Record]) -> None:
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
    for line in (HERE / SETS[name]).read_text("utf-8").splitlines():
        project = json.loads(line)
        records = [record(given) for given in project["records"]]
        for given in project["actions"]:
            path = given.get("path")
            yield Labelled(
                parts=(given["kind"], project["language"]),
                action=Action(
                    paths=[path] if path else [],
                    command=given.get("command", ""),
                    text=given.get("content") or given.get("text") or "",
                ),
                records=records,
                expected=frozenset(given["expected"]),
                acceptable=frozenset(given["acceptable"]),
            )


def of_set(project: RealSet, clone: Path) -> Iterator[Labelled]:
    """The real changes of one project. Raises ChangedSourceError when its clone lacks one."""
    records = [record(given) for given in project.lessons]
    files, hunks = past(project, clone, MOST_COMMITS, MOST_OF_COMMIT)
    around = surroundings_of(
        records,
        [Action(paths=(path,), text=it.added, removed=it.removed) for path, it in hunks],
        files[:: len(files) // MOST_FILES + 1],
    )
    for change in changes(project, clone):
        moment = read_moment(change.client, "before-action", change.payload)
        brought = "\n".join(new_lines(moment.text, change.before)) or moment.text
        yield Labelled(
            parts=(
                project.project,
                f"{change.draw} draw",
                project.about["language"],
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


def figures_of(
    label: str, score: Score, floors: Mapping[str, float] | None = None
) -> Iterator[Figure]:
    """Yield precision, recall and silence of a score."""
    for name, value in score.figures().items():
        least = (floors or {}).get(name)
        yield Figure(f"{label}: {name}", value, least=least, note=f"{score.needed} needed")


def sample_actions() -> Iterator[Figure]:
    """Yield how often a hook is right at the labelled actions, beside simpler ways."""
    for name in SETS:
        cases = list(labelled(name))
        for way_name, way in WAYS.items():
            parts = scores(cases, way)
            is_ours = way is recalled
            label = f"sample actions, {name}, {way_name}"
            yield from figures_of(label, parts.pop("all"), FLOORS if is_ours else None)
            for part, score in parts.items() if is_ours else ():
                yield from figures_of(f"{label}, {part}", score)


def own_changes() -> Iterator[Figure]:
    """Yield the same of the real changes of this repository, where its history is there."""
    [own] = [it for it in sets() if it.project == OWN]
    try:
        score = scores(of_set(own, ROOT), recalled)["all"]
    except ChangedSourceError:
        print("the real changes of this repository are left out: this clone lacks its history")
        return
    yield from figures_of("real changes of this repository", score, OWN_FLOORS)


def real_changes(directory: Path) -> Iterator[Figure]:
    """Yield the same of the real changes of both halves, as far as there are clones."""
    for half, is_unseen in (("tuned", False), ("unseen", True)):
        chosen = [it for it in sets() if it.is_unseen == is_unseen]
        clones = [(it, clone) for it in chosen if (clone := clone_of(directory, it.project))]
        cases = [case for project, clone in clones for case in of_set(project, clone)]
        if not cases:
            continue
        yield Figure(f"{half}: changes", len(cases))
        for way_name, way in WAYS.items():
            known = {id(case): way(case) for case in cases}

            def shown(
                case: Labelled, known: Mapping[int, Sequence[Record]] = known
            ) -> Sequence[Record]:
                return known[id(case)]

            parts = scores(cases, shown)
            is_ours = way is recalled
            label = f"{half}, {way_name}"
            yield from figures_of(label, parts["all"], REAL_FLOORS if is_ours else None)
            if is_ours:
                for part, score in {**parts, **by_anchors(cases, shown)}.items():
                    if part != "all" and not part.endswith("draw"):
                        yield from figures_of(f"{label}, {part}", score)
                yield Figure(f"{half}: estimated tokens of an action", tokens(cases, shown))
                wrong = wrong_in_a_session(cases, shown)
                yield Figure(f"{half}: wrong in {SESSION_ACTIONS} actions", wrong)


# Marks.


@dataclass(frozen=True, slots=True)
class Passage:
    """A point of a list or a paragraph: its first line (from 1), how many, and its words."""

    line: int
    lines: int
    text: str


@dataclass(frozen=True, slots=True)
class Guidance:
    """A file of which lessons were drawn. lessons: line, lines, digest of each."""

    repository: str
    commit: str
    path: str
    lang: str
    unseen: bool
    lessons: Sequence[tuple[int, int, str]]


def passages(text: str) -> Iterator[Passage]:
    """Yield the points and paragraphs of a document; headings, tables and code are none."""
    begun, words, fenced = 0, list[str](), False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        bare = _QUOTE.sub("", line.rstrip("\r"), count=1)
        ends = fenced or not bare.strip() or bool(_BULLET.match(bare) or _OTHER.match(bare))
        if ends and words:
            yield Passage(begun, number - begun, " ".join(words))
            words = []
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and bare.strip() and not _OTHER.match(bare):
            begun = begun if words else number
            words.append(_BULLET.sub("", bare, count=1).strip())


def digest(text: str) -> str:
    """Return the start of SHA-256 over the words of a lesson."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:DIGITS]


def guidance(path: Path = MARKS) -> list[Guidance]:
    """Return the files of the set."""
    rows: list[dict[str, Any]] = [json.loads(it) for it in path.read_text("utf-8").splitlines()]
    return [
        Guidance(**{**row, "lessons": [(at, lines, sha) for at, lines, sha, _ in row["lessons"]]})
        for row in rows
    ]


def texts(clone: Path, given: Guidance) -> Iterator[str]:
    """Yield the words of each lesson of a file.

    Raises ChangedSourceError when the clone lacks the file or holds another one.
    """
    found = {
        (it.line, it.lines): it.text for it in passages(content(clone, given.commit, given.path))
    }
    for line, lines, sha in given.lessons:
        text = found.get((line, lines), "")
        if digest(text) != sha:
            raise ChangedSourceError(f"{given.repository} {given.path}:{line}")
        yield text


def marks(directory: Path, path: Path = MARKS) -> Iterator[Figure]:
    """Yield how many points of guidance files are taken for orders, of those that have a clone."""
    for half, is_unseen in (("tuned", False), ("unseen", True)):
        drawn, marked = 0, 0
        for it in guidance(path):
            clone = clone_of(directory, it.repository)
            if it.unseen == is_unseen and clone is not None:
                for text in texts(clone, it):
                    drawn += 1
                    marked += bool(marks_of(text))
        if drawn:
            most = MOST_MARKED * drawn
            yield Figure(f"marks, {half}: points", drawn)
            yield Figure(f"marks, {half}: marked", marked, most=most)


def main() -> int:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("directory", nargs="?", type=Path, metavar="DIR", help="holds the clones")
    given = parser.parse_args()
    status = reported(sample_actions(), given, "actions", "sample actions of ten projects")
    status |= reported(own_changes(), given, "own changes", "this repository")
    if directory := given.directory:
        for line in missing(directory):
            print(f"missing: {line}", file=sys.stderr)
            given.record = False  # figures of some projects are not those of all
        changed = real_changes(directory)
        status |= reported(changed, given, "real", "real changes of public projects")
        given.record &= all(clone_of(directory, it.repository) for it in guidance())
        status |= reported(marks(directory), given, "marks", "points of guidance files")
    return status


if __name__ == "__main__":
    sys.exit(main())
