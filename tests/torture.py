"""Breaks the memory on purpose, for as long as it is let: `python tests/torture.py --seconds 60`.

Kinds of trouble take turns, each with its share of the time. At the first violation it says what
broke and with which seed, and its exit status is 1. The faults themselves are those of faults.py.
"""

import argparse
import contextlib
import errno
import logging
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import ClassVar

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.errors import SentinelError
from core.lessons.log import MemoryLog
from core.lessons.record import Record, check
from core.messages import has_sentence
from core.store import MemoryStore
from tests.core.lessons.test_concurrency import (
    WRITERS,
    assert_nothing_lost,
    assert_only_our_files,
    take_barrier,
    write_with_others,
)
from tests.support.changes import bring_back, delete, upsert
from tests.support.faults import (
    CODES,
    FAILING,
    FOLDER,
    KILLING,
    SCENARIOS,
    WAIT_S,
    Child,
    Fault,
    Rehearsal,
    Say,
    Scenario,
    attempt,
    attempt_full,
    attempt_killed,
    faults_of,
    judge_failure,
    judge_success,
    log_path,
    recover,
    rehearse,
    tree,
    without_litter,
)
from tests.support.git_clones import path_of
from tests.support.rows import none_of
from tests.support.samples import LATER, a_draft, a_principle
from tests.support.stdio_client import HANDSHAKE, STATELESS, ServerProcess

LATE_S = 8.0


class Broken(AssertionError):
    """A promise does not hold; the text says which, and how it was found."""


class Kind:
    """One kind of trouble; each `step` makes some of it and gives back how often.

    folder: an empty directory of its own. chance: where every choice comes from.
    """

    title: ClassVar[str] = ""
    expected_s: ClassVar[float] = 0.5

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self.chance = folder, chance

    def step(self) -> int:
        """Make trouble once. Raises AssertionError when a promise does not hold."""
        raise NotImplementedError

    def close(self) -> None:
        """Leave no process behind."""


class Matrix(Kind):
    """Any fault at any call of any scenario, in this process."""

    title = "faults in system calls"

    def __init__(self, folder: Path, chance: random.Random) -> None:
        super().__init__(folder, chance)
        self.rehearsals: list[Rehearsal] = []

    def step(self) -> int:
        rehearsal = self.any_rehearsal()
        mode = self.chance.choice(FAILING + FOLDER)
        fault = self.chance.choice(list(faults_of(rehearsal, mode)))
        spoilt = Fault(fault.at, mode, self.chance.choice(CODES))
        none_of(attempt(rehearsal, spoilt, self.folder))
        return 1

    def any_rehearsal(self) -> Rehearsal:
        """One of the scenarios, with what it does when nothing is wrong."""
        if not self.rehearsals:
            folder = self.folder / "rehearsal"
            self.rehearsals = [rehearse(scenario, folder) for scenario in SCENARIOS]
        return self.chance.choice(self.rehearsals)


class Deaths(Matrix):
    """A process that dies at any call of any scenario, or may not write any further."""

    title = "deaths between and within system calls"

    def step(self) -> int:
        rehearsal = self.any_rehearsal()
        if self.chance.random() < 0.1:
            none_of(attempt_full(rehearsal, self.chance.randint(0, 2500), self.folder))
            return 1
        faults = list(faults_of(rehearsal, self.chance.choice(KILLING)))
        none_of(attempt_killed(rehearsal, self.chance.choice(faults), self.folder))
        return 1


class Writers(Kind):
    """Two forked writers of one log that save as fast as they can until they are killed."""

    title = "writers killed at any moment"

    def __init__(self, folder: Path, chance: random.Random) -> None:
        super().__init__(folder, chance)
        self.lives = 0
        self.there: set[str] = set()

    def step(self) -> int:
        root = self.folder / "root"
        path = log_path(root)
        if self.lives % 60 == 0:
            shutil.rmtree(root, ignore_errors=True)
            path.parent.parent.mkdir(parents=True)
            self.there = set()
        told = self._kill_two(path)
        log = MemoryStore(path).read()
        now = {record.missing_context for record in log.records}
        lost = (self.there | told) - now
        if lost or log.skipped or len(now - self.there - told) > 2:
            raise Broken(f"lost {lost}, torn {log.skipped}, new {now - self.there - told}")
        with Child(lambda _: "\n".join(recover(path, root))) as child:
            none_of(child.end()[1].splitlines())
        self.there = {record.missing_context for record in MemoryStore(path).read().records}
        return 2

    def _kill_two(self, path: Path) -> set[str]:
        """The gaps whose save was acknowledged."""
        with contextlib.ExitStack() as running:
            children = []
            for _ in range(2):
                self.lives += 1
                work = Life(path, self.lives)
                children.append(running.enter_context(Child(work)))
            children[0].hear()
            for child in children:
                time.sleep(self.chance.uniform(0, 0.008))  # spreads the kills over a save
                child.kill()
            for child in children:
                code, said = child.end()
                if code != -signal.SIGKILL:
                    raise Broken(f"a writer ended by itself with {code} {said[-80:]}")
            said = "".join(child.said.rpartition("\n")[0] + "\n" for child in children)
        return set(said.split())


@dataclass(frozen=True)
class Life:
    """What a writer does until it is killed: save, and say what it has saved."""

    path: Path
    number: int

    def __call__(self, say: Say) -> str:
        store = MemoryStore(self.path)
        for number in range(10_000):
            gap = f"{self.number}/{number}"
            store.upsert_log(a_draft(gap, lesson="x" * 900))
            say(f"{gap}\n")
        return "finished"


class Crowd(Kind):
    """Eight processes that save the same gaps at full speed while this one reads."""

    title = "saves in a crowd of processes"
    expected_s = 8.0

    def step(self) -> int:
        project = Path(tempfile.mkdtemp(dir=self.folder))
        path = path_of(project)
        path.parent.mkdir()
        spawn = get_context("spawn")
        barrier = spawn.Barrier(WRITERS)
        versions: dict[bytes, None] = {}
        with ProcessPoolExecutor(WRITERS, spawn, take_barrier, (barrier,)) as pool:
            futures = [pool.submit(write_with_others, path, writer) for writer in range(WRITERS)]
            while wait(futures, timeout=0.005).not_done:
                versions[path.read_bytes() if path.exists() else b""] = None
            acknowledged = [saved for future in futures for saved in future.result()]
        assert_nothing_lost(path, acknowledged)
        assert_only_our_files(path.parent)
        logs = [MemoryLog.parse(version) for version in versions]
        saves = [sum(record.seen for record in log.records) for log in logs]
        if saves != sorted(set(saves)) or any(log.skipped for log in logs):
            raise Broken(f"a reader saw {saves}, torn {[log.skipped for log in logs]}")
        shutil.rmtree(project)
        return len(acknowledged)


Outcome = dict[tuple[str, str], str | None]  # by kind and text of a record, its lesson or None


@dataclass
class Request:
    """One call that a server was asked for: what it is to change, from what, and its answer."""

    server: ServerProcess
    number: int
    before: Outcome
    after: Outcome
    acknowledged: bool = False


class Servers(Kind):
    """Three real servers of one project, one of which is killed in the middle of its calls."""

    title = "servers killed with calls in flight"
    expected_s = 2.0

    def __init__(self, folder: Path, chance: random.Random) -> None:
        super().__init__(folder, chance)
        self.project = folder / "project"
        self.path = path_of(self.project)
        self.started = 0
        self.texts = 0
        self.servers: list[ServerProcess] = []

    def step(self) -> int:
        if not self.servers:
            self.project.mkdir()
            self.servers += [self._start() for _ in range(3)]
            self._save(self.servers[0])
        requests = self._ask()
        victim = self.chance.choice(self.servers)
        time.sleep(self.chance.uniform(0, 0.04))  # spreads the kills over the calls
        victim.kill()
        for request in requests:
            if request.server is not victim or victim.is_answered(request.number):
                request.server.tool_text(request.number)
                request.acknowledged = True
        self._judge(requests)
        at = self.servers.index(victim)
        self.servers[at] = self._start()  # nobody waits for it: it may be killed before it is up
        self._save(self.servers[at - 1])
        assert_only_our_files(self.path.parent)
        return 1

    def close(self) -> None:
        for server in self.servers:
            server.kill()

    def _start(self) -> ServerProcess:
        self.started += 1
        return ServerProcess(
            *("--project", str(self.project)),
            cwd=self.project,
            stderr_path=self.folder / f"{self.started}.txt",
            era=(HANDSHAKE, STATELESS)[self.started % 2],
        )

    def _text(self) -> str:
        self.texts += 1
        return f"text {self.texts}"

    def _save(self, server: ServerProcess) -> None:
        gap, lesson = self._text(), self._text()
        server.call("log_memory", topic="auth", missing_context=gap, lesson=lesson)
        if self._outcome().get(("log", gap)) != lesson:
            raise Broken(f"an acknowledged save is not there: {gap}")

    def _outcome(self) -> Outcome:
        """What is in the file, which must be whole."""
        data = self.path.read_bytes()
        log = MemoryLog.parse(data)
        if log.skipped or not data.endswith(b"}\n"):
            raise Broken(f"torn: {data[-200:]!r}")
        return {(record.type, record.key_text): record.lesson for record in log.records}

    def _ask(self) -> list[Request]:
        """Some calls to each server, none waited for; no two concern the same record."""
        records = MemoryStore(self.path).read_all()
        self.chance.shuffle(records)
        requests = []
        for server in self.servers:
            for _ in range(self.chance.randint(1, 4)):
                kinds = ["save", "save", "update", "delete", "principle"] if records else ["save"]
                kind = self.chance.choice(kinds)
                taken = [] if kind == "save" else [records.pop()]
                if kind == "principle" and records:
                    taken.append(records.pop())
                requests.append(self._request(server, kind, taken))
        return requests

    def _request(self, server: ServerProcess, kind: str, taken: list[Record]) -> Request:
        before: Outcome = {(record.type, record.key_text): record.lesson for record in taken}
        gone: Outcome = dict.fromkeys(before)
        tokens, lesson = [record.token for record in taken], self._text()
        if kind == "delete":
            number = server.ask_tool("compact_memory", delete_ids=tokens)
            return Request(server, number, before, gone)
        if kind == "principle":
            number = server.ask_tool(
                "log_memory", topic="auth", lesson=lesson, type="principle", source_ids=tokens
            )
            key = ("principle", lesson)
            return Request(server, number, {**before, key: None}, {**gone, key: lesson})
        gap = self._text()
        if kind == "update" and taken[0].type == "log":
            gap = taken[0].missing_context
        number = server.ask_tool("log_memory", topic="auth", missing_context=gap, lesson=lesson)
        key = ("log", gap)
        return Request(server, number, {key: before.get(key)}, {key: lesson})

    def _judge(self, requests: Sequence[Request]) -> None:
        """What was acknowledged is there; what was not is there as a whole or not at all."""
        there = self._outcome()
        for request in requests:
            now = {key: there.get(key) for key in request.after}
            if now != request.after and (request.acknowledged or now != request.before):
                raise Broken(f"{now}, asked for {request.after}, answered {request.acknowledged}")


class Model(Kind):
    """Any sequence of operations and faults on two stores, against pure functions on bytes."""

    title = "examples of the state machine"
    expected_s = 3.0

    def step(self) -> int:
        machine = seed(self.chance.getrandbits(32))(type("Longer", (Disturbed,), {}))
        longer = settings(
            _settings,
            max_examples=10,
            stateful_step_count=40,
            database=None,
            phases=[Phase.generate],  # the seed is enough to find it again
        )
        run_state_machine_as_test(machine, settings=longer)
        return 10


class Disturbed(RuleBasedStateMachine):
    """After every step, disturbed or not, the file is byte for byte the old or the new one."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name) / "root"
        self.path = log_path(self.root)
        self.path.parent.parent.mkdir(parents=True)
        self.stores = [
            MemoryStore(self.path, lock_timeout_s=1, now=lambda: LATER) for _ in range(2)
        ]
        self.data = b""

    def teardown(self) -> None:
        try:
            none_of(recover(self.path, self.root))
        finally:
            self.folder.cleanup()

    def disturb(
        self, fault: Fault, act: Callable[[], object], pure: Callable[[MemoryLog], MemoryLog]
    ) -> None:
        """Carry out `act` with this fault; the file must become what `pure` makes of it."""
        refused = False
        try:
            wanted = pure(MemoryLog.parse(self.data)).to_bytes()
        except SentinelError:
            wanted, refused = self.data, True
        error: Exception | None = None
        with fault.on(self.root):
            try:
                act()
            except Exception as caught:
                error = caught
        now = self.path.read_bytes() if self.path.exists() else b""
        assert error is None or isinstance(error, SentinelError), f"{fault}: {error!r}"
        assert error or not refused, f"{fault}: accepted"
        lied_to = fault.code == errno.ENOENT and now == self.data
        assert now == (self.data if error else wanted) or lied_to, f"{fault}: {error!r}"
        self.data = now

    @rule(data=st.data())
    def save(self, data: st.DataObject) -> None:
        draft = a_draft(data.draw(_GAPS), topic=data.draw(_TOPICS), lesson=data.draw(_LESSONS))
        self.disturb(
            data.draw(_FAULTS),
            lambda: data.draw(st.sampled_from(self.stores)).upsert_log(draft),
            lambda log: upsert(log, check(draft), now=LATER)[0],
        )

    @rule(data=st.data())
    @precondition(lambda self: bool(MemoryLog.parse(self.data).records))
    def compact(self, data: st.DataObject) -> None:
        tokens = self._tokens(data)
        draft = a_principle(data.draw(_LESSONS))
        self.disturb(
            data.draw(_FAULTS),
            lambda: data.draw(st.sampled_from(self.stores)).upsert_log(draft, tokens),
            lambda log: upsert(log, check(draft), tokens, now=LATER)[0],
        )

    @rule(data=st.data())
    @precondition(lambda self: bool(MemoryLog.parse(self.data).records))
    def delete(self, data: st.DataObject) -> None:
        tokens = self._tokens(data)
        self.disturb(
            data.draw(_FAULTS),
            lambda: data.draw(st.sampled_from(self.stores)).delete_by_ids(tokens),
            lambda log: delete(log, tokens)[0],
        )

    @rule(data=st.data())
    @precondition(lambda self: bool(MemoryLog.parse(self.data).records))
    def bring_back(self, data: st.DataObject) -> None:
        former = [data.draw(st.sampled_from(MemoryLog.parse(self.data).records))]
        self.disturb(
            data.draw(_FAULTS),
            lambda: data.draw(st.sampled_from(self.stores)).bring_back(former),
            lambda log: bring_back(log, former, now=LATER)[0],
        )

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        fault = data.draw(_FAULTS)
        with fault.on(self.root):
            try:
                read = data.draw(st.sampled_from(self.stores)).read_bytes()
            except SentinelError:
                return
        assert read == self.data or fault.code == errno.ENOENT, str(fault)

    @rule(line=st.sampled_from([b"<<<<<<< HEAD\n", b"note\n", b"\xff", b'{"id": 1}\n', b"\n"]))
    @precondition(lambda self: self.path.exists())
    def append_something(self, line: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(line)
        self.data += line

    @rule()
    @precondition(lambda self: self.path.exists())
    def remove_the_folder(self) -> None:
        shutil.rmtree(self.path.parent)
        self.data = b""

    def _tokens(self, data: st.DataObject) -> list[str]:
        records = MemoryLog.parse(self.data).records
        chosen = data.draw(st.lists(st.sampled_from(records), unique_by=id, max_size=3))
        return [record.token for record in chosen]


_TOPICS = st.sampled_from(["auth", "auth-login", "결제", "db"])
_GAPS = st.sampled_from(["one", "two", "three", "넷", "-login x"])
_LESSONS = st.sampled_from(["a", "나", "x" * 700])
_FAULTS = st.builds(
    Fault,
    st.integers(0, 70),
    st.sampled_from(["refused", "refused from there on", "torn", "cut short"]),
    st.sampled_from(CODES),
)
_settings = settings(
    max_examples=25,
    stateful_step_count=15,
    deadline=None,
    phases=[Phase.reuse, Phase.generate, Phase.shrink],  # to explain a failure takes a minute
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
Disturbed.TestCase.settings = _settings


class Injections(Matrix):
    """Errors and kills that the system itself is told to give, by strace: no patched Python."""

    title = "injections by strace"
    calls: ClassVar[tuple[str, ...]] = (
        *("fsync", "fdatasync", "write", "rename", "renameat", "renameat2", "openat", "close"),
        *("unlink", "unlinkat", "chmod", "fchmod", "mkdir", "flock", "getdents64", "newfstatat"),
        *("read", "access", "faccessat2", "readlink", "lseek", "ioctl"),
    )

    def __init__(self, folder: Path, chance: random.Random) -> None:
        super().__init__(folder, chance)
        self.plan = self._plan()
        self.tries, self.hit = 0, False

    @staticmethod
    def is_possible() -> bool:
        """Whether strace is there and may look into a process."""
        strace = shutil.which("strace")
        if not strace:
            return False
        done = subprocess.run([strace, "-o", os.devnull, "true"], capture_output=True, timeout=60)
        return done.returncode == 0

    def step(self) -> int:
        rehearsal, call, how, when = next(self.plan)
        self.tries += 1
        self.hit = self._inject(rehearsal, call, how, when)
        return int(self.hit)

    def _plan(self) -> Iterator[tuple[Rehearsal, str, str, int]]:
        """Each call in turn, its first, second and further time, until there are no more."""
        while True:
            rehearsal = self.any_rehearsal()
            call = self.chance.choice(self.calls)
            how = self.chance.choice(["error=EIO", "error=ENOSPC", "error=EACCES", "signal=KILL"])
            for when in range(1, 100):
                yield rehearsal, call, how, when
                if not self.hit:
                    break

    def _inject(self, rehearsal: Rehearsal, call: str, how: str, when: int) -> bool:
        """Whether the scenario got as far as this call; it was judged then."""
        root, log = self.folder / f"try {self.tries}", self.folder / "strace.txt"
        path = rehearsal.scenario.begin(root)
        gate, opened = os.pipe()
        with Child(Waiting(rehearsal.scenario, path, gate)) as child:
            child.hear()
            with _traced(child.pid, f"{call}:{how}:when={when}", log):
                os.write(opened, b"go")
                code, said = child.end()
        os.close(gate)
        os.close(opened)
        hit = "(INJECTED)" in log.read_text() or code == -signal.SIGKILL
        wrong = self._judge(rehearsal, code, said.removeprefix("ready"), root)
        wrong += recover(path, root)
        shutil.rmtree(root)
        none_of([f"{rehearsal.scenario}, {call}, {how}, {when}: {what}" for what in wrong])
        return hit

    @staticmethod
    def _judge(rehearsal: Rehearsal, code: int, said: str, root: Path) -> list[str]:
        if (code, said) == (0, "done"):
            return judge_success(rehearsal, Fault(0, "refused"), root)
        if code == 0:
            wrong = [] if has_sentence(f"errors.{said}") else [f"not ours: {said}"]
            return wrong + judge_failure(rehearsal, Fault(0, "refused"), None, root)
        if without_litter(tree(root)) == rehearsal.after:
            return []
        return judge_failure(rehearsal, Fault(0, "killed before"), None, root)


@dataclass(frozen=True)
class Waiting:
    """Carries out a scenario as soon as something comes through the pipe `gate`."""

    scenario: Scenario
    path: Path
    gate: int

    def __call__(self, say: Say) -> str:
        say("ready")
        select.select([self.gate], [], [], WAIT_S)
        self.scenario.act(self.path)
        return "done"


@contextlib.contextmanager
def _traced(pid: int, injection: str, log: Path) -> Iterator[None]:
    """Have strace at this process; it is there from the beginning of the block on."""
    name = injection.partition(":")[0]
    command = ["strace", "-f", "-p", str(pid), "-o", str(log), "-e", f"trace={name}"]
    process = subprocess.Popen(
        [*command, "-e", f"inject={injection}"], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    try:
        assert process.stderr is not None
        assert select.select([process.stderr], [], [], WAIT_S)[0], "strace says nothing"
        said = os.read(process.stderr.fileno(), 4096)
        assert b"attached" in said, f"strace: {said.decode()}"
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(WAIT_S)
        if process.stderr:
            process.stderr.close()


KINDS: tuple[type[Kind], ...] = (Servers, Writers, Deaths, Crowd, Matrix, Model, Injections)


def run(
    seconds: float,
    chosen_seed: int,
    kinds: Sequence[type[Kind]] = KINDS,
    *,
    folder: Path | None = None,
) -> dict[str, int]:
    """Make trouble of these kinds for about that long; how often of each.

    folder: where to work, else a temporary directory. Raises AssertionError at the first promise
    that does not hold.
    """
    with tempfile.TemporaryDirectory(dir=folder) as place, contextlib.ExitStack() as closing:
        running: list[Kind] = []
        for kind in kinds:
            own = Path(place).resolve() / kind.__name__
            own.mkdir()
            running.append(kind(own, random.Random(f"{chosen_seed} {kind.__name__}")))
            closing.callback(running[-1].close)
        return _take_turns(running, time.monotonic() + seconds)


def _take_turns(kinds: Sequence[Kind], end: float) -> dict[str, int]:
    """Let whoever had the least time make trouble, until the time is up."""
    done = {kind.title: 0 for kind in kinds}
    spent = {kind.title: 0.0 for kind in kinds}
    longest = {kind.title: kind.expected_s for kind in kinds}
    while time.monotonic() < end:
        late = end + LATE_S - time.monotonic()
        fitting = [kind for kind in kinds if longest[kind.title] < late]
        if not fitting:
            break
        kind = min(fitting, key=lambda kind: spent[kind.title])
        begun = time.monotonic()
        try:
            done[kind.title] += kind.step()
        except AssertionError as error:
            raise Broken(f"{kind.title}, after {done[kind.title]}: {error}") from error
        took = time.monotonic() - begun
        spent[kind.title] += took
        longest[kind.title] = max(longest[kind.title], took)
    return done


def main() -> int:
    """Carry out the command line; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    given = parser.parse_args()
    logging.disable()
    kinds = [kind for kind in KINDS if kind is not Injections or Injections.is_possible()]
    try:
        done = run(given.seconds, given.seed, kinds)
    except AssertionError as error:
        print(f"seed {given.seed}: {error}")
        return 1
    for title, count in done.items():
        print(f"{count:7} {title}")
    if Injections not in kinds:
        print(f"skipped {Injections.title}: no strace, or it may not look into processes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
