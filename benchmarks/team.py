"""Measures the fragments of a team: server processes over one PostgreSQL, called by 100 agents.

A PostgreSQL with fsync on is filled with fragments of a seed; the agents recall, remember and
restore a context through processes of `server.py --http`, over several connections at once. Judged
from outside: no save is lost or doubled, no agent sees another's rows, no call ends in an error.
"""

import contextlib
import http.client
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import psycopg
from measure import PROTOCOL, SERVER, Figure, options, reported, resident_mb
from tokens import words

from core.config import DEFAULT_AGENT
from core.postgres.address import server_of
from core.postgres.pool import Pool
from core.text.plain import estimate_tokens, utc_now
from http_server.access_keys import keys_of
from http_server.papers import papers_of
from rooms.fragments.activity import UPKEEP_AT
from rooms.fragments.fragment import KINDS, TYPES, Fragment, hash_of
from rooms.fragments.storage.postgres import PostgresEngine, PostgresRows, terms_of
from rooms.fragments.storage.postgres_schema import Schema
from tests.support.real_engines import free_port, postgres

PLACE = "SENTINEL_MEMORY_FRAGMENTS"
DURABLE = {
    **{"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"},
    **{"shared_buffers": "512MB", "maintenance_work_mem": "512MB", "max_wal_size": "4GB"},
}
PROCESSES, QUICK_PROCESSES = (1, 2, 4), (1, 2)
CONNECTIONS = 16  # at once, shared by the agents
START_S, PATIENCE_S = 60.0, 60.0
MOST_GROWTH = 10.0  # times the p50 of a recall, for ten times the fragments
LEAST_SHARE = 0.4  # of the calls per second of one process, with more of them
MARK_CHARS = 17
SIZE = "SELECT pg_database_size(current_database())::bigint"
# Of a hundred calls: an agent asks more often than it learns, and a session starts once.
MIX = {"recall": 60, "remember": 30, "context": 10}
ID = re.compile(r"^(\w+)(?= \d{4}-\d\d-\d\d )", re.MULTILINE)  # of a line of an answer

AGENTS = tuple(f"agent{number:02}" for number in range(100))
SHARED = 0.02  # of all fragments are everybody's
RARE_SHARE, RARE_SYLLABLES = 0.08, 3  # names of services, people, files: few fragments have one
SYLLABLES = [one + other for one in "bdfgklmnprstvz" for other in ("a", "e", "i", "o", "u")]
MINUTES = 43_200  # over which the fragments were saved, up to now: nothing of them is stale
DATA = "made fragments of 100 agents, the clients on the same machine"


# Fragments, and the words of agents.


def text_of(chance: random.Random, count: int) -> str:
    """Return so many words, as agents write."""
    told = chance.choices(words(), k=count)
    for at in range(count):
        if chance.random() < RARE_SHARE:
            told[at] = "".join(chance.choices(SYLLABLES, k=RARE_SYLLABLES))
    return " ".join(told)


def fragments(count: int) -> Iterator[Fragment]:
    """Yield so many fragments, the same each time but for their dates.

    The first agent has 19 % of them, the last 0.2 %.
    """
    chance, now = random.Random(f"fragments {count}"), datetime.now(UTC)
    shares = [*accumulate(1 / rank for rank in range(1, len(AGENTS) + 1))]
    for number in range(count):
        content = text_of(chance, chance.randint(8, 32))[:300]
        row = TYPES[chance.choice(KINDS)]
        moment = now - timedelta(minutes=MINUTES * (1 - number / count))
        said = moment.isoformat(timespec="seconds")
        yield Fragment(
            id=f"f{number:x}",
            content=content,
            content_hash=hash_of(content),
            estimated_tokens=estimate_tokens(content),
            topic=f"{chance.choice(words())[:40]} {chance.randrange(400)}",
            keywords=tuple(dict.fromkeys(text_of(chance, chance.randint(1, 5)).split())),
            kind=row.kind,
            lifetime=row.lifetime,
            agent=(
                DEFAULT_AGENT
                if chance.random() < SHARED
                else chance.choices(AGENTS, cum_weights=shares)[0]
            ),
            importance=round(chance.random(), 2),
            is_anchor=chance.random() < 0.001,
            created_at=said,
            updated_at=said,
            verified_at=said,
        )


# The database and the servers.


def fill(dsn: str, count: int) -> float:
    """Make the tables and so many fragments; return how many bytes one takes on the disk."""
    with contextlib.closing(Pool(server_of(dsn, {}))) as pool:
        Schema(pool).prepare()
    with psycopg.connect(dsn) as connection:
        [(empty,)] = connection.execute(SIZE)
        rows = PostgresRows(connection, keeps_vectors=False)
        columns = ", ".join(["number", *rows.row_of(next(fragments(1)))])
        copied = f"COPY agent_memory.fragments ({columns}) FROM STDIN"
        with connection.cursor().copy(copied) as to:
            for number, fragment in enumerate(fragments(count), 1):
                lexemes = " ".join(f"'{term}'" for term in terms_of(fragment))
                row = rows.row_of(fragment) | {"found_by": lexemes}
                to.write_row((number, *row.values()))
        connection.execute("SELECT setval(pg_get_serial_sequence('agent_memory.fragments',"
                           " 'number'), %s)", (count,))  # fmt: skip
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        [(full,)] = connection.execute(SIZE)
    engine = PostgresEngine(server_of(dsn, {}), timeout_s=30)
    with engine.writing() as writing:
        writing.set_state(
            {UPKEEP_AT: utc_now()}
        )  # else the daily upkeep takes turns with the calls
    engine.close()
    return float(full - empty) / count


@contextlib.contextmanager
def servers(dsn: str, count: int, scratch: Path) -> Iterator[list[tuple[int, int]]]:
    """So many server processes, as port and process. Raises CallError."""
    with contextlib.ExitStack() as running:
        started = []
        for number in range(count):
            port = free_port()
            log = running.enter_context(open(scratch / f"server-{number}.txt", "wb"))
            process = subprocess.Popen(
                [sys.executable, SERVER, "--http", str(port), "--rooms", "fragments"],
                env={**os.environ, PLACE: dsn, "HOME": str(scratch), "DB_MAX_CONNECTIONS": "8"},
                cwd=scratch,
                stdout=log,
                stderr=log,
            )
            running.callback(process.wait)
            running.callback(process.terminate)
            started.append((port, process.pid))
        for port, _ in started:
            end, status = time.monotonic() + START_S, 0
            while status != 200:
                if time.monotonic() > end:
                    raise CallError(f"no server is well on port {port}")
                with contextlib.suppress(OSError, http.client.HTTPException):
                    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                    connection.request("GET", "/health")
                    status = connection.getresponse().status
                time.sleep(0.05)
        yield started


# A load, and its outcome.


class CallError(RuntimeError):
    """A call that was answered with an error, or not at all. Its text is that of the answer."""


@dataclass
class Tally:
    """The outcome of a load."""

    # By tool, of each call that was answered.
    ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    kept: list[tuple[str, str]] = field(default_factory=list)  # agent, MARK_CHARS of the content
    seen: set[tuple[str, str]] = field(default_factory=set)  # agent, id
    refused: list[str] = field(default_factory=list)  # sentences
    seconds: float = 0.0

    def at(self, tool: str, share: float) -> float:
        """Milliseconds within which this share of the calls of a tool was answered."""
        ms = sorted(self.ms.get(tool) or [0.0])
        return ms[min(len(ms) - 1, int(len(ms) * share))]


class HttpWire:
    """A client that keeps its connection to one server process."""

    def __init__(self, port: int, keys: Mapping[str, str]) -> None:
        self._keys, self._number = keys, 0
        self._sessions: dict[str, str] = {}
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)

    def call(self, agent: str, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return the text that a tool answers. Raises CallError."""
        if agent not in self._sessions:
            client = {"name": "team", "version": "1"}
            given = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
            _, headers = self._post(agent, "initialize", given)
            self._sessions[agent] = headers.get("mcp-session-id", "")
        result, _ = self._post(agent, "tools/call", {"name": tool, "arguments": dict(arguments)})
        text = "\n".join(it["text"] for it in result.get("content", ()) if it["type"] == "text")
        if result.get("isError"):
            raise CallError(text)
        return text

    def _post(
        self, agent: str, method: str, params: dict[str, Any]
    ) -> tuple[dict[str, Any], http.client.HTTPMessage]:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        headers = {
            "Authorization": f"Bearer {self._keys[agent]}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": PROTOCOL,
        }
        if self._sessions.get(agent):
            headers["Mcp-Session-Id"] = self._sessions[agent]
        try:
            self.connection.request("POST", "/mcp", json.dumps(message), headers)
            answer = self.connection.getresponse()
            body = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            raise CallError(f"no answer: {error!r}") from error
        said = [line[5:].strip() for line in body.splitlines() if line.startswith("data:")]
        told: dict[str, Any] = {}
        with contextlib.suppress(ValueError):  # JSON, or the last event
            told = json.loads(said[-1] if said else body)
        if answer.status != 200 or "result" not in told:
            raise CallError(f"{answer.status} {body[:300]}")
        return dict(told["result"]), answer.headers


def load(ports: Sequence[int], keys: Mapping[str, str], seconds: float, seed: str) -> Tally:
    """Let agents call for so long over the connections, each with its share of the agents."""
    tally, lock, ready = Tally(), threading.Lock(), threading.Barrier(CONNECTIONS + 1)

    def work(number: int) -> None:
        mine = Tally()
        try:
            one = HttpWire(ports[number % len(ports)], keys)
            chance = random.Random(f"{seed} {number}")
            its = AGENTS[number::CONNECTIONS]
            with noted(mine):
                one.call(its[0], "recall", {"query": "first"})  # opens all that is opened once
        finally:
            ready.wait(PATIENCE_S)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            act(one, chance.choice(its), chance, mine)
        one.connection.close()
        with lock:
            for tool, ms in mine.ms.items():
                tally.ms[tool] += ms
            tally.kept += mine.kept
            tally.seen.update(mine.seen)
            tally.refused += mine.refused

    threads = [threading.Thread(target=work, args=(at,), daemon=True) for at in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    ready.wait(PATIENCE_S)
    begun = time.monotonic()
    for thread in threads:
        thread.join(seconds + 2 * PATIENCE_S)
    if any(thread.is_alive() for thread in threads):
        tally.refused.append("a call hangs")
    tally.seconds = time.monotonic() - begun
    return tally


@contextlib.contextmanager
def noted(tally: Tally) -> Iterator[None]:
    """Note a CallError in a tally, and go on."""
    try:
        yield
    except CallError as error:
        tally.refused.append(str(error))


def act(one: HttpWire, agent: str, chance: random.Random, tally: Tally) -> None:
    """Make one call of the mix, and note its outcome."""
    tool = chance.choices(list(MIX), weights=list(MIX.values()))[0]
    mark = f"said {chance.getrandbits(48):012x}"  # first, where no word makes a secret of it
    content = f"{mark} {text_of(chance, chance.randint(8, 24))[:260]}"
    arguments: dict[str, Any] = {
        "recall": {"query": text_of(chance, chance.randint(2, 5))},
        "remember": {"content": content, "topic": "team", "type": "fact"},
        "context": {},
    }[tool]
    with noted(tally):
        begun = time.perf_counter()
        text = one.call(agent, tool, arguments)
        tally.ms[tool].append(1000 * (time.perf_counter() - begun))
        if tool == "remember":
            tally.kept.append((agent, mark))
        else:
            tally.seen.update((agent, it) for it in ID.findall(text))


def judged(label: str, dsn: str, tally: Tally) -> Iterator[Figure]:
    """Yield how often an answer to an agent does not hold, as a superuser sees it."""
    with psycopg.connect(dsn) as connection:
        marks, ids = [it for _, it in tally.kept], [it for _, it in tally.seen]
        there = connection.execute(
            "SELECT agent_id, left(content, %s) FROM agent_memory.fragments"
            " WHERE content LIKE 'said %%' AND left(content, %s) = ANY (%s)",
            (MARK_CHARS, MARK_CHARS, marks),
        ).fetchall()
        owners = "SELECT id, agent_id FROM agent_memory.fragments WHERE id = ANY (%s)"
        owner: dict[str, str] = dict(connection.execute(owners, (ids,)).fetchall())
    foreign = [
        agent for agent, it in tally.seen if owner.get(it, agent) not in (agent, DEFAULT_AGENT)
    ]
    refused = tally.refused[0][:200] if tally.refused else ""
    yield Figure(f"{label}: remembered", len(tally.kept), least=1)
    yield Figure(f"{label}: fragments shown", len(owner), least=1)
    yield Figure(f"{label}: acknowledged and lost", len(set(tally.kept) - set(there)), most=0)
    yield Figure(f"{label}: there twice", len(there) - len(set(there)), most=0)
    yield Figure(f"{label}: shown to another agent", len(foreign), most=0)
    yield Figure(f"{label}: refused calls", len(tally.refused), most=0, note=refused)


def figures(sizes: Sequence[int], quick: bool) -> Iterator[Figure]:
    """Yield the figures of each count of fragments and of processes, and the growth of a cost."""
    recalled: dict[int, float] = {}
    with (
        tempfile.TemporaryDirectory(prefix="sentinel-memory-team-") as scratch,
        postgres(**DURABLE) as running,
    ):
        for count in sizes:
            dsn = running.dsn(running.new_database())
            taken = f"{count:,} fragments: bytes of one on the disk"
            yield Figure(taken, fill(dsn, count), "bytes")
            with contextlib.closing(papers_of({PLACE: dsn})) as papers:
                known = keys_of({PLACE: dsn}, papers)
                keys = {agent: known.add(agent, agent) for agent in AGENTS}
            alone = 0.0
            for processes in QUICK_PROCESSES if quick else PROCESSES:
                label = f"{count:,} fragments, processes {processes}"
                with servers(dsn, processes, Path(scratch)) as started:
                    ports = [port for port, _ in started]
                    tally = load(ports, keys, 5.0 if quick else 15.0, label)
                    mb = sum(resident_mb(pid) or 0.0 for _, pid in started)
                yield from judged(label, dsn, tally)
                answered = sum(map(len, tally.ms.values())) / tally.seconds
                alone = alone or answered
                least = LEAST_SHARE * alone
                yield Figure(f"{label}: calls a second", answered, least=least)
                for tool in MIX:
                    yield Figure(f"{label}: {tool} p50", tally.at(tool, 0.5), "ms")
                    yield Figure(f"{label}: {tool} p99", tally.at(tool, 0.99), "ms")
                yield Figure(f"{label}: memory of the servers", mb, "MB")
                recalled.setdefault(count, tally.at("recall", 0.5))
    for one, other in pairwise(sizes):
        growth, most = recalled[other] / recalled[one], MOST_GROWTH * other / one / 10
        yield Figure(f"recall p50 at {other:,}, times that at {one:,}", growth, "x", most=most)


def main() -> int:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true", help="10,000 fragments, a minute")
    parser.add_argument("--sizes", help="how many fragments, such as 100000,1000000")
    given = parser.parse_args()
    given.record &= not given.quick
    sizes = [int(it) for it in (given.sizes or "100000,1000000").split(",")]
    return reported(figures([10_000] if given.quick else sizes, given.quick), given, "team", DATA)


if __name__ == "__main__":
    sys.exit(main())
