"""Tests that setup takes nothing out of a rules file that git tracks, unless it is told to."""

import json
from pathlib import Path

import pytest

from tests.support.costly import enough
from tests.support.desk import Desk
from tests.support.git_clones import commit, git

OURS = "log_memory"
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
        assert OURS in text or (file == "CLAUDE.md" and "@AGENTS.md" in text)


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
    assert OURS.encode() in before
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
    assert OURS in (team.root / "AGENTS.md").read_text()


@pytest.mark.long  # it costs much
def test_remove_takes_the_rules_out_of_a_tracked_file(team: Desk, tmp_path: Path) -> None:
    assert team.run("setup", "codex", "--yes").code == 0
    desk = cloned(team, tmp_path)
    done = desk.run("setup", "codex", "--remove", "--yes")
    assert done.code == 0
    assert not (desk.root / "AGENTS.md").exists()
