"""Tests which files hold the rules after setup, and that each client reads them once."""

import json
import os
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from commands.setup.client_table import CLIENTS
from commands.setup.files import Remark
from core.lessons.rules import front_matter, rules
from core.messages import Language
from tests.support.costly import enough
from tests.support.desk import Desk
from tests.support.documents import blocks, text_of
from tests.support.git_clones import commit, git
from tests.support.setup_bench import Bench

NAMES = {client.key: client.name for client in CLIENTS}
BEGIN, END = "<!-- sentinel-memory rules: begin -->\n", "<!-- sentinel-memory rules: end -->\n"
RULES, KOREAN = (BEGIN + rules(lang) + END for lang in ("en", "ko"))
IMPORT = f"{BEGIN}@AGENTS.md\n{END}"
RULE = ".cursor/rules/sentinel-memory.mdc"
BY_HAND: dict[Language, str] = {
    "en": text_of(".cursorrules"),
    "ko": blocks(text_of("docs/cursorrules.ko.md"), "text")[0],
}
OURS = f"{front_matter('en')}\n{RULES}"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the bench has paths of POSIX")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    made.put({})
    return made


def texts(bench: Bench) -> dict[str, str]:
    """The files of the project that can hold rules."""
    return {
        name.removeprefix("root/"): data.decode()
        for name, data in bench.files().items()
        if name.endswith((".md", ".mdc")) and name.startswith("root/")
    }


def do(bench: Bench, *clients: str, remove: bool = False) -> list[str]:
    """Plan and write the rules alone; the notes by name."""
    planned = bench.plan(*clients, remove=remove, hooks=False)
    bench.take(planned)
    return [note.key for note in planned.notes]


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
    "agents and claude": {"root/AGENTS.md": "Be kind.\n", "root/CLAUDE.md": "Be brief.\n"},
    "agents and a local file": {
        "root/AGENTS.md": "Be kind.\n",
        "root/CLAUDE.local.md": "Be brief.\n",
    },
    "import by way of another": {
        "root/CLAUDE.md": "@docs/team.md\n",
        "root/docs/team.md": "See @../AGENTS.md\n",
        "root/AGENTS.md": "Be kind.\n",
    },
    "a rule of the user": {"root/.cursor/rules/sentinel-memory.mdc": "Be kind.\n"},
    "a rule by hand": {"root/.cursor/rules/sentinel-memory.mdc": rules("en")},
    "by hand for claude": {"root/CLAUDE.md": rules("en")},
    "by hand for one person": {"root/CLAUDE.local.md": rules("en")},
    "by hand": {"root/.cursorrules": BY_HAND["ko"]},
    "by hand for vs code": {"root/.github/copilot-instructions.md": BY_HAND["en"]},
    "by hand for all": {"root/AGENTS.md": rules("en")},
}
READ: dict[str, list[str]] = {
    "cursor": ["AGENTS.md", "CLAUDE.md", ".cursorrules", RULE],
    "vscode": [
        *("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"),
        ".github/copilot-instructions.md",
    ],
    "claude-code": ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"],
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
    texts += [
        (bench.root / "docs/team.md").read_text() for text in texts if "@docs/team.md" in text
    ]
    imports = client in ("claude-code", "gemini") and any("AGENTS.md" in text for text in texts)
    if imports and "AGENTS.md" not in names and (bench.root / "AGENTS.md").exists():
        texts.append((bench.root / "AGENTS.md").read_text())
    return sum(text.count("search_memory") > 0 for text in texts)


@pytest.mark.long  # it costs much
@pytest.mark.row("001 6.b")
@pytest.mark.parametrize("past", PAST)
@pytest.mark.parametrize("counts", [(5,), pytest.param((1, 2, 3, 4), marks=pytest.mark.long)])
def test_every_client_reads_the_rules_once(
    past: str, counts: tuple[int, ...], tmp_path: Path
) -> None:
    readers = ["cursor", "claude-code", "vscode", "codex", "gemini"]
    for count in counts:
        for chosen in combinations(readers, count):
            bench = Bench(tmp_path / "-".join(chosen))
            bench.put(PAST[past])
            before = texts(bench)
            planned = bench.plan(*chosen, hooks=False)
            bench.take(planned)
            twice = [
                remark.facts["client"] for remark in planned.notes if remark.key == "two_copies"
            ]
            for client in chosen:
                expected = 2 if NAMES[client] in twice else 1
                assert rules_read(client, bench) == expected, (past, chosen, client)
            assert bench.plan(*chosen, hooks=False).changes == ()
            do(bench, *chosen, remove=True)
            assert texts(bench) == before, (past, chosen)


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


@pytest.mark.long  # it costs much
def test_a_link_to_agents_counts_as_the_same_file(bench: Bench) -> None:
    bench.put({"root/AGENTS.md": "Be kind.\n"})
    (bench.root / "CLAUDE.md").symlink_to("AGENTS.md")
    bench.do("claude-code", "codex")
    assert (bench.root / "CLAUDE.md").is_symlink()
    assert (bench.root / "AGENTS.md").read_text() == f"Be kind.\n\n{RULES}"
    assert bench.plan("claude-code", "codex").changes == ()
    bench.do("claude-code", remove=True)
    assert (bench.root / "AGENTS.md").read_text() == f"Be kind.\n\n{RULES}"
    bench.do("codex", remove=True)
    assert bench.files() == {"root/AGENTS.md": b"Be kind.\n", "root/CLAUDE.md": b"Be kind.\n"}


def test_a_file_that_setup_has_made_goes_also_when_it_has_a_second_name(bench: Bench) -> None:
    do(bench, "codex")
    (bench.root / "CLAUDE.md").symlink_to("AGENTS.md")
    do(bench, "codex", "claude-code", remove=True)
    assert not (bench.root / "AGENTS.md").exists()


@pytest.mark.row("001 6.b")
def test_the_rules_come_in_the_language_of_the_console(bench: Bench) -> None:
    [change] = [it for it in bench.plan("codex", lang="ko").changes if it.path.suffix == ".md"]
    assert change.after == BEGIN + rules("ko") + END


def test_the_notes_name_a_client_that_is_set_up_and_was_not_asked_for(bench: Bench) -> None:
    bench.put({"root/CLAUDE.md": "Be kind.\n", "root/AGENTS.md": "Be brief.\n"})
    bench.do("claude-code", "cursor")
    assert bench.plan("codex").notes[0] == Remark(
        "two_copies", {"client": "Cursor", "files": "CLAUDE.md, AGENTS.md"}
    )


def test_a_local_file_that_imports_the_agents_file_is_counted(bench: Bench) -> None:
    bench.put({"root/CLAUDE.md": "Be kind.\n", "root/AGENTS.md": "Be brief.\n"})
    bench.put({"root/CLAUDE.local.md": "@AGENTS.md\n"})
    assert bench.plan("claude-code", "codex").notes == (
        Remark("two_copies", {"client": "Claude Code", "files": "AGENTS.md, CLAUDE.md"}),
    )


# AGENTS.md and Claude Code.


def test_the_agents_file_of_a_team_is_not_hidden_by_a_new_claude_file(bench: Bench) -> None:
    before = {"AGENTS.md": "Be kind.\n"}
    bench.put({"root/AGENTS.md": "Be kind.\n"})
    assert bench.plan("claude-code", hooks=False).notes == (
        Remark("imports", {"file": "CLAUDE.md"}),
    )
    do(bench, "claude-code")
    assert texts(bench) == {"AGENTS.md": f"Be kind.\n\n{RULES}", "CLAUDE.md": IMPORT}
    assert do(bench, "claude-code") == []
    do(bench, "claude-code", remove=True)
    assert texts(bench) == before


@pytest.mark.parametrize("agents", ["Be kind.\n", rules("en")])
def test_an_import_stays_when_the_claude_file_gets_a_text_of_its_own(
    agents: str, bench: Bench
) -> None:
    bench.put({"root/AGENTS.md": agents})
    do(bench, "claude-code")
    bench.put({"root/CLAUDE.md": f"{IMPORT}\nBe brief.\n"})
    assert do(bench, "claude-code", "codex") == []
    assert texts(bench)["CLAUDE.md"] == f"{IMPORT}\nBe brief.\n"
    do(bench, "claude-code", "codex", remove=True)
    assert texts(bench) == {"AGENTS.md": agents, "CLAUDE.md": "\nBe brief.\n"}


def test_a_claude_file_that_hides_the_agents_file_is_turned_into_an_import(bench: Bench) -> None:
    bench.put({"root/AGENTS.md": "Be kind.\n", "root/CLAUDE.md": RULES})
    assert do(bench, "claude-code") == ["imports"]
    assert texts(bench) == {"AGENTS.md": f"Be kind.\n\n{RULES}", "CLAUDE.md": IMPORT}


def test_rules_by_hand_in_the_agents_file_are_imported(bench: Bench) -> None:
    bench.put({"root/AGENTS.md": rules("en")})
    assert do(bench, "claude-code") == ["imports"]
    assert texts(bench) == {"AGENTS.md": rules("en"), "CLAUDE.md": IMPORT}
    do(bench, "claude-code", remove=True)
    assert texts(bench) == {"AGENTS.md": rules("en")}


def test_a_local_file_of_one_person_does_not_hide_the_agents_file_from_the_team(
    bench: Bench,
) -> None:
    bench.put({"root/AGENTS.md": "Be kind.\n", "root/CLAUDE.local.md": "Be brief.\n"})
    assert do(bench, "claude-code") == ["imports"]
    assert texts(bench) == {
        "AGENTS.md": f"Be kind.\n\n{RULES}",
        "CLAUDE.md": IMPORT,
        "CLAUDE.local.md": "Be brief.\n",
    }


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("CLAUDE.md", "@../AGENTS.md\n"),
        (".claude/CLAUDE.md", "@AGENTS.md\n"),
        ("CLAUDE.md", "```\n@AGENTS.md\n```\n"),
        ("CLAUDE.md", "The line `@AGENTS.md` imports.\n"),
        ("CLAUDE.md", "<!--\n@AGENTS.md\n-->\nBe kind.\n"),
    ],
)
def test_what_only_looks_like_an_import_leaves_the_rules_to_the_claude_file(
    name: str, text: str, bench: Bench
) -> None:
    before = {name: text, "AGENTS.md": "Be brief.\n"}
    bench.put({f"root/{key}": value for key, value in before.items()})
    do(bench, "claude-code", "codex")
    assert texts(bench) == {name: f"{text}\n{RULES}", "AGENTS.md": f"Be brief.\n\n{RULES}"}
    do(bench, "claude-code", "codex", remove=True)
    assert texts(bench) == before


@pytest.mark.parametrize("text", ["```\n@AGENTS.md\n```\n", "`@AGENTS.md`\n", "@../AGENTS.md\n"])
def test_what_only_looks_like_an_import_leaves_the_rules_to_the_gemini_file(
    text: str, bench: Bench
) -> None:
    bench.put({"root/GEMINI.md": text})
    do(bench, "gemini", "codex")
    assert texts(bench) == {"GEMINI.md": f"{text}\n{RULES}", "AGENTS.md": RULES}


@pytest.mark.parametrize("content", ["규칙".encode("cp949"), BEGIN.encode()])
def test_an_agents_file_that_is_left_alone_is_not_imported(content: bytes, bench: Bench) -> None:
    bench.put({"root/AGENTS.md": content, "root/CLAUDE.md": "Be kind.\n"})
    planned = bench.plan("claude-code", "codex", hooks=False)
    bench.take(planned)
    assert [it.facts["path"] for it in planned.problems] == [str(bench.root / "AGENTS.md")]
    assert planned.notes == (Remark("without_rules", {"client": "Codex"}),)
    assert (bench.root / "CLAUDE.md").read_text() == f"Be kind.\n\n{RULES}"
    assert (bench.root / "AGENTS.md").read_bytes() == content


def test_an_agents_file_that_is_left_alone_is_not_hidden_either(bench: Bench) -> None:
    bench.put({"root/AGENTS.md": "규칙".encode("cp949")})
    planned = bench.plan("claude-code", "cursor", hooks=False)
    bench.take(planned)
    assert [it.key for it in planned.problems] == ["not_utf8"]
    assert planned.notes == (Remark("without_rules", {"client": "Claude Code"}),)
    assert not (bench.root / "CLAUDE.md").exists()
    assert (bench.root / RULE).read_text() == OURS


# Cursor.


def test_cursor_shares_the_claude_file_where_an_import_would_bring_too_much(bench: Bench) -> None:
    before = {"CLAUDE.md": "Be kind.\n", "AGENTS.md": "Be brief.\n"}
    bench.put({f"root/{name}": text for name, text in before.items()})
    assert do(bench, "claude-code", "cursor") == ["cursor_by_claude"]
    assert texts(bench) == {**before, "CLAUDE.md": f"Be kind.\n\n{RULES}"}
    assert do(bench, "claude-code", "cursor", remove=True) == []
    assert texts(bench) == before


def test_rules_by_hand_in_the_claude_file_do_for_cursor(bench: Bench) -> None:
    bench.put({"root/CLAUDE.md": rules("en")})
    assert do(bench, "cursor") == ["cursor_by_claude"]
    assert texts(bench) == {"CLAUDE.md": rules("en")}


def test_what_cursor_still_reads_in_the_claude_file_is_kept_and_told(bench: Bench) -> None:
    bench.put({"root/CLAUDE.md": "Be kind.\n", "root/AGENTS.md": "Be brief.\n"})
    bench.do("claude-code", "cursor")
    assert bench.plan("claude-code", remove=True, hooks=False).notes == (
        Remark("kept", {"file": "CLAUDE.md", "clients": "Cursor"}),
    )
    bench.do("claude-code", remove=True)
    assert texts(bench)["CLAUDE.md"] == f"Be kind.\n\n{RULES}"


def test_cursor_without_rules_of_its_own_does_not_move_those_of_claude(bench: Bench) -> None:
    bench.take(bench.plan("cursor", rules=False))
    bench.do("claude-code")
    assert texts(bench) == {"CLAUDE.md": RULES}
    assert bench.plan("claude-code").changes == ()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_rule_of_cursor_is_found_again_with_any_line_ends(newline: str, bench: Bench) -> None:
    bench.put({f"root/{RULE}": OURS.replace("\n", newline)})
    do(bench, "cursor")
    assert texts(bench) == {RULE: OURS.replace("\n", newline)}
    do(bench, "cursor", remove=True)
    assert texts(bench) == {}


def test_a_rule_of_cursor_with_mixed_line_ends_stays_as_it_is(bench: Bench) -> None:
    mixed = OURS.replace("---\n", "---\r\n")
    bench.put({f"root/{RULE}": mixed})
    do(bench, "cursor")
    assert (bench.root / RULE).read_bytes().decode() == mixed


def test_an_older_rule_of_cursor_is_renewed_with_its_line_ends(bench: Bench) -> None:
    old = OURS.replace(rules("en"), "Old.\n").replace("\n", "\r\n")
    bench.put({f"root/{RULE}": old})
    do(bench, "cursor")
    assert (bench.root / RULE).read_bytes().decode() == OURS.replace("\n", "\r\n")


def test_what_the_user_adds_to_the_rule_of_cursor_stays(bench: Bench) -> None:
    do(bench, "cursor")
    mine = OURS.replace("alwaysApply: true\n", "alwaysApply: true\nglobs: src/**\n") + "\nMine.\n"
    bench.put({f"root/{RULE}": mine.replace(rules("en"), "Old.\n")})
    do(bench, "cursor")
    assert texts(bench) == {RULE: mine}
    do(bench, "cursor", remove=True)
    assert texts(bench) == {RULE: mine.replace(f"\n{RULES}", "")}


@pytest.mark.parametrize(
    ("text", "added"),
    [(f"---\nalwaysApply: true\n---\n{rules('en')}", {}), ("Tabs.\n", {"AGENTS.md": RULES})],
)
def test_a_rule_of_cursor_without_our_markers_is_the_users(
    text: str, added: dict[str, str], bench: Bench
) -> None:
    bench.put({f"root/{RULE}": text})
    do(bench, "cursor")
    assert texts(bench) == {RULE: text, **added}
    do(bench, "cursor", remove=True)
    assert texts(bench) == {RULE: text}


# The language, empty files, and the limit of Codex.


def test_the_language_of_rules_that_are_there_stays_unless_one_is_set(bench: Bench) -> None:
    old = f"{BEGIN}옛 규칙.\n{END}"
    bench.put({"root/AGENTS.md": old})
    do(bench, "codex")
    assert texts(bench)["AGENTS.md"] == KOREAN
    set_here = replace(bench.machine, environment={"SENTINEL_MEMORY_LANG": "en"})
    bench.take(bench.plan("codex", hooks=False, machine=set_here))
    assert texts(bench)["AGENTS.md"] == RULES


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_long_rules_of_an_older_version_are_renewed_in_their_place(
    lang: Language, bench: Bench
) -> None:
    around = "# Team\n\n{}\nBe kind.\n"
    old = f"{BEGIN}{BY_HAND[lang]}{END}"
    bench.put({"root/AGENTS.md": around.format(old)})
    do(bench, "codex")
    assert texts(bench) == {"AGENTS.md": around.format(f"{BEGIN}{rules(lang)}{END}")}
    assert bench.plan("codex", hooks=False).changes == ()
    do(bench, "codex", remove=True)
    assert texts(bench) == {"AGENTS.md": "# Team\n\nBe kind.\n"}


def test_rules_that_move_keep_their_language(bench: Bench) -> None:
    bench.take(bench.plan("cursor", lang="ko"))
    assert texts(bench) == {RULE: f"{front_matter('ko')}\n{KOREAN}"}
    assert bench.plan("cursor").changes == ()
    do(bench, "codex")
    assert texts(bench) == {"AGENTS.md": KOREAN}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("text", ["", "\n", "\ufeff", "\r\n\r\n"])
@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini"])
def test_a_file_that_was_there_and_empty_is_not_deleted(
    client: str, text: str, bench: Bench
) -> None:
    name = {"claude-code": "CLAUDE.md", "codex": "AGENTS.md", "gemini": "GEMINI.md"}[client]
    bench.put({f"root/{name}": text})
    do(bench, client)
    assert rules("en") in texts(bench)[name].replace("\r\n", "\n")
    assert bench.plan(client, hooks=False).changes == ()
    do(bench, client, remove=True)
    assert (bench.root / name).read_bytes() == text.encode()


@pytest.mark.parametrize(("lead", "keys"), [(0, []), (1, ["codex_cuts"])])
def test_rules_beyond_what_codex_reads_are_told(lead: int, keys: list[str], bench: Bench) -> None:
    own = 32 * 1024 - len(f"\n\n{BEGIN}{rules('en')}".encode()) + lead
    bench.put({"root/AGENTS.md": "가" * (own // 3) + "." * (own % 3) + "\n"})
    assert do(bench, "codex") == keys
    assert do(bench, "codex") == keys


SAVING = "log_memory"
OTHERS = {
    "codex": "AGENTS.md",
    "gemini": "GEMINI.md",
    "copilot": "AGENTS.md",
    "claude-code": "CLAUDE.md",
    "cursor": ".cursor/rules/sentinel-memory.mdc",
}


@pytest.fixture
def team(tmp_path: Path) -> Desk:
    """The project of a team, which one of them sets up."""
    desk = Desk(tmp_path / "team" / "shop", tmp_path / "home of one")
    git(desk.root, "init", "--quiet")
    (desk.root / "README.md").write_text("a shop\n")
    return desk


def leave_entries_out(team: Desk) -> None:
    """Have this machine's git pass over the files with entries and hooks."""
    folders = [".codex/", ".gemini/", ".github/", ".claude/", ".mcp.json", ".cursor/*.json"]
    exclude = team.root / ".git/info/exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("\n".join(folders) + "\n")


def cloned(team: Desk, tmp_path: Path) -> Desk:
    """What a colleague has after a clone, with a home of their own."""
    commit(team.root)
    folder = tmp_path / "colleague"
    folder.mkdir()
    git(folder, "clone", "--quiet", team.root.as_uri(), "shop")
    return Desk(folder / "shop", tmp_path / "home of another")


@pytest.mark.parametrize(
    ("first", "file", "kept"),
    enough(
        ((*it, kept) for it in OTHERS.items() for kept in ("the entry, too", "the rules alone")),
        lambda _, file, kept: file,
        lambda _, file, kept: kept,
        names=3,
    ),
)
def test_the_rules_of_a_colleague_stay_where_git_has_them(
    team: Desk, tmp_path: Path, first: str, file: str, kept: str
) -> None:
    """Whatever client the colleague uses; of CLAUDE.md an import of AGENTS.md may be left."""
    if kept == "the rules alone":
        leave_entries_out(team)
    assert team.run("setup", first, "--no-hooks", "--yes").code == 0
    desk = cloned(team, tmp_path)
    for second in (key for key in OTHERS if key != first):
        done = desk.run("setup", second, "--yes")
        assert (done.code, "Removed" in done.out) == (0, False), done
        text = (desk.root / file).read_text("utf-8")
        assert SAVING in text or (file == "CLAUDE.md" and "@AGENTS.md" in text)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("text", ["", "# Ours\n\nUse tabs.\n"])
def test_a_committed_file_of_a_client_that_is_not_committed_is_not_changed_by_another(
    team: Desk, tmp_path: Path, text: str
) -> None:
    if text:
        (team.root / "AGENTS.md").write_text(text)
    leave_entries_out(team)
    assert team.run("setup", "codex", "--yes").code == 0
    desk = cloned(team, tmp_path)
    assert not (desk.root / ".codex").exists()  # the entry is the first one's alone
    before = (desk.root / "AGENTS.md").read_bytes()
    assert SAVING.encode() in before
    done = desk.run("setup", "gemini", "--yes")
    assert done.code == 0
    assert "Removed" not in done.out
    assert (desk.root / "AGENTS.md").read_bytes() == before
    assert git(desk.root, "status", "--porcelain", "--", "AGENTS.md") == ""
    done = desk.run("doctor")
    assert "AGENTS.md: these rules are not needed" not in done.out


@pytest.mark.long  # it costs much
def test_a_file_that_a_setting_names_stays_as_well(team: Desk, tmp_path: Path) -> None:
    settings = {"context": {"fileName": "docs/[notes] for models.md"}}
    (team.root / ".gemini").mkdir()
    (team.root / ".gemini/settings.json").write_text(json.dumps(settings))
    commit(team.root)
    assert team.run("setup", "gemini", "--user", "--yes").code == 0
    assert team.run("setup", "gemini", "--yes").code == 0
    git(team.root, "checkout", "--", ".gemini/settings.json")
    desk = cloned(team, tmp_path)
    name = "docs/[notes] for models.md"
    before = (desk.root / name).read_bytes()
    done = desk.run("setup", "claude-code", "--yes")
    assert done.code == 0
    assert (desk.root / name).read_bytes() == before


@pytest.mark.long  # it costs much
def test_what_git_does_not_track_still_moves_to_where_it_is_read(team: Desk) -> None:
    assert team.run("setup", "cursor", "--yes").code == 0
    rule = team.root / ".cursor/rules/sentinel-memory.mdc"
    assert rule.is_file()
    assert team.run("setup", "codex", "--yes").code == 0
    assert not rule.exists()
    assert SAVING in (team.root / "AGENTS.md").read_text()


@pytest.mark.long  # it costs much
def test_remove_takes_the_rules_out_of_a_tracked_file(team: Desk, tmp_path: Path) -> None:
    assert team.run("setup", "codex", "--yes").code == 0
    desk = cloned(team, tmp_path)
    done = desk.run("setup", "codex", "--remove", "--yes")
    assert done.code == 0
    assert not (desk.root / "AGENTS.md").exists()
