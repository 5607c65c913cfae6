"""Tests the parser of all command lines by itself: layout in cells, refusals in both languages."""

import argparse

import pytest

from core.parser import Parser, filled, nearest, one_of

SEVERAL = ("a", "b", "c")


def parser() -> Parser:
    made = Parser(prog="made")
    made.add_argument("one", metavar="ONE")
    made.add_argument("--some", nargs="+")
    made.add_argument("--kind", choices=SEVERAL)
    made.add_argument("--on", action="store_true")
    made.add_argument("--only")
    either = made.add_mutually_exclusive_group()
    either.add_argument("--left", action="store_true")
    either.add_argument("--right", action="store_true")
    return made


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--left", "ONE is missing."),
        ("x --left --right", "--right and --left cannot be used together."),
        ("x --left --some", "--some needs a value."),
        ("x --left --kind d", "--kind: d is none of a, b, c."),
        ("x --left --on=1", "--on takes no value, and got 1."),
        ("x --left --onl", "There is no option --onl. Did you mean --only?"),
        ("x --left y", "There is no place for y."),
        ("x --left --rigth", "There is no option --rigth. Did you mean --right?"),
        ("x --left \x1b[31m", "There is no place for \ufffd[31m."),
    ],
)
def test_a_refusal_says_what_is_wrong_and_what_shows_the_right_way(
    line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(line.split(" "))
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines() == [
        f"made: {said}",
        "Nothing was done. made --help shows what it takes.",
    ]


def test_korean_is_broken_by_its_cells_and_leaves_no_word_alone() -> None:
    text = "실수 직전에 쓰는 코드나 명령 조각. 여러 번 쓸 수 있습니다"
    assert filled(text, 30) == ["실수 직전에 쓰는 코드나 명령", "조각. 여러 번 쓸 수 있습니다"]
    assert filled("one two three four", 14) == ["one two", "three four"]
    assert filled("word", 3) == ["word"]
    assert filled("", 10) == []


def test_help_names_the_value_of_an_option_once_behind_its_spellings() -> None:
    made = Parser(prog="made")
    made.add_argument("-o", "--output", metavar="FILE", help="where it goes")
    assert "\n  -o, --output FILE  where it goes\n" in made.format_help()


def test_none_many_and_known_names_are_taken() -> None:
    made = Parser(prog="made")
    made.add_argument("names", nargs="*", type=one_of(SEVERAL))
    assert made.parse_args([]).names == []
    assert made.parse_args(["a", "c"]).names == ["a", "c"]
    with pytest.raises(argparse.ArgumentTypeError):
        one_of(SEVERAL)("d")


def test_what_is_near_is_one_of_the_known_names() -> None:
    assert nearest("--sinse", ["--since", "--topic"]) == "--since"
    assert nearest("xyz", ["--since"]) == ""
