"""Tests that the runner of stories waves nothing through."""

from pathlib import Path

import pytest

from tests.stories import update
from tests.stories.story import Answer, StoryError, check, play, read_stories

ONE = "## one  [001 3-1]\n"


class Parrot:
    """A wire whose tools answer with their arguments; `refuse` refuses."""

    def call(self, agent: str, tool: str, arguments: dict[str, object]) -> Answer:
        return Answer(f"{agent}: {arguments}", is_refused=tool == "refuse")


def held(text: str, folder: Path) -> None:
    path = folder / "one.txt"
    path.write_text(text, encoding="utf-8")
    for name in ("shop", "home"):
        (folder / name).mkdir()
    [story] = read_stories(path)
    check(story, play(story, folder / "shop", folder / "home", Parrot()))


def test_a_story_that_holds_passes(tmp_path: Path) -> None:
    steps = "say name=DIR/x\n| tests: {'name': 'DIR/x'}\n~ name\n!~ age\n! refuse\nas Kim\n"
    held(f"# words\n{ONE}{steps}say day=2026-03-01\n~ Kim: {{'day': 'DATE'}}\n", tmp_path)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ("say a=1\n~ b\n", "one.txt:3: not in the answer: b"),
        ("say a=1\n!~ 1\n", "one.txt:3: in the answer: 1"),
        ("say a=1\n| tests: {'a': 2}\n", "one.txt:2: say a=1"),
        ("say a=1\n|\n", "one.txt:2: say a=1"),
        ("! say a=1\n", "one.txt:2: it succeeds: ! say a=1"),
        ("refuse a=1\n", "one.txt:2: it is refused: refuse a=1"),
        ("repeat 2 refuse a=1\n", "one.txt:2: it is refused"),
        ("$ nonsense\n", "one.txt:2: it is refused: $ nonsense"),
        ("! $ help\n", "one.txt:2: it succeeds: ! $ help"),
        ("say a=1\n" + "| x\n" * 26, "one.txt:28: 26 recorded lines, 25 may be"),
        ("~ a\n", "one.txt:2: there is no step above this line"),
        ("Say a=1\n", "one.txt:2: this is no step: Say a=1"),
        ("copy a b\n", "one.txt:2: this is no step: copy a b"),
        ("repeat x say a=1\n", "one.txt:2: this is no step"),
        ("say a='1\n", "one.txt:2: No closing quotation"),
        (f"say a=1\n{ONE}", "one.txt:3: there is another story of this name"),
        ("## two  [the readme]\n", "one.txt:2: a heading reads"),
    ],
)
def test_a_story_that_does_not_hold_is_told_with_its_line(
    steps: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(StoryError) as caught:
        held(ONE + steps, tmp_path)
    assert str(caught.value).startswith(said)


def test_an_update_records_anew_keeps_written_words_and_in_ci_records_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.txt"
    steps = "cat a\n{}\n# words\n~ (none)\n\n## two\nfile a x\ncat a\n# words\n{}\n"
    written = ONE + steps.format("| old\n| lines", "|")
    path.write_text(written, encoding="utf-8")
    monkeypatch.setenv("CI", "true")
    assert (update.main([str(path)]), path.read_text(encoding="utf-8")) == (2, written)
    monkeypatch.delenv("CI")
    assert update.main([str(path)]) == 0
    assert path.read_text(encoding="utf-8") == ONE + steps.format("| (none)", "| x")


def test_an_update_records_no_story_that_does_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CI", raising=False)
    path = tmp_path / "one.txt"
    lines = " ".join(["x"] * 26)
    for steps in ("cat a\n|\n~ yes\n", "! cat a\n|\n", f"file a {lines}\ncat a\n|\n"):
        path.write_text(ONE + steps, encoding="utf-8")
        assert update.main([str(path)]) == 1
        assert path.read_text(encoding="utf-8") == ONE + steps
        assert "one.txt:" in capsys.readouterr().out
