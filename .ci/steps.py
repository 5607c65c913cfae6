"""Runs the steps of .ci/run and .ci/night, and prints what each took.

    python3 .ci/steps.py "NAME" COMMAND [WORD ...]     one step; its row is added to $STEPS
    python3 .ci/steps.py                               the table of all steps and the red tests;
                                                       1 where one failed

Processor time is that of the command, of its children and of servers that it left behind, which
are ended with it (Linux; elsewhere of what it waited for).
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

ROWS = Path(os.environ["STEPS"])
_BECOME_THE_PARENT_OF_ORPHANS = 36  # prctl(2), PR_SET_CHILD_SUBREAPER
_PATIENCE_S = 30.0
_LAST_FAILED = Path(".pytest_cache/v/cache/lastfailed")


def run(name: str, command: list[str]) -> int:
    """Run a step, add its row, and return its exit status."""
    print(f"\n=== {name}: {' '.join(command)}", flush=True)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_BECOME_THE_PARENT_OF_ORPHANS, 1, 0, 0, 0)
    begun = time.monotonic()
    status = subprocess.run(command, stdin=subprocess.DEVNULL).returncode
    wall_s = time.monotonic() - begun
    _end_orphans()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    row = {
        "name": name,
        "status": status,
        "wall": wall_s,
        "cpu": used.ru_utime + used.ru_stime,
        "red": _red_tests(wall_s) if status else [],
    }
    with ROWS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    print(f"=== {name}: status {status}, {wall_s:.0f} s, processor {row['cpu']:.0f} s", flush=True)
    return status


def _red_tests(wall_s: float) -> list[str]:
    """Return the tests that pytest remembers as failed, if the step has run it."""
    with contextlib.suppress(OSError):
        if time.time() - _LAST_FAILED.stat().st_mtime < wall_s:
            return list(json.loads(_LAST_FAILED.read_text(encoding="utf-8")))
    return []


def _end_orphans() -> None:
    """Wait for what the command left behind, and end it where it does not end by itself."""
    ends_at = time.monotonic() + _PATIENCE_S
    with contextlib.suppress(ChildProcessError):  # there is none any more
        while True:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
            if time.monotonic() > ends_at:
                for child in _children():
                    os.kill(child, signal.SIGKILL)
            time.sleep(0.05)


def _children() -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            parent = path.read_text().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid():
                found.append(int(path.parent.name))
    return found


def table() -> int:
    """Print all steps; 1 where one failed or there is none."""
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    width = max((len(row["name"]) for row in rows), default=0)
    print(f"\n{'step':{width}}  {'wall s':>8}  {'cpu s':>8}")
    for row in rows:
        failed = f"  FAILED, status {row['status']}" if row["status"] else ""
        print(f"{row['name']:{width}}  {row['wall']:8.1f}  {row['cpu']:8.1f}{failed}")
    sums = [sum(row[kind] for row in rows) for kind in ("wall", "cpu")]
    print(f"{'all':{width}}  {sums[0]:8.1f}  {sums[1]:8.1f}")
    for row in rows:
        for test in row["red"]:
            print(f"red: {test}")
    return int(not rows or any(row["status"] for row in rows))


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]) if len(sys.argv) > 2 else table())
