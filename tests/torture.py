"""Breaks the memory on purpose, for a given time: `python tests/torture.py --seconds 60`.

Kinds of trouble take turns, each with its share of the time. At the first violation it prints the
broken property and the seed, and its exit status is 1. The faults are those of faults.py.
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
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.errors import SentinelError
from core.lessons.log import MemoryLog
from core.lessons.record import Record, check_draft
from core.messages import has_sentence
from core.store import MemoryStore
from tests.core.lessons import rehearsals
from tests.core.lessons.rehearsals import Rehearsal
from tests.core.lessons.test_concurrency import assert_only_our_files
from tests.support import faults
from tests.support.changes import bring_back, delete, upsert
from tests.support.faults import WAIT_S, Child, Fault, Say
from tests.support.git_clones import path_of
from tests.support.samples import LATER, a_draft, a_principle
from tests.support.servers import HANDSHAKE, STATELESS, ServerProcess
from tests.support.tables import none_of


class Broken(AssertionError):
    """A promise does not hold; the text says which, and how it was found."""


class Kind:
    """One kind of trouble: each `step` makes some of it and returns how often.

    folder: an empty directory of its own. chance: where every choice comes from. A step raises
    AssertionError when a promise does not hold; `close` leaves no process behind.
    """

    title: ClassVar[str] = ""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self.chance = folder, chance
        self.rehearsals: list[Rehearsal] = []

    def step(self) -> int:
        raise NotImplementedError

    def close(self) -> None:
        return

    def any_rehearsal(self) -> Rehearsal:
        """Return one of the scenarios, with its result when nothing is wrong."""
        if not self.rehearsals:
            folder = self.folder / "rehearsal"
            self.rehearsals = [rehearsals.rehearse(it, folder) for it in rehearsals.SCENARIOS]
        return self.chance.choice(self.rehearsals)


class Calls(Kind):
    """Any fault or death at any call of any scenario, or no room to write any further."""

    title = "faults and deaths at system calls"

    def step(self) -> int:
        rehearsal = self.any_rehearsal()
        modes = (*faults.FAILING, *faults.FOLDER, *faults.KILLING, "full")
        mode, code = self.chance.choice(modes), self.chance.choice(faults.CODES)
        if mode == "full":
            at = self.chance.randint(0, 2500)
        else:
            at = self.chance.choice(list(rehearsals.faults_of(rehearsal, mode))).at
        none_of(rehearsals.attempt(rehearsal, Fault(at, mode, code), self.folder))
        return 1


class Writers(Kind):
    """Two forked writers of one log that save as fast as they can until they are killed."""

    title = "writers killed at any moment"

    def __init__(self, folder: Path, chance: random.Random) -> None:
        super().__init__(folder, chance)
        self.lives, self.there = 0, set[str]()

    def step(self) -> int:
        root = self.folder / "root"
        path = faults.log_path(root)
        if self.lives % 60 == 0:
            shutil.rmtree(root, ignore_errors=True)
            path.parent.parent.mkdir(parents=True)
            self.there = set()
        told = self._kill_two(path)
        log = MemoryStore(path).read()
        now = {record.missing_context for record in log.records}
        lost, new = (self.there | told) - now, now - self.there - told
        if lost or log.unreadable_count or len(new) > 2:
            raise Broken(f"lost {lost}, torn {log.unreadable_count}, new {new}")
        with Child(lambda _: "\n".join(rehearsals.recover(path, root))) as child:
            none_of(child.end()[1].splitlines())
        self.there = {record.missing_context for record in MemoryStore(path).read().records}
        return 2

    def _kill_two(self, path: Path) -> set[str]:
        """Return the gaps whose save was acknowledged."""
        with contextlib.ExitStack() as running:
            children = []
            for _ in range(2):
                self.lives += 1
                life = partial(save_until_killed, path, self.lives)
                children.append(running.enter_context(Child(life)))
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


def save_until_killed(path: Path, life: int, say: Say) -> str:
    """Save records, and say the gap of each after its save."""
    store = MemoryStore(path)
    for number in range(10_000):
        store.upsert_log(a_draft(f"{life}/{number}", lesson="x" * 900))
        say(f"{life}/{number}\n")
    return "finished"


Outcome = dict[tuple[str, str], str | None]  # by kind and text of a record, its lesson or None


class Request(NamedTuple):
    """One call to a server, with its records before and after it."""

    server: ServerProcess
    number: int
    before: Outcome
    after: Outcome


class Servers(Kind):
    """Three real servers of one project, one of which is killed in the middle of its calls."""

    title = "servers killed with calls in flight"

    def __init__(self, folder: Path, chance: random.Random) -> None:
        super().__init__(folder, chance)
        self.project, self.path = folder / "project", path_of(folder / "project")
        self.texts = (f"text {number}" for number in count(1))
        self.servers: list[ServerProcess] = []
        self.started = 0

    def step(self) -> int:
        if not self.servers:
            self.project.mkdir()
            self.servers += [self._start() for _ in range(3)]
            self._save(self.servers[0])
        requests = self._ask()
        victim = self.chance.choice(self.servers)
        time.sleep(self.chance.uniform(0, 0.04))  # spreads the kills over the calls
        victim.kill()
        acknowledged = [
            it for it in requests if it.server is not victim or victim.is_answered(it.number)
        ]
        for request in acknowledged:
            request.server.tool_text(request.number)
        there = self._outcome()
        for request in requests:  # one without an answer is there as a whole or not at all
            now = {key: there.get(key) for key in request.after}
            if now != request.after and (request in acknowledged or now != request.before):
                raise Broken(f"{now} after {request}")
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
        era, said = (HANDSHAKE, STATELESS)[self.started % 2], self.folder / f"{self.started}.txt"
        words = ("--project", str(self.project))
        return ServerProcess(*words, cwd=self.project, stderr_path=said, era=era)

    def _save(self, server: ServerProcess) -> None:
        gap, lesson = next(self.texts), next(self.texts)
        server.call("log_memory", topic="auth", missing_context=gap, lesson=lesson)
        if self._outcome().get(("log", gap)) != lesson:
            raise Broken(f"an acknowledged save is not there: {gap}")

    def _outcome(self) -> Outcome:
        """Return the lessons in the file, which must be whole."""
        data = self.path.read_bytes()
        log = MemoryLog.parse(data)
        if log.unreadable_count or not data.endswith(b"}\n"):
            raise Broken(f"torn: {data[-200:]!r}")
        return {(record.type, record.key_text): record.lesson for record in log.records}

    def _ask(self) -> list[Request]:
        """Ask each server for some calls, none waited for; no two concern the same record."""
        records = MemoryStore(self.path).read().records
        self.chance.shuffle(records)
        requests = []
        for server in self.servers:
            for _ in range(self.chance.randint(1, 4)):
                kinds = ["save", "save", "update", "delete", "principle"] if records else ["save"]
                kind = self.chance.choice(kinds)
                most = {"save": 0, "principle": 2}.get(kind, 1)
                taken = [records.pop() for _ in range(min(most, len(records)))]
                requests.append(self._request(server, kind, taken))
        return requests

    def _request(self, server: ServerProcess, kind: str, taken: list[Record]) -> Request:
        if kind == "update":  # a principle has no gap
            taken = [record for record in taken if record.type == "log"]
        gone: Outcome = {(record.type, record.key_text): record.lesson for record in taken}
        tokens, gap, lesson = [it.version_id for it in taken], next(self.texts), next(self.texts)
        if kind == "delete":
            number = server.ask_tool("compact_memory", delete_ids=tokens)
            made: Outcome = {}
        elif kind == "principle":
            given = {"topic": "auth", "lesson": lesson, "type": "principle"}
            number = server.ask_tool("log_memory", **given, source_ids=tokens)
            made = {("principle", lesson): lesson}
        else:
            gap = taken[0].missing_context if taken else gap
            number = server.ask_tool("log_memory", topic="auth", missing_context=gap, lesson=lesson)
            made = {("log", gap): lesson}
        before, after = {**dict.fromkeys(made), **gone}, {**dict.fromkeys(gone), **made}
        return Request(server, number, before, after)


class Model(Kind):
    """Any sequence of operations and faults on two stores, against pure functions on bytes."""

    title = "examples of the state machine"

    def step(self) -> int:
        machine = seed(self.chance.getrandbits(32))(type("Longer", (Disturbed,), {}))
        alone: dict[str, Any] = {"database": None, "phases": [Phase.generate]}  # the seed is enough
        longer = settings(_settings, max_examples=10, stateful_step_count=40, **alone)
        run_state_machine_as_test(machine, settings=longer)
        return 10


_TOPICS = st.sampled_from(["auth", "auth-login", "결제", "db"])
_GAPS = st.sampled_from(["one", "two", "three", "넷", "-login x"])
_LESSONS = st.sampled_from(["a", "나", "x" * 700])
_MODES = st.sampled_from(["refused", "refused from there on", "torn", "cut short"])
_FAULTS = st.builds(Fault, st.integers(0, 70), _MODES, st.sampled_from(faults.CODES))
_settings = settings(
    max_examples=25,
    stateful_step_count=15,
    deadline=None,
    phases=[Phase.reuse, Phase.generate, Phase.shrink],  # to explain a failure takes a minute
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


class Disturbed(RuleBasedStateMachine):
    """After every step, disturbed or not, the file is byte for byte the old or the new one."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name) / "root"
        self.path = faults.log_path(self.root)
        self.path.parent.parent.mkdir(parents=True)
        self.stores = [MemoryStore(self.path, lock_timeout_s=1, now=lambda: LATER) for _ in "ab"]
        self.data = b""

    def teardown(self) -> None:
        try:
            none_of(rehearsals.recover(self.path, self.root))
        finally:
            self.folder.cleanup()

    def disturb(
        self,
        data: st.DataObject,
        act: Callable[[MemoryStore], object],
        pure: Callable[[MemoryLog], MemoryLog],
    ) -> None:
        """Carry out `act` with any fault; the file must become the log that `pure` returns."""
        fault, store = data.draw(_FAULTS), data.draw(st.sampled_from(self.stores))
        refused = False
        try:
            wanted = pure(MemoryLog.parse(self.data)).to_bytes()
        except SentinelError:
            wanted, refused = self.data, True
        error: Exception | None = None
        with faults.Faults(self.root, fault):
            try:
                act(store)
            except Exception as caught:
                error = caught
        now = self.path.read_bytes() if self.path.exists() else b""
        assert error is None or isinstance(error, SentinelError), f"{fault}: {error!r}"
        assert error or not refused, f"{fault}: accepted"
        lied_to = fault.code == errno.ENOENT and now == self.data
        assert now == (self.data if error else wanted) or lied_to, f"{fault}: {error!r}"
        self.data = now

    def some(self, data: st.DataObject) -> list[Record]:
        records = MemoryLog.parse(self.data).records
        return data.draw(st.lists(st.sampled_from(records), unique_by=id, max_size=3))

    @property
    def has_records(self) -> bool:
        return bool(MemoryLog.parse(self.data).records)

    @rule(data=st.data(), topic=_TOPICS, gap=_GAPS, lesson=_LESSONS)
    def save(self, data: st.DataObject, topic: str, gap: str, lesson: str) -> None:
        draft = a_draft(gap, topic=topic, lesson=lesson)
        self.disturb(
            data,
            lambda store: store.upsert_log(draft),
            lambda log: upsert(log, check_draft(draft), now=LATER)[0],
        )

    @rule(data=st.data(), lesson=_LESSONS)
    @precondition(lambda self: self.has_records)
    def compact(self, data: st.DataObject, lesson: str) -> None:
        draft, tokens = a_principle(lesson), [record.version_id for record in self.some(data)]
        self.disturb(
            data,
            lambda store: store.upsert_log(draft, tokens),
            lambda log: upsert(log, check_draft(draft), tokens, now=LATER)[0],
        )

    @rule(data=st.data())
    @precondition(lambda self: self.has_records)
    def delete(self, data: st.DataObject) -> None:
        tokens = [record.version_id for record in self.some(data)]
        self.disturb(
            data, lambda store: store.delete_by_ids(tokens), lambda log: delete(log, tokens)[0]
        )

    @rule(data=st.data())
    @precondition(lambda self: self.has_records)
    def bring_back(self, data: st.DataObject) -> None:
        former = [data.draw(st.sampled_from(MemoryLog.parse(self.data).records))]
        self.disturb(
            data,
            lambda store: store.bring_back(former),
            lambda log: bring_back(log, former, now=LATER)[0],
        )

    @rule(fault=_FAULTS, store=st.sampled_from([0, 1]))
    def read(self, fault: Fault, store: int) -> None:
        with faults.Faults(self.root, fault):
            try:
                read = self.stores[store].read_bytes()
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


Disturbed.TestCase.settings = _settings


class Injections(Kind):
    """Errors and kills that strace injects into system calls: no patched Python."""

    title = "injections by strace"
    calls: ClassVar[tuple[str, ...]] = (
        *("fsync", "fdatasync", "write", "rename", "renameat", "renameat2", "openat", "close"),
        *("unlink", "unlinkat", "chmod", "fchmod", "mkdir", "flock", "getdents64", "newfstatat"),
        *("read", "access", "faccessat2", "readlink", "lseek", "ioctl"),
    )
    ways: ClassVar[tuple[str, ...]] = ("error=EIO", "error=ENOSPC", "error=EACCES", "signal=KILL")

    def __init__(self, folder: Path, chance: random.Random) -> None:
        super().__init__(folder, chance)
        self.tries, self.when, self.hit = 0, 0, False

    @staticmethod
    def is_possible() -> bool:
        """Return whether strace is there and may look into a process."""
        if not (strace := shutil.which("strace")):
            return False
        done = subprocess.run([strace, "-o", os.devnull, "true"], capture_output=True, timeout=60)
        return done.returncode == 0

    def step(self) -> int:
        """Spoil a call, its first, second and further time, until there are no more."""
        if not self.hit:
            self.rehearsal, self.when = self.any_rehearsal(), 0
            self.call, self.way = self.chance.choice(self.calls), self.chance.choice(self.ways)
        self.when += 1
        self.tries += 1
        self.hit = self._inject(f"{self.call}:{self.way}:when={self.when}")
        return int(self.hit)

    def _inject(self, injection: str) -> bool:
        """Return whether the scenario got as far as this call; it is judged in any case."""
        root, log = self.folder / f"try {self.tries}", self.folder / "strace.txt"
        scenario = self.rehearsal.scenario
        path = scenario.begin(root)
        gate, opened = os.pipe()

        def act_behind_the_gate(say: Say) -> str:
            say("ready")
            select.select([gate], [], [], WAIT_S)
            scenario.act(path)
            return "done"

        with Child(act_behind_the_gate) as child:
            child.hear()
            with _traced(child.pid, injection, log):
                os.write(opened, b"go")
                code, said = child.end()
        os.close(gate)
        os.close(opened)
        wrong = self._judge(code, said.removeprefix("ready"), root)
        wrong += rehearsals.recover(path, root)
        none_of(f"{scenario}, {injection}: {what}" for what in wrong)
        shutil.rmtree(root)
        return "(INJECTED)" in log.read_text() or code == -signal.SIGKILL

    def _judge(self, code: int, said: str, root: Path) -> list[str]:
        rehearsal, refused = self.rehearsal, Fault(0, "refused")
        if (code, said) == (0, "done"):
            return rehearsals.judge_success(rehearsal, refused, root)
        if code == 0:
            wrong = [] if has_sentence(f"errors.{said}") else [f"not ours: {said}"]
            return wrong + rehearsals.judge_failure(rehearsal, refused, root)
        if rehearsals.without_litter(faults.tree(root)) == rehearsal.after:
            return []
        return rehearsals.judge_failure(rehearsal, Fault(0, "killed before"), root)


@contextlib.contextmanager
def _traced(pid: int, injection: str, log: Path) -> Iterator[None]:
    """Trace this process with strace, from the beginning of the block on."""
    name = injection.partition(":")[0]
    command = ["strace", "-f", "-p", str(pid), "-o", str(log), "-e", f"trace={name}"]
    command += ["-e", f"inject={injection}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        try:
            assert process.stderr is not None
            assert select.select([process.stderr], [], [], WAIT_S)[0], "strace says nothing"
            said = os.read(process.stderr.fileno(), 4096)
            assert b"attached" in said, f"strace: {said.decode()}"
            yield
        finally:
            process.terminate()
            try:
                process.wait(WAIT_S)
            except subprocess.TimeoutExpired:
                process.kill()


KINDS: tuple[type[Kind], ...] = (Servers, Writers, Calls, Model, Injections)


def run(
    seconds: float,
    chosen_seed: int,
    kinds: Sequence[type[Kind]] = KINDS,
    *,
    folder: Path | None = None,
) -> dict[str, int]:
    """Make trouble of these kinds for about that long, and return how often of each.

    The kind with the least time is next. folder: to work in, else a temporary directory. Raises
    AssertionError at the first promise that does not hold.
    """
    end = time.monotonic() + seconds
    done, spent = {kind.title: 0 for kind in kinds}, {kind.title: 0.0 for kind in kinds}
    with tempfile.TemporaryDirectory(dir=folder) as place, contextlib.ExitStack() as closing:
        running: list[Kind] = []
        for made in kinds:
            own = Path(place).resolve() / made.__name__
            own.mkdir()
            running.append(made(own, random.Random(f"{chosen_seed} {made.__name__}")))
            closing.callback(running[-1].close)
        while (begun := time.monotonic()) < end:
            kind = min(running, key=lambda kind: spent[kind.title])
            try:
                done[kind.title] += kind.step()
            except AssertionError as error:
                raise Broken(f"{kind.title}, after {done[kind.title]}: {error}") from error
            spent[kind.title] += time.monotonic() - begun
    return done


def main() -> int:
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
    for title, times in done.items():
        print(f"{times:7} {title}")
    if Injections not in kinds:
        print(f"skipped {Injections.title}: no strace, or it may not look into processes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
