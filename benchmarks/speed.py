"""Measures the server, its rooms and its hooks against the least that is possible here, in one run.

A start is compared with that of a bare FastMCP server, a call with an echo, a save with an echo and
the synced writes that it cannot do without; the sides take turns. `--quick`: no 100,000 entries.
A limit must be missed three times to count, since other work of the machine may hit one side.
"""

import json
import os
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

from measure import (
    BARE,
    ECHO,
    ECHO_CALL,
    ROOT,
    SERVER,
    Figure,
    ServerProcess,
    in_turns,
    make_project,
    options,
    ours_on,
    processor_s,
    ratio,
    reported,
    rotated,
    typical_drafts,
)
from tokens import labelled_records

from core.config import Settings
from core.lessons.answers import Frame, saved_answer, search_answer
from core.lessons.compaction import compaction_answer
from core.lessons.record import Draft, utc_now
from core.store import MemoryStore
from core.text.plain import estimate_tokens
from rooms.fragments.fragment import KINDS, Fragment, hash_of
from rooms.fragments.storage.sqlite import SqliteEngine
from rooms.fragments.upkeep.statistics import ENDED
from rooms.sessions.store import insert, open_sessions
from tests.support.session_samples import sample_sessions

TYPICAL_RECORDS = 50
QUERY = "payment refund retry 결제 환불"
QUERIES = (
    *("redirect loop sign-in", "refresh token expired", "migration lock timeout", "refund retry"),
    *("로그인 리다이렉트", "토큰 만료 처리", "결제 환불 오류를", "마이그레이션 잠금"),
)
TRIES = 3
MOST_START, MOST_START_OF_ROOM = 0.75, 1.08  # of a bare server's, of our own without the room
MOST_S_PER_1000, MOST_MB_PER_1000, MOST_SAVE_S = 0.1, 8.0, 1.0
MINUTES = 525_600  # over which the fragments were saved
DATA = "made entries in both languages, beside an echo on the same machine"

Arguments = Mapping[str, Any]
Action = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool whose calls are timed.

    arguments: of one call after the other. writes: synced writes that a call cannot do without.
    most: by the number of entries, times the least that is possible.
    """

    name: str
    arguments: Iterator[Arguments]
    writes: float = 0.0
    most: Mapping[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A room whose tools are timed.

    make: a project with so many entries. write: the least durable change of such a store.
    """

    name: str
    make: Callable[[Path, int], None]
    write: Callable[[Path], Action]
    tools: Sequence[Tool]
    counts: Sequence[int]


# What is in the rooms.


def make_lessons(project: Path, count: int) -> None:
    """Save so many lessons."""
    make_project(project, count)


def make_sessions(project: Path, count: int) -> None:
    """Save so many different sessions, each a sample with words of other texts."""
    chance = random.Random(count)
    samples = [session for session, _ in sample_sessions(200)]
    words = _words()
    store = open_sessions(project, Settings())
    with store.writing() as connection:
        for number in range(1, count + 1):
            sample = samples[number % len(samples)]
            goal = f"{sample.goal}: {' '.join(chance.choices(words, k=3))}"[:500]
            summary = f"{sample.summary} {' '.join(chance.choices(words, k=25))}"[:2_000]
            made = f"ctx_{number:012x}"
            told = replace(sample, number=number, id=made, parent_id="", goal=goal, summary=summary)
            insert(connection, told)
    store.database.close()


def make_fragments(project: Path, count: int) -> None:
    """Save so many fragments of 20 words."""
    chance, words = random.Random(count), _words()
    begun = datetime(2025, 1, 1, tzinfo=UTC)
    made = []
    for number in range(count):
        content = " ".join(chance.choices(words, k=20))
        moment = begun + timedelta(minutes=MINUTES * number / count)
        made.append(
            Fragment(
                id=f"f{number}",
                content=content,
                content_hash=hash_of(content),
                estimated_tokens=estimate_tokens(content),
                topic=chance.choice(words)[:50],
                keywords=tuple(it[:50] for it in chance.choices(words, k=3)),
                kind=chance.choice(KINDS),  # type: ignore[arg-type]
                importance=chance.random(),
                created_at=moment.isoformat(timespec="seconds"),
            )
        )
    engine = SqliteEngine(project / "memory.db", timeout_s=10)
    with engine.writing() as writing:
        writing.add(made)
        writing.set_state({ENDED: utc_now()})  # else the daily upkeep takes turns with the calls
    engine.close()


def _words() -> list[str]:
    return [word for it in labelled_records() for text in it.texts for word in text.split()]


def new_texts(**more: str) -> Iterator[Arguments]:
    """Yield the arguments of saves: a new text each time, in the place of `$`."""
    number = 0
    while True:
        number += 1
        yield {name: text.replace("$", f"{number} {time.time_ns()}") for name, text in more.items()}


def bare_write(project: Path) -> Action:
    """Return the least that a safe replacement of 25 KB costs: write, fsync, rename, fsync."""
    data = b"x" * 25_000

    def write() -> None:
        temporary, target = project / "bare.tmp", project / "bare"
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        if os.name != "nt":
            descriptor = os.open(project, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)

    return write


def synced_commit(project: Path) -> Action:
    """Return the least that a durable change of a SQLite file costs: one row, one commit."""
    connection = sqlite3.connect(project / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS rows (text TEXT)")

    def commit() -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO rows VALUES (?)", ("x" * 1_000,))
        connection.execute("COMMIT")

    return commit


def rooms(*, quick: bool) -> list[Room]:
    """Return the rooms with their tools and limits."""
    sizes = (1_000, 10_000) if quick else (1_000, 10_000, 100_000)
    draft = next(typical_drafts(1))
    gap = {"topic": draft.topic, "missing_context": draft.missing_context, "lesson": draft.lesson}
    searched = {1_000: 2.0, 100_000: 10.0}
    goals = cycle({"currentGoal": session.goal} for session, _ in sample_sessions(40))
    lessons = [
        Tool(name="search_memory", arguments=cycle([{"query": QUERY}]), most={50: 2.0}),
        Tool(name="log_memory", arguments=cycle([gap]), writes=1.5, most={50: 1.0}),
    ]
    sessions = [
        Tool(
            name="context_search",
            arguments=cycle({"query": query} for query in QUERIES),
            most=searched,
        ),
        Tool(name="context_warn", arguments=goals, most=searched),
        Tool(name="context_get", arguments=cycle({"id": str(it)} for it in range(1, 200)), most={}),
        Tool(
            name="context_save",
            arguments=new_texts(goal="A new goal $", summary="Done.", status="completed"),
            writes=2,
            most=dict.fromkeys(sizes, 1.0),
        ),
    ]
    fragments = [
        Tool(
            name="recall",
            arguments=cycle({"text": query} for query in QUERIES),
            most={1_000: 4.0, 10_000: 4.0, 100_000: 28.0},
        ),
        Tool(name="remember", arguments=new_texts(content="A fragment of $", type="fact"), most={}),
    ]
    return [
        Room(
            name="lessons",
            make=make_lessons,
            write=bare_write,
            tools=lessons,
            counts=(TYPICAL_RECORDS, 1_000),
        ),
        Room(
            name="sessions",
            make=make_sessions,
            write=synced_commit,
            tools=sessions,
            counts=sizes,
        ),
        Room(
            name="fragments",
            make=make_fragments,
            write=synced_commit,
            tools=fragments,
            counts=sizes,
        ),
    ]


# What is measured.


def round_trips(room: Room, project: Path, count: int, rounds: int) -> Iterator[Figure]:
    """Yield what each tool takes, as times the least, and in milliseconds above an echo."""
    place = {"SENTINEL_MEMORY_FRAGMENTS": str(project / "memory.db")}
    with ours_on(project, room.name, **place) as ours, ServerProcess(ECHO) as echo:

        def call(tool: Tool) -> None:
            ours.call(tool.name, next(tool.arguments))

        actions: dict[str, Action] = {
            "echo": lambda: echo.call(*ECHO_CALL),
            "write": room.write(project),
            **{tool.name: partial(call, tool) for tool in room.tools},
        }
        taken = in_turns(actions, rounds)
    echoes = taken["echo"]
    for tool in room.tools:
        label = f"{tool.name} at {count:,}"
        pairs = zip(echoes, taken["write"], strict=True)
        least = [echo_s + tool.writes * write_s for echo_s, write_s in pairs]
        spent = sorted(taken[tool.name])
        note = f"p95 {1000 * spent[len(spent) * 95 // 100]:.1f} ms"
        times = ratio(taken[tool.name], least)
        yield Figure(f"{label}, times the least", times, "x", most=tool.most.get(count), note=note)
        above = [its - base for its, base in zip(taken[tool.name], echoes, strict=True)]
        yield Figure(f"{label}, above an echo", 1000 * statistics.median(above), "ms")
    yield Figure(f"echo beside {room.name} at {count:,}", 1000 * statistics.median(echoes), "ms")


def starts(project: Path, rounds: int) -> Iterator[Figure]:
    """Yield processor time to the first answer, beside a bare server and without other rooms."""
    search = ("search_memory", {"query": QUERY})
    sides: dict[str, tuple[list[str], tuple[str, Arguments] | None]] = {
        "bare": (BARE, ECHO_CALL),
        "lessons": (_command(project, "lessons"), search),
        "listed": (_command(project, "lessons"), None),
        "sessions": (_command(project, "lessons,sessions"), None),
        "fragments": (_command(project, "lessons,fragments"), None),
    }
    place = {"SENTINEL_MEMORY_FRAGMENTS": str(project / "memory.db")}
    spent: dict[str, list[float]] = {name: [] for name in sides}
    wall: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(rounds + 1):
        for name in rotated(list(sides), turn):
            command, first_call = sides[name]
            begun = time.perf_counter()
            with ServerProcess(command, place) as server:
                if first_call:
                    server.call(*first_call)
                else:
                    server.request("tools/list")
                took = time.perf_counter() - begun
                used = processor_s(server.pid)
            if turn:  # the first turn fills the caches of files and byte code
                wall[name].append(took)
                spent[name].append(took if used is None else used)
    beside = ratio(spent["lessons"], spent["bare"])
    yield Figure("start, times a bare server", beside, "x", most=MOST_START)
    yield Figure("start, seconds", min(wall["lessons"]), "s")
    for room in ("sessions", "fragments"):
        times = min(spent[room]) / min(spent["listed"])
        yield Figure(f"start with {room}, times without", times, "x", most=MOST_START_OF_ROOM)


def _command(project: Path, offered: str) -> list[str]:
    return [sys.executable, str(SERVER), "--project", str(project), "--rooms", offered]


def growth(root: Path, count: int) -> Iterator[Figure]:
    """Yield processor time and peak memory of each tool; a call reads the file anew."""
    frame = Frame(project=str(root), settings=Settings())
    extra = Draft(topic="bench", missing_context="one more", lesson="one more")
    store = MemoryStore(make_project(root / f"log-{count}", count))
    actions: dict[str, Action] = {
        "search": lambda: search_answer(store.read(), frame, query=QUERY),
        "save": lambda: saved_answer(store.upsert_log(extra), frame),
        "compaction": lambda: compaction_answer(store.read(), frame),
    }
    for name, action in actions.items():
        begun = time.process_time()
        for _ in range(3):
            action()
        took = (time.process_time() - begun) / 3
        tracemalloc.start()  # slows everything down, so the time was taken before
        action()
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        most = MOST_S_PER_1000 * count / 1000
        most = min(most, MOST_SAVE_S) if name == "save" else most
        yield Figure(f"{name} of {count:,} records in one process", took, "s", most=most)
        most_mb = MOST_MB_PER_1000 * count / 1000
        yield Figure(f"{name} of {count:,} records: peak memory", peak, "MB", most=most_mb)


EDIT = {
    "tool_name": "Edit",
    "tool_input": {
        "file_path": "src/payment/refund.py",
        "new_string": "refund(order)\nif order.total > 500: approve(order.user)",
    },
}
HOOKS: Mapping[str, Arguments] = {
    "session-start": {"hook_event_name": "SessionStart", "source": "startup"},
    "before-action": {"hook_event_name": "PreToolUse", **EDIT},
    "stop": {"hook_event_name": "Stop"},
}


def hooks(root: Path, rounds: int) -> Iterator[Figure]:
    """Yield what a hook takes of the processor above a process that does nothing.

    With byte code, as setup leaves it: in a directory of its own, whatever the environment says.
    """
    environment = {it: text for it, text in os.environ.items() if it != "PYTHONDONTWRITEBYTECODE"}
    environment |= {
        "PYTHONPYCACHEPREFIX": str(root / "byte code"),
        "SENTINEL_MEMORY_STATE": str(root / "state"),
    }

    def spent(*words: str, given: bytes = b"") -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, *words]
        quiet = subprocess.DEVNULL
        subprocess.run(command, input=given, env=environment, stdout=quiet, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    for count in (TYPICAL_RECORDS, 1_000):
        project = root / f"hooks-{count}"
        make_project(project, count)
        for event, told in HOOKS.items():
            words = (str(ROOT / "cli.py"), "hook", event, "--client", "claude-code")
            above = []
            for number in range(rounds + 1):
                payload = {"session_id": str(number), "cwd": str(project), **told}
                bare = spent("-c", "pass")
                above.append(spent(*words, given=json.dumps(payload).encode()) - bare)
            taken = 1000 * statistics.median(above[1:])  # the first one leaves the byte code
            yield Figure(f"hook {event} at {count:,} records", taken, "ms")


def tried(measure: Callable[[], Iterator[Figure]]) -> Iterator[Figure]:
    """Yield figures, measured again where a limit is missed."""
    for _ in range(TRIES):
        found = [*measure()]
        if not any(it.is_missed for it in found):
            break
    yield from found


def main() -> int:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, no 100,000 entries")
    given = parser.parse_args()
    rounds = 25 if given.quick else 120
    os.environ.pop("SENTINEL_MEMORY_ROOMS", None)

    def figures(root: Path) -> Iterator[Figure]:
        typical = root / "typical"
        make_project(typical, TYPICAL_RECORDS)
        yield from tried(lambda: starts(typical, 5 if given.quick else 9))
        for room in rooms(quick=given.quick):
            for count in room.counts:
                project = root / f"{room.name}-{count}"
                project.mkdir()
                room.make(project, count)
                yield from tried(partial(round_trips, room, project, count, rounds))
        for count in (1_000, 10_000) if given.quick else (1_000, 10_000, 100_000):
            yield from growth(root, count)
        yield from hooks(root, 3 if given.quick else 9)

    with tempfile.TemporaryDirectory(prefix="sentinel-memory-speed-") as scratch:
        return reported(figures(Path(scratch)), given, "speed", DATA)


if __name__ == "__main__":
    sys.exit(main())
