"""Tests what the doctor says of a second memory, and of records that hooks cannot show."""

import os
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from commands.doctor.reach import MOST_NAMED
from core.lessons.file import COMPANIONS
from core.lessons.record import Record
from core.store import MemoryStore
from tests.support.cli_process import Run
from tests.support.doctor_desk import Desk
from tests.support.git_clones import git
from tests.support.samples import a_draft, a_principle, a_record
from tests.support.stdio_client import ROOT

CLI = shlex.join([sys.executable, str(ROOT / "cli.py")])

posix = pytest.mark.skipif(os.name == "nt", reason="the commands of a POSIX shell")


def below(desk: Desk, folder: str, *gaps: str) -> Desk:
    """The project's subdirectory, with a memory of its own of these gaps."""
    it = replace(desk, root=desk.root / folder)
    for gap in gaps:
        MemoryStore(it.log).upsert_log(a_draft(gap, lesson=f"lesson of {folder}"))
    return it


def commands_in(line: str) -> list[str]:
    return re.findall(r"`([^`]+)`", line)


def typed(desk: Desk, line: str, *, cwd: Path | None = None) -> Run:
    """Type a line into a shell; where a command would ask, nobody is there and it is told so."""
    line += " --yes" if " import " in line else ""
    return Run.process("sh", "-c", line, **{**desk.place(), "cwd": cwd or desk.root})


def words_of(desk: Desk) -> set[tuple[str, str]]:
    return {(it.missing_context, it.lesson) for it in MemoryStore(desk.log).read_all()}


@pytest.fixture
def two(healthy: Desk) -> tuple[Desk, Desk]:
    """A memory at the root and one below it, which have all that could be lost.

    A gap of both in other words, one in the same, versions that no save has settled, a principle
    whose originals are only kept beside the log.
    """
    pay = below(healthy, "서비스/pay one", "one", "own")
    store = MemoryStore(pay.log)
    MemoryStore(healthy.log).upsert_log(a_draft("same"))
    originals = [store.upsert_log(a_draft(gap)).record for gap in ("same", "first", "second")]
    store.upsert_log(a_principle(), [record.token for record in originals[1:]])
    own = next(it for it in store.read_all() if it.missing_context == "own")
    with pay.log.open("ab") as log:
        log.write(replace(own, lesson="of another branch").to_line())
    return healthy, pay


def named(found: list[str], said: str) -> list[str]:
    """The commands in the only finding that says so."""
    [line] = [line for line in found if said in line]
    return commands_in(line)


@pytest.mark.long  # it costs much
@posix
@pytest.mark.parametrize("asked", ["root", pytest.param("below", marks=pytest.mark.long)])
def test_two_memories_become_one_by_the_commands_of_the_sentence(
    two: tuple[Desk, Desk], asked: str
) -> None:
    root, pay = two
    wanted, kept = words_of(root) | words_of(pay), MemoryStore(pay.log).read_replaced()
    assert len(kept) == 2
    if asked == "root":
        said = f"There is another memory below this one, in {pay.root}."
        found = root.doctor().found
    else:
        said = f"There is another memory in a directory above this one: {root.log}."
        found = pay.doctor().found
    take, mv = named(found, said)
    log, project = (shlex.quote(str(path)) for path in (pay.log, root.root))
    assert take == f"{CLI} import {log} --project {project}"
    for line in (take, mv):
        assert typed(root, line, cwd=root.home)[::2] == (0, "")

    assert words_of(root) == wanted
    assert not pay.log.parent.exists()
    aside = MemoryStore(pay.root / ".context.imported" / pay.log.name)
    assert [it.record for it in aside.read_replaced()] == [it.record for it in kept]
    assert not any("Another memory" in line for line in root.doctor().found)


@pytest.mark.long  # it costs much
def test_a_second_memory_is_a_note_since_it_may_be_meant(healthy: Desk) -> None:
    below(healthy, "a/b", "one")
    below(healthy, "c", "one")
    healthy.commit()
    done = healthy.doctor("--json")
    assert (done.code, done.kinds) == (0, [("memory_below", "note")] * 2)
    folders = [found["facts"]["folder"] for found in done.told["findings"]]
    assert folders == [str(healthy.root / "a/b"), str(healthy.root / "c")]


@pytest.mark.long  # it costs much
def test_a_context_without_a_record_hides_this_memory_and_can_go(healthy: Desk) -> None:
    context = healthy.root / "web" / ".context"
    context.mkdir(parents=True)
    for name, text in COMPANIONS.items():
        (context / name).write_text(text)
    [line] = healthy.doctor().found
    assert line.startswith(f"note  {context} contains no record, but a session that starts there ")
    if os.name != "nt":
        [rm] = commands_in(line)
        assert typed(healthy, rm).code == 0
        assert not context.exists()


@pytest.mark.long  # it costs much
def test_a_context_of_another_program_is_not_to_be_removed(healthy: Desk) -> None:
    context = healthy.root / "web" / ".context"
    context.mkdir(parents=True)
    (context / "plan.md").write_text("theirs\n")
    assert healthy.doctor().found == [
        f"note  {context} contains no record, only files of something else. A session that"
        " starts there does not see this memory, and its first save starts another in that"
        f" directory. To keep one memory, start the servers there with --project {healthy.root}."
    ]


@pytest.mark.long  # it costs much
def test_what_is_of_others_or_ignored_is_no_second_memory(healthy: Desk) -> None:
    """Another repository, an installed package, a build."""
    other = below(healthy, "vendor/other", "one")
    git(other.root, "init", "--quiet")
    (below(healthy, "worktree", "one").root / ".git").write_text("gitdir: /elsewhere\n")
    below(healthy, "web/node_modules/package", "one")
    below(healthy, "build/copy", "one")
    (healthy.root / ".gitignore").write_text("/build/\n")
    assert healthy.doctor().found == []


@pytest.mark.long  # it costs much
def test_a_log_that_git_ignores_is_a_second_memory_all_the_same(healthy: Desk) -> None:
    (healthy.root / ".gitignore").write_text("/web/.context/\n")
    below(healthy, "web", "one")
    assert healthy.doctor("--json").kinds == [("memory_below", "note")]


@pytest.mark.long  # it costs much
def test_a_memory_above_is_told_before_the_first_save_here(healthy: Desk) -> None:
    pay = replace(healthy, root=healthy.root / "pay")
    pay.log.parent.mkdir()
    assert pay.doctor().found[0] == (
        f"note  There is another memory in a directory above this project: {healthy.log}. A"
        " session that starts there uses that one; a save here starts a new one."
    )


@pytest.mark.long  # it costs much
def test_a_home_directory_is_not_looked_through(bare: Desk) -> None:
    home = replace(bare, root=bare.home)
    below(home, "work/shop", "one")
    kinds = [kind for kind, _ in home.doctor("--json").kinds]
    assert ("refused" in kinds, "memory_below" in kinds) == (True, False)


def test_the_records_of_a_joined_memory_keep_their_dates_and_counts(two: tuple[Desk, Desk]) -> None:
    root, pay = two

    def all_of(desk: Desk) -> dict[str, Record]:
        return {it.token: it for it in MemoryStore(desk.log).read_all()}

    before = all_of(pay)
    assert root.run("import", str(pay.log), "--yes").code == 0
    after = all_of(root)
    taken = before.keys() & after.keys()
    assert {token: after[token] for token in taken} == {token: before[token] for token in taken}
    assert before.keys() == taken


ASTRAY = a_record("astray", paths=["src/2.py", "src/refund.py"])


def notes(desk: Desk) -> list[str]:
    kinds = "path_nowhere", "more_path_nowhere"
    return [it["text"] for it in desk.doctor("--json").told["findings"] if it["kind"] in kinds]


@pytest.mark.long  # it costs much
def test_a_path_of_no_file_is_named_with_the_command_that_mends_it(healthy: Desk) -> None:
    for at in range(3):
        path = healthy.root / "src" / f"{at}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("x\n")
    healthy.write(a_record("narrow", paths=["src/1.py"]), ASTRAY)
    healthy.commit()
    [nowhere] = notes(healthy)
    assert nowhere.startswith("No file of the project matches src/refund.py in the paths of this")
    assert f"edit {ASTRAY.token} --project {healthy.root}`" in nowhere
    done = healthy.doctor()
    assert done.code == 0
    assert [line[:12] for line in done.found if "edit" in line] == ["note  line 2"]


def test_the_first_are_named_and_the_others_counted(healthy: Desk) -> None:
    healthy.write(*(a_record(f"new {at}", paths=["src/gone.py"]) for at in range(MOST_NAMED + 3)))
    healthy.commit()
    assert len(notes(healthy)) == MOST_NAMED + 1
    assert notes(healthy)[-1] == "More records with such paths: 3."
