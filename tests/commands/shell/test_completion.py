"""Tests completion as people meet it: in real shells, of commands, options, choices and records."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cli
from core.store import MemoryStore
from rooms.fragments.fragment import Fragment
from tests.support.cli_process import Command
from tests.support.costly import one_in
from tests.support.fragments_room import START, a_room
from tests.support.git_clones import path_of, write
from tests.support.samples import a_record
from tests.support.session_samples import make_sample_store
from tests.support.stdio_client import ROOT

RECORDS = [a_record("one", topic="auth"), a_record("two", topic="auth token"), a_record("three")]
GONE = a_record("four")
LINES = [
    ("sentinel-memory li", ["list"]),
    ("sentinel-memory list --quest", ["--questions"]),
    ("sentinel-memory list --type ", ["log", "principle"]),
    ("sentinel-memory setup --local co", ["codex", "copilot"]),
    ("sentinel-memory help unc", ["uncompact"]),
    (f"sentinel-memory show {RECORDS[0].id[:6]}", [RECORDS[0].id]),
    (f"sentinel-memory -p . show {RECORDS[1].id[:6]}", [RECORDS[1].id]),
    ("sentinel-memory forget frag", ["frag-0001", "frag-0002"]),
    ("sentinel-memory search redis --room ", ["fragments", "lessons", "sessions"]),
    ("sentinel-memory list --topic auth", ["auth", "auth token"]),
    ("sentinel-memory restore ", [GONE.id]),
    ("sentinel-memory list --author ", []),
    ("sentinel-memory topics ren", ["rename"]),
    ("sentinel-memory export --block AG", ["AGENTS.md"]),
    ("sentinel-memory list --json --limit ", []),
    ("sentinel-memory sessions ch", ["chain"]),
    ("sentinel-memory sessions show ", sorted(str(number) for number in range(1, 12))),
    ("sentinel-memory -p . sessions show --json 1", ["1", "10", "11"]),
    ("sentinel-memory sessions export --format ", ["html", "json", "markdown"]),
    ("sentinel-memory sessions export --st", []),
    ("sentinel-memory topics rename ", ["auth", "auth token", "payment"]),
    ("sentinel-memory sessions --status pl", ["planning"]),
    ("sentinel-memory fragments con", ["consolidate"]),
    ("sentinel-memory fragments show frag", ["frag-0001", "frag-0002"]),
    ("sentinel-memory fragments list --topic ", ["deploy", "style"]),
    ("sentinel-memory fragments --type pro", ["procedural", "procedure"]),
]


@pytest.fixture
def shop(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with records, and the program on the PATH as if it were installed."""
    write(project, *RECORDS, GONE)
    MemoryStore(path_of(project)).delete_by_ids([GONE.id])
    make_sample_store(project, 11)
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(project.parent / "memory.db"))
    with a_room(project.parent).engine.writing() as writing:
        for number, topic in enumerate(("deploy", "style"), 1):
            id_ = f"frag-{number:04}"
            writing.add([Fragment(id=id_, content=id_, topic=topic, created_at=START)])
    (project / "AGENTS.md").write_text("", encoding="utf-8")
    programs = project.parent / "bin"
    programs.mkdir()
    program = programs / "sentinel-memory"
    line = shlex.join([sys.executable, str(ROOT / "cli.py")])
    program.write_text(f'#!/bin/sh\nexec {line} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(project.parent))
    return project


def needed(shell: str) -> str:
    path = shutil.which(shell)
    if not path:
        pytest.skip(f"{shell} is not installed: apt-get install {shell}")
    return path


def said(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.long  # it costs much
@pytest.mark.skipif(os.name == "nt", reason="bash of Windows may be that of another system")
@pytest.mark.parametrize(("line", "expected"), one_in(99, LINES, names=2))
def test_bash_completes(shop: Path, line: str, expected: list[str]) -> None:
    words = line.split(" ")
    asked = f"""
        eval "$(sentinel-memory completion bash)"
        COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}
        {{ complete -p sentinel-memory | grep -q _sentinel_memory; }} && _sentinel_memory
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    found = said(needed("bash"), "--norc", "-c", asked).split("\n")
    assert sorted(filter(None, found)) == [it.replace(" ", "\\ ") for it in expected]


@pytest.mark.parametrize(("line", "expected"), one_in(99, LINES, names=2))
def test_fish_completes(shop: Path, line: str, expected: list[str]) -> None:
    asked = f"sentinel-memory completion fish | source; complete -C {shlex.quote(line)}"
    found = said(needed("fish"), "--no-config", "-c", asked).splitlines()
    assert sorted(it.partition("\t")[0] for it in found) == expected


ZSH = """
zmodload zsh/zpty
zpty asked zsh -f -i
{
    zpty -w asked 'PS1=; autoload -U compinit; compinit -u -D'
    zpty -w asked 'eval "$(sentinel-memory completion zsh)"'
    zpty -w asked 'zstyle ":completion:*" list-prompt ""; LISTMAX=1000; echo REA""DY'
    while zpty -r asked line; do [[ $line == READY* ]] && break; done
    zpty -n -w asked $1$'\\t'
    sleep 1.5
    zpty -n -w asked $'\\t'
    sleep 0.7
    while zpty -r -t asked line; do print -rn -- $line; done
} always { zpty -d asked }
"""


@pytest.mark.long  # what is typed waits for what zsh shows
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sentinel-memory lis", "sentinel-memory list"),
        ("sentinel-memory list --quest", "--questions"),
        ("sentinel-memory list --type pri", "principle"),
        (f"sentinel-memory show {RECORDS[0].id[:6]}", RECORDS[0].id),
        ("sentinel-memory list --topic auth\\ ", "auth\\ token"),
        ("sentinel-memory export --block AG", "AGENTS.md"),
    ],
)
def test_zsh_completes(shop: Path, line: str, expected: str) -> None:
    zsh = needed("zsh")
    deadline_s = time.monotonic() + 40
    found = ""
    while expected not in found and time.monotonic() < deadline_s:  # a slow machine types slowly
        done = subprocess.run([zsh, "-f", "-c", ZSH, "zsh", line], capture_output=True, timeout=60)
        found = re.sub(r"\x1b\[[0-9;?]*\w", "", done.stdout.decode(errors="replace"))
    assert expected in found


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_names_all_commands_and_says_how_to_switch_it_on(
    command: Command, shell: str
) -> None:
    script = command("completion", shell).out
    assert [name for name in cli.COMMANDS if name not in script] == []
    head = script.split("\n\n")[0]
    assert f"sentinel-memory completion {shell}" in head
    assert f"completion {shell}" in command("help", "completion").out


def test_what_a_terminal_would_obey_is_not_completed(project: Path, command: Command) -> None:
    write(project, a_record(topic="a\x1b[31mb"), a_record("two", topic="plain"))
    assert command("completion", "topics").lines == ["plain"]
    assert len(command("completion", "ids").lines) == 2
