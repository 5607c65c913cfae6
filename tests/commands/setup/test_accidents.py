"""Tests what setup does where a file of a client is a link, read-only or no file at all."""

import os
import stat
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from commands.documents.text_file import ExportError
from commands.setup.plan import Plan
from tests.support.client_files import Target, targets, theirs
from tests.support.costly import enough
from tests.support.sentences import sentence
from tests.support.setup_bench import Bench

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")

TARGETS = list({target.name: target for target in targets()}.values())
# A link in git's directory is the user's own: no clone brings one.
OF_PROJECT = [it for it in TARGETS if it.name.startswith("root/") and "/.git/" not in it.name]


def of_each_client(files: list[Target]) -> list[Any]:
    """All of them; by default one of each client, and of each kind."""
    return enough(files, lambda it: it.client, lambda it: it.kind)


EACH = pytest.mark.parametrize("target", of_each_client(TARGETS))


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench(tmp_path)
    made.put({})
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(made.home))
    return made


def written(bench: Bench, planned: Plan) -> list[str]:
    """Write as `cli.py setup` does; what could not be."""
    failed = []
    for change in planned.changes:
        try:
            change.write(bench.root)
        except ExportError as error:
            failed.append(error.key)
    return failed


def refused(bench: Bench, target: Target) -> list[str]:
    """Put in and take out again; the problems of the file by name, each with a next step."""
    keys = []
    for remove in (False, True):
        planned = target.plan(bench, remove=remove)
        for problem in planned.problems:
            assert "then repeat the command" in sentence(
                "en", f"setup.{problem.key}", **problem.facts
            )
            if problem.facts["path"] == str(bench.path(target.name)):
                keys.append(problem.key)
        assert written(bench, planned) == []
    return keys


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("target", of_each_client(OF_PROJECT))
def test_a_link_within_the_project_stays_one_and_its_file_is_given_back(
    target: Target, bench: Bench
) -> None:
    link = bench.path(target.name)
    real = bench.root / "shared" / link.name
    bench.put({f"root/shared/{link.name}": theirs(target)})
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(os.path.relpath(real, link.parent))
    before = real.read_bytes()
    assert refused(bench, target) == []
    assert (link.is_symlink(), real.read_bytes()) == (True, before)


@pytest.mark.parametrize("target", of_each_client(OF_PROJECT))
def test_a_link_out_of_the_project_is_refused(target: Target, bench: Bench) -> None:
    link, outside = bench.path(target.name), bench.top / "outside"
    outside.write_text(theirs(target))
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside)
    assert refused(bench, target)[:1] == ["leads_out"]
    assert (link.is_symlink(), outside.read_text()) == (True, theirs(target))


@pytest.mark.long  # it costs much
@EACH
def test_a_link_to_nothing_is_refused(target: Target, bench: Bench) -> None:
    link = bench.path(target.name)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to("gone")
    assert refused(bench, target)[:1] == ["unreadable"]
    assert os.readlink(link) == "gone"


@pytest.mark.long  # it costs much
@EACH
def test_the_mode_of_a_file_stays(target: Target, bench: Bench) -> None:
    bench.put({target.name: theirs(target)})
    path = bench.path(target.name)
    path.chmod(0o640)
    assert refused(bench, target) == []
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == (theirs(target), 0o640)


@pytest.mark.long  # it costs much
@EACH
def test_a_read_only_file_is_refused(target: Target, bench: Bench) -> None:
    bench.put({target.name: theirs(target)})
    path = bench.path(target.name)
    path.chmod(0o444)
    assert refused(bench, target)[:1] in (["read_only"], [])
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == (theirs(target), 0o444)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("kind", "target"),
    enough(
        product(["directory", "pipe", "below a file"], TARGETS),
        lambda kind, target: (kind, target.kind),
        lambda _, target: target.client,
        names=2,
    ),
)
def test_what_is_no_file_is_refused(kind: str, target: Target, bench: Bench) -> None:
    path = bench.path(target.name)
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    if kind == "below a file":
        if path.parent in (bench.root, bench.home):
            return
        path.parent.write_text("mine")
    else:
        path.parent.mkdir(exist_ok=True)
        path.mkdir() if kind == "directory" else os.mkfifo(path)
    assert refused(bench, target)[:1] == ["unreadable"]
    mine = {target.name.rpartition("/")[0]: b"mine"} if kind == "below a file" else {}
    assert bench.files() == mine


@pytest.mark.long  # it costs much
@EACH
def test_another_name_of_a_file_keeps_what_the_user_had(target: Target, bench: Bench) -> None:
    bench.put({target.name: theirs(target)})
    path, other = bench.path(target.name), bench.top / "other name"
    os.link(path, other)
    assert refused(bench, target) == []
    assert (path.read_text(), other.read_text()) == (theirs(target), theirs(target))
