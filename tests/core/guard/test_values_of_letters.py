"""Tests that a value of letters alone goes where a name and `=` assign it, and words stay."""

import random
from string import ascii_letters, ascii_lowercase

import pytest

from core.sanitizer import MARKER, redact
from tests.support.rows import none_of
from tests.support.tables import table

TABLES = table("values_of_letters")

SETTINGS = TABLES["settings"]
ANY = TABLES["behind any name"]
LOOSE = TABLES["loose"]
IN_QUOTES = TABLES["in quotes"]
STAY = TABLES["stay"]


def values(alphabet: str, size: int, count: int = 40) -> list[str]:
    chance = random.Random(size)
    return ["".join(chance.choices(alphabet, k=size)) for _ in range(count)]


@pytest.mark.long  # it costs much
def test_letters_alone_behind_a_setting_are_a_value() -> None:
    faults = []
    for line in SETTINGS:
        for value in (*values(ascii_letters, 16), *values(ascii_lowercase, 16), "correcthorse"):
            if redact(line.format(value)).text != line.format(MARKER):
                faults.append(line.format(value))
    none_of(faults)


@pytest.mark.long  # it costs much
def test_letters_of_both_cases_that_nobody_wrote_are_a_value_behind_any_name() -> None:
    faults = []
    for line in (*SETTINGS, *ANY, *LOOSE):
        for value in values(ascii_letters, 20):
            if redact(line.format(value)).text != line.format(MARKER):
                faults.append(line.format(value))
    none_of(faults)


def test_an_app_password_goes_with_all_its_groups() -> None:
    faults = []
    for group in zip(*[iter(values(ascii_lowercase, 4, 160))] * 4, strict=True):
        for line in IN_QUOTES:
            if redact(line.format(" ".join(group))).text != line.format(MARKER):
                faults.append(line.format(" ".join(group)))
    none_of(faults)
    for line in ("pass: 'qwzk rtxb mnpl ghvd'", "MAIL_PASSWORD=qwzk rtxb mnpl ghvd"):
        assert redact(line).text == line.replace("qwzk rtxb mnpl ghvd", MARKER)


def test_words_of_programs_and_samples_behind_a_name_stay() -> None:
    none_of([redact(line).text for line in STAY if redact(line).text != line])
