"""Measures the server against the least that is possible on the same machine in the same run.

`python benchmarks/bench.py [--quick]` prints a table and always exits 0: it is no test. The start
is compared with that of a bare FastMCP server, round trips with a server that only echoes, saves
with a bare synced write of the same bytes; both sides of a comparison take turns, and the median
of the paired ratios is printed. README.md beside this file says where the targets come from.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

# A script finds only the modules of its own directory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from process import ServerProcess, processor_s

from core.config import CONTEXT_DIRECTORY, LOG_NAME, Settings
from core.lessons.answers import Frame, saved_answer, search_answer
from core.lessons.compaction import compaction_answer
from core.lessons.record import CACHED_LINES, Draft, new_record
from core.store import MemoryStore
from core.text.plain import estimate_tokens

ROOT = Path(__file__).resolve().parent.parent
SERVER = ROOT / "server.py"
ECHO = ROOT / "benchmarks" / "echo_server.py"
BARE = ROOT / "benchmarks" / "bare_server.py"
TYPICAL_RECORDS = 50
QUERY = "payment refund retry 결제 환불"
CREATED = "2026-01-01T00:00:00+00:00"

TARGET_START = 0.75
TARGET_SEARCH = 2.0
TARGET_SAVE = 1.0
TARGET_TOOLS_BYTES = 4_000
TARGET_SHOWN_BYTES = 2_048
TARGET_TOKENS = 6_250
TARGET_FILE_BYTES = 25_600
TARGET_S_PER_1000 = 0.1
TARGET_SAVE_S = 1.0
TARGET_MB_PER_1000 = 8.0
TARGET_GROWTH = 1.5
TOPICS = 200
GROWTH = (1_000, 10_000, 100_000)


@dataclass(frozen=True, slots=True)
class Row:
    """One figure beside the most that it should be."""

    name: str
    figure: float
    target: float
    unit: str
    note: str = ""

    def line(self) -> str:
        """The row of the table."""
        verdict = "ok" if self.figure <= self.target else "above"
        places = 2 if self.unit in ("x", "s", "MB") else 0
        shown = [f"{value:,.{places}f} {self.unit}" for value in (self.figure, self.target)]
        return f"{self.name:<44} {shown[0]:>14} {shown[1]:>14}  {verdict:<6} {self.note}".rstrip()


def seconds(action: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def typical_drafts(count: int) -> Iterator[Draft]:
    """So many different records like the curated lessons, in no more than `TOPICS` topics."""
    lines = (ROOT / "benchmarks/lessons.jsonl").read_text("utf-8").splitlines()
    lessons = [json.loads(line) for line in lines]
    for number in range(count):
        lesson, turn = lessons[number % len(lessons)], number // len(lessons)
        changed = {}
        if turn:
            changed["topic"] = f"{lesson['topic']}-{turn % (TOPICS // len(lessons) + 1)}"
            changed["missing_context"] = f"{lesson['missing_context']} ({turn})"
        yield Draft(**{**lesson, **changed})


def make_project(root: Path, count: int) -> Path:
    """A project with a memory log of so many records; the log."""
    log_path = root / CONTEXT_DIRECTORY / LOG_NAME
    log_path.parent.mkdir(parents=True)
    lines = [new_record(draft, now=CREATED).to_line() for draft in typical_drafts(count)]
    log_path.write_bytes(b"".join(lines))
    return log_path


def bare_write(directory: Path, data: bytes) -> None:
    """The least that a safe replacement costs: write, fsync, rename, fsync of the directory."""
    temporary, target = directory / "bare.tmp", directory / "bare"
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(target)
    if os.name != "nt":
        descriptor = os.open(directory, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def started(rounds: int, project: Path, *, listed: bool) -> Row:
    """(a) From the start of the process to the first answer of a tool, in processor time.

    listed: some clients ask for the list of tools before, others do not. Where the system does
    not tell the processor time of a running process, the time on the clock stands in for it.
    """

    def taken(script: Path, tool: str, *options: str, **arguments: str) -> float:
        start = time.perf_counter()
        server = ServerProcess([sys.executable, script, *options])
        if listed:
            server.request("tools/list")
        server.call(tool, arguments)
        elapsed = time.perf_counter() - start
        spent = processor_s(server.pid)
        server.close()
        return elapsed if spent is None else spent

    sides: list[Callable[[], float]] = [
        lambda: taken(SERVER, "search_memory", "--project", str(project), query=QUERY),
        lambda: taken(BARE, "echo", text="hello"),
    ]
    pairs: list[tuple[float, float]] = []
    for turn in range(rounds + 1):
        order = [turn % 2, 1 - turn % 2]
        spent = {side: sides[side]() for side in order}
        if turn:  # the first turn fills the caches of files and byte code
            pairs.append((spent[0], spent[1]))
    ratio = statistics.median(ours / bare for ours, bare in pairs)
    note = "ours {:.2f} s, bare {:.2f} s".format(*map(statistics.median, zip(*pairs, strict=True)))
    name = f"start to first answer{' with tools/list' if listed else ''} / bare"
    return Row(name, ratio, TARGET_START, "x", note)


def ours_on(log_path: Path) -> ServerProcess:
    """This server on the project of a memory log."""
    return ServerProcess([sys.executable, SERVER, "--project", log_path.parent.parent])


def round_trips(rounds: int, log_path: Path) -> list[Row]:
    """(b) and (c) Round trips of a search and of a save, at 50 records."""
    ours, echo = ours_on(log_path), ServerProcess([sys.executable, ECHO])
    draft = next(typical_drafts(1))
    gap = {"topic": draft.topic, "missing_context": draft.missing_context, "lesson": draft.lesson}
    actions: dict[str, Callable[[], object]] = {
        "echo": lambda: echo.call("echo", {"text": "hello"}),
        "search": lambda: ours.call("search_memory", {"query": QUERY}),
        "bare": lambda: bare_write(log_path.parent, log_path.read_bytes()),
        "save": lambda: ours.call("log_memory", gap),
    }
    taken: dict[str, list[float]] = {name: [] for name in actions}
    for turn in range(rounds + 5):
        names = list(actions)
        first = turn % len(names)  # each of them comes after each other, also on the disk
        for name in names[first:] + names[:first]:
            took = seconds(actions[name])
            if turn >= 5:  # warmed up
                taken[name].append(took)
    ours.close()
    echo.close()
    ms = {
        name: f"{name} {statistics.median(values) * 1000:.2f} ms" for name, values in taken.items()
    }
    pairs = list(zip(*taken.values(), strict=True))
    search = statistics.median(search / echo for echo, search, _, _ in pairs)
    save = statistics.median(save / (echo + 1.5 * bare) for echo, _, bare, save in pairs)
    return [
        Row("search_memory / echo", search, TARGET_SEARCH, "x", f"{ms['search']}, {ms['echo']}"),
        Row(
            "log_memory / (echo + 1.5 bare writes)",
            save,
            TARGET_SAVE,
            "x",
            f"{ms['save']}, {ms['bare']}",
        ),
    ]


def sizes(log_path: Path) -> list[Row]:
    """(d) What a client pays for: the tool list, the texts it may cut, a typical answer."""
    server = ours_on(log_path)
    listed = server.request("tools/list")
    answer = server.call("search_memory", {"query": QUERY})
    server.close()
    described = max(len(tool["description"].encode()) for tool in listed["tools"])
    instructions = len(str(server.hello["instructions"]).encode())
    listed_bytes = len(json.dumps(listed, ensure_ascii=False, separators=(",", ":")).encode())
    return [
        Row("tools/list result", listed_bytes, TARGET_TOOLS_BYTES, "bytes"),
        Row("longest tool description", described, TARGET_SHOWN_BYTES, "bytes"),
        Row("server instructions", instructions, TARGET_SHOWN_BYTES, "bytes"),
        Row(
            "search answer, 50 records (estimate)", estimate_tokens(answer), TARGET_TOKENS, "tokens"
        ),
        Row("memory log, 50 records", log_path.stat().st_size, TARGET_FILE_BYTES, "bytes"),
    ]


def growth(root: Path, counts: Sequence[int]) -> Iterator[Row]:
    """(e) Time and peak memory inside the server with so many records, and how both grow."""
    before: dict[str, tuple[float, float]] = {}
    for count in counts:
        thousands = count / 1000
        now = {name: (took, peak) for name, took, peak in measured_at(root, count)}
        for name, (took, peak) in now.items():
            target = TARGET_S_PER_1000 * thousands
            most = min(target, TARGET_SAVE_S) if name == "log" else target
            yield Row(f"{name} at {count:,} records", took, most, "s")
            label = f"{name} at {count:,} records: peak memory"
            yield Row(label, peak, TARGET_MB_PER_1000 * thousands, "MB")
        if count == counts[-1] and counts[-2] > CACHED_LINES:  # below, nothing is parsed anew
            times = count / counts[-2]
            for name in now:
                for at, what in enumerate(("time", "memory")):
                    figure = now[name][at] / before[name][at] / times
                    label = f"{name}: {what} for {times:.0f} x the records / {times:.0f}"
                    yield Row(label, figure, TARGET_GROWTH, "x")
        before = now


def measured_at(root: Path, count: int) -> Iterator[tuple[str, float, float]]:
    """Seconds and megabytes of each tool; every call reads the file anew, as the server does."""
    frame = Frame(project=str(root), settings=Settings())
    log_path = make_project(root / str(count), count)
    extra = Draft(topic="bench", missing_context="one more", lesson="one more")
    actions: dict[str, Callable[[], object]] = {
        "search": lambda: search_answer(MemoryStore(log_path).read(), frame, query=QUERY),
        "log": lambda: saved_answer(MemoryStore(log_path).upsert_log(extra), frame),
        "compact": lambda: compaction_answer(MemoryStore(log_path).read(), frame),
    }
    for name, action in actions.items():
        took = statistics.median(seconds(action) for _ in range(3))
        tracemalloc.start()  # slows everything down, so the time was taken before
        action()
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        yield name, took, peak
    log_path.unlink()


def main() -> None:
    """Measure and print; the exit code is 0 whatever the figures are."""
    parser = argparse.ArgumentParser(description="Benchmark of the Sentinel-Memory server")
    parser.add_argument("--quick", action="store_true", help="few rounds, no 100,000 records")
    quick = parser.parse_args().quick
    print(f"{'':<44} {'measured':>14} {'at most':>14}")
    with tempfile.TemporaryDirectory(prefix="sentinel-memory-bench-") as scratch:
        log_path = make_project(Path(scratch, "typical"), TYPICAL_RECORDS)
        project = log_path.parent.parent
        measures: list[Callable[[], Iterable[Row]]] = [
            lambda: [started(5 if quick else 15, project, listed=it) for it in (False, True)],
            lambda: sizes(log_path),
            lambda: round_trips(40 if quick else 300, log_path),
            lambda: growth(Path(scratch), GROWTH[: 2 if quick else 3]),
        ]
        for measure in measures:
            try:
                for row in measure():
                    print(row.line(), flush=True)
            except (OSError, RuntimeError, subprocess.SubprocessError) as error:
                print(f"not measured: {error}", flush=True)


if __name__ == "__main__":
    main()
