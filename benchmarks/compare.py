"""Compares this server with other memory servers: `python benchmarks/compare.py [--quick]`.

It prints a table for each section and writes docs/benchmarks.md (not with --quick). The peers are
installed on the first run, in the versions of benchmarks/peers/package-lock.json. Status 1: this
project lost an acknowledged record, or a peer is missing for a report that should be written. To
add a section, write a function from a `Plan` to a `Section` and name it in `SECTIONS`.
"""

import argparse
import datetime
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

# A script finds only the modules of its own directory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import bare_write, seconds
from costs import calls_section, memory_section, start_section, tokens_section
from damage import damage_section
from experiments import kills_section, races_section
from peers import INSTALLED, OTHERS, OURS, Peer, install, node
from plan import FULL, QUICK, Plan
from prose import HEAD, TAIL
from report import Section, as_table, document

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "docs" / "benchmarks.md"

SECTIONS: dict[str, Callable[[Plan], Section]] = {
    "start": start_section,
    "calls": calls_section,
    "memory": memory_section,
    "tokens": tokens_section,
    "concurrency": races_section,
    "kills": kills_section,
    "damage": damage_section,
}


def main() -> int:
    """Measure, print, and write the report; the status."""
    options = parsed()
    peers = [OURS, *available()]
    with tempfile.TemporaryDirectory(prefix="sentinel-memory-compare-") as directory:
        plan = Plan(scratch=Path(directory), rounds=QUICK if options.quick else FULL, peers=peers)
        facts = facts_of(plan)
        print(facts + "\n", flush=True)
        sections = []
        for name in options.only or SECTIONS:
            sections.append(SECTIONS[name](plan))
            print(as_table(sections[-1]), flush=True)
    broken = [sentence for section in sections for sentence in section.broken]
    target = options.output or (None if options.quick or options.only else REPORT)
    if target:
        if len(peers) < 1 + len(OTHERS):
            print("A peer is missing; no report was written.", file=sys.stderr)
            return 1
        facts += f"\n- Load of the machine (1, 5, 15 minutes) after the run: {_load()}"
        head = HEAD.format(facts=facts, durability=durability_of(peers))
        target.write_text(document(head, sections, TAIL), "utf-8")
    return 1 if broken else 0


def parsed() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description="Sentinel-Memory beside other memory servers")
    parser.add_argument("--quick", action="store_true", help="few rounds; writes no report")
    parser.add_argument("--output", type=Path, metavar="FILE", help=f"instead of {REPORT.name}")
    parser.add_argument(
        "--only", action="append", choices=SECTIONS, help="this section; can be repeated"
    )
    return parser.parse_args()


def available() -> list[Peer]:
    """The peers that are installed, or can be; what is missing is named."""
    try:
        install()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"The peers cannot be installed: {error}", file=sys.stderr)
        return []
    return list(OTHERS)


def facts_of(plan: Plan) -> str:
    """When and on what this was measured, as a Markdown list."""
    rounds = plan.rounds
    python, cores = platform.python_version(), os.cpu_count() or 1
    release = platform.release().partition("-")[0]
    system = f"{platform.system()} {release}, {platform.machine()}, {cores} processors"
    versions = [f"{peer.name} {peer.version}" for peer in plan.peers]
    lines = [
        f"Date: {datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        f"Versions: {', '.join(versions)}, FastMCP {plan.echo.version}",
        f"Python {python}, Node {_node_version()}",
        f"{system}; the stores on {_file_system(plan.scratch)}",
        "One synced write of 25 KB (write, fsync, rename, fsync of the directory), the least that "
        f"a durable save costs there: {bare_write_ms(plan):.2f} ms",
        f"Rounds: {rounds.starts} starts, {rounds.calls} calls of each kind, {rounds.memory} for "
        f"memory, {rounds.races} of each race, {rounds.kills} kills",
        f"Load of the machine (1, 5, 15 minutes) before the run: {_load()}",
    ]
    return "\n".join(f"- {line}" for line in lines)


def durability_of(peers: Sequence[Peer]) -> str:
    """What each server does so that a save survives, read from its source in this version."""
    lines = ["| Server | Version | What a save does before it is answered |", "| --- | --- | --- |"]
    lines += [f"| {it.name} | {it.version} | {it.durability} |" for it in peers]
    return "\n".join(lines)


def bare_write_ms(plan: Plan) -> float:
    """The least that a durable replacement of 25 KB costs here, in milliseconds."""
    directory = plan.directory()
    data = b"x" * 25_000
    return statistics.median(seconds(lambda: bare_write(directory, data)) for _ in range(21)) * 1000


def _load() -> str:
    return ", ".join(f"{it:.1f}" for it in os.getloadavg()) if hasattr(os, "getloadavg") else "–"


def _node_version() -> str:
    if not INSTALLED.is_dir():
        return "none"
    said = subprocess.run([node(), "--version"], capture_output=True, text=True)
    return said.stdout.strip().removeprefix("v")


def _file_system(directory: Path) -> str:
    """The kind of the file system that holds a directory, as Linux names it."""
    try:
        mounts = Path("/proc/mounts").read_text("utf-8").splitlines()
    except OSError:
        return "an unknown file system"
    holding = [
        (len(point), kind)
        for _, point, kind, *_ in (line.split() for line in mounts)
        if directory.resolve().is_relative_to(point)
    ]
    return max(holding)[1] if holding else "an unknown file system"


if __name__ == "__main__":
    sys.exit(main())
