"""Tests that the particle behind a fact of a Korean sentence fits how that fact ends."""

import re
import unicodedata

import pytest

from core.messages import filled, spoken_end
from tests.support.sentences import sentences
from tests.support.tables import none_of, table

TABLES = table("particles")

FINALS = [chr(ord("가") + number) for number in range(28)]
TWO_FORMS = re.compile(
    r"[은는이가을를과와]\([은는이가을를과와]\)|\([이으]\)[가-힣]|[은이을과아]/[는가를와야]"
)
# A particle in one form behind a placeholder; one behind a parenthesis fits the noun before it.
ONE_FORM = re.compile(
    r"""\{[^{}]*\}[`"'”’»」』\]>*]*(?:은|는|이|가|을|를|과|와|로|으로|이?라는?|이?라고|이?란|이?나|이?며|이?면)"""
    r"""(?![가-힣(])"""
)
FACTS = "src/결제.py", "payment", "2026-05-24", "7dfcec0f@69ab21", "1,000", "기록 셋", "list --all"


def said(template: str, fact: str | int) -> str:
    return filled(template, {"x": fact})


def test_every_final_consonant_takes_its_form_composed_or_not() -> None:
    for number, syllable in enumerate(FINALS):
        for spelling, forms in TABLES["forms"].items():
            want = syllable + forms[0 if number else 1]
            assert said("{x}" + spelling, syllable) == want
        want = syllable + ("로" if number in (0, 8) else "으로")
        assert said("{x}(으)로", syllable) == want
        apart = unicodedata.normalize("NFD", syllable)
        assert spoken_end(apart) == spoken_end(syllable)
        assert said("{x}을(를)", apart).startswith(apart)


def test_a_fact_is_read_as_koreans_read_it() -> None:
    rows = [
        *((shown, said("{x}(으)로", it)) for it, shown in TABLES["digits are read in sino korean"]),
        *(
            (shown, said("{x}은(는)", it))
            for it, shown in TABLES["latin words are read as koreans write them"]
        ),
        *(
            (shown, said(it, "결제"))
            for it, shown in TABLES["only a particle right behind the fact changes"]
        ),
    ]
    none_of(row for row in rows if row[0] != row[1])


def test_what_is_not_spoken_is_passed_over_and_both_forms_stay_without_a_reading() -> None:
    spoken = {"값!": "이", "메모…": "가", "끝 🎉": "이", "use()": "가", '"규칙"': "이"}
    for fact, particle in spoken.items():
        assert said("{x}이(가)", fact) == fact + particle
    for fact in ("", "…", "🎉", "漢字", "Москва", "café", "٣", "ㄱ", "$"):
        assert said("{x}을(를)", fact) == f"{fact}을(를)"


def test_a_fact_keeps_what_looks_like_a_particle() -> None:
    assert said("{x} 끝", "문서을(를)") == "문서을(를) 끝"
    assert filled("{x}{y}", {"x": "값", "y": "을(를)"}) == "값을(를)"
    assert said("{x}은(는)", "{y}은(는)값") == "{y}은(는)값은"
    assert said("{x:,}을(를)", 1000) == "1,000을"
    assert said("{x!r}을(를)", "a") == "'a'를"


@pytest.mark.long  # it costs much
def test_no_korean_sentence_shows_two_forms_of_a_particle() -> None:
    wrong = []
    for key, korean in sentences("ko").items():
        text = re.sub(r"\{(\w+)[^{}]*\}", r"{\1}", korean)
        names = dict.fromkeys(re.findall(r"\{(\w+)\}", text))
        for fact in FACTS:
            shown = filled(text, dict.fromkeys(names, fact))
            wrong += [(key, it[0]) for it in TWO_FORMS.finditer(shown)]
    assert wrong == []


def test_no_particle_in_one_form_stands_behind_a_placeholder() -> None:
    none_of(
        (key, ONE_FORM.findall(it)) for key, it in sentences("ko").items() if ONE_FORM.search(it)
    )
