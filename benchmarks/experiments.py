"""What becomes of records when servers collide at one store or are killed.

A record counts as lost when its save was acknowledged and its text is not in the file afterwards.
"""

import random
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from peers import MARK, Peer, marked_lessons
from plan import Plan, rotated
from process import Refused, ServerProcess, result_of
from prose import KILLS_TEXT, RACES_NOTES, RACES_TEXT
from report import Cell, Row, Section, counted

from core.lessons.record import Draft

SEED = 7
STORED = 20
MOST_SAVES_BEFORE_KILL = 30
LATEST_KILL_S = 0.01


@dataclass(slots=True)
class Outcome:
    """What servers said of some saves, and what the file held afterwards."""

    acknowledged: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    before: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    readable: bool = False
    took_s: float = 0.0
    litter: int = 0

    @property
    def lost(self) -> set[str]:
        """Acknowledged, and not in the file."""
        return self.acknowledged - self.held

    @property
    def older_lost(self) -> set[str]:
        """In the file before the experiment, and not in the file afterwards."""
        return self.before - self.held


def race(peer: Peer, store: Path, processes: int, saves_each: int) -> Outcome:
    """So many servers on one store save at once, each one record after the other."""
    outcome = Outcome()
    servers = [peer.start(store) for _ in range(processes)]
    ready = threading.Barrier(processes)

    def save_all(at: int) -> None:
        ready.wait()
        for mark, draft in marked_lessons(at * saves_each, saves_each):
            save_one(servers[at], peer, mark, draft, outcome)

    threads = [threading.Thread(target=save_all, args=(at,)) for at in range(processes)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    outcome.took_s = time.perf_counter() - begun
    for server in servers:
        server.close()
    return judged(outcome, peer, store)


def burst(peer: Peer, store: Path, saves: int) -> Outcome:
    """One server gets all saves at once, as from a model that calls tools in parallel."""
    outcome = Outcome()
    answered: list[dict[str, Any]] = []
    with peer.start(store) as server:
        # Read while writing: both pipes are short, and a full one would stop server and client.
        reader = threading.Thread(target=_receive, args=(server, saves, answered))
        reader.start()
        begun = time.perf_counter()
        sent = {send_save(server, peer, mark, it): mark for mark, it in marked_lessons(0, saves)}
        reader.join()
        outcome.took_s = time.perf_counter() - begun
    for message in answered:
        try:
            result_of(message)
            outcome.acknowledged.add(sent[message["id"]])
        except Refused:
            outcome.refused.add(sent[message["id"]])
    return judged(outcome, peer, store)


def killed(peer: Peer, store: Path, dice: random.Random) -> Outcome:
    """A server is killed by SIGKILL at some moment of a save."""
    names = set(store.parent.iterdir())
    outcome = Outcome(before=peer.held(store))
    server = peer.start(store)
    saves = list(marked_lessons(10_000, MOST_SAVES_BEFORE_KILL + 2))
    last = dice.randint(1, MOST_SAVES_BEFORE_KILL)
    for mark, draft in saves[:last]:
        save_one(server, peer, mark, draft, outcome)
    mark, draft = saves[last]
    number = send_save(server, peer, mark, draft)
    time.sleep(dice.uniform(0, LATEST_KILL_S))
    if any(message["id"] == number and "result" in message for message in server.kill()):
        outcome.acknowledged.add(mark)
    judged(outcome, peer, store)
    with suppress(Refused), peer.start(store) as server:
        mark, draft = saves[last + 1]
        server.call(*peer.save(draft, mark))
    outcome.litter = sum(1 for path in set(store.parent.iterdir()) - names if _is_litter(path))
    return outcome


def save_one(server: ServerProcess, peer: Peer, mark: str, draft: Draft, outcome: Outcome) -> None:
    """Save a record and note what the server says of it."""
    try:
        server.call(*peer.save(draft, mark))
        outcome.acknowledged.add(mark)
    except Refused:
        outcome.refused.add(mark)


def send_save(server: ServerProcess, peer: Peer, mark: str, draft: Draft) -> int:
    """Ask for a save without waiting for the answer; the number of the request."""
    tool, arguments = peer.save(draft, mark)
    return server.send("tools/call", name=tool, arguments=arguments)


def judged(outcome: Outcome, peer: Peer, store: Path) -> Outcome:
    """The outcome with whether a fresh server can read the file, and what the file then holds.

    In this order, since a database rolls an interrupted change back when it is opened again.
    """
    outcome.readable = read_by_fresh_server(peer, store) is not None
    outcome.held = peer.held(store)
    return outcome


def read_by_fresh_server(peer: Peer, store: Path) -> set[str] | None:
    """The marks that a new server shows; None where it answers with an error or not at all."""
    try:
        with peer.start(store) as server:
            return set(MARK.findall(server.call(*peer.read_all())))
    except Refused:
        return None


def races_section(plan: Plan) -> Section:
    """Two and eight processes at one store, and one process with everything in flight."""
    each = plan.rounds.saves_each
    kinds: dict[str, Callable[[Peer, Path], Outcome]] = {
        f"2 processes, {each} saves each": lambda peer, store: race(peer, store, 2, each),
        f"8 processes, {each} saves each": lambda peer, store: race(peer, store, 8, each),
        f"1 process, {each} saves in flight": lambda peer, store: burst(peer, store, each),
    }
    rows: list[Row] = []
    broken: list[str] = []
    for label, run in kinds.items():
        outcomes: dict[str, list[Outcome]] = {name: [] for name in plan.names}
        for turn in range(plan.rounds.races):
            for peer in rotated(plan.peers, turn):
                outcomes[peer.name].append(run(peer, peer.place(plan.directory())))
        rows += race_rows(label, outcomes)
        broken += broken_promises(label, plan.names[0], outcomes)
    return Section(
        title="Concurrency",
        text=RACES_TEXT,
        columns=plan.names,
        rows=rows,
        notes=RACES_NOTES,
        broken=broken,
    )


def race_rows(label: str, outcomes: Mapping[str, Sequence[Outcome]]) -> list[Row]:
    """Medians over the rounds, with the range where they differ."""

    def row(what: str, figure: Callable[[Outcome], float]) -> Row:
        cells: dict[str, Cell] = {
            name: spread([figure(one) for one in them]) for name, them in outcomes.items()
        }
        return counted(f"{label}: {what}", cells)

    return [
        row("acknowledged", lambda one: len(one.acknowledged)),
        row("acknowledged and lost", lambda one: len(one.lost)),
        row("refused with an error", lambda one: len(one.refused)),
        row("file unreadable afterwards", lambda one: not one.readable),
        row("seconds until all had an answer", lambda one: round(one.took_s, 1)),
    ]


def spread(figures: Iterable[float]) -> str:
    """The median, and the least and the most where they differ."""
    ordered = sorted(figures)
    if not ordered:
        return "–"
    median = f"{statistics.median(ordered):,g}"
    return (
        median if ordered[0] == ordered[-1] else f"{median} ({ordered[0]:,g} to {ordered[-1]:,g})"
    )


def broken_promises(label: str, name: str, outcomes: Mapping[str, Sequence[Outcome]]) -> list[str]:
    """Sentences about records that this project acknowledged and lost, or cannot read."""
    lost = sum(len(one.lost | one.older_lost) for one in outcomes[name])
    unreadable = sum(not one.readable for one in outcomes[name])
    said = [f"{label}: {name} lost {lost} records."] if lost else []
    return said + ([f"{label}: {name} left an unreadable file."] if unreadable else [])


def kills_section(plan: Plan) -> Section:
    """Servers that are killed in the middle of a save."""
    outcomes: dict[str, list[Outcome]] = {name: [] for name in plan.names}
    for turn in range(plan.rounds.kills):
        for peer in rotated(plan.peers, turn):
            dice = random.Random(SEED + turn)  # the same moments for all
            outcomes[peer.name].append(killed(peer, plan.store(peer, STORED), dice))

    def row(label: str, figure: Callable[[Outcome], float]) -> Row:
        return counted(label, {name: sum(map(figure, them)) for name, them in outcomes.items()})

    return Section(
        title="Killed during saves",
        text=KILLS_TEXT.format(kills=plan.rounds.kills, stored=STORED),
        columns=plan.names,
        rows=[
            row("saves acknowledged before the kills", lambda one: len(one.acknowledged)),
            row("acknowledged and lost", lambda one: len(one.lost)),
            row("older records lost", lambda one: len(one.older_lost)),
            row("files unreadable afterwards", lambda one: not one.readable),
            row("temporary files left after the next save", lambda one: one.litter),
        ],
        broken=broken_promises("Killed during saves", plan.names[0], outcomes),
    )


def _receive(server: ServerProcess, count: int, answered: list[dict[str, Any]]) -> None:
    for message in islice(server.answers(), count):
        answered.append(message)


def _is_litter(path: Path) -> bool:
    return path.suffix == ".tmp" or path.name.endswith("-journal")
