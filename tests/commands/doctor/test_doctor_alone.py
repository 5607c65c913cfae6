"""Tests what `cli.py doctor` says where it looks at no repository of git."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from commands.doctor import surroundings as checkup
from commands.doctor.lines import text_of
from core.config import Project
from core.store import MemoryStore
from tests.support.doctor_desk import Desk
from tests.support.samples import a_record

ONE = a_record("one", now="2025-03-01T09:00:00+00:00")


def test_no_repair_is_made_in_a_home_directory(bare: Desk) -> None:
    done = bare.doctor("--fix", "--yes", cwd=bare.home)
    assert (done.code, done.out) == (1, "")
    assert done.errors == (
        f"{bare.home} (from cwd) is a home directory, not a project. Nothing was written. Name a"
        " project with --project DIR or SENTINEL_MEMORY_PROJECT.\n"
    )


@pytest.mark.parametrize("options", [(), ("--fix", "--yes"), ("--json",)])
def test_a_project_that_does_not_exist_is_one_sentence(
    bare: Desk, options: tuple[str, ...]
) -> None:
    gone = bare.root / "gone"
    done = bare.doctor("--project", str(gone), *options)
    assert (done.code, done.out) == (1, "")
    assert done.errors == (
        f"The project directory {gone} (from --project) does not exist. Nothing was read or"
        " written. Name an existing one with --project DIR or SENTINEL_MEMORY_PROJECT.\n"
    )


def test_a_network_file_system_is_a_note(
    healthy: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(healthy.root).replace(" ", "\\040")
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/x {place} nfs4 rw 0 0\n")
    monkeypatch.setattr(checkup, "MOUNTS", mounts)
    monkeypatch.setenv("HOME", str(healthy.home))
    project = Project(str(healthy.root), source="cwd")
    [found] = checkup.around(project, MemoryStore(healthy.log), os.environ)
    assert (found.severity, text_of(found)) == (
        "note",
        "The log is on a network file system (nfs4), where locks may not work between machines,"
        " so its safety is not guaranteed. Save from one machine at a time.",
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_the_command_that_the_doctor_names_saves_a_utf_16_log_as_utf_8(
    bare: Desk, encoding: str
) -> None:
    bare.write(ONE)
    data = bare.log.read_bytes()
    bare.log.write_bytes(data.decode().encode(encoding))
    [command] = re.findall(r"`(python3? -c .*)`", "\n".join(bare.doctor().found))
    program = shlex.split(command)[2]
    subprocess.run([sys.executable, "-c", program], cwd=bare.root, check=True)
    assert bare.log.read_bytes() == data
