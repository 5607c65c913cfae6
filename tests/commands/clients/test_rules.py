"""Tests which files hold the rules after setup, and that each client that is set up reads them."""

import json
import os
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from commands.clients.files import Tree
from commands.clients.merge import BEGIN, END
from core.lessons.briefing import front_matter, rules
from tests.commands.clients.conftest import Bench
from tests.support.documents import blocks, text_of
from tests.support.tables import table

RULES = f"{BEGIN}\n{rules('en')}{END}\n"
IMPORT, BELOW = (f"{BEGIN}\n@{name}\n{END}\n" for name in ("AGENTS.md", "../AGENTS.md"))
SIGNS = {
    "{rules}": RULES,
    "{import}": IMPORT,
    "{import from below}": BELOW,
    "{rules alone}": rules("en"),
    "{by hand}": text_of(".cursorrules"),
    "{by hand ko}": blocks(text_of("docs/cursorrules.ko.md"), "text")[0],
}
RULE = ".cursor/rules/sentinel-memory.mdc"  # where an older version put them for Cursor
SAVING = "log_memory"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the bench has paths of POSIX")


def filled(name: str) -> Any:
    """A table in which each sign is the text that it stands for."""
    text = json.dumps(table(name))
    for sign, held in SIGNS.items():
        text = text.replace(sign, json.dumps(held)[1:-1])
    return json.loads(text)


ROWS, PAST = filled("commands/rules"), filled("commands/rules_past")
READ = {
    "cursor": ["AGENTS.md", ".cursorrules", RULE],
    "vscode": ["AGENTS.md", ".github/copilot-instructions.md", "CLAUDE.md", ".claude/CLAUDE.md"],
    "claude-code": ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"],
    "codex": ["AGENTS.md"],
    "gemini": ["GEMINI.md"],
}


def texts(bench: Bench) -> dict[str, str]:
    """The files of the project that can hold rules."""
    return {
        name.removeprefix("root/"): data.decode()
        for name, data in bench.files().items()
        if name.endswith((".md", ".mdc")) and name.startswith("root/")
    }


def met_by(client: str, past: str, there: dict[str, str]) -> str:
    """What a client reads, by what its documents say."""
    names = READ[client]
    if client == "codex" and "AGENTS.override.md" in there:
        names = ["AGENTS.override.md"]
    if client == "gemini" and "gemini" in past and "import" not in past:
        names = ["AGENTS.md"]
    met = "\n".join(there.get(name, "") for name in names)
    imports = client in ("claude-code", "gemini") and "AGENTS.md" in met
    return met + (there.get("AGENTS.md", "") if imports else "")


@pytest.mark.row("001 6.b")
@pytest.mark.parametrize("past", PAST)
@pytest.mark.parametrize("count", [5, *(pytest.param(it, marks=pytest.mark.long) for it in (1, 2))])
def test_every_client_reads_the_rules_and_all_before(past: str, count: int, tmp_path: Path) -> None:
    for chosen in combinations(READ, count):
        bench = Bench(tmp_path / "-".join(chosen))
        bench.put({f"root/{name}": text for name, text in PAST[past].items()})
        before = texts(bench)
        bench.do(*chosen, without=["hooks"])
        there = {name.removeprefix("root/"): it.decode() for name, it in bench.files().items()}
        for client in chosen:
            met = met_by(client, past, there)
            assert SAVING in met, (chosen, client)
            was = met_by(client, past, {"AGENTS.md": "", **PAST[past]})
            assert all(line in met for line in was.splitlines() if "@" not in line)
        assert bench.plan(*chosen, without=["hooks"]).changes == []
        bench.do(*chosen, without=["hooks"], remove=True)
        assert texts(bench) == before, chosen


@pytest.mark.parametrize("case", ROWS)
def test_the_rules_stand_in_one_file_and_hide_nothing_of_the_user(case: str, bench: Bench) -> None:
    """A case is the files before, and what each setup, or with `-` each removal, leaves there.

    Behind that stand the clients for which a removal has left the rules.
    """
    before, *steps = ROWS[case]
    bench.put({f"root/{name}": text for name, text in before.items()})
    for words, after, *kept in steps:
        clients, remove = words.removeprefix("-").split(), words.startswith("-")
        found = bench.do(*clients, remove=remove).notes
        assert [note.facts["clients"] for note in found if note.key == "kept"] == kept
        assert texts(bench) == after
        assert bench.plan(*clients, remove=remove).changes == []


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_older_rule_for_cursor_is_renewed_and_taken_out(newline: str, bench: Bench) -> None:
    old = f"{front_matter('en')}\n{RULES}".replace("\n", newline)
    bench.put({f"root/{RULE}": old.replace(rules("en").splitlines()[0], "Old.")})
    bench.do("cursor", without=["hooks"])
    assert (bench.root / RULE).read_bytes().decode() == old
    assert list(texts(bench)) == [RULE]
    bench.do("cursor", without=["hooks"], remove=True)
    assert texts(bench) == {}
    bench.put({f"root/{RULE}": old + "Mine." + newline})
    bench.do("cursor", without=["hooks"], remove=True)
    assert (bench.root / RULE).read_bytes().decode().endswith("Mine." + newline)


@pytest.mark.parametrize(("lead", "keys"), [(0, []), (1, ["codex_cuts"])])
def test_rules_beyond_what_codex_reads_are_told(lead: int, keys: list[str], bench: Bench) -> None:
    own = 32 * 1024 - len(f"\n\n{BEGIN}\n{rules('en')}".encode()) + lead
    bench.put({"root/AGENTS.md": "가" * (own // 3) + "." * (own % 3) + "\n"})
    assert [note.key for note in bench.do("codex", without=["hooks"]).notes] == keys


@pytest.mark.parametrize("name", [".git/hooks/x", "a/../../x", ".GIT/config", "x\\.git\\y", "/x"])
def test_a_setting_of_the_clone_names_no_file_of_git(name: str, bench: Bench) -> None:
    bench.put({"root/.gemini/settings.json": {"context": {"fileName": name}}})
    bench.do("gemini", without=["hooks"])
    assert texts(bench)["GEMINI.md"] == IMPORT
    assert not any(it.name in ("x", "y", "config") for it in bench.top.rglob("*"))


FIRST = {"codex": "AGENTS.md", "gemini": "GEMINI.md", "claude-code": "CLAUDE.md", "cursor": RULE}


@pytest.mark.parametrize("second", ["codex", "claude-code", "gemini"])
@pytest.mark.parametrize("first", FIRST)
def test_rules_of_a_colleague_stay_where_git_has_it(first: str, second: str, bench: Bench) -> None:
    """Also where an older version has put them, whatever client the colleague uses."""
    name = FIRST[first]
    bench.put({f"root/{name}": RULES})
    tree = Tree(bench.root / ".git/info/exclude", "", frozenset({name} & {"AGENTS.md"}))
    bench.do(second, tree=tree)
    kept = texts(bench)[name]
    assert SAVING in kept or (second == first and "@AGENTS.md" in kept)
    bench.do(second, tree=tree, remove=True)
    assert first == second or name in texts(bench)
