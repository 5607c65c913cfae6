"""Tests the sentences: that each is said, in both languages, with the facts that it names.

And the tables of the program: that a broken line is named.
"""

import json
import os
import re
import string
import unicodedata
from pathlib import Path

import pytest

import cli
from core import errors
from core.data import rows
from core.messages import filled, has_sentence, language, say, speaking, spoken_end
from tests.core.said import everything_said, is_written
from tests.support.sentences import pair, sentences
from tests.support.tables import ROOT, none_of, table

ALWAYS = {"cli", "program"}  # facts that `say` knows itself
# What only operators of a server read may lack Korean.
OF_OPERATORS = ("keys.", "migrate.", "fragment_commands.embed", "fragment_commands.consolidat")
ENGLISH, KOREAN = sentences("en"), sentences("ko")

OF_ARGPARSE = {"parser.positional arguments", "parser.options"}

# One register, and one word for each thing: what people read is said in these words, or in others
# that mean something else.
TABLES = table("messages")
PATTERNS = {name: re.compile(it) for name, it in TABLES["patterns"].items()}
COUNTS, SINGULAR = PATTERNS["counts"], PATTERNS["one with a plural"]
ABOVE_ONE = {*TABLES["only said above a number, or of two and more"]}


def facts_of(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def needs(key: str) -> set[str]:
    return facts_of(ENGLISH[key]) - ALWAYS


def test_every_sentence_and_every_error_is_there_and_names_commands_that_exist() -> None:
    assert [it for it in everything_said() if not it.has_gap and it.key not in ENGLISH] == []
    none_of(key for key in ENGLISH.keys() - OF_ARGPARSE if not is_written(key))
    named = re.compile(r"\{(?:cli|program)\} ([a-z]+)")
    texts = [*ENGLISH.items(), *KOREAN.items()]
    known = {name.partition(" ")[0] for name in cli.COMMANDS}
    none_of(
        f"{key}: {word}"
        for key, text in texts
        for word in named.findall(text)
        if word not in known and key != "fragments.services.program_failed"
    )
    kinds = [it for it in errors.SentinelError.__subclasses__() if it.__module__ == errors.__name__]
    assert len(kinds) == 3
    assert [it for it in kinds if not issubclass(it, ValueError | OSError | RuntimeError)] == []


def test_who_says_a_sentence_gives_the_facts_that_it_names() -> None:
    idle: dict[str, frozenset[str]] = {}
    for said in everything_said():
        if said.facts is None or not (keys := said.candidates()):
            continue
        missing = [needs(key) - said.facts for key in keys]
        # A key with a gap may be any of several, so that only one of them has to fit.
        assert not (all(missing) if said.has_gap else any(missing)), said
        unnamed = said.facts.difference(*map(needs, keys))
        idle[said.place] = idle.get(said.place, said.facts) & unnamed
    assert {place: facts for place, facts in idle.items() if facts} == {}


def test_both_languages_have_the_same_sentences_and_facts_in_one_register_and_wording() -> None:
    assert {it for it in ENGLISH.keys() - KOREAN.keys() if not it.startswith(OF_OPERATORS)} == set()
    assert KOREAN.keys() - ENGLISH.keys() == set()
    none_of(key for key in KOREAN if facts_of(ENGLISH[key]) != facts_of(KOREAN[key]))
    hangul = re.compile("[가-힣]")
    same = {"demo.saved_topic"}  # a topic is a name
    same |= {"fragment_commands.topic", "rooms.topic", "lessons.kinds.principle"}  # so is a field
    none_of(key for key, text in ENGLISH.items() if hangul.search(text))
    none_of(key for key, text in KOREAN.items() if not hangul.search(text) and key not in same)
    wrong = ("banned in Korean", "an instruction and a statement in one sentence", "stiff")
    banned = [*((KOREAN, it) for it in wrong), (ENGLISH, "banned in English")]
    none_of(
        (key, found[0])
        for texts, name in banned
        for key, text in texts.items()
        for found in PATTERNS[name].finditer(text)
    )
    assert any("하세요" in text for text in KOREAN.values())


def test_a_sentence_fits_one_as_well_as_two() -> None:
    """A count stands behind a colon or in parentheses, or `KEY_1` says it for one."""
    wrong = []
    for key, english in ENGLISH.items():
        if key in ABOVE_ONE or f"{key}_1" in ENGLISH or key.startswith("demo."):
            continue  # the demonstration has its own figures
        text = re.sub(
            r"\{(\w+)[^}]*\}", lambda it: "1" if COUNTS.fullmatch(it[1]) else "x", english
        )
        wrong += [(key, it[0]) for it in SINGULAR.finditer(text)]
    assert wrong == []


def test_a_sentence_is_said_in_the_language_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    assert say("errors.blank_field", field="topic").startswith("topic: it is blank.")
    error = errors.BusyError("log_busy", path="x.lock", waited_s=10)
    with speaking("ko"):
        assert say("errors.blank_field", field="topic").startswith("topic: 비어 있습니다.")
        assert str(error).startswith(pair("errors.log_busy")[1].partition("{")[0])
        with speaking("en"):
            assert language() == "en"
        assert language() == "ko"
    assert str(error).startswith(pair("errors.log_busy")[0].partition("{")[0])
    assert os.environ.get("SENTINEL_MEMORY_LANG") is None
    assert language() == "en"
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", "ko")
    assert (language(), say("terminal.no_name")) == ("ko", pair("terminal.no_name")[1])
    assert has_sentence("errors.log_busy") and not has_sentence("errors.nothing")
    with pytest.raises(KeyError):
        say("errors.nothing")


# Tables of the program, read line by line.

DATA_TABLES = sorted(path.stem for path in (ROOT / "core" / "data").glob("*.jsonl"))


def test_a_table_has_a_row_a_line_and_a_broken_one_is_named(
    tmp_path: Path,
) -> None:
    for broken in ['{"name": "a\\d"}', "", "[1]", '{"name": "b"}}']:
        lines = ['{"name": "first"}', broken, '{"name": "third"}']
        (tmp_path / "rules.jsonl").write_text("\n".join(lines), encoding="utf-8")
        with pytest.raises(ValueError, match=r"^rules\.jsonl, line 2: "):
            list(rows("rules", tmp_path))
    for name in DATA_TABLES:
        """One row a line, Hangul as it is, so that a diff shows the changed rows alone."""
        text = (ROOT / "core" / "data" / f"{name}.jsonl").read_text(encoding="utf-8")
        assert text == "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(name))
    found = list(rows("word_lists"))
    names = [row["list"] for row in found]
    assert names == sorted(set(names))
    assert all(list(row) == ["list", "about", "words"] and row["about"] for row in found)


# The particle behind a fact of a Korean sentence fits how that fact ends.

PARTICLES = table("particles")

FINALS = [chr(ord("가") + number) for number in range(28)]
FACTS = "src/결제.py", "payment", "2026-05-24", "7dfcec0f@69ab21", "1,000", "기록 셋", "list --all"


def filled_in(template: str, fact: str | int) -> str:
    return filled(template, {"x": fact})


def test_a_particle_has_the_form_that_its_fact_takes_as_koreans_read_it() -> None:
    for number, syllable in enumerate(FINALS):
        for spelling, forms in PARTICLES["forms"].items():
            want = syllable + forms[0 if number else 1]
            assert filled_in("{x}" + spelling, syllable) == want
        want = syllable + ("로" if number in (0, 8) else "으로")
        assert filled_in("{x}(으)로", syllable) == want
        apart = unicodedata.normalize("NFD", syllable)
        assert spoken_end(apart) == spoken_end(syllable)
        assert filled_in("{x}을(를)", apart).startswith(apart)
    rows = [
        *(
            (shown, filled_in("{x}(으)로", it))
            for it, shown in PARTICLES["digits are read in sino korean"]
        ),
        *(
            (shown, filled_in("{x}은(는)", it))
            for it, shown in PARTICLES["latin words are read as koreans write them"]
        ),
        *(
            (shown, filled_in(it, "결제"))
            for it, shown in PARTICLES["only a particle right behind the fact changes"]
        ),
    ]
    none_of(row for row in rows if row[0] != row[1])
    spoken = {"값!": "이", "메모…": "가", "끝 🎉": "이", "use()": "가", '"규칙"': "이"}
    for fact, particle in spoken.items():
        assert filled_in("{x}이(가)", fact) == fact + particle
    for fact in ("", "…", "🎉", "漢字", "Москва", "café", "٣", "ㄱ", "$"):
        assert filled_in("{x}을(를)", fact) == f"{fact}을(를)"
    assert filled_in("{x} 끝", "문서을(를)") == "문서을(를) 끝"
    assert filled("{x}{y}", {"x": "값", "y": "을(를)"}) == "값을(를)"
    assert filled_in("{x}은(는)", "{y}은(는)값") == "{y}은(는)값은"
    assert filled_in("{x:,}을(를)", 1000) == "1,000을"
    assert filled_in("{x!r}을(를)", "a") == "'a'를"
    behind = PATTERNS["one form behind a placeholder"]
    none_of((key, behind.findall(it)) for key, it in KOREAN.items() if behind.search(it))


@pytest.mark.long  # it costs much
def test_no_korean_sentence_shows_two_forms_of_a_particle() -> None:
    wrong = []
    for key, korean in KOREAN.items():
        text = re.sub(r"\{(\w+)[^{}]*\}", r"{\1}", korean)
        names = dict.fromkeys(re.findall(r"\{(\w+)\}", text))
        for fact in FACTS:
            shown = filled(text, dict.fromkeys(names, fact))
            wrong += [(key, it[0]) for it in PATTERNS["two forms of a particle"].finditer(shown)]
    assert wrong == []
