"""Compares this server with other memory servers: start, calls, memory, tokens, lost saves.

The peers are installed on the first run, in the versions of benchmarks/peers/package-lock.json. The
servers take turns; a ratio is that of the same round. Status 1: this server lost an acknowledged
record or left an unreadable file, or a peer is missing where figures should be recorded. `--quick`
takes a minute or two. `--only SECTION` picks, and can be repeated.
"""

import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import measure
from losses import DAMAGES, STORED, Cell, Outcome, after_damage, burst, killed, race
from measure import ECHO, ECHO_CALL, ServerProcess, lessons, resident_mb, turns
from peers import INSTALLED, MARK, OTHERS, OURS, Call, Peer, marked_lessons
from tokens import Count, as_offered, session_costs, tokenizer

from core.lessons.record import Draft

TYPICAL, WORD = 50, "payment"
ECHO_NAME = "FastMCP echo"
SEED = 7  # of the moments of kills
WARM_UP = 5  # rounds of calls that do not count
DATA = "the curated lessons, half of them Korean, in every server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """How often each thing is done, and with how many records."""

    starts: int = 9
    calls: int = 40
    memory: int = 3
    races: int = 3
    saves_each: int = 100
    kills: int = 12
    counts: Sequence[int] = (50, 1_000)


QUICK = Rounds(starts=1, calls=5, memory=1, races=1, saves_each=10, kills=1, counts=(50,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure of each server."""

    label: str
    values: Mapping[str, Cell]
    ratios: Mapping[str, float] = field(default_factory=dict)  # to the first; less is better
    unit: str = ""
    broken: str = ""  # the losses of this project

    def line(self) -> str:
        """Return the row as it is printed."""
        cells = []
        for name, value in self.values.items():
            shown = f"{value:,.2f}".removesuffix(".00") if isinstance(value, float) else str(value)
            times = f" ({self.ratios[name]:.2f} x)" if name in self.ratios else ""
            cells.append(f"{name} {shown} {self.unit}".rstrip() + times)
        return f"{self.label}: {'; '.join(cells)} {self.broken}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One run. The first server is the one that the others are compared with."""

    scratch: Path
    rounds: Rounds
    peers: Sequence[Peer]

    def store(self, peer: Peer, count: int) -> Path:
        """Return a store of its own with so many marked records, filled through its own tools."""
        template = self.scratch / "filled" / peer.name / str(count)
        if not template.is_dir():
            template.mkdir(parents=True)
            peer.fill(template / peer.file_name, (draft for _, draft in marked_lessons(0, count)))
        copy = self.directory()
        shutil.copytree(template, copy, dirs_exist_ok=True)
        return copy / peer.file_name

    def sides(self, count: int) -> dict[str, tuple[Callable[[], ServerProcess], Call]]:
        """Return how each server of so many records is started and read, and the echo."""
        made: dict[str, tuple[Callable[[], ServerProcess], Call]] = {}
        for peer in self.peers:
            made[peer.name] = partial(peer.start, self.store(peer, count)), peer.read_all()
        return {**made, ECHO_NAME: (partial(ServerProcess, ECHO), (ECHO_CALL[0], {**ECHO_CALL[1]}))}

    def directory(self) -> Path:
        """Return a new empty directory."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix="project-", dir=self.scratch))


def measured(label: str, samples: Mapping[str, Sequence[float]], unit: str) -> Row:
    """Return a row of medians of each server's samples, and of the ratios within each round."""
    values: dict[str, Cell] = {}
    for name, them in samples.items():
        values[name] = float(statistics.median(them)) if them else None
    base, *others = samples
    ratios = {}
    for name in others if samples[base] else ():
        if samples[name]:
            rounds = zip(samples[name], samples[base], strict=True)
            ratios[name] = statistics.median(theirs / ours for theirs, ours in rounds)
    return Row(label=label, values=values, ratios=ratios, unit=unit)


# The costs of a server when nothing goes wrong.


def starts(plan: Plan) -> Iterator[Row]:
    """Yield the time from the start of the process to the first answer of a tool."""
    sides = plan.sides(TYPICAL)
    processor: dict[str, list[float]] = {name: [] for name in sides}
    wall: dict[str, list[float]] = {name: [] for name in sides}
    for turn, name in turns(sides, plan.rounds.starts + 1):
        begun, (start, first_call) = time.perf_counter(), sides[name]
        with start() as server:
            server.call(*first_call)
            took, used = time.perf_counter() - begun, measure.processor_s(server.pid)
        if turn:  # the first turn fills the caches of files and byte code
            wall[name].append(took)
            processor[name].append(used)
    yield measured("start, processor time", processor, "s")
    yield measured("start, to the first answer", wall, "s")


def calls(plan: Plan) -> Iterator[Row]:
    """Yield the time of single calls to servers that are already running."""
    peers = {peer.name: peer for peer in plan.peers}
    for count in plan.rounds.counts:
        servers = {name: peer.start(plan.store(peer, count)) for name, peer in peers.items()}
        servers[ECHO_NAME] = ServerProcess(ECHO)
        saves = {name: marked_lessons(count, 10_000) for name in peers}

        def save(peer: Peer, saves: Mapping[str, Iterator[tuple[str, Draft]]] = saves) -> Call:
            mark, draft = next(saves[peer.name])
            return peer.save(draft, mark)

        kinds: dict[str, Callable[[Peer], Call]] = {
            "read everything": lambda peer: peer.read_all(),
            "search": lambda peer: peer.search(WORD),
            "save": save,
        }
        try:
            for label, kind in kinds.items():
                took: dict[str, list[float]] = {name: [] for name in servers}
                for turn, name in turns(servers, plan.rounds.calls + WARM_UP):
                    begun = time.perf_counter()
                    call = kind(peers[name]) if name in peers else ECHO_CALL
                    servers[name].call(*call)
                    if turn >= WARM_UP:
                        took[name].append(1000 * (time.perf_counter() - begun))
                yield measured(f"{label}, {count:,} records", took, "ms")
        finally:
            for server in servers.values():
                server.close()


def memory(plan: Plan) -> Iterator[Row]:
    """Yield the resident memory of the process tree after one read."""
    for count in plan.rounds.counts:
        sides = plan.sides(count)
        samples: dict[str, list[float]] = {name: [] for name in sides}
        for _, name in turns(sides, plan.rounds.memory):
            start, first_call = sides[name]
            with start() as server:
                server.call(*first_call)
                samples[name].append(resident_mb(server.pid) or 0.0)
        yield measured(f"memory after reading {count:,} records", samples, "MB")


def tokens(plan: Plan) -> Iterator[Row]:
    """Yield the tokens of the tools, an answer and a save, and the records that an answer holds."""
    if count := tokenizer():
        figures = {peer.name: dict(token_figures(plan, peer, count)) for peer in plan.peers}
        for label in figures[plan.peers[0].name]:
            samples = {name: its[label] for name, its in figures.items()}
            yield measured(label, samples, "tokens")
    for many in plan.rounds.counts:
        found: dict[str, Cell] = {}
        for peer in plan.peers:
            with peer.start(plan.store(peer, many)) as server:
                found[peer.name] = len(set(MARK.findall(server.call(*peer.read_all()))))
        yield Row(label=f"records whole in an answer, of {many:,}", values=found)


def token_figures(plan: Plan, peer: Peer, count: Count) -> Iterator[tuple[str, list[int]]]:
    """Yield each figure with its label, in the order of the table; none where it is 0."""
    typical = lessons()[:TYPICAL]
    store = plan.directory() / peer.file_name
    peer.fill(store, typical)
    with peer.start(store) as server:
        offered = count(as_offered(server.request("tools/list")["tools"]))
        said = count(str(server.hello.get("instructions") or ""))
        if peer is OURS:  # as recorded: the order of the keys of a schema may cost one token
            offered, said, rules = session_costs("en", count).values()
            said += rules
        yield "tokens of the tools", [offered]
        yield "tokens of instructions and rules", [said] if said else []
        yield "tokens in every session", [offered + said]
        yield f"tokens to read {TYPICAL} records", [count(server.call(*peer.read_all()))]
        call = peer.save(lessons()[TYPICAL], "one-more")
        written = json.dumps(call[1], ensure_ascii=False, separators=(",", ":"))
        yield "tokens to write one record", [count(written)]
        yield "tokens of the answer to it", [count(server.call(*call))]
    for many in plan.rounds.counts[1:]:
        with peer.start(plan.store(peer, many)) as server:
            answer = count(server.call(*peer.read_all()))
            yield f"tokens of an answer from {many:,} records", [answer]


# Lost and damaged records.


def races(plan: Plan) -> Iterator[Row]:
    """Yield the fate of saves of two and eight processes, and of one with all in flight."""
    each = plan.rounds.saves_each
    kinds: dict[str, Callable[[Peer, Path], Outcome]] = {
        f"2 processes, {each} saves each": lambda peer, store: race(peer, store, 2, each),
        f"8 processes, {each} saves each": lambda peer, store: race(peer, store, 8, each),
        f"1 process, {each} saves in flight": lambda peer, store: burst(peer, store, each),
    }
    for label, run in kinds.items():
        outcomes: dict[str, list[Outcome]] = {peer.name: [] for peer in plan.peers}
        for _, peer in turns(plan.peers, plan.rounds.races):
            outcomes[peer.name].append(run(peer, plan.directory() / peer.file_name))
        figures: dict[str, Callable[[Outcome], float]] = {
            "acknowledged": lambda one: len(one.acknowledged),
            "of these lost": lambda one: len(one.lost),
            "refused": lambda one: len(one.refused),
        }
        yield from told(label, outcomes, figures, spread)


def told(
    label: str,
    outcomes: Mapping[str, Sequence[Outcome]],
    figures: Mapping[str, Callable[[Outcome], float]],
    over: Callable[[Iterable[float]], Cell],
) -> Iterator[Row]:
    """Yield figures over the outcomes of each server, with the losses of this project."""
    name = next(iter(outcomes))
    lost = sum(len(one.lost | one.older_lost) for one in outcomes[name])
    unreadable = sum(not one.readable for one in outcomes[name])
    loss = f"{name} lost {lost}, unreadable {unreadable}" if lost or unreadable else ""
    for what, figure in figures.items():
        values = {name: over(map(figure, them)) for name, them in outcomes.items()}
        broken = loss if what == "of these lost" else ""
        yield Row(label=f"{label}: {what}", values=values, broken=broken)


def spread(figures: Iterable[float]) -> str:
    """The median, and the least and the most where they differ."""
    ordered = sorted(figures)
    median, least, most = statistics.median(ordered), ordered[0], ordered[-1]
    return f"{median:,g}" + (f" ({least:,g} to {most:,g})" if least != most else "")


def kills(plan: Plan) -> Iterator[Row]:
    """Yield the fate of saves when the server is killed in the middle of one."""
    outcomes: dict[str, list[Outcome]] = {peer.name: [] for peer in plan.peers}
    for turn, peer in turns(plan.peers, plan.rounds.kills):
        dice = random.Random(SEED + turn)  # the same moments for all
        outcomes[peer.name].append(killed(peer, plan.store(peer, STORED), dice))
    figures: dict[str, Callable[[Outcome], float]] = {
        "saves acknowledged before": lambda one: len(one.acknowledged),
        "of these lost": lambda one: len(one.lost),
        "older records lost": lambda one: len(one.older_lost),
        "files unreadable": lambda one: not one.readable,
    }
    yield from told(f"{plan.rounds.kills} kills", outcomes, figures, sum)


def damages(plan: Plan) -> Iterator[Row]:
    """Yield the outcome of one read and one save after the file was damaged."""
    whats = (f"readable of {STORED}", "a save afterwards", f"of {STORED} still in the file")
    for damage in DAMAGES:
        found: dict[str, list[Cell]] = {}
        for peer in plan.peers:
            if peer.line_based or not damage.lines_only:
                found[peer.name] = after_damage(peer, plan.store(peer, STORED), damage)
        for at, what in enumerate((*whats, "foreign text")):
            values = {peer.name: found.get(peer.name, [None] * 4)[at] for peer in plan.peers}
            yield Row(label=f"{damage.label}: {what}", values=values)


SECTIONS: dict[str, Callable[[Plan], Iterator[Row]]] = {
    "start": starts,
    "calls": calls,
    "memory": memory,
    "tokens": tokens,
    "concurrency": races,
    "kills": kills,
    "damage": damages,
}


def available() -> list[Peer]:
    """Return the peers, installed where they are not; a failed installation is printed."""
    npm = [shutil.which("npm") or "npm", "ci", "--prefix", str(INSTALLED.parent)]
    npm += ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        if not INSTALLED.is_dir():
            subprocess.run(npm, check=True)  # in the versions of the lock file
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"The peers cannot be installed: {error}", file=sys.stderr)
        return []
    return list(OTHERS)


def main() -> int:
    """Measure and print."""
    parser = measure.options(__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds; records nothing")
    parser.add_argument("--only", action="append", choices=SECTIONS, help="can be repeated")
    given = parser.parse_args()
    peers = [OURS, *available()]
    found: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory(prefix="sentinel-memory-compare-") as directory:
        rounds = QUICK if given.quick else Rounds()
        plan = Plan(scratch=Path(directory), rounds=rounds, peers=peers)
        for name in given.only or SECTIONS:
            for row in SECTIONS[name](plan):
                print(row.line(), flush=True)
                found.setdefault(name, []).append(row)
    if given.record and not given.quick:
        if len(peers) < 1 + len(OTHERS):
            print("A peer is missing; nothing was recorded.", file=sys.stderr)
            return 1
        for name, some in found.items():
            figures = {it.label: {"values": it.values, "ratios": it.ratios} for it in some}
            versions = {"version": {"values": {peer.name: peer.version for peer in peers}}}
            measure.record(f"compare, {name}", DATA, figures | versions)
    return int(any(row.broken for some in found.values() for row in some))


if __name__ == "__main__":
    sys.exit(main())
