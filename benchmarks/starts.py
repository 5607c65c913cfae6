"""Measures whether the lesson that a change needs is shown at a session start, or at a prompt.

DIR holds clones of the projects of `real/`, each as owner+name; their tuned half is counted.
README.md beside this file says how everything is counted.
"""

import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from changes import RealSet, clone_of, commit_of, git_text, memory, missing, record, sets
from measure import HERE, ROOT, Figure, options, reported
from real import Case, Score, figures_of

from core.config import Settings
from core.lessons.briefing import Briefing, prompt_briefing, session_briefing
from core.lessons.log import MemoryLog
from core.lessons.task import Work, by_work, for_prompt

SIZES, DRAWS = (50, 200), 5  # records of a memory, and memories of each size
COMMITS, RESAMPLES = 5, 1_000
LEAST_CLEAN = {50: 0.65, 200: 0.5}  # among lessons of other projects
LEAST_PROMPTS = {"sample prompts": {"recall": 0.6, "silence": 0.65}}
NUMBER, KIND = re.compile(r" \(#\d+\)$"), re.compile(r"^\w+(?:\([^)]*\))?!?: ")
CHATTER = (
    *("thanks", "thank you, that looks good", "continue", "go on", "go on with it", "yes", "why?"),
    *("ok do it", "yes please, proceed", "looks good, commit it", "try again", "undo that", "stop"),
    *("run the tests again", "what did you change?", "explain that again", "hello", "fix it"),
    *("can you summarize what you did", "keep going until it is done", "never mind", "perfect"),
    *("no, the other one", "commit and push", "it still does not work", "show me the diff", "next"),
    *("what else is left?", "do the same for the other file", "please be brief"),
    *("계속해줘", "고마워", "네", "좋아요 진행해주세요", "다시 해봐", "응 그렇게 해줘", "왜?"),
    *("뭐가 바뀐거야?", "테스트 다시 돌려줘", "커밋해줘", "요약해줘", "그만", "안녕하세요", "다음"),
    *("아직 안 돼", "방금 거 되돌려줘", "설명 좀 더 해줘", "수고했어", "확인했어 고마워"),
    "나머지도 똑같이 해줘",
)


def last_commits(clone: Path, name: str) -> list[tuple[str, list[str]]]:
    """Return subjects and files of the last commits before one, as the hook asks for them."""
    asked = ("--no-merges", "--no-renames", "--name-only", "--format=%x01%s")
    before = commit_of(clone, name).parent
    said = git_text(clone, "log", f"-{COMMITS}", *asked, before) if before else ""
    parts = [part.strip("\n").split("\n") for part in said.split("\1")[1:]]
    return [(subject, list(filter(None, files))) for subject, *files in parts]


def work_before(clone: Path, case: Case, *, is_clean: bool) -> Work:
    """Return what git showed before a change: of the branch nothing, since a history lacks it.

    is_clean: nothing is changed yet; else each other file of the same commit is, by a toss.
    """
    rng = random.Random(f"{case.commit} {case.path}")
    others = [path for path in commit_of(clone, case.commit).files if path != case.path]
    changed = [] if is_clean else [path for path in others if rng.random() < 0.5] or others[:1]
    return Work(changed=changed, commits=last_commits(clone, case.commit))


def changes_in_need(real: RealSet) -> list[Case]:
    """Return the labelled changes that need a lesson."""
    return [
        Case(frozenset(it["needed"]), frozenset(it["optional"]), it["commit"], it["path"])
        for it in real.actions
        if it["needed"]
    ]


def interval(counts: Sequence[tuple[int, int]]) -> tuple[float, float, float]:
    """Return a share and its 95 % interval: cases are drawn anew, since one may need several."""
    rng = random.Random(18)
    shares = []
    for _ in range(RESAMPLES):
        drawn = rng.choices(counts, k=len(counts))
        shares.append(sum(had for had, _ in drawn) / max(1, sum(of for _, of in drawn)))
    shares.sort()
    had, of = map(sum, zip(*counts, strict=True))
    return had / of, shares[RESAMPLES // 40], shares[-RESAMPLES // 40]


def session_starts(directory: Path) -> Iterator[Figure]:
    """Yield the share of needed lessons that a start shows, by date alone and by what git tells.

    clean: nothing is changed yet; changes: half of the other files of the commit are.
    """
    tuned = [it for it in sets() if not it.is_unseen and clone_of(directory, it.project)]
    for is_own, size in product((False, True), SIZES):
        ways = {"by date": True, "clean": True, "changes": False}
        found: dict[str, dict[Case, tuple[int, int]]] = {way: {} for way in ways}
        for real, draw in product(tuned, range(DRAWS)):
            log = memory(directory, real, size, draw=draw, is_own=is_own)
            for case, (way, is_clean) in product(changes_in_need(real), ways.items()):
                clone = clone_of(directory, real.project) or ROOT
                work = work_before(clone, case, is_clean=is_clean)
                near = partial(by_work, log.records, work if way != "by date" else Work())
                told = session_briefing(log, project="/project", settings=Settings(), near=near)
                had, of = found[way].get(case, (0, 0))
                found[way][case] = had + held(told, case), of + len(case.expected)
        around = "own commits" if is_own else "other projects"
        for way, counts in found.items():
            share, low, high = interval([*counts.values()])
            note = f"{low:.2f} to {high:.2f}"
            least = LEAST_CLEAN[size] if way == "clean" and not is_own else None
            name = f"start, {size} records, {around}, {way}"
            yield Figure(name, share, least=least, note=note)


def held(briefing: Briefing, case: Case) -> int:
    """Return how many of the needed lessons a text shows."""
    return len(case.expected & {it.id for it in briefing.records})


def labelled_prompts() -> Iterator[tuple[MemoryLog, Case]]:
    """Yield the prompts of the tuned sample actions, each with the memory of its project."""
    for line in (HERE / "actions_tuned.jsonl").read_text("utf-8").splitlines():
        given = json.loads(line)
        log = MemoryLog.parse(b"".join(record(it).to_line() for it in given["records"]))
        for it in given["actions"]:
            if it["kind"] == "prompt":
                ids = frozenset(it["expected"]), frozenset(it["acceptable"])
                yield log, Case(*ids, prompt=it["text"])


def commit_prompts(directory: Path, tuned: Sequence[RealSet]) -> Iterator[tuple[MemoryLog, Case]]:
    """Yield messages of the labelled commits as prompts; needed is what any of their changes needs.

    Other changes of the same commit, which nobody labelled, may need more.
    """
    for real in tuned:
        log = MemoryLog.parse(b"".join(record(it).to_line() for it in real.lessons))
        needed, optional = dict[str, set[str]](), dict[str, set[str]]()
        for it in real.actions:
            needed.setdefault(it["commit"], set()).update(it["needed"])
            optional.setdefault(it["commit"], set()).update(it["optional"])
        for name in needed:
            commit = commit_of(clone_of(directory, real.project) or ROOT, name)
            text = KIND.sub("", NUMBER.sub("", commit.subject))
            yield log, Case(frozenset(needed[name]), frozenset(optional[name]), prompt=text)


def chatter(tuned: Sequence[RealSet]) -> Iterator[tuple[MemoryLog, Case]]:
    """Yield what needs nothing, in each of the projects."""
    for real in tuned:
        log = MemoryLog.parse(b"".join(record(it).to_line() for it in real.lessons))
        yield from ((log, Case(frozenset(), frozenset(), prompt=text)) for text in CHATTER)


def prompts(directory: Path) -> Iterator[Figure]:
    """Yield how often prompts get what they need, and those that need nothing get nothing."""
    tuned = [it for it in sets() if not it.is_unseen and clone_of(directory, it.project)]
    for label, found in (
        ("sample prompts", labelled_prompts()),
        ("commit subjects", commit_prompts(directory, tuned)),
        ("everyday prompts", chatter(tuned)),
    ):
        score, count = Score(), 0
        for log, case in found:
            count += 1
            records = prompt_briefing(for_prompt(case.prompt, log.records, log.count, {})).records
            score.add(case, records)
        yield Figure(f"{label}: prompts", count)
        yield from figures_of(label, score, LEAST_PROMPTS.get(label))


def main() -> int:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("directory", type=Path, metavar="DIR", help="holds the clones")
    given = parser.parse_args()
    for line in missing(given.directory):
        print(f"missing: {line}", file=sys.stderr)
        given.record = False  # figures of some projects are not those of all
    data = "real changes of public projects, the tuned half"
    status = reported(session_starts(given.directory), given, "starts", data)
    return status | reported(prompts(given.directory), given, "prompts", data)


if __name__ == "__main__":
    sys.exit(main())
