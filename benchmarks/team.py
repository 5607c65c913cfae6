"""Measures the fragments of a team: server processes over one PostgreSQL, called by 100 agents.

`python benchmarks/team.py [--quick] [--check] [--sizes N,N] [--seconds S] [--connections N]` starts
a PostgreSQL from its wheel with durable settings (fsync and synchronous_commit on), fills a
database with fragments of a seed by COPY, and has agents recall, remember and restore a context
through 1, 2 and 4 processes of `server.py --http` over several connections at once; the clients are
on the same machine. It prints calls per second, p50 and p99 of each tool, the memory of the
processes, bytes on disk for each fragment, and how these grow. `--quick`: 10,000 fragments, a
minute. `--check`: status 1 where a write is lost or doubled, an agent sees what is another's, a
call is answered with an error, or a cost grows beyond all measure.
"""

import argparse
import contextlib
import http.client
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

# A script finds only the modules of its own directory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psycopg
from process import resident_mb
from team_load import MARK_CHARS, MIX, CallError, HttpWire, Tally, load
from team_rows import AGENTS, fragments

from core.config import DEFAULT_AGENT
from core.lessons.record import utc_now
from core.postgres.pool import Pool
from core.postgres.server import server_of
from http_server.keys import keys_of
from http_server.papers import papers_of
from rooms.fragments.storage.postgres import PostgresEngine, PostgresRows, terms_of
from rooms.fragments.storage.postgres_schema import Schema
from rooms.fragments.upkeep.statistics import ENDED
from tests.support.real_engines import free_port, postgres

SERVER = Path(__file__).resolve().parent.parent / "server.py"
PLACE = "SENTINEL_MEMORY_FRAGMENTS"
DURABLE = {
    **{"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"},
    **{"shared_buffers": "512MB", "maintenance_work_mem": "512MB", "max_wal_size": "4GB"},
}
SIZES, QUICK_SIZES = (100_000, 1_000_000), (10_000,)
PROCESSES, QUICK_PROCESSES = (1, 2, 4), (1, 2)
CONNECTIONS = 16  # at once, shared by the agents
START_S = 60.0
MOST_GROWTH = 10.0  # times the p50 of a recall, for ten times the fragments
LEAST_SHARE = 0.4  # of the calls per second of one process, with more of them


@dataclass(frozen=True)
class Measured:
    """What one load of one arrangement gave. mb: of all server processes, at the end of it."""

    fragments: int
    processes: int
    tally: Tally
    mb: float


def fill(dsn: str, count: int) -> float:
    """Make the tables and so many fragments; return how many bytes one takes on the disk."""
    pool = Pool(server_of(dsn, {}))
    Schema(pool).prepare()
    pool.close()
    with psycopg.connect(dsn) as connection:
        empty, rows = size(connection), PostgresRows(connection, keeps_vectors=False)
        columns = ", ".join(["number", *rows._row_of(next(fragments(1)))])
        copied = f"COPY agent_memory.fragments ({columns}) FROM STDIN"
        with connection.cursor().copy(copied) as to:
            for number, fragment in enumerate(fragments(count), 1):
                lexemes = " ".join(f"'{term}'" for term in terms_of(fragment))
                row = rows._row_of(fragment) | {"found_by": lexemes}
                to.write_row((number, *row.values()))
        connection.execute("SELECT setval(pg_get_serial_sequence('agent_memory.fragments',"
                           " 'number'), %s)", (count,))  # fmt: skip
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        taken = size(connection) - empty
    engine = PostgresEngine(server_of(dsn, {}), timeout_s=30)
    with engine.writing() as writing:
        writing.set_state({ENDED: utc_now()})  # else the daily upkeep takes turns with the calls
    engine.close()
    return taken / count


def size(connection: "psycopg.Connection[tuple[object, ...]]") -> int:
    """The bytes of a database."""
    row = connection.execute("SELECT pg_database_size(current_database())::bigint").fetchone()
    return int(str(row[0])) if row else 0


def keys_for(dsn: str) -> dict[str, str]:
    """A key for each agent, by the agent."""
    environment = {PLACE: dsn}
    papers = papers_of(environment)
    keys = keys_of(environment, papers)
    made = {agent: keys.add(agent, agent) for agent in AGENTS}
    papers.close()
    return made


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
            wait_for(port)
        yield started


def wait_for(port: int) -> None:
    """Wait until a server says that it is well. Raises CallError."""
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        time.sleep(0.05)
    raise CallError(f"no server is well on port {port}")


def measured(
    dsn: str,
    keys: dict[str, str],
    processes: int,
    connections: int,
    seconds: float,
    scratch: Path,
    count: int,
) -> Measured:
    """Load so many processes for so long."""
    with servers(dsn, processes, scratch) as started:
        ports = [port for port, _ in started]
        tally = load(
            lambda number: HttpWire(ports[number % processes], keys),
            AGENTS,
            connections=connections,
            seconds=seconds,
            seed=f"{count} {processes}",
        )
        mb = sum(resident_mb(pid) or 0.0 for _, pid in started)
    return Measured(count, processes, tally, mb)


def wrong_with(dsn: str, tally: Tally) -> list[str]:
    """What does not hold of what the agents were told, judged as a superuser sees it."""
    wrong = []
    with psycopg.connect(dsn) as connection:
        marks, ids = [it for _, it in tally.kept], [it for _, it in tally.seen]
        there = connection.execute(
            "SELECT agent_id, left(content, %s) FROM agent_memory.fragments"
            " WHERE content LIKE 'said %%' AND left(content, %s) = ANY (%s)",
            (MARK_CHARS, MARK_CHARS, marks),
        ).fetchall()
        owner: dict[str, str] = dict(
            connection.execute(
                "SELECT id, agent_id FROM agent_memory.fragments WHERE id = ANY (%s)", (ids,)
            ).fetchall()
        )
    if lost := set(tally.kept) - set(there):
        wrong.append(f"{len(lost)} acknowledged are not there")
    if len(there) != len(set(there)):
        wrong.append("what was remembered once is there twice")
    foreign = [
        (agent, it)
        for agent, it in tally.seen
        if owner.get(it, agent) not in (agent, DEFAULT_AGENT)
    ]
    if foreign:
        wrong.append(f"{len(foreign)} fragments of others were shown")
    if not tally.kept or not owner:
        wrong.append("nothing was remembered, or nothing recalled")
    if tally.refused:
        wrong.append(f"{len(tally.refused)} calls were refused: {tally.refused[0][:200]}")
    return wrong


def print_line(it: Measured) -> None:
    """Print one arrangement."""
    tools = "".join(
        f"{it.tally.at(tool, 0.5):>9.1f} {it.tally.at(tool, 0.99):>8.1f}" for tool in MIX
    )
    line = f"{it.fragments:>11,} {it.processes:>9} {it.tally.per_second:>8.1f}"
    print(f"{line}{tools} {it.mb:>8.0f}", flush=True)


def grown(all_of_them: Sequence[Measured]) -> list[str]:
    """Print how cost grows with fragments and processes; return what grows beyond all measure."""
    missed = []
    for one, other in itertools.combinations(all_of_them, 2):
        if one.processes == other.processes == 1:
            factor = other.fragments / one.fragments
            ratios = {it: other.tally.at(it, 0.5) / one.tally.at(it, 0.5) for it in MIX}
            told = ", ".join(f"{tool} {ratio:.2f} x" for tool, ratio in ratios.items())
            print(f"p50 at {factor:.0f} x the fragments, one process: {told}")
            if ratios["recall"] > MOST_GROWTH * factor / 10:
                missed.append("growth of recall with the fragments")
        elif one.fragments == other.fragments and one.processes == 1:
            ratio = other.tally.per_second / one.tally.per_second
            print(f"calls with {other.processes} processes at {one.fragments:,}: {ratio:.2f} x")
            if ratio < LEAST_SHARE:
                missed.append(f"calls with {other.processes} processes")
    return missed


def main() -> int:
    """Measure and print; 1 where something is missed and `--check` is given."""
    parser = argparse.ArgumentParser(description="Benchmark of the fragments of a team")
    parser.add_argument("--quick", action="store_true", help="what runs in a minute")
    parser.add_argument("--check", action="store_true", help="end with 1 where a limit is missed")
    parser.add_argument("--sizes", help="how many fragments, such as 100000,1000000")
    parser.add_argument("--connections", type=int, default=CONNECTIONS, help="at once")
    parser.add_argument("--seconds", type=float, help="of each load")
    options = parser.parse_args()
    named = map(int, options.sizes.split(",")) if options.sizes else ()
    sizes = tuple(named) or (QUICK_SIZES if options.quick else SIZES)
    seconds = options.seconds or (5.0 if options.quick else 15.0)
    all_of_them, missed = list[Measured](), list[str]()
    print(
        f"{len(AGENTS)} agents over {options.connections} connections, fsync on; p50 and p99 in ms"
    )
    heads = "".join(f"{tool:>9} {'p99':>8}" for tool in MIX)
    print(f"{'fragments':>11} {'processes':>9} {'calls/s':>8}{heads} {'MB':>8}", flush=True)
    with (
        tempfile.TemporaryDirectory(prefix="sentinel-memory-team-") as scratch,
        postgres(**DURABLE) as running,
    ):
        for count in sizes:
            dsn = running.dsn(running.new_database())
            begun = time.monotonic()
            each, keys = fill(dsn, count), keys_for(dsn)
            filled_s = time.monotonic() - begun
            for processes in QUICK_PROCESSES if options.quick else PROCESSES:
                one = measured(
                    dsn, keys, processes, options.connections, seconds, Path(scratch), count
                )
                print_line(one)
                missed += wrong_with(dsn, one.tally)
                all_of_them.append(one)
            print(f"{count:,}: {each:,.0f} bytes each on disk, filled in {filled_s:.0f} s")
    missed += grown(all_of_them)
    if missed:
        print("missed:", "; ".join(missed), file=sys.stderr)
    return int(bool(missed) and options.check)


if __name__ == "__main__":
    sys.exit(main())
