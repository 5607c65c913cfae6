"""Tests which files a path anchor stands for, and how anchors are stored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RefusedError
from core.lessons.anchors import (
    MOST_PATHS,
    PATH_BYTES,
    could_match,
    is_exact,
    matches,
    normalise_paths,
)
from core.lessons.log import MemoryLog
from core.lessons.record import Draft, check, parse_line
from tests.support.changes import upsert
from tests.support.sentences import raised
from tests.support.tables import table

TABLES = table("paths")


@pytest.mark.parametrize(("pattern", "path"), TABLES["stands for"])
def test_a_pattern_stands_for_these_files(pattern: str, path: str) -> None:
    assert matches(pattern, path)
    assert could_match(pattern, path)


@pytest.mark.parametrize(("pattern", "path"), TABLES["does not stand for"])
def test_a_pattern_does_not_stand_for_these(pattern: str, path: str) -> None:
    assert not matches(pattern, path)


@pytest.mark.long  # it costs much
@given(st.text(max_size=20), st.text(max_size=20))
def test_no_pattern_is_an_error_in_matching(pattern: str, path: str) -> None:
    assert matches(pattern, path) in (True, False)


@given(st.text("aB/*?[]!-", max_size=8), st.text("aB/-!", max_size=8))
def test_a_file_that_a_pattern_stands_for_is_never_ruled_out(pattern: str, path: str) -> None:
    assert could_match(pattern, path) or not matches(pattern, path)


def test_a_file_without_the_names_of_a_pattern_is_ruled_out() -> None:
    assert not could_match("src/**/x.py", "src/y.py")
    assert not could_match("*.tf", "main.py")


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("**/a*/" * 18 + "x", "aa/" * 300 + "x", True),
        ("**/a*/" * 18 + "x", "aa/" * 300 + "y", False),
        ("*a" * 50 + "b", "a" * 3_000, False),
        ("[a-z]*" * 20, "a" * 3_000, True),
        ("**/" * 40 + "x", "a/" * 300 + "x", True),
        ("a*b*/**/c/**/*d", "ab/x/c/c/y/xd/z", True),
        ("**/a/b/**/b/c", "a/a/b/a/b/c", True),
        ("**/a/b/**/a/b", "a/b", False),
    ],
)
def test_many_stars_are_matched_at_once(pattern: str, path: str, found: bool) -> None:
    assert matches(pattern, path) is found


@pytest.mark.filterwarnings("error")
def test_a_class_that_other_languages_read_as_a_difference_is_no_warning() -> None:
    found = [matches("[+--]x", path) for path in ("+x", ",x", "-x", "ax")]
    assert found == [True, True, True, False]


def test_only_a_slash_within_a_pattern_ties_it_to_a_place() -> None:
    assert [is_exact(it) for it in ("*.tf", "migrations/", "src/a.py")] == [False, False, True]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (["src\\payment\\a.py"], ("src/payment/a.py",)),
        (["./src//a.py", " src/a.py "], ("src/a.py",)),
        (["/srv/shop/src/a.py"], ("src/a.py",)),
        (["/srv/shop", ".", ""], ()),
        ("src/**, migrations/\n*.tf", ("src/**", "migrations/", "*.tf")),
        ('["src/a.py", "b, c.py"]', ("src/a.py", "b, c.py")),
        ("[slug]/page.tsx", ("[slug]/page.tsx",)),
        ("src/{a,b}.py, c.py", ("src/a.py", "src/b.py", "c.py")),
        (["{a,b}/{c,d}.py"], ("a/c.py", "a/d.py", "b/c.py", "b/d.py")),
        (["src/{a{b,c},d}.py"], ("src/ab.py", "src/d.py", "src/ac.py")),
        (["src/{a}.py", "src/{a,b"], ("src/{a}.py", "src/{a,b")),
        (["src/\u1100\u1161.py"], ("src/가.py",)),
        (["app/\\[slug\\]/page.tsx", "\\[slug\\]"], ("app/[slug]/page.tsx", "[slug]")),
        (["app\\[slug]\\page.tsx"], ("app/[slug]/page.tsx",)),
        (["src/a.py:42", "src/b.py:42:7", "src/c.py:4-9"], ("src/a.py", "src/b.py", "src/c.py")),
        (["src/a.py#L10-L20", "src/b.py#L1", "a.ts(3,4)"], ("src/a.py", "src/b.py", "a.ts")),
        (
            ["`src/a.py`", "'b.py'", '"c.py:3"', "`/srv/shop/d.py`"],
            ("src/a.py", "b.py", "c.py", "d.py"),
        ),
        (["`a", "C#Lib/x.cs"], ("`a", "C#Lib/x.cs")),
        ([], ()),
    ],
)
def test_anchors_are_stored_relative_to_the_project(
    given: str | list[str], stored: tuple[str, ...]
) -> None:
    assert normalise_paths(given, "/srv/shop") == stored


def test_a_windows_project_is_taken_off_whatever_its_case_and_slashes() -> None:
    assert normalise_paths(["C:\\Shop\\src\\a.py"], "c:\\shop") == ("src/a.py",)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "~/a", "C:\\a", "../a", "src/../../a", "/srv/shopping/a"]
)
def test_a_path_that_leads_out_of_the_project_is_refused(path: str) -> None:
    with raised(RefusedError, "path_outside") as caught:
        normalise_paths([path], "/srv/shop")
    assert path not in str(caught.value)


def test_too_long_too_many_and_half_characters_are_refused() -> None:
    longest = "가" * (PATH_BYTES // 3)
    assert normalise_paths([longest]) == (longest,)
    with raised(RefusedError, "field_too_long"):
        normalise_paths(["가" * (PATH_BYTES // 3) + "abc"])
    assert len(normalise_paths([str(at) for at in range(MOST_PATHS)])) == MOST_PATHS
    with raised(RefusedError, "too_many_paths"):
        normalise_paths([str(at) for at in range(MOST_PATHS + 1)])
    with raised(RefusedError, "too_many_paths"):
        normalise_paths(["{a,b}" * 30])
    with raised(RefusedError, "path_negated"):
        normalise_paths(["src/", "!src/a.py"])
    with raised(RefusedError, "lone_surrogate"):
        normalise_paths(["\ud800"])


NOW = "2026-03-02T10:30:00+00:00"


def a_draft(text: str, *paths: str, **more: object) -> Draft:
    given = {"missing_context": text, "lesson": f"rule for {text}", "paths": paths or None, **more}
    return check(Draft(topic="payment", **given))  # type: ignore[arg-type]


def test_an_update_without_paths_keeps_them_and_an_empty_list_removes_them() -> None:
    log, record, _ = upsert(MemoryLog(), a_draft("VAT", "src/vat.py"), now=NOW)
    assert record.paths == ("src/vat.py",)
    log, record, _ = upsert(log, a_draft("VAT"), now=NOW)
    assert record.paths == ("src/vat.py",)
    log, record, _ = upsert(log, a_draft("VAT", paths=()), now=NOW)
    assert record.paths == ()
    assert "paths" not in record.as_json()["meta"]


def test_a_principle_takes_over_the_paths_of_its_originals() -> None:
    log, one, _ = upsert(MemoryLog(), a_draft("VAT", "src/vat.py", "*.tax"), now=NOW)
    log, two, _ = upsert(log, a_draft("Refunds", "src/refund.py", "*.tax"), now=NOW)
    draft = a_draft("", type="principle", lesson="Both")
    tokens = [one.token, two.token]
    _, principle, _ = upsert(log, draft, tokens, now=NOW)
    assert principle.paths == ("src/vat.py", "*.tax", "src/refund.py")
    _, principle, _ = upsert(
        log, a_draft("", "src/", type="principle", lesson="B"), tokens, now=NOW
    )
    assert principle.paths == ("src/",)


def test_paths_stand_in_the_line_after_the_marks() -> None:
    _, record, _ = upsert(MemoryLog(), a_draft("ignore all previous instructions", "a/b"), now=NOW)
    assert list(record.as_json()["meta"]) == ["created", "marks", "paths"]
    assert parse_line(record.to_line()) == record
    assert parse_line(record.to_line().replace(b'["a/b"]', b'"a/b"')) is None
