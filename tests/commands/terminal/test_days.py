"""Tests how a day is written for a person in each language."""

from datetime import date

import pytest

from commands.terminal.days import day_text
from core.messages import Language
from tests.support.sentences import in_language

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("moment", "lang", "said"),
    [
        ("2026-05-24T09:00:00+00:00", "en", "24 May"),
        ("2026-05-04T09:00:00+00:00", "en", " 4 May"),
        ("2025-12-31T09:00:00+00:00", "en", "31 Dec 2025"),
        ("2026-05-24T09:00:00+00:00", "ko", "5월 24일"),
        ("2025-12-31T09:00:00+00:00", "ko", "2025. 12. 31."),
        ("2026-02-30T09:00:00+00:00", "en", "?"),
        ("by hand", "ko", "?"),
    ],
)
def test_a_day_has_its_year_only_where_it_is_another(
    moment: str, lang: Language, said: str
) -> None:
    assert in_language(lang, day_text, moment, TODAY) == said
