"""Tests which files hold the rules after setup, and that each client that is set up reads them."""

import json
import os
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from commands.clients.files import Tree
from commands.clients.merge import BEGIN, END
from core.lessons.rules import front_matter, rules
from core.messages import Language
from tests.support.documents import blocks, text_of
from tests.support.sentences import sentence
from tests.support.setup_bench import Bench
from tests.support.tables import table

RULES, KOREAN = (f"{BEGIN}\n{rules(lang)}{END}\n" for lang in ("en", "ko"))
IMPORT, BELOW = (f"{BEGIN}\n@{name}\n{END}\n" for name in ("AGENTS.md", "../AGENTS.md"))
ROWS = table("commands/rules")  # by case
RULE = ".cursor/rules/sentinel-memory.mdc"  # where an older version put them for Cursor
BY_HAND: dict[Language, str] = {
    "en": text_of(".cursorrules"),
    "ko": blocks(text_of("docs/cursorrules.ko.md"), "text")[0],
}
SAVING = "log_memory"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the bench has paths of POSIX")


def texts(bench: Bench) -> dict[str, str]:
    """The files of the project that can hold rules."""
    return {
        name.removeprefix("root/"): data.decode()
        for name, data in bench.files().items()
        if name.endswith((".md", ".mdc")) and name.startswith("root/")
    }


def do(bench: Bench, *clients: str, **asked: Any) -> list[str]:
    """Plan and write the rules alone; the notes by name."""
    return [note.key for note in bench.do(*clients, hooks=False, **asked).notes]


PAST: dict[str, dict[str, str]] = {
    "nothing": {},
    "agents": {"AGENTS.md": "Be kind.\n"},
    "claude": {"CLAUDE.md": "Be kind.\n"},
    "claude below": {".claude/CLAUDE.md": "Be kind.\n"},
    "import": {"CLAUDE.md": "See @AGENTS.md\n", "AGENTS.md": "Be kind.\n"},
    "override": {"AGENTS.override.md": "Be kind.\n"},
    "gemini": {".gemini/settings.json": '{"context": {"fileName": "AGENTS.md"}}'},
    "both for gemini": {
        ".gemini/settings.json": '{"context": {"fileName": ["AGENTS.md", "GEMINI.md"]}}'
    },
    "gemini import": {"GEMINI.md": "@./AGENTS.md\n"},
    "agents and claude": {"AGENTS.md": "Be kind.\n", "CLAUDE.md": "Be brief.\n"},
    "agents and a local file": {"AGENTS.md": "Be kind.\n", "CLAUDE.local.md": "Be brief.\n"},
    "a rule by hand": {RULE: rules("en")},
    "by hand for claude": {"CLAUDE.md": rules("en")},
    "by hand": {".cursorrules": BY_HAND["ko"]},
    "by hand for vs code": {".github/copilot-instructions.md": BY_HAND["en"]},
    "by hand for all": {"AGENTS.md": rules("en")},
}
READ = {
    "cursor": ["AGENTS.md", ".cursorrules", RULE],
    "vscode": ["AGENTS.md", ".github/copilot-instructions.md", "CLAUDE.md", ".claude/CLAUDE.md"],
    "claude-code": ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"],
    "codex": ["AGENTS.md"],
    "gemini": ["GEMINI.md"],
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
def test_every_client_that_is_set_up_reads_the_rules_and_what_it_read_before(
    past: str, count: int, tmp_path: Path
) -> None:
    for chosen in combinations(READ, count):
        bench = Bench(tmp_path / "-".join(chosen))
        bench.put({f"root/{name}": text for name, text in PAST[past].items()})
        before = texts(bench)
        do(bench, *chosen)
        there = {name.removeprefix("root/"): it.decode() for name, it in bench.files().items()}
        for client in chosen:
            met = met_by(client, past, there)
            assert SAVING in met, (chosen, client)
            was = met_by(client, past, {"AGENTS.md": "", **PAST[past]})
            assert all(line in met for line in was.splitlines() if "@" not in line)
        assert bench.plan(*chosen, hooks=False).changes == []
        do(bench, *chosen, remove=True)
        assert texts(bench) == before, chosen


@pytest.mark.parametrize("case", ROWS)
def test_the_rules_stand_in_one_file_and_nothing_of_the_user_is_hidden(
    case: str, bench: Bench
) -> None:
    """A case is the files before, and what each setup, or with `-` each removal, leaves there.

    Behind that stand the clients for which a removal has left the rules.
    """
    signs = {"{rules}": RULES, "{import}": IMPORT, "{import from below}": BELOW}

    def filled(files: dict[str, str]) -> dict[str, str]:
        text = json.dumps(files)
        for sign, held in signs.items():
            text = text.replace(sign, json.dumps(held)[1:-1])
        return dict(json.loads(text))

    before, *steps = ROWS[case]
    bench.put({f"root/{name}": text for name, text in filled(before).items()})
    for words, after, *kept in steps:
        clients, remove = words.removeprefix("-").split(), words.startswith("-")
        found = bench.do(*clients, remove=remove).notes
        assert [note.facts["clients"] for note in found if note.key == "kept"] == kept
        assert texts(bench) == filled(after)
        assert bench.plan(*clients, remove=remove).changes == []


def test_a_link_to_agents_counts_as_the_same_file(bench: Bench) -> None:
    bench.put({"root/AGENTS.md": "Be kind.\n"})
    (bench.root / "CLAUDE.md").symlink_to("AGENTS.md")
    do(bench, "claude-code", "codex")
    assert (bench.root / "CLAUDE.md").is_symlink()
    assert (bench.root / "AGENTS.md").read_text() == f"Be kind.\n\n{RULES}"
    assert bench.plan("claude-code", "codex", hooks=False).changes == []
    do(bench, "claude-code", "codex", remove=True)
    assert (bench.root / "AGENTS.md").read_text() == "Be kind.\n"


@pytest.mark.parametrize("content", ["규칙".encode("cp949"), BEGIN.encode()])
def test_an_agents_file_that_is_left_alone_is_neither_imported_nor_hidden(
    content: bytes, bench: Bench
) -> None:
    bench.put({"root/AGENTS.md": content})
    planned = bench.do("claude-code", hooks=False)
    assert [it.facts["path"] for it in planned.problems] == [str(bench.root / "AGENTS.md")]
    assert [it.key for it in planned.notes] == ["without_rules"]
    assert not (bench.root / "CLAUDE.md").exists()
    bench.put({"root/CLAUDE.md": "Be kind.\n"})
    do(bench, "claude-code")
    assert (bench.root / "CLAUDE.md").read_text() == f"Be kind.\n\n{RULES}"
    assert (bench.root / "AGENTS.md").read_bytes() == content


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_rule_that_an_older_version_made_for_cursor_is_renewed_and_taken_out(
    newline: str, bench: Bench
) -> None:
    old = f"{front_matter('en')}\n{RULES}".replace("\n", newline)
    bench.put({f"root/{RULE}": old.replace(rules("en").splitlines()[0], "Old.")})
    do(bench, "cursor")
    assert (bench.root / RULE).read_bytes().decode() == old
    assert list(texts(bench)) == [RULE]
    do(bench, "cursor", remove=True)
    assert texts(bench) == {}
    bench.put({f"root/{RULE}": old + "Mine." + newline})
    do(bench, "cursor", remove=True)
    assert (bench.root / RULE).read_bytes().decode().endswith("Mine." + newline)


def test_the_language_of_rules_that_are_there_stays_unless_one_is_set(bench: Bench) -> None:
    bench.put({"root/CLAUDE.md": f"{BEGIN}\n옛 규칙.\n{END}\n"})
    do(bench, "codex")
    assert texts(bench)["AGENTS.md"] == KOREAN
    set_here = bench.machine_on("linux", SENTINEL_MEMORY_LANG="en")
    do(bench, "codex", machine=set_here)
    assert texts(bench)["AGENTS.md"] == RULES


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_long_rules_of_an_older_version_are_renewed_in_their_place(
    lang: Language, bench: Bench
) -> None:
    around = "# Team\n\n{}\nBe kind.\n"
    bench.put({"root/AGENTS.md": around.format(f"{BEGIN}\n{BY_HAND[lang]}{END}\n")})
    do(bench, "codex")
    assert texts(bench) == {"AGENTS.md": around.format(f"{BEGIN}\n{rules(lang)}{END}\n")}
    do(bench, "codex", remove=True)
    assert texts(bench) == {"AGENTS.md": "# Team\n\nBe kind.\n"}


def test_the_rules_say_what_the_rooms_of_their_readers_ask_for(bench: Bench) -> None:
    bench.do("codex")
    assert "context_save" not in texts(bench)["AGENTS.md"]
    bench.do("copilot", rooms=("lessons", "sessions"))
    bench.do("codex")
    assert "context_save" in texts(bench)["AGENTS.md"]


@pytest.mark.parametrize(("lead", "keys"), [(0, []), (1, ["codex_cuts"])])
def test_rules_beyond_what_codex_reads_are_told(lead: int, keys: list[str], bench: Bench) -> None:
    own = 32 * 1024 - len(f"\n\n{BEGIN}\n{rules('en')}".encode()) + lead
    bench.put({"root/AGENTS.md": "가" * (own // 3) + "." * (own % 3) + "\n"})
    assert do(bench, "codex") == keys


@pytest.mark.parametrize("name", [".git/hooks/x", "a/../../x", ".GIT/config", "x\\.git\\y", "/x"])
def test_a_setting_of_the_clone_names_no_file_of_git(name: str, bench: Bench) -> None:
    bench.put({"root/.gemini/settings.json": {"context": {"fileName": name}}})
    do(bench, "gemini")
    assert texts(bench)["GEMINI.md"] == IMPORT
    assert not any(it.name in ("x", "y", "config") for it in bench.top.rglob("*"))


def test_the_rules_of_a_user_say_for_which_projects_they_are(bench: Bench) -> None:
    bench.put({"home/.codex/AGENTS.override.md": "mine\n", "home/.gemini/GEMINI.md": "내 규칙\n"})
    said = sentence("ko", "setup.only_where_kept")
    for lang in ("ko", "en"):  # what is there keeps its language
        do(bench, "codex", "gemini", level="user", lang=lang)
        for name in ("home/.codex/AGENTS.override.md", "home/.gemini/GEMINI.md"):
            assert said in bench.files()[name].decode()
    assert "home/.codex/AGENTS.md" not in bench.files()
    do(bench, "codex", "gemini", level="user", remove=True)
    assert bench.files()["home/.gemini/GEMINI.md"].decode() == "내 규칙\n"


# A team.

FIRST = {"codex": "AGENTS.md", "gemini": "GEMINI.md", "claude-code": "CLAUDE.md", "cursor": RULE}


@pytest.mark.parametrize("second", ["codex", "claude-code", "gemini"])
@pytest.mark.parametrize("first", FIRST)
def test_the_rules_of_a_colleague_stay_where_git_has_them(
    first: str, second: str, bench: Bench
) -> None:
    """Also where an older version has put them, whatever client the colleague uses."""
    name = FIRST[first]
    bench.put({f"root/{name}": RULES})
    tree = Tree(bench.root / ".git/info/exclude", "", frozenset({name} & {"AGENTS.md"}))
    bench.do(second, tree=tree)
    kept = texts(bench)[name]
    assert SAVING in kept or (second == first and "@AGENTS.md" in kept)
    bench.do(second, tree=tree, remove=True)
    assert first == second or name in texts(bench)
