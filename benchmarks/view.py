"""Measures `cli.py view` and its page: to write it, to open it, and to search in it key by key.

`python benchmarks/view.py [--quick]` prints a table and always exits 0: it is no test. It needs
git, chromium and chromedriver. README.md beside this file says how everything is counted.
"""

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

# A script finds only the modules of its own directory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import Row, make_project, seconds

from tests.support.git_clones import git
from tests.support.headless import Browser, found
from tests.support.session_samples import make_sample_store

CLI = Path(__file__).resolve().parent.parent / "cli.py"
COMMITS = 20
MOST_PRINTED = 500
ROUNDS = 7
WORDS = {
    "payment": ["p", "pa", "pay", "paym", "payme", "paymen", "payment"],
    "결제": ["ㄱ", "겨", "결", "결ㅈ", "결제"],
}
TARGET_EXPORT = 3.0
TARGET_BYTES = 2_000  # for each record
TARGET_PAGES = 0.1  # for each record, two columns of paper
TARGET_READY_MS = 1_000
TARGET_SCRIPT_MS = 16  # what a frame has
TARGET_FRAME_MS = 100  # what feels immediate

READY = """
const [done] = arguments;
new PerformanceObserver((list) => {
  const [seen] = list.getEntriesByName("first-contentful-paint");
  const [told] = performance.getEntriesByType("navigation");
  if (seen) done([told.domContentLoadedEventEnd, seen.startTime]);
}).observe({ type: "paint", buffered: true });
"""
# A frame is over when the next one begins: two callbacks, since the first comes before the paint.
TYPED = """
const [steps, isComposing, done] = arguments;
const box = document.querySelector("#q");
const next = (then) => requestAnimationFrame(then);
const frame = () => new Promise((resolve) => next(() => next(resolve)));
const long = [];
const watch = new PerformanceObserver((list) => long.push(...list.getEntries()));
watch.observe({ type: "longtask" });
(async () => {
  const taken = [];
  for (const step of steps) {
    await frame();
    box.value = step;
    const start = performance.now();
    box.dispatchEvent(new InputEvent("input", { inputType: "insertText", isComposing }));
    const script = performance.now() - start;
    await frame();
    taken.push([script, performance.now() - start]);
  }
  box.value = "";
  box.dispatchEvent(new InputEvent("input"));
  await frame();
  done([taken, long.filter((it) => it.duration > 50).length]);
})();
"""


class Case(NamedTuple):
    """How much a project has to show."""

    records: int
    sessions: int = 0

    def __str__(self) -> str:
        beside = f" + {self.sessions:,} sessions" if self.sessions else ""
        return f"{self.records:,} records{beside}"

    @property
    def shown(self) -> int:
        return self.records + self.sessions


CASES = (Case(50), Case(500), Case(500, 1_000), Case(5_000), Case(500, 2_000))


def make_history(root: Path, case: Case) -> None:
    """A project of so many records that came in twenty commits, and of so many sessions."""
    count = case.records
    log_path = make_project(root, count)
    if case.sessions:
        make_sample_store(root, case.sessions)
    lines = log_path.read_bytes().splitlines(keepends=True)
    git(root, "init", "--quiet")
    for turn in range(1, COMMITS + 1):
        log_path.write_bytes(b"".join(lines[: count * turn // COMMITS]))
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", "Log what was missing")


def written(rounds: int, root: Path, page: Path, case: Case) -> Iterator[Row]:
    """The command beside the plain export of the same records, taking turns."""
    output = ["--project", str(root), "--force", "-o"]
    commands = [
        [sys.executable, str(CLI), "view", *output, str(page)],
        [sys.executable, str(CLI), "export", *output, f"{page}.md"],
    ]

    def taken(side: int) -> float:
        return seconds(lambda: subprocess.run(commands[side], check=True, capture_output=True))

    pairs = []
    for turn in range(rounds + 1):
        both = {side: taken(side) for side in (turn % 2, 1 - turn % 2)}
        if turn:  # the first turn fills the caches of files and byte code
            pairs.append((both[0], both[1]))
    ratio = statistics.median(view / export for view, export in pairs)
    note = "view {:.2f} s, export {:.2f} s".format(
        *map(statistics.median, zip(*pairs, strict=True))
    )
    yield Row(f"{case}: view / export to Markdown", ratio, TARGET_EXPORT, "x", note)
    size = page.stat().st_size
    yield Row(
        f"{case}: page, for each",
        size / case.shown,
        TARGET_BYTES,
        "bytes",
        f"{size:,} in all",
    )


def opened(rounds: int, browser: Browser, page: Path, case: Case) -> Iterator[Row]:
    """From the navigation until the script has run, and until something is seen."""
    taken = []
    for _ in range(rounds):
        browser.open(page)
        taken.append(browser.js_later(READY))
    ready, shown = map(statistics.median, zip(*taken, strict=True))
    yield Row(
        f"{case}: opened and ready",
        ready,
        TARGET_READY_MS,
        "ms",
        f"first seen {shown:.0f} ms",
    )


def searched(rounds: int, browser: Browser, page: Path, case: Case) -> Iterator[Row]:
    """One key in the search: the script, and until the frame after it."""
    browser.open(page)
    for word, steps in WORDS.items():
        told: list[Any] = [
            browser.js_later(TYPED, steps, word != "payment") for _ in range(rounds + 1)
        ]
        keys = [key for taken, _ in told[1:] for key in taken]
        script, frame = map(statistics.median, zip(*keys, strict=True))
        worst = max(taken for taken, _ in keys)
        tasks = sum(long for _, long in told[1:])
        label = f"{case}: a key of {word}"
        yield Row(f"{label}: script", script, TARGET_SCRIPT_MS, "ms", f"worst {worst:.0f} ms")
        yield Row(
            f"{label}: frame", frame, TARGET_FRAME_MS, "ms", f"long tasks {tasks} of {len(keys)}"
        )


def printed(browser: Browser, page: Path, case: Case) -> Iterator[Row]:
    """All records on paper; more than 500 take Chromium long."""
    browser.open(page)
    pages = len(re.findall(rb"/Type\s*/Page\b", browser.printed()))
    yield Row(f"{case}: on paper", pages, TARGET_PAGES * case.shown, "pages")


def measured(cases: Sequence[Case], rounds: int) -> Iterator[Row]:
    """All rows, for one project after the other."""
    with (
        tempfile.TemporaryDirectory(prefix="sentinel-memory-view-") as scratch,
        Browser(Path(scratch, "profile")) as browser,
    ):
        for case in cases:
            name = f"{case.records}-{case.sessions}"
            root, page = Path(scratch, name), Path(scratch, f"{name}.html")
            make_history(root, case)
            yield from written(min(rounds, 5), root, page, case)
            yield from opened(rounds, browser, page, case)
            yield from searched(rounds, browser, page, case)
            if case.shown <= MOST_PRINTED:
                yield from printed(browser, page, case)


def main() -> None:
    """Measure and print; the exit code is 0 whatever the figures are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few rounds, no 5,000 records")
    quick = parser.parse_args().quick
    if not found():
        print("not measured: there is no chromium with its chromedriver on the PATH")
        return
    print(f"{'':<44} {'measured':>14} {'at most':>14}")
    for row in measured(CASES[: 2 if quick else None], 2 if quick else ROUNDS):
        print(row.line(), flush=True)


if __name__ == "__main__":
    main()
