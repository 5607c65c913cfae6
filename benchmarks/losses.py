"""Finds lost records after servers collide at one store, are killed, or find it damaged.

A record counts as lost when its save was acknowledged and its text is not in the file afterwards.
"""

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from measure import RefusedError, ServerProcess, result_of
from peers import MARK, Peer, marked_lessons

from core.lessons.record import Draft

STORED = 20
MOST_SAVES_BEFORE_KILL, LATEST_KILL_S = 30, 0.01
GARBAGE = b"\x00\x7f{not a record, not JSON}\xff" + b"garbage" * 5
OURS_MARKER, MIDDLE_MARKER, THEIRS_MARKER = b"<<<<<<< HEAD", b"=======", b">>>>>>> other-branch"

Cell = float | str | None


@dataclass(slots=True)
class Outcome:
    """The answers of servers to some saves, and the records in the file afterwards."""

    acknowledged: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    before: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    readable: bool = False

    @property
    def lost(self) -> set[str]:
        """Acknowledged, and not in the file."""
        return self.acknowledged - self.held

    @property
    def older_lost(self) -> set[str]:
        """In the file before, and not afterwards."""
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

    with ThreadPoolExecutor(processes) as threads:
        list(threads.map(save_all, range(processes)))
    for server in servers:
        server.close()
    return judged(outcome, peer, store)


def burst(peer: Peer, store: Path, saves: int) -> Outcome:
    """One server gets all saves at once, as from a model that calls tools in parallel."""
    outcome, sent = Outcome(), dict[int, str]()
    answered: list[dict[str, Any]] = []
    with peer.start(store) as server:
        # Read while writing: both pipes are short, and a full one would stop server and client.
        reader = threading.Thread(target=lambda: answered.extend(islice(server.answers(), saves)))
        reader.start()
        for mark, draft in marked_lessons(0, saves):
            tool, arguments = peer.save(draft, mark)
            sent[server.send("tools/call", name=tool, arguments=arguments)] = mark
        reader.join()
    for message in answered:
        try:
            result_of(message)
            outcome.acknowledged.add(sent[message["id"]])
        except RefusedError:
            outcome.refused.add(sent[message["id"]])
    return judged(outcome, peer, store)


def killed(peer: Peer, store: Path, dice: random.Random) -> Outcome:
    """A server is killed by SIGKILL at some moment of a save."""
    outcome = Outcome(before=peer.held(store))
    server = peer.start(store)
    saves = list(marked_lessons(10_000, MOST_SAVES_BEFORE_KILL + 1))
    last = dice.randint(1, MOST_SAVES_BEFORE_KILL)
    for mark, draft in saves[:last]:
        save_one(server, peer, mark, draft, outcome)
    mark, draft = saves[last]
    tool, arguments = peer.save(draft, mark)
    number = server.send("tools/call", name=tool, arguments=arguments)
    time.sleep(dice.uniform(0, LATEST_KILL_S))
    if any(message["id"] == number and "result" in message for message in server.kill()):
        outcome.acknowledged.add(mark)
    return judged(outcome, peer, store)


def save_one(server: ServerProcess, peer: Peer, mark: str, draft: Draft, outcome: Outcome) -> None:
    """Save a record and note the server's answer."""
    try:
        server.call(*peer.save(draft, mark))
        outcome.acknowledged.add(mark)
    except RefusedError:
        outcome.refused.add(mark)


def judged(outcome: Outcome, peer: Peer, store: Path) -> Outcome:
    """Return the outcome with the records in the file, and whether a fresh server can read it."""
    # In this order, since a database rolls an interrupted change back when it is opened again.
    outcome.readable = read_by_fresh_server(peer, store) is not None
    outcome.held = peer.held(store)
    return outcome


def read_by_fresh_server(peer: Peer, store: Path) -> set[str] | None:
    """The marks that a new server shows; None where it answers with an error or not at all."""
    try:
        with peer.start(store) as server:
            return set(MARK.findall(server.call(*peer.read_all())))
    except RefusedError:
        return None


class Damage(NamedTuple):
    """One way to spoil a file: its new bytes, and foreign bytes that nobody else may remove."""

    label: str
    spoil: Callable[[bytes, bool], tuple[bytes, bytes]]
    lines_only: bool = False


def torn(data: bytes, lines: bool) -> tuple[bytes, bytes]:
    """The last 40 bytes are missing; the rest of a torn line should stay in the file."""
    return data[:-40], data[:-40].rpartition(b"\n")[2][:60] if lines else b""


def garbage(data: bytes, lines: bool) -> tuple[bytes, bytes]:
    """A line of garbage in the middle; in a database, the same bytes over those that were there."""
    middle = data.index(b"\n", len(data) // 2) + 1 if lines else len(data) // 2
    if lines:
        return data[:middle] + GARBAGE + b"\n" + data[middle:], GARBAGE
    return data[:middle] + GARBAGE + data[middle + len(GARBAGE) :], b""


def conflict(data: bytes, lines: bool) -> tuple[bytes, bytes]:
    """The markers that git leaves where both branches added a line at the end."""
    *shared, left, right = data.rstrip(b"\n").split(b"\n")
    marked = [*shared, OURS_MARKER, left, MIDDLE_MARKER, right, THEIRS_MARKER, b""]
    return b"\n".join(marked), OURS_MARKER


DAMAGES = (
    Damage("torn end", torn),
    Damage("garbage in the middle", garbage),
    Damage("git conflict markers", conflict, lines_only=True),
)


def after_damage(peer: Peer, store: Path, damage: Damage) -> list[Cell]:
    """Readable records, the answer to a save, records and foreign bytes in the file after it."""
    before = peer.held(store)
    spoilt, foreign = damage.spoil(store.read_bytes(), peer.line_based)
    store.write_bytes(spoilt)
    seen = read_by_fresh_server(peer, store)
    [(mark, draft)] = marked_lessons(STORED, 1)
    try:
        with peer.start(store) as server:
            server.call(*peer.save(draft, mark))
        saved = "accepted"
    except RefusedError:
        saved = "refused"
    after = store.read_bytes()
    kept = "–" if not foreign else "kept" if foreign in after else "gone"
    there = {it for it in MARK.findall(after.decode("utf-8", "replace")) if it in before}
    readable = "none, an error" if seen is None else len(seen & before)
    return [readable, saved, len(there), kept]
