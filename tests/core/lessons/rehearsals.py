"""Rehearses operations on a log, does each again with a fault, and judges the result.

A scenario is one operation on a prepared project, tried once undisturbed and then with its N-th
call spoilt. Everything is judged from outside: the bytes and names in the project, and the answer
to the caller.
"""

import errno
import fcntl
import os
import re
import secrets
import shutil
import signal
import tempfile
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from core.config import LOG_NAME
from core.errors import SentinelError
from core.lessons.file import COMPANIONS, LOCK_SUFFIX, REPLACED_NAME, Replacement
from core.store import MemoryStore
from tests.support import faults
from tests.support.faults import Call, Child, Fault, Faults, Tree, log_path, tree
from tests.support.samples import LATER, NOW, a_draft, a_principle, a_record

ASIDE, SHARED_NAME = "aside.txt", "log.jsonl"
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.tmp")


def _is_litter(name: str) -> bool:
    return bool(_TEMPORARY.fullmatch(Path(name).name))


def without_litter(items: Tree) -> Tree:
    """The items that have to be there after a success: these without temporary files."""
    return {name: item for name, item in items.items() if not _is_litter(name)}


def _belongings(items: Tree) -> Tree:
    """The items of the user: without folders, temporary files and companions of our own making.

    The side file is left out, too: an error may leave lines both there and in the log.
    """
    ours = {text.encode("ascii") for text in COMPANIONS.values()}
    return {
        name: item
        for name, item in without_litter(items).items()
        if item.kind != "folder" and Path(name).name != REPLACED_NAME
        if not (Path(name).name in COMPANIONS and item.data in ours)
    }


def a_store(path: Path) -> MemoryStore:
    """A store as a new process would have it, at a time that stands still."""
    return MemoryStore(path, lock_timeout_s=1, now=lambda: LATER)


RECORDS = [a_record(gap, lesson="규칙 " * 40) for gap in ("first", "둘째", "third", "fourth")]
TOKENS = [record.version_id for record in RECORDS]
LINES = b"".join(record.to_line() for record in RECORDS[:2]) + b"a note of somebody\n"
DATA = LINES + b"".join(record.to_line() for record in RECORDS[2:])

Files = dict[str, bytes]  # of the directory of the memory, with a relative path for one elsewhere
_SHARED = f"../../team/{SHARED_NAME}"
_SECRET = a_record("secret", lesson="password: Xk29vQp7Lm", now=NOW).to_line()
_TORN = RECORDS[0].to_line() + RECORDS[1].to_line()[:50]  # by a writer that was killed
_TOLD: Files = {".gitignore": b"of the user\n"}
_FOUR: Files = {**{name: text.encode() for name, text in COMPANIONS.items()}, LOG_NAME: DATA}
_STRAYS = _FOUR | {f".{LOG_NAME}.{digit * 16}.tmp": DATA[:99] for digit in "12"}
_REPLACED = _FOUR | {REPLACED_NAME: _TORN}
_SECRETS = _FOUR | {LOG_NAME: DATA + _SECRET + b'{"token": "ghp_' + b"a1B2" * 9 + b'"}\n'}


@dataclass(frozen=True, eq=False)
class Scenario:
    """One operation on a project with these files."""

    name: str
    files: Files
    change: Callable[[MemoryStore], object]

    def __str__(self) -> str:
        return self.name

    def begin(self, root: Path) -> Path:
        """Make the project below `root`; the path of its log."""
        path = log_path(root)
        path.parent.parent.mkdir(parents=True)
        for name, data in self.files.items():
            for folder in (path.parent, (path.parent / name).parent):
                folder.mkdir(exist_ok=True)
            (path.parent / name).write_bytes(data)
        if _SHARED in self.files:
            path.symlink_to(_SHARED)
        elif LOG_NAME in self.files:
            path.chmod(0o640)
            if os.geteuid() == 0:  # a save by root gives the file back to its owner
                os.chown(path, 12345, 12345)
        return path

    def act(self, path: Path) -> None:
        """Carry the operation out, as a new process would."""
        self.change(a_store(path))


def _append(store: MemoryStore) -> object:
    return store.upsert_log(a_draft("fifth"))


_TELLING = "telling git"
_MAY_PASS_OVER = ("a deletion", "a repair", "a cleaning")  # a file that is said to be missing
_FORMER = [a_record("sixth", now=NOW), RECORDS[1]]
_BETTER = a_draft("둘째", lesson="better")
_LEFT = Replacement(LINES, None, DATA[len(LINES) :])

SCENARIOS = [
    Scenario("the first save", {}, _append),
    Scenario("the first save beside a user's gitignore", _TOLD, _append),
    Scenario("a new record", _FOUR, _append),
    Scenario("an update in the middle", _FOUR, lambda it: it.upsert_log(_BETTER)),
    Scenario("a principle", _FOUR, lambda it: it.upsert_log(a_principle(), TOKENS[:3])),
    Scenario("a deletion", _FOUR, lambda it: it.delete_by_ids([TOKENS[0], TOKENS[3]])),
    Scenario("a bringing back", _FOUR, lambda it: it.bring_back(_FORMER, version_id=TOKENS[3])),
    Scenario("a save behind a link", {_SHARED: DATA}, _append),
    Scenario("a save beside strays", _STRAYS, _append),
    Scenario(
        "a change that sets aside",
        _FOUR,
        lambda it: it.file.rewrite(lambda _: _LEFT, aside_name=ASIDE),
    ),
    Scenario("a repair", _STRAYS, lambda it: it.repair(aside_name=ASIDE)),
    Scenario("a cleaning", _SECRETS, lambda it: it.redact()),
    Scenario(_TELLING, _TOLD, lambda it: it.file.write_companions()),
    Scenario("an update after another", _REPLACED, lambda it: it.upsert_log(_BETTER)),
]


class Rehearsal(NamedTuple):
    """A scenario without faults: the project before and after, and the calls.

    data: the content of the log afterwards.
    """

    scenario: Scenario
    before: Tree
    after: Tree
    data: bytes
    calls: list[Call]


def rehearse(scenario: Scenario, root: Path) -> Rehearsal:
    """Carry out the scenario below the new directory `root`, undisturbed."""
    path = scenario.begin(root)
    before = tree(root)
    with Faults(root) as undisturbed:
        scenario.act(path)
    after, data = tree(root), _data(path)
    assert after == without_litter(after)
    shutil.rmtree(root)
    return Rehearsal(scenario, before, after, data, undisturbed.calls)


def _data(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def faults_of(
    rehearsal: Rehearsal, mode: str, *, only: Container[str] = (), but: Container[str] = ()
) -> Iterator[Fault]:
    """A fault of this mode at each call of the scenario where it can be; the errors take turns.

    only, but: names of the calls that are meant, or not meant.
    """
    for at, call in enumerate(rehearsal.calls, 1):
        fits = call.changes or mode not in ("failed afterwards", "killed after")
        if mode in ("torn", "cut short", "killed half-way"):
            fits = call.name == "write"
        if fits and call.name not in but and (not only or call.name in only):
            fault = Fault(at, mode, faults.CODES[(at + len(rehearsal.calls)) % len(faults.CODES)])
            yield fault
            if mode == "refused" and fault.code == errno.ENOENT and not call.changes:
                yield Fault(at, mode)  # to say that nothing is there is not to fail


def attempt(rehearsal: Rehearsal, fault: Fault, folder: Path) -> list[str]:
    """Carry out the scenario with this fault, then save once more; the faults found, in words."""
    root = Path(tempfile.mkdtemp(dir=folder))
    path, wrong, calls = rehearsal.scenario.begin(root), list[str](), list[Call]()
    told = "success"  # or why there was none
    if fault.mode == "full" or fault.mode in faults.KILLING:
        with act_in_child(rehearsal.scenario, path, fault, root) as child:
            code, said = child.end()
        told = "success" if said == "done" else f"{code} {said}"
        if fault.mode == "full" and told not in ("success", "0 log_write"):
            wrong.append("not an error of ours")
        elif fault.mode != "full" and code != -signal.SIGKILL:
            wrong.append("the process was not killed")
        elif fault.mode != "full" and without_litter(tree(root)) == rehearsal.after:
            told = "success"
    else:
        try:
            with Faults(root, fault) as layer:
                calls = layer.calls
                rehearsal.scenario.act(path)
        except Exception as error:
            told = _told(error)
            wrong += [] if isinstance(error, SentinelError) else ["not an error of ours"]
    if fault.mode in faults.FOLDER:
        later = [call for call in calls[fault.at - 1 :] if call.name == "replace"]
        renamed = any(Path(call.target).name in (LOG_NAME, SHARED_NAME) for call in later)
        wrong += _judge_without_folder(rehearsal, fault, told == "success", renamed, root)
    else:
        judge = judge_success if told == "success" else judge_failure
        wrong += judge(rehearsal, fault, root)
    wrong += recover(path, root)
    shutil.rmtree(root)
    call = str(calls[fault.at - 1]) if 0 < fault.at <= len(calls) else "no call"
    return [f"{rehearsal.scenario}, {fault}, {call}: {told}: {what}" for what in wrong]


def _told(error: Exception) -> str:
    reason = error.facts.get("reason", "") if isinstance(error, SentinelError) else error
    return f"{type(error).__name__} {reason}".strip()


def judge_success(rehearsal: Rehearsal, fault: Fault, root: Path) -> list[str]:
    """The acknowledged change is there, and nothing else has changed."""
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


def judge_failure(rehearsal: Rehearsal, fault: Fault, root: Path) -> list[str]:
    """Everything is as it was."""
    now, after, wrong = tree(root), rehearsal.after, list[str]()
    strays = {name for name in now.keys() - rehearsal.before.keys() if _is_litter(name)}
    if fault.mode in ("refused", "torn", "full") and strays:
        wrong.append(f"an error that leaves {strays}")
    left, old = _belongings(now), _belongings(rehearsal.before)
    if fault.lasting or fault.mode == "failed afterwards" or fault.mode in faults.KILLING:
        # The part set aside stays where nobody could take it back; the log has it still.
        for name in [name for name in left if Path(name).name == ASIDE]:
            if after[name].data.startswith(left[name].data):
                del left[name]
    if rehearsal.scenario.name == _TELLING:  # two files, each of them old or new
        old = {name: item for name, item in old.items() if left.get(name) != after[name]}
        left = {name: item for name, item in left.items() if item != after[name]}
    return wrong if left == old else [*wrong, f"an error, but {_difference(left, old)}"]


def _judge_without_folder(
    rehearsal: Rehearsal, fault: Fault, is_success: bool, renamed: bool, root: Path
) -> list[str]:
    """Somebody took the folder away: no more is lost than they took, and nothing of theirs.

    renamed: whether a log was replaced after that.
    """
    wrong, context = list[str](), log_path(root).parent
    if fault.mode == "folder usurped":
        if not context.is_file() or context.read_bytes() != b"mine":
            wrong.append("the file in the place of the folder is not what it was")
        context.unlink(missing_ok=True)
    now = without_litter(tree(root))
    logs = [name for name in now if Path(name).name in (LOG_NAME, SHARED_NAME)]
    if is_success and renamed and not logs and rehearsal.scenario.name != _TELLING:
        wrong.append("acknowledged after the folder went, and not there")
    inside = f"{context.relative_to(root)}{os.sep}"
    before = _belongings(rehearsal.before)
    outside = {name: item for name, item in before.items() if not name.startswith(inside)}
    if not is_success and _belongings(now) != outside:
        wrong.append(f"an error, and yet {_difference(now, outside)}")
    return wrong


def recover(path: Path, root: Path) -> list[str]:
    """Whether the lock is free and the next save of a new store works; the faults, in words."""
    wrong = [f"the lock {lock.name} is still held" for lock in root.rglob("*") if is_held(lock)]
    before = _data(path)
    held: list[bool] = []

    def now() -> str:
        held.append(is_held(Path(os.path.realpath(path) + LOCK_SUFFIX)))
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
    return [*wrong, *(f"the next save leaves {it}" for it in tree(root) if _is_litter(it))]


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
    return "; ".join(
        f"{name} is {now.get(name)}, not {wanted.get(name)}"
        for name in sorted(now.keys() | wanted.keys())
        if now.get(name) != wanted.get(name)
    )


def act_in_child(scenario: Scenario, path: Path, fault: Fault, root: Path) -> Child:
    """A process that carries out the scenario with this fault."""

    def work(_: faults.Say) -> str:
        if fault.mode == "full":
            faults.fill_disk(fault.at)
            scenario.act(path)
            return "done"
        with Faults(root, fault):
            scenario.act(path)
        return "done"

    return Child(work)
