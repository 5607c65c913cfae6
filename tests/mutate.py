"""Plants the faults of tests/mutants.toml, one after another, and says which of them no test sees.

    python -m tests.mutate                       all of them
    python -m tests.mutate core/guard redaction   those of a file or a folder, or with a word

Each fault is planted in a copy of the tree in a temporary directory, so that a run that is killed
leaves the working tree as it was. The exit status is 1 when a fault survives, or its text is not in
the file exactly once, or its tests cannot be run or fail without it.
"""

import argparse
import itertools
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path("tests/mutants.toml")
LONGEST_S = 600.0  # a fault that makes its tests wait for ever is seen, too
_ENDING_S = 30.0
_PYTEST = ("-B", "-m", "pytest", "-n", "0", "-m", "", "-p", "no:cacheprovider", "--tb=short")
_TESTS_FAILED = 1  # exit status of pytest; others say that it could not run them


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A fault: the property that it breaks, a text of a file, and the text in its place.

    tests: the node ids of the tests of which one fails then.
    """

    property: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def planted_in(self, text: str) -> str | None:
        """Return the text with the fault, or None where there is not exactly one place for it."""
        return text.replace(self.old, self.new) if text.count(self.old) == 1 else None


def mutants_of(table: str) -> list[Mutant]:
    """Return the rows of a text in the form of tests/mutants.toml."""
    rows = tomllib.loads(table)["mutant"]
    return [Mutant(**{**row, "tests": tuple(row["tests"])}) for row in rows]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("words", nargs="*", metavar="FILE or word", help="only faults with one")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="how many at once (1)")
    arguments = parser.parse_args()
    mutants = mutants_of((ROOT / TABLE).read_text(encoding="utf-8"))
    if arguments.words:
        searched = {it: f"{it.file} {it.property} {' '.join(it.tests)}" for it in mutants}
        mutants = [it for it in mutants if any(word in searched[it] for word in arguments.words)]
    if not mutants:
        print("no fault to plant")
        return 0
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as directory:
        verdicts = _verdicts(mutants, Path(directory), arguments.jobs)
    killed = sum(verdict == "killed" for verdict in verdicts)
    skipped = sum(verdict == "skipped" for verdict in verdicts)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{killed} of {len(verdicts) - skipped} killed, {skipped} not tried; "
        f"{used.ru_utime + used.ru_stime:.0f} s of processor time, "
        f"{time.monotonic() - began_s:.0f} s"
    )
    return 0 if killed + skipped == len(verdicts) else 1


def _verdicts(mutants: Sequence[Mutant], directory: Path, jobs: int) -> list[str]:
    """Print the verdict on each fault as soon as it is known, and return all verdicts."""
    copies: SimpleQueue[Path] = SimpleQueue()
    for number in range(jobs):
        copies.put(_copy(directory / f"copy{number}"))
    tests = list(dict.fromkeys(itertools.chain.from_iterable(it.tests for it in mutants)))
    status, said = _run(tests, directory / "copy0", limit_s=LONGEST_S * 6)
    verdicts = ["BROKEN: tests fail without a fault, or are not there"] if status else []
    print("\n".join(it + f"\n{said}" for it in verdicts), end="")

    def tried(mutant: Mutant) -> str:
        copy = copies.get()
        try:
            return _planted(mutant, copy)
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(jobs) as threads, ExitStack() as at_the_end:
        at_the_end.callback(threads.shutdown, cancel_futures=True)
        for mutant, verdict in zip(mutants, threads.map(tried, mutants), strict=True):
            verdicts.append(verdict)
            print(f"{verdict:9} {mutant.file}: {mutant.property}", flush=True)
    return verdicts


def _copy(place: Path) -> Path:
    """Copy tracked and new files, with byte code that is checked against its source."""
    listed = ["git", "ls-files", "-co", "--exclude-standard"]
    done = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in done.stdout.splitlines():
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name, follow_symlinks=False)
    compiled = ("-q", "--invalidation-mode", "checked-hash", "-x", r"/test_|/benchmarks/")
    subprocess.run([sys.executable, "-m", "compileall", *compiled, "."], cwd=place, check=True)
    return place


def _planted(mutant: Mutant, copy: Path) -> str:
    path = copy / mutant.file
    whole = path.read_bytes()
    faulty = mutant.planted_in(whole.decode("utf-8"))
    if faulty is None:
        return "NOT THERE exactly once"
    path.write_bytes(faulty.encode("utf-8"))
    try:
        status, said = _run(["-x", *mutant.tests], copy, limit_s=LONGEST_S)
    finally:
        path.write_bytes(whole)
    if status in (_TESTS_FAILED, None):
        return "killed"
    if status == 0:
        return "SURVIVED" if " passed" in said else "skipped"
    return f"BROKEN: pytest ended with {status}\n{said}\n"


def _run(arguments: Sequence[str], copy: Path, *, limit_s: float) -> tuple[int | None, str]:
    """Return the exit status of pytest, None where it took too long, and its output."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *_PYTEST, *arguments]
    more: dict[str, Any] = {"cwd": copy, "env": environment, "start_new_session": True}
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more
    ) as process:
        try:
            said, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            _end(process)
            return None, ""
        except BaseException:
            _end(process)
            raise
    return process.returncode, said.decode("utf-8", "replace")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the tests, which end the servers that they have started; in the end, all of them."""
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=_ENDING_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


if __name__ == "__main__":
    sys.exit(main())
