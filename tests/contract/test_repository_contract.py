import re

import pytest

from tests.contract.given import ROOT

STEPS = [
    r"(?i)before .*required",
    r"1\. .*search_memory",
    r"2\. .*lessons",
    r"3\. .*ask",
    r"4\. .*do not guess",
    r"(?i)after .*required",
    r"5\. .*log_memory",
    r"missing_context",
    r"lesson",
    r"ask_next_time",
    r"(?i)topic",
    r"auth, payment, api-gateway, ui-form, db-migration",
    r"login_bug_fix_2026, verify_token_v2",
    r"code, backend, fix",
    r"auth-login.* authentication",
    r"(?i)compact.* required .*50 records",
    r"6\. .*compact_memory",
    r"7\. .*similar topics.*auth, auth-login",
    r"8\. .*lesson.* principle",
    r"9\. .*ask_next_time.*512",
    r'10\. .*log_memory\(type="principle"',
    r"11\. ",
    r"(?i)skip",
]


@pytest.mark.row("001 10.a")
@pytest.mark.parametrize(
    "path",
    [
        "docs/design.ko.md",
        "docs/design.md",
        "core/__init__.py",
        "core/sanitizer.py",
        "core/store.py",
        "server.py",
        "requirements.txt",
        ".cursorrules",
        ".gitignore",
    ],
)
def test_a_file_of_the_structure_exists(path: str) -> None:
    assert (ROOT / path).is_file()


@pytest.mark.row("001 1-3.c", "001 7-3.a")
def test_the_program_needs_two_packages() -> None:
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    stated = [line.split("#")[0].strip() for line in lines]
    names = [re.split(r"[^\w.-]", line)[0].lower() for line in stated if line]
    assert sorted(names) == ["fastmcp", "filelock"]


def test_the_rules_hold_the_workflow_in_its_order() -> None:
    rules = (ROOT / ".cursorrules").read_text("utf-8").replace('"', "").replace("`", "")
    for step in STEPS:
        found = re.search(step.replace('"', ""), rules)
        assert found, step
        rules = rules[found.start() :]


@pytest.mark.row("001 6.a")
def test_the_rules_number_eleven_steps() -> None:
    rules = (ROOT / ".cursorrules").read_text("utf-8")
    assert re.findall(r"^(\d+)\. ", rules, re.M) == [str(number) for number in range(1, 12)]


def test_the_rules_keep_originals_until_the_principle_is_saved() -> None:
    rules = (ROOT / ".cursorrules").read_text("utf-8")
    assert re.search(r"(?i)original", rules.split('type="principle"')[-1])
