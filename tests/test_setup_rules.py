"""Which files hold the rules after setup, byte for byte, and that each client reads them once."""

import json
import os
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from faces.setup_files import Remark
from faces.setup_table import TARGETS
from faces.workflow import rules
from setup_bench import Bench

NAMES = {target.key: target.client.name for target in TARGETS}
BEGIN, END = "<!-- sentinel-memory rules: begin -->\n", "<!-- sentinel-memory rules: end -->\n"
RULES = BEGIN + rules("en") + END

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the bench has paths of POSIX")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    made.put({})
    return made


PAST = {
    "nothing": {},
    "agents": {"root/AGENTS.md": "Be kind.\n"},
    "claude": {"root/CLAUDE.md": "Be kind.\n"},
    "claude below": {"root/.claude/CLAUDE.md": "Be kind.\n"},
    "import": {"root/CLAUDE.md": "See @AGENTS.md\n", "root/AGENTS.md": "Be kind.\n"},
    "override": {"root/AGENTS.override.md": "Be kind.\n"},
    "gemini": {"root/.gemini/settings.json": '{"context": {"fileName": "AGENTS.md"}}'},
    "both for gemini": {
        "root/.gemini/settings.json": '{"context": {"fileName": ["AGENTS.md", "GEMINI.md"]}}'
    },
    "gemini import": {"root/GEMINI.md": "@./AGENTS.md\n"},
    "by hand": {"root/.cursorrules": rules("ko")},
    "by hand for vs code": {"root/.github/copilot-instructions.md": rules("en")},
    "by hand for all": {"root/AGENTS.md": rules("en")},
}
READ: dict[str, list[str]] = {
    "cursor": ["AGENTS.md", ".cursorrules", ".cursor/rules/sentinel-memory.mdc"],
    "vscode": [
        *("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md"),
        ".github/copilot-instructions.md",
    ],
    "claude-code": ["CLAUDE.md", ".claude/CLAUDE.md"],
}


def rules_read(client: str, bench: Bench) -> int:
    """How often a client meets the rules, by what its documents say that it reads."""
    names = READ.get(client, [])
    if client == "codex":
        names = (
            ["AGENTS.override.md"]
            if (bench.root / "AGENTS.override.md").exists()
            else ["AGENTS.md"]
        )
    if client == "gemini":
        path = bench.root / ".gemini/settings.json"
        data: Any = json.loads(path.read_bytes())
        named = data.get("context", {}).get("fileName", "GEMINI.md")
        names = [named] if isinstance(named, str) else named
    texts = [path.read_text() for name in names if (path := bench.root / name).exists()]
    imports = client in ("claude-code", "gemini") and any("AGENTS.md" in text for text in texts)
    none = client == "claude-code" and not texts
    if (imports or none) and "AGENTS.md" not in names and (bench.root / "AGENTS.md").exists():
        texts.append((bench.root / "AGENTS.md").read_text())
    return sum(text.count("search_memory") > 0 for text in texts)


@pytest.mark.parametrize("past", PAST)
def test_every_client_reads_the_rules_once(past: str, tmp_path: Path) -> None:
    readers = ["cursor", "claude-code", "vscode", "codex", "gemini"]
    for count in range(1, len(readers) + 1):
        for chosen in combinations(readers, count):
            bench = Bench(tmp_path / "-".join(chosen))
            bench.put(PAST[past])
            planned = bench.plan(*chosen, hooks=False)
            bench.take(planned)
            twice = [
                remark.facts["client"] for remark in planned.notes if remark.key == "two_copies"
            ]
            for client in chosen:
                expected = 2 if NAMES[client] in twice else 1
                assert rules_read(client, bench) == expected, (past, chosen, client)
            assert bench.plan(*chosen, hooks=False).changes == ()


def test_two_copies_are_told_where_they_cannot_be_avoided(bench: Bench) -> None:
    bench.put({"root/CLAUDE.md": "Be kind.\n", "root/AGENTS.md": "Be brief.\n"})
    notes = bench.plan("claude-code", "vscode", "codex", hooks=False).notes
    assert notes == (Remark("two_copies", {"client": "VS Code", "files": "CLAUDE.md, AGENTS.md"}),)


def test_a_later_client_moves_the_rules_to_where_both_read_them(bench: Bench) -> None:
    bench.do("cursor")
    assert "root/.cursor/rules/sentinel-memory.mdc" in bench.files()
    bench.do("codex")
    files = bench.files()
    assert files["root/AGENTS.md"].decode() == RULES
    assert not (bench.root / ".cursor" / "rules").exists()


def test_a_block_stays_while_another_client_reads_it(bench: Bench) -> None:
    bench.do("cursor", "codex")
    bench.do("codex", remove=True)
    assert bench.files()["root/AGENTS.md"].decode() == RULES
    bench.do("cursor", remove=True)
    assert bench.files() == {}
    assert bench.directories() == []


def test_an_import_goes_with_the_client_that_follows_it(bench: Bench) -> None:
    bench.put({"root/CLAUDE.md": "Be kind.\n"})
    bench.do("claude-code", "cursor", "vscode")
    assert "@AGENTS.md" in bench.files()["root/CLAUDE.md"].decode()
    bench.do("claude-code", remove=True)
    assert bench.files()["root/CLAUDE.md"] == b"Be kind.\n"
    assert bench.files()["root/AGENTS.md"].decode() == RULES


def test_an_import_counts_its_path_from_its_own_file(bench: Bench) -> None:
    bench.put({"root/.claude/CLAUDE.md": "Be kind.\n"})
    bench.do("claude-code", "codex")
    files = bench.files()
    assert files["root/.claude/CLAUDE.md"].decode() == f"Be kind.\n\n{BEGIN}@../AGENTS.md\n{END}"
    assert "root/CLAUDE.md" not in files


def test_the_settings_of_the_user_say_what_gemini_reads_where_the_project_does_not(
    bench: Bench,
) -> None:
    bench.put({"home/.gemini/settings.json": '{"context": {"fileName": ["TEAM.md"]}}'})
    bench.do("gemini")
    assert bench.files()["root/TEAM.md"].decode() == RULES
    assert "root/GEMINI.md" not in bench.files()


def test_a_link_to_agents_counts_as_the_same_file(bench: Bench) -> None:
    bench.put({"root/AGENTS.md": "Be kind.\n"})
    (bench.root / "CLAUDE.md").symlink_to("AGENTS.md")
    bench.do("claude-code", "codex")
    assert (bench.root / "CLAUDE.md").is_symlink()
    assert (bench.root / "AGENTS.md").read_text() == f"Be kind.\n\n{RULES}"


def test_the_rules_come_in_the_language_of_the_console(bench: Bench) -> None:
    [change] = [it for it in bench.plan("codex", lang="ko").changes if it.path.suffix == ".md"]
    assert change.after == BEGIN + rules("ko") + END
