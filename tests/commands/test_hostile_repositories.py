"""Tests that no command starts a program that a repository, a tree or the environment names."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from pathlib import Path

import pytest

from core import git as call
from core.lessons.file import REPLACED_NAME
from core.lessons.record import new_record
from tests.support.cli_process import Desk, Run
from tests.support.client_events import claude, claude_edit
from tests.support.git_clones import commit, compact, copied, git, path_of, save
from tests.support.hostile_repository import (
    ENVIRONMENT,
    GROUPS,
    PROMISORS,
    Setting,
    Traps,
    make_project,
    poison,
)
from tests.support.samples import LATER, a_principle, a_record
from tests.support.tables import none_of

pytestmark = pytest.mark.long  # each costs much

TWO = a_record("two").id
RULE = new_record(a_principle("rule"), now=LATER).id
RANGE = "HEAD~5..HEAD"

EVENTS = ("session-start", "prompt", "before-action", "stop")
COMMANDS = [
    *("view -o ../page.html --force", "report", f"report {RANGE}", "report --staged"),
    *(f"report {RANGE} --github", f"show {TWO} --versions", f"show {TWO[:6]} --versions --json"),
    *("scan", "scan .", "scan .context", "scan --history", "doctor", "stats", "list", "topics"),
    *(f"restore {TWO} --dry-run", f"restore --originals {RULE} --dry-run"),
    *(f"hook {event} --client claude-code" for event in EVENTS),
]
FAILED = {"scan --history": 2, f"report {RANGE}": 2}
NEED_HISTORY = (
    *(f"report {RANGE}", f"show {TWO} --versions", "scan --history"),
    *(f"restore {TWO} --dry-run", f"restore --originals {RULE} --dry-run"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project before anybody has made it hostile."""
    return make_project(tmp_path_factory.mktemp("made") / "shop")


@pytest.fixture
def traps(tmp_path: Path) -> Traps:
    traps = Traps(tmp_path / "traps")
    fsmonitor, packing = traps.program("GIT_CONFIG_GLOBAL"), traps.program("packing")
    lines = ("[core]", f"fsmonitor = {fsmonitor}", "[uploadpack]", f"packObjectsHook = {packing}")
    (traps.here / "config").write_text("\n".join(lines))
    return traps


@pytest.fixture
def hostile(made: Path, tmp_path: Path) -> Desk:
    """A copy of the project, which a test makes hostile."""
    copied(made, tmp_path / "shop")
    return Desk(tmp_path / "shop", tmp_path / "home")


@pytest.fixture
def older_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """A git from before it knew the two settings that help most."""
    known = [key for key in call._SAFE_SETTINGS if not key.startswith("safe.bareRepository")]
    assert len(known) == len(call._SAFE_SETTINGS) - 1
    monkeypatch.setattr(call, "_SAFE_SETTINGS", known)
    monkeypatch.delitem(call._SET_VARIABLES, "GIT_NO_LAZY_FETCH")


def with_programs(desk: Desk, traps: Traps, **variables: str) -> dict[str, str]:
    """The environment of a person who has everything that a setting may name by its bare name."""
    path = os.pathsep.join((str(traps.here / "programs"), os.environ["PATH"]))
    who = {f"GIT_{it}": "x@x" for it in ("AUTHOR_NAME", "AUTHOR_EMAIL")}
    who |= {f"GIT_{it}": "x@x" for it in ("COMMITTER_NAME", "COMMITTER_EMAIL")}
    return desk.environment(PATH=path, TERM="xterm", **who, **variables)


def run(line: str, desk: Desk, environment: Mapping[str, str]) -> Run:
    """Carry out one of the commands; a hook gets an event of Claude Code."""
    words, cwd = line.split(), desk.root
    event = words[1] if words[0] == "hook" else "prompt"
    is_edit = event == "before-action"
    given = claude_edit(cwd, "code") if is_edit else claude(event, cwd, prompt="two")
    state = desk.home.parent / f"state-{len(os.listdir(desk.home.parent))}"
    state.mkdir()
    environment = {**environment, "SENTINEL_MEMORY_STATE": str(state)}
    done = Run.placed(*words, cwd=cwd, environment=environment, given=json.dumps(given).encode())
    return done._replace(out=re.sub("::[0-9a-f]{32}::|stop-commands::.*", "::random::", done.out))


def said_by(names: Iterable[str], desk: Desk, environment: Mapping[str, str]) -> dict[str, Run]:
    """The output of each of these commands, but for the number of files git does not track yet.

    The planted files count among them, too.
    """
    said = {name: run(name, desk, environment) for name in names}
    return {name: it._replace(out=UNTRACKED.sub("", it.out)) for name, it in said.items()}


UNTRACKED = re.compile(r"^Not scanned, because git does not track .*\n", re.M)


def all_is_said_and_nothing_started(
    desk: Desk, traps: Traps, poisoned: Callable[[], Mapping[str, str] | None]
) -> None:
    """poisoned: makes the repository hostile; it may return variables of the environment."""
    environment = with_programs(desk, traps)
    before = said_by(COMMANDS, desk, environment)
    variables = poisoned() or {}
    traps.taken()
    assert said_by(COMMANDS, desk, {**environment, **variables}) == before
    assert traps.taken() == set()


def test_the_table_is_long_enough_and_most_of_it_can_fail() -> None:
    rows = [setting for settings in GROUPS.values() for setting in settings]
    assert len(rows) + len(ENVIRONMENT) + len(PROMISORS) > 120
    assert sum(bool(it.fires) for it in rows) >= 60


@pytest.mark.parametrize("group", GROUPS)
def test_plain_git_starts_programs_of_settings(
    group: str, made: Path, hostile: Desk, traps: Traps
) -> None:
    """Or the tests below could not fail."""
    environment = with_programs(hostile, traps)
    poison(hostile.root, traps, GROUPS[group], made)
    settings = [it for it in GROUPS[group] if it.fires]
    none_of(it.key for it in settings if not traps.fires(it, hostile.root, environment))


@pytest.mark.parametrize("group", GROUPS)
def test_no_setting_of_the_repository_starts_a_program_or_changes_an_answer(
    group: str, made: Path, hostile: Desk, traps: Traps
) -> None:
    all_is_said_and_nothing_started(
        hostile, traps, lambda: poison(hostile.root, traps, GROUPS[group], made)
    )


def variables(traps: Traps, made: Path) -> dict[str, str]:
    traps.plant(traps.here / "bare", made)
    return {it.key: traps.filled(it.value, it.key, made) for it in ENVIRONMENT}


def test_plain_git_starts_programs_of_variables(made: Path, hostile: Desk, traps: Traps) -> None:
    given, environment = variables(traps, made), with_programs(hostile, traps)
    for setting in ENVIRONMENT:
        alone = {**environment, setting.key: given[setting.key]}
        assert not setting.fires or traps.fires(setting, hostile.root, alone), setting.key


def test_no_variable_starts_a_program_or_lies(made: Path, hostile: Desk, traps: Traps) -> None:
    all_is_said_and_nothing_started(hostile, traps, lambda: variables(traps, made))


# A directory of the tree that looks like a repository, and tells another history.


@pytest.mark.parametrize("folder", [".context", ".", "packages/web/.context", "packages/web"])
def test_a_repository_in_the_tree_is_never_taken(folder: str, hostile: Desk, traps: Traps) -> None:
    desk = hostile
    if folder.startswith("packages"):
        desk = Desk(hostile.root / "packages" / "web", hostile.home)
        for at, edit in enumerate((save("two"), save("three"), compact("rule", "two"))):
            edit(desk.root)
            commit(hostile.root, str(at))

    def planted() -> None:
        traps.plant(hostile.root / folder, hostile.root)
        status = Setting("planted", fires=f"-C {folder} status")
        environment = with_programs(desk, traps)
        # In the top folder the true repository comes first.
        assert folder == "." or traps.fires(status, hostile.root, environment)

    all_is_said_and_nothing_started(desk, traps, planted)


@pytest.mark.parametrize("folder", [".context", "packages/web"])
@pytest.mark.usefixtures("older_git")
def test_an_older_git_does_not_take_it_either(folder: str, hostile: Desk, traps: Traps) -> None:
    test_a_repository_in_the_tree_is_never_taken(folder, hostile, traps)


# A partial clone that lacks an object, which git would fetch.


MISSING = {
    "version": "other~1:.context/memory_log.jsonl",
    "folder": "other~1:.context",
    "tree": "HEAD^{tree}",
    "commit": "other~1",
}


@pytest.mark.parametrize(
    ("promisor", "missing"),
    [*product(PROMISORS, ["version"]), *product(["ext"], ["folder", "tree", "commit"])],
)
def test_a_missing_object_is_not_fetched_and_said_to_be_missing(
    promisor: str, missing: str, made: Path, hostile: Desk, traps: Traps
) -> None:
    settings = [
        Setting("core.repositoryformatversion", "1"),
        Setting("extensions.partialClone", "origin"),
        Setting("remote.origin.promisor", "true"),
        *(Setting(key, value) for key, value in PROMISORS[promisor]),
    ]
    path_of(hostile.root).with_name(REPLACED_NAME).unlink(missing_ok=True)
    objects = hostile.root / ".git" / "objects"  # borrowed, so that one may be taken away
    borrowed = objects / "info" / "alternates"
    shutil.copytree(borrowed.read_text().strip(), objects, dirs_exist_ok=True)
    borrowed.unlink()
    name = git(hostile.root, "rev-parse", MISSING[missing]).strip()
    (objects / name[:2] / name[2:]).unlink()
    poison(hostile.root, traps, settings, made)
    environment = with_programs(hostile, traps)
    _plain_git = ("git", "log", "--all", "-p", "--no-textconv", "--no-ext-diff")
    Run.process(*_plain_git, cwd=hostile.root, environment=environment)
    assert traps.taken()
    for name in NEED_HISTORY:
        done = run(name, hostile, environment)
        assert "git objects are missing or damaged" in done.errors, name
        assert "Nothing was changed." in done.errors
        assert done.code == FAILED.get(name, 1), name
    for name in {*COMMANDS} - {*NEED_HISTORY} if missing == "version" else ("report",):
        assert run(name, hostile, environment).code in (0, 1, 2)
    assert traps.taken() == set()


@pytest.mark.parametrize("promisor", PROMISORS)
@pytest.mark.usefixtures("older_git")
def test_an_older_git_does_not_fetch_it(
    promisor: str, made: Path, hostile: Desk, traps: Traps
) -> None:
    test_a_missing_object_is_not_fetched_and_said_to_be_missing(
        promisor, "folder", made, hostile, traps
    )
