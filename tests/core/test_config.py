"""Tests which project a process speaks of, where it writes no memory, and what a user adjusts."""

import os
from pathlib import Path
from typing import Any

import pytest

from core.config import Settings, find_project, read_settings
from core.errors import DiskError, ProjectRefusedError
from core.messages import language_of
from tests.support.sentences import raised


@pytest.mark.row("001 2-2.c", "001 2-2.e")
def test_the_argument_beats_the_variables_and_these_the_directory(tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d", "d/e"):
        (tmp_path / name).mkdir()
    mine = {"SENTINEL_MEMORY_PROJECT": str(tmp_path / "b")}
    clients, here = {"CLAUDE_PROJECT_DIR": str(tmp_path / "c")}, tmp_path / "d"
    for argument, environment, name, source in (
        (str(tmp_path / "a"), mine | clients, "a", "--project"),
        ("e", mine | clients, "d/e", "--project"),  # relative to the working directory
        (None, mine | clients, "b", "SENTINEL_MEMORY_PROJECT"),
        (None, clients, "c", "CLAUDE_PROJECT_DIR"),
        (None, {}, "d", "cwd"),
    ):
        project = find_project(argument, environment, here)
        assert (project.root, project.source) == (tmp_path / name, source)
        assert project.log_path == tmp_path / name / ".context" / "memory_log.jsonl"


def test_an_unexpanded_variable_is_passed_over_with_a_word(tmp_path: Path) -> None:
    project = find_project("${workspaceFolder}", {"CLAUDE_PROJECT_DIR": ""}, tmp_path)
    assert (project.root, project.source) == (tmp_path, "cwd")
    assert project.warnings == ("--project holds an unexpanded variable and is treated as unset",)


@pytest.mark.parametrize("git_is_a_file", [False, True])  # as in a work tree
def test_the_nearest_context_directory_up_to_the_git_root_is_the_project(
    git_is_a_file: bool, tmp_path: Path
) -> None:
    deep, git = tmp_path / "repo" / "packages" / "web" / "src", tmp_path / "repo" / ".git"
    deep.mkdir(parents=True)
    (tmp_path / ".context").mkdir()
    assert find_project(None, {}, tmp_path / "repo").root == tmp_path / "repo"  # without git
    if git_is_a_file:
        git.write_text("gitdir: elsewhere")
    else:
        git.mkdir()
    assert find_project(None, {}, deep).root == deep  # the other one is outside
    (tmp_path / "repo" / ".context").mkdir()
    assert find_project(None, {}, deep).root == tmp_path / "repo"
    (tmp_path / "repo" / "packages" / "web" / ".context").mkdir()
    assert find_project(None, {}, deep).root == tmp_path / "repo" / "packages" / "web"


@pytest.mark.parametrize(
    ("name", "content", "counts"),
    [
        ("notes.md", "of another tool\n", False),
        (".gitignore", "*.tmp\n", False),
        ("memory_log.jsonl", "", True),
        ("memory_log.replaced.jsonl", "", True),
        (".gitattributes", "memory_log.jsonl merge=union text eol=lf\n", True),  # git has the log
        ("sessions/sessions.db", "", True),
        ("", "", True),  # setup has just made it
    ],
)
def test_a_context_directory_of_another_tool_is_no_memory(
    name: str, content: str, counts: bool, tmp_path: Path
) -> None:
    package = tmp_path / "packages" / "app"
    (tmp_path / ".git").mkdir()
    (tmp_path / ".context").mkdir()
    (package / ".context").mkdir(parents=True)
    if name:
        file = package / ".context" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
    found = find_project(None, {}, package)
    assert found.root == (package if counts else tmp_path)


# What another user has put above.

ME, STRANGER, ROOT_USER = 1000, 1001, 0


@pytest.fixture
def owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Who owns what below the common directory `tmp_path`, if not the user who runs this."""
    found: dict[str, int] = {}

    def owner(path: str, *, itself: bool = False) -> int:
        return found.get(Path(path).relative_to(tmp_path).as_posix(), ME)

    monkeypatch.setattr("core.config._owner", owner)
    monkeypatch.setattr(os, "geteuid", lambda: ME, raising=False)
    for name in ("common/.context", "common/.git", "common/till/src"):
        (tmp_path / name).mkdir(parents=True)
    return found


OF_A_STRANGER = dict.fromkeys(("common", "common/.git", "common/.context", "common/till"), STRANGER)


@pytest.mark.parametrize("owned", [{}, {".": ROOT_USER}, {"common": ROOT_USER}, OF_A_STRANGER])
def test_what_the_user_root_or_the_owner_of_the_directory_has_put_above_is_taken(
    owned: dict[str, int], owners: dict[str, int], tmp_path: Path
) -> None:
    owners |= owned
    project = find_project(None, {}, tmp_path / "common" / "till")
    assert (project.root, project.warnings) == (tmp_path / "common", ())


@pytest.mark.parametrize(
    "planted",
    [("common/.git", "common/.context"), ("common/.git",), ("common/.context",), ("common",)],
)
def test_what_a_stranger_has_put_above_is_passed_over_with_a_word(
    planted: tuple[str, ...], owners: dict[str, int], tmp_path: Path
) -> None:
    owners |= dict.fromkeys(planted, STRANGER)
    project = find_project(None, {}, tmp_path / "common" / "till")
    assert project.root == tmp_path / "common" / "till"
    assert not project.is_unexpanded
    assert len(project.warnings) == (2 if "common" in planted else len(planted))
    assert "belongs to another user and is passed over" in project.warnings[0]
    named = find_project(str(tmp_path / "common"), {}, tmp_path)  # by the user
    assert (named.root, named.warnings) == (tmp_path / "common", ())
    if planted == ("common/.git", "common/.context"):  # a repository behind the planted one
        (tmp_path / ".git").mkdir()
        (tmp_path / ".context").mkdir()
        assert find_project(None, {}, tmp_path / "common" / "till").root == tmp_path


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("name", [".git", ".context"])
def test_a_link_belongs_to_who_made_it_and_not_to_whom_it_leads(name: str, tmp_path: Path) -> None:
    for folder in ("real/.git", "real/.context", "common/.git", "common/.context", "common/till"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "common" / name).rmdir()
    (tmp_path / "common" / name).symlink_to(tmp_path / "real" / name)
    assert find_project(None, {}, tmp_path / "common" / "till").root == tmp_path / "common"
    os.lchown(tmp_path / "common" / name, STRANGER, STRANGER)
    project = find_project(None, {}, tmp_path / "common" / "till")
    assert project.root == tmp_path / "common" / "till"
    assert project.warnings[0].startswith(repr(str(tmp_path / "common" / name)))


@pytest.mark.parametrize("name", ["gone", "~no-such-user/app", "x" * 5_000, "a\0b"])
def test_a_missing_directory_is_an_error_for_readers_and_writers(name: str, tmp_path: Path) -> None:
    project = find_project(name, {}, tmp_path)
    for writes in (False, True):
        with raised(DiskError, "project_missing") as caught:
            project.check({}, writes=writes)
        assert caught.value.facts == {"path": project.folder, "source": "--project"}
    assert list(tmp_path.iterdir()) == []


OF_POSIX = "/etc /usr /usr/bin /usr/share /proc/self /home /var /mnt".split()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        *((it, "system") for it in OF_POSIX if os.name != "nt"),
        *(("/", "root"), ("HERE", "home"), ("HERE/Windows/System32", "system")),
        ("HERE/project", ""),  # below the directory of temporary files
    ],
)
def test_root_home_and_system_directories_are_refused_for_writing_only(
    path: str, kind: str, tmp_path: Path
) -> None:
    for name in ("Windows/System32", "project"):
        (tmp_path / name).mkdir(parents=True)
    environment = {"HOME": str(tmp_path), "SYSTEMROOT": str(tmp_path / "Windows")}
    project = find_project(path.replace("HERE", str(tmp_path)), {}, Path("/"))
    project.check(environment)
    try:
        project.check(environment, writes=True)
    except ProjectRefusedError as error:
        assert error.facts["kind"] == kind != ""
    else:
        assert kind == ""


# Settings. A name stands without SENTINEL_MEMORY_ before it, in a warning as well.

NO_NUMBER = "is not a whole number of {} or more; {} is used"
BUDGETS = {"BUDGET": (1_000, 20_000), "HOOK_BUDGET": (200, 1_500)}  # the least and the default
LARGE = ("9" * 10, "9" * 5_000, "0001000000000")
OF_DOCUMENTS = {"budget_tokens": 20_000, "budget_chars": 45_000, "hook_tokens": 1_500}
READ: list[tuple[dict[str, str], dict[str, Any], list[str]]] = [
    ({}, OF_DOCUMENTS | {"lock_timeout_s": 10, "threshold": 50}, []),
    (
        {"LANG": "ko_KR.UTF-8", "BUDGET": " 40000 ", "HOOK_BUDGET": "200", "THRESHOLD": "7"},
        {"budget_tokens": 40_000, "budget_chars": 90_000, "hook_tokens": 200, "threshold": 7},
        [],
    ),
    ({"LOCK_TIMEOUT_S": "3", "ANSWERS": "JSON"}, {"lock_timeout_s": 3, "answers": "json"}, []),
    *(({"STRICT": it}, {"strict": True}, []) for it in ("1", " True ")),
    *(({"STRICT": it}, {}, []) for it in ("0", "off", "")),
    ({"STRICT": "always"}, {"strict": True}, ["STRICT is neither 1 nor 0; 1 is used"]),
    (
        {"LANG": "secret-value", "LOCK_TIMEOUT_S": "0"},
        {},
        ["LANG is neither en nor ko; en is used", f"LOCK_TIMEOUT_S {NO_NUMBER.format(1, 10)}"],
    ),
    (
        {"BUDGET": "999", "HOOK_BUDGET": "199"},
        {"budget_tokens": 1_000, "hook_tokens": 200},
        [
            "BUDGET is below the least that is of use; 1000 is used",
            "HOOK_BUDGET is below the least that is of use; 200 is used",
        ],
    ),
    ({"BUDGET": "1000"}, {"budget_tokens": 1_000}, []),  # clients take as many characters as before
    *(({"LOCK_TIMEOUT_S": it}, {"lock_timeout_s": 999_999_999}, []) for it in LARGE),
    (
        {"BUDGET": "${BUDGET}"},
        {},
        ["BUDGET holds an unexpanded variable and is treated as unset"],
    ),
]


@pytest.mark.parametrize(("given", "changed", "warnings"), READ)
def test_a_setting_is_read_and_an_unusable_one_leaves_the_default_with_a_word(
    given: dict[str, str], changed: dict[str, Any], warnings: list[str]
) -> None:
    settings = read_settings({f"SENTINEL_MEMORY_{name}": it for name, it in given.items()})
    told = tuple(f"SENTINEL_MEMORY_{it}" for it in warnings)
    assert settings == Settings(**changed, warnings=told)


@pytest.mark.parametrize("name", BUDGETS)
@pytest.mark.parametrize(
    "value", ["many", "0", "-1", "+5000", "1e5", "20_000", "9.5", "20,000", "२००००", "00"]
)
def test_a_budget_that_is_no_positive_number_is_an_error_and_leaves_the_default(
    name: str, value: str
) -> None:
    least, default = BUDGETS[name]
    settings = read_settings({f"SENTINEL_MEMORY_{name}": value})
    [error] = settings.errors
    variable = f"SENTINEL_MEMORY_{name}"
    assert error.facts == {"variable": variable, "least": least, "default": default}
    assert settings == Settings(
        errors=(error,), warnings=(f"{variable} {NO_NUMBER.format(least, default)}",)
    )


@pytest.mark.parametrize(
    ("environment", "lang"),
    [
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "ko"}, "ko"),
        ({"LANG": "Korean_Korea.949"}, "ko"),
        ({"LANG": "kok_IN.UTF-8"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LC_MESSAGES": "ko_KR.UTF-8", "LANG": "en_US.UTF-8"}, "ko"),
        ({"LC_ALL": "en_US.UTF-8", "LC_MESSAGES": "ko_KR", "LANG": "ko_KR"}, "en"),
        ({"LC_ALL": "", "LANG": "ko_KR"}, "ko"),
        ({"SENTINEL_MEMORY_LANG": "en", "LANG": "ko_KR"}, "en"),
        ({"SENTINEL_MEMORY_LANG": "ko", "LANG": "en_US"}, "ko"),
        ({"SENTINEL_MEMORY_LANG": "${lang}", "LANG": "ko_KR"}, "ko"),
        ({}, "en"),
    ],
)
def test_a_person_reads_the_language_of_the_locale_and_a_model_does_not(
    environment: dict[str, str], lang: str
) -> None:
    assert language_of(environment, for_person=True) == lang
    named = environment.get("SENTINEL_MEMORY_LANG")
    assert language_of(environment) == ("ko" if named == "ko" else "en")
