"""Measures whether the lesson that a change needs is shown at a session start, or at a prompt.

`python benchmarks/session_start.py DIR [--draws 3] [--only OWNER/NAME …]` takes labelled changes of
the tuned half of `real/` from the clones in DIR, puts the lessons of a project among others into
memories of 50, 200 and 1,000 records, and looks for the needed ones in what a session start shows:
as it was before it read git (principles, then the newest), and as it is. Then the same for prompts.
`--times` starts hooks beside an empty process instead, and needs no clone. README.md beside this
file says how everything is counted.
"""

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

# A script finds only the modules of its own directory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import make_project
from real_changes import RealSet, clone_of, missing, sets
from real_memories import ROOT, commit_of, git, memory, record

from core.config import Settings
from core.lessons.briefing import Briefing, prompt_briefing, session_briefing
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from core.lessons.task import Work, by_work, for_prompt
from core.text.plain import estimate_tokens

SIZES = (50, 200, 1_000)
COMMITS, PROMPT_CHARS, RESAMPLES, ROUNDS = 5, 1_500, 1_000, 15
NUMBER, KIND = re.compile(r" \(#\d+\)$"), re.compile(r"^\w+(?:\([^)]*\))?!?: ")
# is_own, principles: what stands around the lessons, and how much of all are principles.
MEMORIES = ((False, 0.0), (True, 0.0), (False, 0.3))
# What users type all day and what no lesson is about; written for this benchmark.
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


Counts = list[tuple[int, int]]  # for each case: of the lessons that it needs, how many were shown


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled change, or a prompt: the lessons that it needs, and those that do no harm."""

    needed: frozenset[str]
    optional: frozenset[str]
    commit: str = ""
    path: str = ""
    prompt: str = ""


ByCase = dict[Case, tuple[int, int]]  # over all memories, which are drawn around the same cases


def last_commits(clone: Path, name: str) -> list[tuple[str, list[str]]]:
    """Return subjects and files of the last commits before one, as the hook asks for them."""
    asked = ("--no-merges", "--no-renames", "--name-only", "--format=%x01%s")
    before = commit_of(clone, name).parent
    said = git(clone, "log", f"-{COMMITS}", *asked, before) if before else ""
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


def interval(counts: Counts) -> tuple[float, float, float]:
    """Return a share and its 95 % interval: cases are drawn anew, since one may need several."""
    rng = random.Random(18)
    shares = []
    for _ in range(RESAMPLES):
        drawn = rng.choices(counts, k=len(counts))
        shares.append(sum(had for had, _ in drawn) / max(1, sum(of for _, of in drawn)))
    shares.sort()
    had, of = map(sum, zip(*counts, strict=True))
    return had / of, shares[RESAMPLES // 40], shares[-RESAMPLES // 40]


def print_starts(directory: Path, tuned: Sequence[RealSet], draws: int) -> None:
    """Print the share of needed lessons that a session start shows, before and now."""
    print(f"{'needed lesson at the start':44}" + "".join(f"{size:>20,}" for size in SIZES))
    for (is_own, principles), is_clean in product(MEMORIES, (True, False)):
        before, now = dict[int, ByCase](), dict[int, ByCase]()
        for size, real, draw in product(SIZES, tuned, range(draws)):
            log = memory(directory, real, size, draw=draw, is_own=is_own, principles=principles)
            settings = Settings()
            then = session_briefing(log, project="/project", settings=settings)
            for case in changes_in_need(real):
                work = work_before(_clone(directory, real), case, is_clean=is_clean)

                def near(log: MemoryLog = log, work: Work = work) -> Sequence[Record]:
                    return by_work(log.records, work)

                here = session_briefing(log, project="/project", settings=settings, near=near)
                for counts, shown in ((before, then), (now, here)):
                    had, of = counts.setdefault(size, {}).get(case, (0, 0))
                    counts[size][case] = had + held(shown, case), of + len(case.needed)
        around = "own commits" if is_own else "others"
        label = f"{around}, {principles:.0%} principles, {'clean' if is_clean else 'changes'}"
        for way, counts in (("before", before), ("now", now)):
            shares = (interval([*counts[size].values()]) for size in SIZES)
            cells = "".join(f"{f'{it[0]:.2f} ({it[1]:.2f}-{it[2]:.2f})':>20}" for it in shares)
            print(f"{f'{label}: {way}':44}{cells}", flush=True)


def _clone(directory: Path, real: RealSet) -> Path:
    clone = clone_of(directory, real.project)
    assert clone is not None, f"{real.project} was chosen for its clone"
    return clone


def held(briefing: Briefing, case: Case) -> int:
    """Return how many of the needed lessons a text shows."""
    return len(case.needed & {it.id for it in briefing.records})


def labelled_prompts() -> Iterator[tuple[MemoryLog, Case]]:
    """Yield the prompts of the tuned sample actions, each with the memory of its project."""
    for line in (ROOT / "benchmarks" / "actions_tuned.jsonl").read_text("utf-8").splitlines():
        given = json.loads(line)
        log = MemoryLog.parse(b"".join(record(it).to_line() for it in given["records"]))
        for it in given["actions"]:
            if it["kind"] == "prompt":
                ids = frozenset(it["expected"]), frozenset(it["acceptable"])
                yield log, Case(*ids, prompt=it["text"])


def commit_prompts(
    directory: Path, tuned: Sequence[RealSet], *, has_body: bool
) -> Iterator[tuple[MemoryLog, Case]]:
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
            commit = commit_of(_clone(directory, real), name)
            text = KIND.sub("", NUMBER.sub("", commit.subject))
            text = f"{text}\n{commit.body}"[:PROMPT_CHARS] if has_body else text
            yield log, Case(frozenset(needed[name]), frozenset(optional[name]), prompt=text)


def chatter(tuned: Sequence[RealSet]) -> Iterator[tuple[MemoryLog, Case]]:
    """Yield what needs nothing, in each of the projects."""
    for real in tuned:
        log = MemoryLog.parse(b"".join(record(it).to_line() for it in real.lessons))
        yield from ((log, Case(frozenset(), frozenset(), prompt=text)) for text in CHATTER)


def print_prompts(directory: Path, tuned: Sequence[RealSet]) -> None:
    """Print what prompts are shown, with what it costs."""
    heads = ("prompts", "needed", "shown", "right of shown", "silence", "tokens")
    print(f"\n{'prompts':24}" + "".join(f"{head:>18}" for head in heads))
    for label, found in (
        ("sample prompts", labelled_prompts()),
        ("commit subjects", commit_prompts(directory, tuned, has_body=False)),
        ("subjects and bodies", commit_prompts(directory, tuned, has_body=True)),
        ("chatter", chatter(tuned)),
    ):
        counts, right, wrong, quiet, silent, tokens = Counts(), 0, 0, 0, 0, 0
        for log, case in found:
            chosen = for_prompt(case.prompt, log.records, log.count, {})
            briefing = prompt_briefing(chosen)
            ids = {it.id for it in briefing.records}
            counts.append((held(briefing, case), len(case.needed)))
            right += len(ids & case.needed)
            wrong += len(ids - case.needed - case.optional)
            tokens += estimate_tokens(briefing.text)
            if not case.needed | case.optional:
                quiet += 1
                silent += not ids
        needed = sum(of for _, of in counts)
        share = "{:.2f} ({:.2f}-{:.2f})".format(*interval(counts)) if needed else "-"
        cells = (
            *(f"{len(counts)}", f"{needed}", share),
            f"{right / (right + wrong):.2f}" if right + wrong else "-",
            *(f"{silent / quiet:.2f} of {quiet}", f"{tokens / len(counts):.0f}"),
        )
        print(f"{label:24}" + "".join(f"{cell:>18}" for cell in cells))


def print_times() -> None:
    """Print what a session start costs above an empty process, with and without git."""
    print(f"{'session start, ms above an empty process':44}{'git':>10}{'no git':>10}{'bare':>10}")
    for size in (10, *SIZES):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory, "project")
            make_project(root, size)
            _make_history(root)
            cells = "".join(f"{it:10.1f}" for it in _hook_ms(root, Path(directory)))
        print(f"{f'{size:,} records':44}{cells}", flush=True)


def _make_history(root: Path) -> None:
    """Make a repository of this one's files, with six commits and two changes."""
    for name in ("commands", "core", "docs"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    who = ("-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgSign=false")
    call = ("git", *who, "-C", str(root))
    subprocess.run((*call, "init", "--quiet"), check=True)
    for at in range(COMMITS + 1):
        (root / "docs" / "design.md").write_text(f"{at}\n")
        subprocess.run((*call, "add", "--all"), check=True)
        subprocess.run((*call, "commit", "--quiet", "-m", f"Change the design {at}"), check=True)
    (root / "docs" / "design.md").write_text("changed\n")
    (root / "core" / "store.py").write_text("changed\n")


def _hook_ms(root: Path, beside: Path) -> Iterator[float]:
    """Yield median milliseconds: of a hook with git above an empty process, without, of the latter.

    With byte code. The three take turns, since other work may share the machine.
    """
    environment = {
        **{name: it for name, it in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        "PYTHONPYCACHEPREFIX": str(beside / "byte code"),
        "SENTINEL_MEMORY_STATE": str(beside / "state"),
    }
    hook = (str(ROOT / "cli.py"), "hook", "session-start", "--client", "claude-code")

    def seconds(arguments: Sequence[str], payload: bytes = b"", **variables: str) -> float:
        begun = time.perf_counter()
        call, env = (sys.executable, *arguments), {**environment, **variables}
        subprocess.run(call, input=payload, env=env, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - begun

    found = []
    for at in range(ROUNDS + 1):
        told = {"cwd": str(root), "source": "startup"}
        with_git, without = (
            json.dumps({**told, "session_id": f"{at} {it}"}).encode() for it in ("git", "none")
        )
        bare = seconds(("-c", "pass"))
        above = seconds(hook, with_git) - bare
        found.append((above, seconds(hook, without, PATH=str(beside)) - bare, bare))
    for times in zip(*found[1:], strict=True):  # the first one leaves the byte code
        yield statistics.median(times) * 1_000


def main() -> int:
    """Print the tables; 2 when there is no clone."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("directory", type=Path, nargs="?", help="clones, each as owner+name")
    parser.add_argument("--draws", type=int, default=3, help="memories of each size (3)")
    parser.add_argument("--only", nargs="+", metavar="OWNER/NAME", help="of the projects, these")
    parser.add_argument("--times", action="store_true", help="what a session start costs instead")
    arguments = parser.parse_args()
    if arguments.times:
        print_times()
        return 0
    if arguments.directory is None:
        parser.error("DIR is needed, or --times")
    for line in missing(arguments.directory):
        print(f"missing: {line}", file=sys.stderr)
    tuned = [it for it in sets() if not it.is_unseen and clone_of(arguments.directory, it.project)]
    if arguments.only:
        tuned = [it for it in tuned if it.project in arguments.only]
    print_starts(arguments.directory, tuned, arguments.draws)
    print_prompts(arguments.directory, tuned)
    return 0


if __name__ == "__main__":
    sys.exit(main())
