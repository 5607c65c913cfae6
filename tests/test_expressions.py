"""No text stalls a regular expression: every one of them takes time in proportion to its text."""

import re
from collections.abc import Iterator
from zlib import crc32

import pytest

from core.sanitizer import redact
from tests.support.expressions import Expression, expressions, unknown_calls
from tests.support.stalling import (
    Attack,
    ambiguities,
    attacks_of,
    by_example,
    growth,
    seconds,
    use_of,
)
from tests.support.templates import examples, expand

ONE_IN, ONE_IN_OF_REDACTION = 100, 4_000  # attacks are tried; all of them take hours
FAST_REDACTION = 0.16  # seconds for 16 KB: 10 ms for each
# Heads at which some version of a rule took exponential time, or the square of its text.
KNOWN = (
    *(Attack(head, "''") for head in ('SET PASSWORD "', 'source_password="')),
    *(Attack(head, "''") for head in ('OPTIONS (password "', 'encryptbypassphrase("')),
    *(Attack(head, "\\'") for head in ('login me password \\"', 'curl -u \\"a:', '-p \\"')),
    Attack("-----BEGIN PRIVATE KEY-----\n", "Comment: "),
    Attack("-----BEGIN PRIVATE KEY-----", "\nComment: x"),
    Attack("", "AccountKey="),
    Attack("", "pass a1B!zq8 "),
    Attack("", "pw='"),
    Attack("|", "pw|pw|pw|pw|pw|pw|\n|"),
    Attack("token:\n  ", "A1b2C3d4E5f6G7h8token:\n  "),
    Attack("", "AKIA" + "A2B3C4D5E6F7G2H3"),
)


def slow(found: Iterator[tuple[str, str]]) -> list[str]:
    return [f"{where}: {why}" for where, why in found if why]


def is_chosen(attack: Attack, where: str, one_in: int) -> bool:
    return crc32(repr((where, attack)).encode("utf-8", "surrogatepass")) % one_in == 0


def pumped(found: Expression) -> str:
    """Return the first attack that takes an expression more than linear time, or ""."""
    use = use_of(found.pattern, found.flags, anchored=found.anchored)
    for attack in attacks_of(found.pattern, found.example, found.flags):
        if is_chosen(attack, found.where, ONE_IN):
            try:
                took = growth(use, attack)
            except re.error as error:
                took = str(error)
            if took:
                return f"{attack!r:.200} {took}"
    return ""


@pytest.mark.long  # it costs much
def test_every_expression_of_the_program_is_known() -> None:
    assert unknown_calls() == ()
    assert len(expressions()) > 800


@pytest.mark.long  # it costs much
def test_no_expression_can_read_a_text_in_many_ways() -> None:
    found = ((it.where, ", ".join(ambiguities(it.pattern, it.flags))) for it in expressions())
    assert slow(found) == []


@pytest.mark.parametrize(
    "pattern",
    [
        r"""(['"])(?:''|(?!\1)[^\r\n]){3,256}(?=\1)""",
        r"""(?:\\["'](?=\S)|[^\r\n"]){3,256}(?=")""",
        r"(?:a+)+b",
        r"(?:a|aa)*b",
        r"\s*\s*x",
        r"(?:[ \t]*-)+[ \t]*-*[ \t]*x",
    ],
)
def test_what_reads_a_text_in_many_ways_is_seen(pattern: str) -> None:
    assert ambiguities(pattern)


@pytest.mark.long  # it measures the time
@pytest.mark.parametrize(
    ("pattern", "attack"),
    [
        (r"""(['"])(?:''|(?!\1)[^\r\n]){3,256}(?=\1)""", Attack('"', "''")),
        (r"[a-z]+=", Attack("", "a")),
        (r"`+[^`]+?`", Attack("", "`")),
    ],
)
def test_what_takes_more_than_linear_time_is_seen(pattern: str, attack: Attack) -> None:
    assert growth(use_of(pattern), attack)
    assert attack.piece[0] in {it.piece[:1] for it in attacks_of(pattern)}


@pytest.mark.long  # it measures the time
def test_expressions_take_linear_time() -> None:
    assert slow((it.where, pumped(it)) for it in expressions()) == []


def redaction_attacks() -> Iterator[tuple[str, Attack]]:
    for attack in KNOWN:
        yield "known", attack
    for it in examples().values():
        for attack in by_example(expand(it.example)[0]):
            if is_chosen(attack, f"redact {it.name}", ONE_IN_OF_REDACTION):
                yield it.name, attack


@pytest.mark.long  # it measures the time
def test_redaction_takes_linear_time() -> None:
    found = redaction_attacks()
    assert slow((f"{it} {at!r:.120}", growth(redact, at, FAST_REDACTION)) for it, at in found) == []


@pytest.mark.long
def test_a_text_of_all_hints_and_examples_takes_no_more_than_4_seconds_per_100_kb() -> None:
    texts = [expand(text)[0] for it in examples().values() for text in (it.example, it.lookalike)]
    text = " ".join(filter(None, texts))
    redact(text[:40_000])  # compiles the rules
    assert seconds(redact, text[:50_000]) < 2
