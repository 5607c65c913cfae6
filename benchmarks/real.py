"""Measures whether hooks show the lessons that an action needs, and no others.

Without DIR: labelled actions of ten invented projects, and the real changes of this repository.
DIR holds clones of public projects, each as owner+name; a missing one is named. With it:
their real changes, session starts before them, and marks on the points of guidance files.
"""

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import changes
from changes import AT, DIGITS, OWN, ChangedSourceError, RealSet, clone_of, git_text, record, sets
from labelled import rank
from measure import HERE, ROOT, Figure, options, read_lines, reported

from commands.hook.events import MOST_TEXT_CHARS, new_lines, paths_inside, read_moment
from commands.hook.surroundings import MOST_COMMITS, MOST_FILES, MOST_OF_COMMIT
from core.config import Settings
from core.guard.injection import marks_of
from core.lessons.action import Action
from core.lessons.briefing import prompt_briefing, session_briefing
from core.lessons.recall import MOST_RECORDS, Surroundings, choose_records, surroundings_of
from core.lessons.record import Record
from core.lessons.task import Work, choose_by_work, choose_for_prompt

SETS = {"tuned": "actions_tuned.jsonl", "unseen": "actions_unseen.jsonl"}
FLOORS = {"precision": 0.85, "recall": 0.5, "silence": 0.95}
# Of the real changes of this repository, and of the halves of those of public projects.
OWN_FLOORS = {"precision": 0.35, "recall": 0.1, "silence": 0.93}
REAL_FLOORS = {"precision": 0.4, "recall": 0.33, "silence": 0.86}
PROMPT_FLOORS = {"recall": 0.6, "silence": 0.65}
SIZES, DRAWS = (50, 200), 5  # records of a memory, and memories of each size
LEAST_CLEAN = {50: 0.65, 200: 0.5}  # of the needed lessons at a start
WORKS = ("by date", "clean", "changes")
COMMITS = 5
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
    """One action and the ids of the records that it needs, and of those that do no harm."""

    parts: Sequence[str]  # the scores that count it, beside "all"
    action: Action
    records: Sequence[Record]
    expected: frozenset[str]
    acceptable: frozenset[str]
    around: Surroundings = field(default_factory=Surroundings)  # samples of its project


@dataclass(slots=True)
class Score:
    """How often a way was right. needed: records that should have been shown."""

    right: int = 0
    wrong: int = 0
    needed: int = 0
    quiet: int = 0
    rightly_quiet: int = 0

    def add(self, case: Labelled, shown: Sequence[Record]) -> None:
        """Count the records that were shown at one action."""
        ids = {record.id for record in shown}
        self.right += len(ids & case.expected)
        self.wrong += len(ids - case.expected - case.acceptable)
        self.needed += len(case.expected)
        if not case.expected and not case.acceptable:
            self.quiet += 1
            self.rightly_quiet += not ids

    def figures(self) -> dict[str, float]:
        """precision: of the shown records; recall: of the needed; silence: where it was right."""
        return {
            "precision": self.right / (self.right + self.wrong) if self.right else 0.0,
            "recall": self.right / self.needed if self.needed else 1.0,
            "silence": self.rightly_quiet / self.quiet if self.quiet else 1.0,
        }


def labelled(name: str) -> Iterator[Labelled]:
    """The actions of one set, each with the memory of its project."""
    for project in read_lines(SETS[name]):
        records = [record(given) for given in project["records"]]
        for given in project["actions"]:
            paths, command = list(filter(None, [given.get("path")])), given.get("command", "")
            text = given.get("content") or given.get("text") or ""
            yield Labelled(
                parts=(given["kind"], project["language"]),
                action=Action(paths=paths, command=command, text=text),
                records=records,
                expected=frozenset(given["expected"]),
                acceptable=frozenset(given["acceptable"]),
            )


def of_set(project: RealSet, clone: Path) -> Iterator[Labelled]:
    """The real changes of one project. Raises ChangedSourceError when its clone lacks one."""
    records, at = [record(given) for given in project.lessons], project.about["lessons_until"]
    # The files when the lessons end, and hunks of the commits before that.
    files = git_text(clone, "ls-tree", "-r", "-z", "--name-only", at).split("\0")[:-1]
    before = list[Action]()
    for commit in git_text(clone, "rev-list", "--no-merges", f"-n{MOST_COMMITS}", at).split():
        try:
            changed = git_text(clone, *changes.DIFF, "-r", *changes.parents_of(clone, commit))
        except ChangedSourceError:  # a clone may lack large files
            continue
        listed = [
            Action(
                paths=(part.partition("\n")[0].rpartition(" b/")[2],),
                text=changes.signed(hunk, "+"),
                removed=changes.signed(hunk, "-"),
            )
            for part in f"\n{changed}".split("\ndiff --git ")
            for hunk in changes.hunks_in(part)
        ]
        before += listed[:: len(listed) // MOST_OF_COMMIT + 1]
    around = surroundings_of(records, before, files[:: len(files) // MOST_FILES + 1])
    for change in changes.changes(project, clone):
        moment = read_moment(change.client, "before-action", change.payload)
        brought = "\n".join(new_lines(moment.text, change.before)) or moment.text
        yield Labelled(
            parts=(project.about["language"],),
            action=Action(
                paths=tuple(dict.fromkeys(paths_inside(AT, moment))),
                command=moment.command,
                text=(brought if moment.new_content else moment.text)[:MOST_TEXT_CHARS],
                removed=moment.removed,
            ),
            records=records,
            around=around,
            expected=change.needed,
            acceptable=change.optional,
        )


def recalled(case: Labelled) -> Sequence[Record]:
    """Return the records that a hook shows."""
    return choose_records(case.action, case.records, surroundings=case.around).records


def best_of_the_search(case: Labelled) -> Sequence[Record]:
    """The first results of a search for the words of the action: as many as may be shown."""
    action, records = case.action, case.records
    query = " ".join([*action.paths, action.command, action.text])
    texts = [f"{it.topic} {it.missing_context} {it.lesson} {it.ask_next_time}" for it in records]
    return [records[at] for at in rank(query, texts)[:MOST_RECORDS]]


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


def figures_of(label: str, score: Score, floors: Mapping[str, float] = {}) -> Iterator[Figure]:
    """Yield precision, recall and silence of a score."""
    for name, value in score.figures().items():
        note = f"{score.needed} needed"
        yield Figure(f"{label}: {name}", value, least=floors.get(name), note=note)


def sample_actions() -> Iterator[Figure]:
    """Yield how often a hook is right at the labelled actions, and at the prompts among them."""
    for name in SETS:
        score = scores(labelled(name), recalled)["all"]
        yield from figures_of(f"sample actions, {name}, recall", score, FLOORS)
    prompts = Score()
    for case in labelled("tuned"):
        if "prompt" in case.parts:
            count = len(case.records)
            told = prompt_briefing(choose_for_prompt(case.action.text, case.records, count, {}))
            prompts.add(case, told.records)
    yield from figures_of("sample prompts", prompts, PROMPT_FLOORS)


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
        parts = scores(cases, recalled)
        yield from figures_of(f"{half}, recall", parts["all"], REAL_FLOORS)
        for part, score in {"ko": parts["ko"], **by_anchors(cases, recalled)}.items():
            yield from figures_of(f"{half}, recall, {part}", score)
        searched = scores(cases, best_of_the_search)["all"]
        yield from figures_of(f"{half}, first 3 of the search", searched)


# Session starts.


def work_before(clone: Path, action: Mapping[str, Any], *, way: str) -> Work:
    """Return the state of git before a change. way: `clean`, or `changes` of other files."""
    name, path = action["commit"], action["path"]
    *parents, _ = changes.parents_of(clone, name)
    differing = ("--no-commit-id", "--name-only", "--no-renames", "-r", "--root", *parents, name)
    files = git_text(clone, "diff-tree", *differing).splitlines()
    # Subjects and files of the last commits, as the hook asks for them.
    asked = ("--no-merges", "--no-renames", "--name-only", "--format=%x01%s", *parents)
    said = git_text(clone, "log", f"-{COMMITS}", *asked) if parents else ""
    parts = [part.strip("\n").split("\n") for part in said.split("\1")[1:]]
    commits = [(subject, list(filter(None, names))) for subject, *names in parts]
    rng = random.Random(f"{name} {path}")
    others = [it for it in files if it != path]
    changed = [it for it in others if rng.random() < 0.5] or others[:1]
    return Work(changed_files=changed if way == "changes" else [], commits=commits)


def session_starts(directory: Path) -> Iterator[Figure]:
    """Yield the share of needed lessons that a start shows, by date alone and by git's state."""
    clones = {it.project: clone_of(directory, it.project) for it in sets()}
    tuned = [(it, clone) for it in sets() if not it.is_unseen and (clone := clones[it.project])]
    for size in SIZES:
        shown, needed = Counter[str](), 0
        for (real, clone), draw in product(tuned, range(DRAWS)):
            log = changes.memory(real, size, draw)
            for action in real.actions:
                wanted = {*action["needed"]}
                needed += len(wanted)
                for way in WORKS if wanted else ():
                    work = Work() if way == "by date" else work_before(clone, action, way=way)
                    near = partial(choose_by_work, log.records, work)
                    told = session_briefing(log, project=AT, settings=Settings(), find_nearest=near)
                    shown[way] += len(wanted & {it.id for it in told.records})
        for way in WORKS:
            least = LEAST_CLEAN[size] if way == "clean" else None
            name = f"start, {size} records, other projects, {way}"
            yield Figure(name, shown[way] / needed, least=least)


# Marks.


class Passage(NamedTuple):
    """A point of a list or a paragraph."""

    line: int  # the first one, from 1
    lines: int
    text: str


class Guidance(NamedTuple):
    """A file of which lessons were drawn. lessons: line, lines, digest and kind of each."""

    repository: str
    commit: str
    path: str
    lang: str
    unseen: bool
    lessons: Sequence[tuple[int, int, str, str]]


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
    return [Guidance(**row) for row in read_lines(path)]


def marks(directory: Path, path: Path = MARKS) -> Iterator[Figure]:
    """Yield how many points of guidance files are taken for orders, of those that have a clone.

    Raises ChangedSourceError when a clone lacks a file or holds another one.
    """
    for half, is_unseen in (("tuned", False), ("unseen", True)):
        drawn, marked = 0, 0
        for it in guidance(path):
            clone = clone_of(directory, it.repository)
            if it.unseen != is_unseen or clone is None:
                continue
            points = passages(changes.content(clone, it.commit, it.path))
            found = {(point.line, point.lines): point.text for point in points}
            for line, lines, sha, _ in it.lessons:
                text = found.get((line, lines), "")
                if digest(text) != sha:
                    raise ChangedSourceError(f"{it.repository} {it.path}:{line}")
                drawn += 1
                marked += bool(marks_of(text))
        if drawn:
            yield Figure(f"marks, {half}: points", drawn)
            yield Figure(f"marks, {half}: marked", marked, most=MOST_MARKED * drawn)


def main() -> int:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("directory", nargs="?", type=Path, metavar="DIR", help="holds the clones")
    given = parser.parse_args()
    status = reported(sample_actions(), given, "actions", "sample actions of ten projects")
    status |= reported(own_changes(), given, "own changes", "this repository")
    if directory := given.directory:
        for name in (it.project for it in sets() if not clone_of(directory, it.project)):
            place = directory / name.replace("/", "+")
            print(f"missing: git clone --bare https://github.com/{name} {place}", file=sys.stderr)
            given.record = False  # figures of some projects are not those of all
        changed = real_changes(directory)
        status |= reported(changed, given, "real", "real changes of public projects")
        begun = session_starts(directory)
        status |= reported(begun, given, "starts", "real changes of public projects, tuned half")
        given.record &= all(clone_of(directory, it.repository) for it in guidance())
        status |= reported(marks(directory), given, "marks", "points of guidance files")
    return status


if __name__ == "__main__":
    sys.exit(main())
