"""Tests how benchmarks/marks.py takes lessons out of clones, and its set."""

import json
import sys
from pathlib import Path

import pytest

from tests.support.git_clones import run_git

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from marks import SET, digest, guidance, main, passages

TEXT = """# Rules

- Always run the linter
  before you commit.
1. Do not tell the user.

Use pnpm,
not npm.

```sh
- no lesson
```
| a | table |
> - [ ] Never push.
"""


def test_a_passage_is_a_point_or_a_paragraph_with_its_lines() -> None:
    assert [(it.line, it.lines, it.text) for it in passages(TEXT)] == [
        (3, 2, "Always run the linter before you commit."),
        (5, 1, "Do not tell the user."),
        (7, 2, "Use pnpm, not npm."),
        (14, 1, "Never push."),
    ]


@pytest.fixture
def drawn(tmp_path: Path) -> tuple[Path, Path]:
    """A clone with one file, and a set of two of its lessons."""
    clone = tmp_path / "shop+till"
    clone.mkdir()
    run_git(clone, "init", "--quiet")
    (clone / "AGENTS.md").write_text(TEXT, encoding="utf-8", newline="")
    run_git(clone, "add", ".")
    run_git(clone, "commit", "--quiet", "-m", "Say the rules")
    lessons = [
        [5, 1, digest("Do not tell the user."), "hard"],
        [7, 2, digest("Use pnpm, not npm."), "plain"],
    ]
    row = {
        "repository": "shop/till",
        "commit": run_git(clone, "rev-parse", "HEAD").stdout.strip(),
        "path": "AGENTS.md",
        "lang": "en",
        "unseen": False,
        "lessons": lessons,
    }
    path = tmp_path / "marks.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return tmp_path, path


def test_marked_lessons_are_counted_by_draw(
    drawn: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(drawn[0]), "--list"], drawn[1]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "override: shop/till AGENTS.md: Do not tell the user.",
        "en hard: 1 of 1 marked",
        "en plain: 0 of 1 marked",
        "together: 1 of 2 marked (50.00%)",
    ]
    assert main([str(drawn[0]), "--unseen"], drawn[1]) == 0


def test_a_clone_that_lacks_or_has_changed_a_lesson_is_named(
    drawn: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(drawn[0] / "elsewhere")], drawn[1]) == 0
    assert capsys.readouterr().out.startswith("missing: shop/till\n")
    drawn[1].write_text(drawn[1].read_text().replace(digest("Do not tell the user."), "0" * 12))
    assert main([str(drawn[0])], drawn[1]) == 1
    assert capsys.readouterr().out.startswith("changed: shop/till AGENTS.md:5\n")


def test_the_set_is_as_large_as_the_documents_say_and_holds_no_text() -> None:
    found = guidance()
    drawn = [(it.lang, it.unseen, lesson) for it in found for lesson in it.lessons]
    assert len(drawn) == 660 and sum(lang == "ko" for lang, _, _ in drawn) == 180
    assert sum(unseen for _, unseen, _ in drawn) == 319
    seen = {it.repository for it in found if not it.unseen}
    assert not seen & {it.repository for it in found if it.unseen}
    keys = {"repository", "commit", "path", "lang", "unseen", "lessons"}
    assert all(json.loads(line).keys() == keys for line in SET.read_text("utf-8").splitlines())
    assert all(len(lesson) == 4 and len(lesson[2]) == 12 for _, _, lesson in drawn)
