"""Makes a disk misbehave: calls fail, stop half-way or never come back, at a chosen place.

`Faults` sees what Python code asks of `os`, `open` and `fcntl`; a scenario is one operation on a
prepared project, tried once undisturbed and then with its N-th call spoilt. Everything is judged
from outside: the bytes and names in the project, and what the caller was told. What goes on below
Python (the calls inside one read of a file) is left to strace, in torture.py.
"""

import builtins
import contextlib
import errno
import io
import os
import re
import secrets
import select
import shutil
import signal
import stat
import sys
import threading
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from core.config import CONTEXT_DIRECTORY, LOG_NAME
from core.errors import SentinelError
from core.lessons.file import COMPANIONS, LOCK_SUFFIX, REPLACED_NAME, LogFile, Replacement
from core.store import MemoryStore
from tests.support.samples import LATER, NOW, a_draft, a_principle, a_record

if sys.platform != "win32":
    import fcntl
    import resource

CODES = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.ENOENT, errno.EDQUOT, errno.EINTR)
WAIT_S = 60.0
ASIDE, SHARED_NAME = "aside.txt", "log.jsonl"

_WATCHED = (
    *("open", "read", "write", "fsync", "fdatasync", "ftruncate", "close", "fstat", "fchmod"),
    *("replace", "rename", "link", "unlink", "remove", "chmod", "chown", "mkdir", "rmdir"),
    *("stat", "lstat", "readlink", "listdir", "scandir", "access", "utime"),
)
_LOOKING = {"read", "close", "fstat", "stat", "lstat", "readlink", "listdir", "scandir", "access"}
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.tmp")


@dataclass(frozen=True)
class Call:
    """One system call that is about to be made. path: what it is about, as far as known.

    half: a write of half of it. target: what a replacement takes the place of.
    """

    name: str
    path: str
    perform: Callable[[], Any]
    half: Callable[[], Any] | None = None
    changes: bool = False
    target: str = ""

    def __str__(self) -> str:
        return f"{self.name}({Path(self.path).name})"


Spoil = Callable[[Call], Any]


def refused(code: int, call: Call) -> Any:
    """The call fails and has done nothing; but a failed close has freed the descriptor."""
    if call.name == "close":
        call.perform()
    raise OSError(code, os.strerror(code), call.path)


def _failed_afterwards(code: int, call: Call) -> Any:
    """The call does its work and fails all the same; nobody gets the descriptor it opened."""
    result = call.perform()
    if call.name == "open":
        os.close(result)
    raise OSError(code, os.strerror(code), call.path)


def _cut_short(call: Call) -> Any:
    """A write takes half of what it was given and says so, as it may."""
    return call.half() if call.half else call.perform()


def _torn(code: int, call: Call) -> Any:
    """A write takes half of what it was given and fails."""
    if call.half:
        call.half()
    raise OSError(code, os.strerror(code), call.path)


def _without(directory: Path, call: Call, left: bytes | None = None) -> Any:
    """Somebody removes the folder just before the call, or puts a file in its place."""
    shutil.rmtree(directory, ignore_errors=True)
    if left is not None:
        directory.write_bytes(left)
    return call.perform()


def _signalled(number: int, call: Call) -> Any:
    """The process gets the signal before the call: it dies, or stands still until it may go on."""
    os.kill(os.getpid(), number)
    return call.perform()


killed_before: Spoil = partial(_signalled, signal.SIGKILL)


def killed_after(call: Call, work: Callable[[Call], Any] | None = None) -> Any:
    """The process dies once the call has done its work, or half of it."""
    try:
        work(call) if work else call.perform()
    finally:
        os.kill(os.getpid(), signal.SIGKILL)


class Faults:
    """While it is entered, counts the calls that concern `root` and spoils the one numbered `at`.

    lasting: all later calls are spoilt, too, but for the end of a lock, which asks no disk.
    calls: what was asked, the first call is number 1.
    A sync is counted, but the disk is not waited for: no test here cuts the power.
    """

    def __init__(
        self, root: Path, at: int = 0, spoil: Spoil | None = None, *, lasting: bool = False
    ) -> None:
        self.calls: list[Call] = []
        self._root = str(root)
        self._at, self._spoil, self._lasting = at, spoil, lasting
        self.descriptors: dict[int, str] = {}
        self._thread = threading.get_ident()
        self._resting = True
        self._undo = contextlib.ExitStack()

    def __enter__(self) -> "Faults":
        replaced: list[tuple[Any, str, Any]] = [
            *((os, name, partial(self._asked, name, getattr(os, name))) for name in _WATCHED),
            (fcntl, "flock", partial(self._asked, "flock", fcntl.flock)),
            *((it, "open", partial(self._open_to_read, builtins.open)) for it in (builtins, io)),
        ]
        for module, name, replacement in replaced:
            self._undo.callback(setattr, module, name, getattr(module, name))
            setattr(module, name, replacement)
        self._resting = False
        return self

    def __exit__(self, *_: object) -> None:
        self._resting = True
        self._undo.close()

    def reach(self, call: Call) -> Any:
        """Make the call, or what is to happen in its place."""
        self.calls.append(call)
        number = len(self.calls)
        hit = number == self._at or (self._lasting and number > self._at > 0)
        if self._lasting and call.name == "unlock":
            hit = False
        self._resting = True  # what a spoilt call does is not what the program does
        try:
            return self._spoil(call) if hit and self._spoil else call.perform()
        finally:
            self._resting = False

    def _about(self, subject: Any) -> str | None:
        """The path that a call is about, None where it is none of ours."""
        if self._resting or threading.get_ident() != self._thread:
            return None
        if isinstance(subject, int):
            return self.descriptors.get(subject)
        path = os.fspath(subject) if isinstance(subject, str | os.PathLike) else ""
        inside = path == self._root or str(path).startswith(self._root + os.sep)
        return str(path) if inside else None

    def _asked(self, name: str, real: Callable[..., Any], *args: Any, **options: Any) -> Any:
        path = self._about(args[0] if args else None)
        if path is None:
            return real(*args, **options)
        perform, half, changes = partial(real, *args, **options), None, name not in _LOOKING
        if name == "open":
            changes = bool(args[1] & os.O_CREAT)
        elif name == "write":
            half = partial(real, args[0], bytes(args[1])[: max(len(args[1]) // 2, 1)])
        elif name in ("fsync", "fdatasync"):
            perform = partial(os.fstat, args[0])
        elif name == "close":
            del self.descriptors[args[0]]
        elif name == "flock" and args[1] & fcntl.LOCK_UN:
            name = "unlock"
        target = os.fspath(args[1]) if name == "replace" else ""
        result = self.reach(Call(name, path, perform, half, changes, target))
        if name == "open":
            self.descriptors[result] = path
        return result

    def _open_to_read(self, real: Any, file: Any, mode: str = "r", *args: Any, **named: Any) -> Any:
        path = self._about(file)
        if path is None or isinstance(file, int):
            return real(file, mode, *args, **named)
        assert mode == "rb", f"a way to open a file that is not watched: {path}, {mode}"
        raw = self.reach(Call("open", path, partial(_WatchedFile, path, self)))
        self.descriptors[raw.fileno()] = path
        return io.BufferedReader(raw)


class _WatchedFile(io.FileIO):
    """A file that is read through `open`, whose reads and close are counted like any call."""

    def __init__(self, path: str, faults: Faults) -> None:
        super().__init__(path, "rb")
        self._path, self._faults = path, faults

    def readall(self) -> bytes:
        data: bytes = self._faults.reach(Call("read", self._path, super().readall))
        return data

    def close(self) -> None:
        if not self.closed:
            self._faults.descriptors.pop(self.fileno(), None)  # it may soon be another file's
            self._faults.reach(Call("close", self._path, super().close))


class Item(NamedTuple):
    """What one name of a project stands for: a file with its mode, a link or a folder."""

    kind: str
    mode: int
    data: bytes


Tree = dict[str, Item]


def tree(root: Path) -> Tree:
    """Everything below `root`, but no locks."""
    items: Tree = {}
    for path in sorted(root.rglob("*")):
        name, status = str(path.relative_to(root)), path.lstat()
        if stat.S_ISLNK(status.st_mode):
            items[name] = Item("link", 0, os.fsencode(os.readlink(path)))
        elif stat.S_ISDIR(status.st_mode):
            items[name] = Item("folder", 0, b"")
        elif path.suffix != LOCK_SUFFIX:
            items[name] = Item("file", stat.S_IMODE(status.st_mode), path.read_bytes())
    return items


def _litter(items: Tree) -> list[str]:
    """The temporary files among these."""
    return [name for name in items if _TEMPORARY.fullmatch(Path(name).name)]


def without_litter(items: Tree) -> Tree:
    """These without temporary files: what has to be there after a success."""
    gone = _litter(items)
    return {name: item for name, item in items.items() if name not in gone}


def _belongings(items: Tree) -> Tree:
    """What is the user's: without folders, temporary files and companions of our own making.

    Nor the side file: what an error has left in the log may stand there, too.
    """
    ours = {text.encode("ascii") for text in COMPANIONS.values()}
    return {
        name: item
        for name, item in without_litter(items).items()
        if item.kind != "folder"
        and not (Path(name).name in COMPANIONS and item.data in ours)
        and Path(name).name != REPLACED_NAME
    }


def log_path(root: Path) -> Path:
    """Where the log of the project below `root` is."""
    return root / "project" / CONTEXT_DIRECTORY / LOG_NAME


def a_store(path: Path) -> MemoryStore:
    """A store as a new process would have it, at a time that stands still."""
    return MemoryStore(path, lock_timeout_s=1, now=lambda: LATER)


# Scenarios.

RECORDS = [a_record(gap, lesson="규칙 " * 40) for gap in ("first", "둘째", "third", "fourth")]
TOKENS = [record.token for record in RECORDS]
LINES = b"".join(record.to_line() for record in RECORDS[:2]) + b"a note of somebody\n"
DATA = LINES + b"".join(record.to_line() for record in RECORDS[2:])


@dataclass(frozen=True)
class Scenario:
    """One operation on a prepared project. prepare and act get the path of the log."""

    name: str
    prepare: Callable[[Path], object]
    act: Callable[[Path], object]

    def __str__(self) -> str:
        return self.name

    def begin(self, root: Path) -> Path:
        """Make the project below `root`; the path of its log."""
        path = log_path(root)
        path.parent.parent.mkdir(parents=True)
        self.prepare(path)
        return path


def _git_is_told(path: Path) -> None:
    path.parent.mkdir()
    (path.parent / ".gitignore").write_bytes(b"of the user\n")


def _four(path: Path) -> None:
    path.parent.mkdir()
    for name, text in COMPANIONS.items():
        (path.parent / name).write_text(text)
    path.write_bytes(DATA)
    path.chmod(0o640)
    if os.geteuid() == 0:  # a save by root gives the file back to its owner
        os.chown(path, 12345, 12345)


def _four_beside_strays(path: Path) -> None:
    _four(path)
    for digit in "12":
        path.with_name(f".{LOG_NAME}.{digit * 16}.tmp").write_bytes(DATA[:99])


def _four_and_a_replaced_one(path: Path) -> None:
    _four(path)
    torn = RECORDS[0].to_line() + RECORDS[1].to_line()[:50]  # by a writer that was killed
    path.with_name(REPLACED_NAME).write_bytes(torn)


def _four_with_secrets(path: Path) -> None:
    _four(path)
    secret = a_record("secret", lesson="password: Xk29vQp7Lm", now=NOW)
    path.write_bytes(DATA + secret.to_line() + b'{"token": "ghp_' + b"a1B2" * 9 + b'"}\n')


def _four_behind_a_link(path: Path) -> None:
    shared = path.parents[2] / "shared"
    shared.mkdir()
    (shared / SHARED_NAME).write_bytes(DATA)
    path.parent.mkdir()
    path.symlink_to(Path("..", "..", "shared", SHARED_NAME))


def _append(path: Path) -> object:
    return a_store(path).upsert_log(a_draft("fifth"))


def _update(path: Path) -> object:
    return a_store(path).upsert_log(a_draft("둘째", lesson="better"))


def _bring_back(path: Path) -> object:
    former = [a_record("sixth", now=NOW), RECORDS[1]]
    return a_store(path).bring_back(former, instead_of=TOKENS[3])


def _set_aside(path: Path) -> object:
    file = LogFile(path, lock_timeout_s=1)
    return file.rewrite(lambda _: Replacement(LINES, None, DATA[len(LINES) :]), aside_name=ASIDE)


_TELLING = "telling git"
_MAY_PASS_OVER = ("a deletion", "a repair", "a cleaning")  # what they are told is not there

SCENARIOS = [
    Scenario("the first save", lambda _: None, _append),
    Scenario("the first save beside a user's gitignore", _git_is_told, _append),
    Scenario("a new record", _four, _append),
    Scenario("an update in the middle", _four, _update),
    Scenario("a principle", _four, lambda it: a_store(it).upsert_log(a_principle(), TOKENS[:3])),
    Scenario("a deletion", _four, lambda it: a_store(it).delete_by_ids([TOKENS[0], TOKENS[3]])),
    Scenario("a bringing back", _four, _bring_back),
    Scenario("a save behind a link", _four_behind_a_link, _append),
    Scenario("a save beside strays", _four_beside_strays, _append),
    Scenario("a change that sets aside", _four, _set_aside),
    Scenario("a repair", _four_beside_strays, lambda it: a_store(it).repair(aside_name=ASIDE)),
    Scenario("a cleaning", _four_with_secrets, lambda it: a_store(it).clean()),
    Scenario(_TELLING, _git_is_told, lambda it: a_store(it).file.write_companions()),
    Scenario("an update after another", _four_and_a_replaced_one, _update),
]


@dataclass(frozen=True)
class Rehearsal:
    """A scenario without faults: what was there before and after, and the calls it made.

    data: what a reader of the log gets afterwards.
    """

    scenario: Scenario
    before: Tree
    after: Tree
    data: bytes
    calls: tuple[Call, ...]


def rehearse(scenario: Scenario, root: Path) -> Rehearsal:
    """Carry out the scenario below the new directory `root`, undisturbed."""
    path = scenario.begin(root)
    before = tree(root)
    with Faults(root) as faults:
        scenario.act(path)
    after, data = tree(root), _data(path)
    made = faults.calls  # and not to be made again
    calls = tuple(Call(it.name, it.path, lambda: None, None, it.changes) for it in made)
    assert not _litter(after)
    shutil.rmtree(root)
    return Rehearsal(scenario, before, after, data, calls)


def _data(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


# Faults in a scenario.

FAILING = ("refused", "refused from there on", "failed afterwards", "torn", "cut short")
FOLDER = ("folder removed", "folder usurped")
KILLING = ("killed before", "killed after", "killed half-way")


@dataclass(frozen=True)
class Fault:
    """What is to go wrong: the call numbered `at` of an operation, how, and with which error."""

    at: int
    mode: str
    code: int = errno.EIO

    def __str__(self) -> str:
        return f"{self.mode} at call {self.at} ({errno.errorcode[self.code]})"

    @property
    def lasting(self) -> bool:
        """Whether everything fails from there on, as on a disk that is dead."""
        return self.mode.endswith("from there on")

    def on(self, root: Path) -> Faults:
        """The layer that makes it happen below `root`."""
        context = log_path(root).parent
        spoils: dict[str, Spoil] = {
            "refused": partial(refused, self.code),
            "refused from there on": partial(refused, self.code),
            "failed afterwards": partial(_failed_afterwards, self.code),
            "torn": partial(_torn, self.code),
            "cut short": _cut_short,
            "folder removed": partial(_without, context),
            "folder usurped": partial(_without, context, left=b"mine"),
            "killed before": killed_before,
            "killed after": killed_after,
            "killed half-way": partial(killed_after, work=_cut_short),
            "stopped": partial(_signalled, signal.SIGSTOP),
        }
        return Faults(root, self.at, spoils[self.mode], lasting=self.lasting)


def faults_of(
    rehearsal: Rehearsal, mode: str, *, only: Container[str] = (), but: Container[str] = ()
) -> Iterator[Fault]:
    """A fault of this mode at each call of the scenario where it can be; the errors take turns.

    only, but: names of the calls that are meant, or not meant.
    """
    for at, call in enumerate(rehearsal.calls, 1):
        if call.name in but or (only and call.name not in only):
            continue
        if mode in ("torn", "cut short", "killed half-way"):
            fits = call.name == "write"
        else:
            fits = call.changes or mode not in ("failed afterwards", "killed after")
        if fits:
            fault = Fault(at, mode, CODES[(at + len(rehearsal.calls)) % len(CODES)])
            yield fault
            if mode == "refused" and fault.code == errno.ENOENT and not call.changes:
                yield Fault(at, mode)  # to say that nothing is there is not to fail


_numbers = count(1)


def _begun(rehearsal: Rehearsal, folder: Path) -> tuple[Path, Path]:
    """A new directory in `folder` for an attempt, and the log in it."""
    root = folder / f"attempt {next(_numbers)}"
    return root, rehearsal.scenario.begin(root)


def _ended(rehearsal: Rehearsal, root: Path, how: str, wrong: list[str]) -> list[str]:
    """What was wrong with an attempt and the save after it, in words; nothing else remains."""
    found = [*wrong, *recover(log_path(root), root)]
    shutil.rmtree(root)
    return [f"{rehearsal.scenario}, {how}: {what}" for what in found]


def attempt(rehearsal: Rehearsal, fault: Fault, folder: Path) -> list[str]:
    """Carry out the scenario with this fault, then save once more; what was wrong, in words."""
    root, path = _begun(rehearsal, folder)
    error: Exception | None = None
    with fault.on(root) as faults:
        try:
            rehearsal.scenario.act(path)
        except Exception as caught:
            error = caught
    call = faults.calls[fault.at - 1] if fault.at <= len(faults.calls) else "no call"
    if fault.mode in FOLDER:
        later = [call for call in faults.calls[fault.at - 1 :] if call.name == "replace"]
        renamed = any(Path(call.target).name in (LOG_NAME, SHARED_NAME) for call in later)
        wrong = _judge_without_folder(rehearsal, fault, error, renamed, root)
    elif error is None:
        wrong = judge_success(rehearsal, fault, root)
    else:
        wrong = judge_failure(rehearsal, fault, error, root)
    return _ended(rehearsal, root, f"{fault}, {call}: {_told(error)}", wrong)


def attempt_killed(rehearsal: Rehearsal, fault: Fault, folder: Path) -> list[str]:
    """Let a process die of `fault` in the scenario, then save once more; see `attempt`."""
    root, path = _begun(rehearsal, folder)
    with act_in_child(rehearsal.scenario, path, fault, root) as child:
        code, said = child.end()
    wrong = [] if code == -signal.SIGKILL else [f"the process ended with {code} {said}"]
    if without_litter(tree(root)) != rehearsal.after:
        wrong += judge_failure(rehearsal, fault, None, root)
    return _ended(rehearsal, root, str(fault), wrong)


def attempt_full(rehearsal: Rehearsal, limit: int, folder: Path) -> list[str]:
    """Carry out the scenario in a process whose files may have `limit` bytes; see `attempt`.

    The system itself refuses then: it takes the bytes that fit, and none of the next write.
    """
    root, path = _begun(rehearsal, folder)

    def work(_: Say) -> str:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        rehearsal.scenario.act(path)
        return "done"

    with Child(work) as child:
        code, said = child.end()
    fault = Fault(0, "full", errno.EFBIG)
    if (code, said) == (0, "done"):
        wrong = judge_success(rehearsal, fault, root)
    else:
        wrong = [] if (code, said) == (0, "log_write") else [f"it ended with {code} {said}"]
        wrong += judge_failure(rehearsal, fault, None, root)
    return _ended(rehearsal, root, f"files of {limit} bytes: {said}", wrong)


def _told(error: Exception | None) -> str:
    if error is None:
        return "success"
    reason = error.facts.get("reason", "") if isinstance(error, SentinelError) else error
    return f"{type(error).__name__} {reason}".strip()


def judge_success(rehearsal: Rehearsal, fault: Fault, root: Path) -> list[str]:
    """What was acknowledged is there, and nothing else has changed."""
    now = without_litter(tree(root))
    if now == rehearsal.after:
        return []
    if fault.code == errno.ENOENT:  # told that a file that is there is not: only the log counts
        missed = _belongings(now) == _belongings(rehearsal.before)
        if missed and rehearsal.scenario.name in _MAY_PASS_OVER:
            return []
        if _data(log_path(root)) == rehearsal.data:
            return []
    return [f"acknowledged, but {_difference(now, rehearsal.after)}"]


def judge_failure(
    rehearsal: Rehearsal, fault: Fault, error: Exception | None, root: Path
) -> list[str]:
    """Everything is as it was, and the caller was told in our words."""
    wrong = [] if error is None or isinstance(error, SentinelError) else ["not an error of ours"]
    now = tree(root)
    strays = set(_litter(now)) - set(_litter(rehearsal.before))
    if fault.mode in ("refused", "torn", "full") and strays:
        wrong.append(f"an error that leaves {strays}")
    left, old = _belongings(now), _belongings(rehearsal.before)
    if fault.lasting or fault.mode == "failed afterwards" or fault.mode in KILLING:
        # What was set aside stays where nobody could take it back; the log has it still.
        for name in [name for name in left if Path(name).name == ASIDE]:
            if rehearsal.after[name].data.startswith(left[name].data):
                del left[name]
    if rehearsal.scenario.name == _TELLING:  # two files, each of them old or new
        old = {name: item for name, item in old.items() if left.get(name) != rehearsal.after[name]}
        left = {name: item for name, item in left.items() if item != rehearsal.after[name]}
    if left != old:
        wrong.append(f"an error, but {_difference(left, old)}")
    return wrong


def _judge_without_folder(
    rehearsal: Rehearsal, fault: Fault, error: Exception | None, renamed: bool, root: Path
) -> list[str]:
    """Somebody took the folder away: no more is lost than they took, and nothing of theirs.

    renamed: whether a log was replaced after that.
    """
    wrong, context = list[str](), log_path(root).parent
    if error is not None and not isinstance(error, SentinelError):
        wrong.append("not an error of ours")
    if fault.mode == "folder usurped":
        if not context.is_file() or context.read_bytes() != b"mine":
            wrong.append("the file in the place of the folder is not what it was")
        context.unlink(missing_ok=True)
    now = without_litter(tree(root))
    logs = [name for name in now if Path(name).name in (LOG_NAME, SHARED_NAME)]
    if error is None and renamed and not logs and rehearsal.scenario.name != _TELLING:
        wrong.append("acknowledged after the folder went, and not there")
    inside = str(Path("project", CONTEXT_DIRECTORY, "x"))[:-1]
    before = _belongings(rehearsal.before)
    outside = {name: item for name, item in before.items() if not name.startswith(inside)}
    if error is not None and _belongings(now) != outside:
        wrong.append(f"an error, and yet {_difference(now, outside)}")
    return wrong


def recover(path: Path, root: Path) -> list[str]:
    """Whether the lock is free and the next save of a new store works; what was wrong, in words."""
    wrong = [f"the lock {lock.name} is still held" for lock in root.rglob("*") if is_held(lock)]
    before = _data(path)
    lock = Path(os.path.realpath(path) + LOCK_SUFFIX)
    held: list[bool] = []

    def now() -> str:
        held.append(is_held(lock))
        return LATER

    try:
        with Faults(root):
            store = MemoryStore(path, lock_timeout_s=1, now=now)
            saved = store.upsert_log(a_draft(f"afterwards {secrets.token_hex(4)}")).record
    except Exception as error:
        return [*wrong, f"the next save fails: {_told(error)}"]
    if held != [True]:
        wrong.append("the next save does not hold the lock")
    ended = before + b"\n" if before and not before.endswith(b"\n") else before
    if path.read_bytes() != ended + saved.to_line():
        wrong.append("the next save is not the old file and one line more")
    left = _litter(tree(root))
    return [*wrong, f"the next save leaves {left}"] if left else wrong


def is_held(lock: Path) -> bool:
    """Whether somebody else, in this process or another, could not take this lock file now."""
    if lock.suffix != LOCK_SUFFIX or not lock.exists():
        return False
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _difference(now: Tree, wanted: Tree) -> str:
    """Which names differ, and how, in few words."""

    def short(item: Item | None) -> str:
        if item is None:
            return "absent"
        return f"a {item.kind} {item.mode:o} of {len(item.data)} bytes {item.data[:24]!r}"

    return "; ".join(
        f"{name} is {short(now.get(name))}, not {short(wanted.get(name))}"
        for name in sorted(now.keys() | wanted.keys())
        if now.get(name) != wanted.get(name)
    )


# Processes that die.

Say = Callable[[str], None]


class Child:
    """A forked process that does `work` and then ends; its parent hears what it says meanwhile.

    Both must not use the lock of one path: the layer below does not let a child go on with it.
    work gets a function that says a text, and gives back the last one; an error is said by its
    name. No wait for it is without an end, and `with` leaves none behind.
    """

    def __init__(self, work: Callable[[Say], str]) -> None:
        self.said = ""
        self.code: int | None = None
        self._pipe, inner = os.pipe()
        self.pid = os.fork()
        if not self.pid:  # it never comes back into the program that it was forked from
            try:
                try:
                    said = work(lambda text: _say(inner, text))
                except BaseException as error:
                    said = error.key if isinstance(error, SentinelError) else type(error).__name__
                _say(inner, said)
                os._exit(0)
            finally:
                os._exit(1)
        os.close(inner)

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        if self.code is None:
            self.kill()
            self.end()

    def hear(self) -> bool:
        """Wait until it says more; False when it has ended and all is heard."""
        if not select.select([self._pipe], [], [], WAIT_S)[0]:
            self.kill()
        part = os.read(self._pipe, 65_536)
        self.said += part.decode()
        return bool(part)

    def end(self) -> tuple[int, str]:
        """Its exit code (minus the signal that killed it) and all that it said."""
        while self.code is None and self.hear():
            pass
        if self.code is None:
            os.close(self._pipe)
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code, self.said

    def wait_for_stop(self) -> bool:
        """Wait until it stands still; False when it ended instead."""
        watchdog = threading.Timer(WAIT_S, self.kill)
        watchdog.start()
        try:
            state = os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            return state is not None and state.si_code == os.CLD_STOPPED
        finally:
            watchdog.cancel()

    def go_on(self) -> None:
        """Let it continue."""
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """End it at once."""
        os.kill(self.pid, signal.SIGKILL)


def _say(pipe: int, text: str) -> None:
    os.write(pipe, text.encode())


def act_in_child(scenario: Scenario, path: Path, fault: Fault, root: Path) -> Child:
    """A process that carries out the scenario with this fault."""

    def work(_: Say) -> str:
        with fault.on(root):
            scenario.act(path)
        return "done"

    return Child(work)
