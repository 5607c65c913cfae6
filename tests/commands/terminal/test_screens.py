"""Tests what people see at a terminal of 80 columns: a project with a memory in both languages."""

import os
import re
from itertools import product
from pathlib import Path

import pytest

from commands.terminal.columns import cells, uncoloured
from core.lessons.log import MemoryLog
from tests.support.cli_process import Run
from tests.support.costly import one_in
from tests.support.git_clones import commit, git
from tests.support.rows import none_of
from tests.support.stdio_client import ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")

LOG = ".context/memory_log.jsonl"
RECORDS = MemoryLog.parse((ROOT / LOG).read_bytes()).records[:40]
SCREENS = [
    *("list", "topics", "report", "stats", "scan", "doctor", "search hook git"),
    *("list --questions", f"show {RECORDS[0].id}", f"show {RECORDS[0].id} --versions"),
    f"forget {RECORDS[0].id} --dry-run",
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in git with 40 records, of which 15 are not committed."""
    root = tmp_path_factory.mktemp("screens") / "shop"
    (root / ".context").mkdir(parents=True)
    (root.parent / ".cursor").mkdir()  # a client that is not set up
    git(root, "init", "--quiet")
    for count in (25, 40):
        lines = b"".join(record.to_line() for record in RECORDS[:count])
        (root / LOG).write_bytes(lines)
        if count == 25:
            commit(root)
    return root


def seen(root: Path, words: str, lang: str) -> list[str]:
    """What a command prints for a person, with errors, in lines without colours."""
    kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    settings = {"SENTINEL_MEMORY_LANG": lang, "COLUMNS": "80", "TERM": "xterm"}
    environment = {**kept, **settings, "HOME": str(root.parent)}
    done = Run.at_terminal(*words.split(), cwd=root, environment=environment)
    return uncoloured(done.out + done.errors).splitlines()


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("words", "lang"), one_in(9, product(SCREENS, ["en", "ko"]), names=2))
def test_no_line_is_wider_than_the_terminal(shop: Path, words: str, lang: str) -> None:
    lines = seen(shop, words, lang)
    assert len(lines) > 1 or words == "scan"
    none_of(line for line in lines if cells(line) > 80 and str(shop) not in line)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("lang", ["ko", "en"])
def test_a_report_has_no_signs_of_markdown_on_a_terminal_but_in_a_pipe(
    shop: Path, lang: str
) -> None:
    lines = seen(shop, "report", lang)
    none_of(line for line in lines if re.search(r"^#+ |(?<!/)\*\*(?!/)|^\| |`[^`]+`", line))
    piped = Run.started(
        "report", cwd=shop, environment={**os.environ, "SENTINEL_MEMORY_LANG": lang}
    )
    assert re.search(r"^##+ ", piped.out, re.MULTILINE) and "**" in piped.out


def test_a_line_breaks_before_a_part_and_never_within_a_command(shop: Path) -> None:
    assert seen(shop, "doctor", "en")[:2] == [
        "✓ log 40 records  ! git: see below",
        "✗ no client starts the server: run python cli.py setup --all",
    ]
