"""Tests the sentences: that each is said, in both languages, with the facts that it names.

And the tables of the program: that a broken line is named.
"""

import json
import os
import re
import string
from pathlib import Path

import pytest

import cli
from core import errors
from core.data import rows
from core.messages import has_sentence, language, say, speaking
from tests.support.sentences import everything_said, is_written, pair, sentences
from tests.support.tables import ROOT, none_of

ALWAYS = {"cli", "program"}  # facts that `say` knows itself
# What only operators of a server read may lack Korean.
OF_OPERATORS = ("keys.", "migrate.", "fragment_commands.embed", "fragment_commands.consolidat")
ENGLISH, KOREAN = sentences("en"), sentences("ko")

OF_ARGPARSE = {"parser.positional arguments", "parser.options"}

# One register, and one word for each thing.
# What people read is said in these words, or in others that mean something else.
BANNED_KOREAN = re.compile(
    "격차|가림 처리|가린 (?:비밀|것)|복제|시연|찌꺼기|망가진|무고한|닮은 예|\\b온 그대로|되풀이하"
    "|기억이 스스로|사람도 봅니다|모델에 드는 비용|마지막 판|판입니다"
    "|낱말|이전 판|아주 지[우운]|대신된|모순될|주제|회상|곁|원칙|물을 질문|들여보|쓰는 법"
)
BANNED_ENGLISH = re.compile(
    r"\b(?:stands?|stood)\b|\bas (?:it|they) (?:came|was)\b|\bnobody is there\b|\bfrom a hand\b"
    r"|\bMissing then\b|\b1 unreadable lines\b|\bso that (?:it|they|there) (?:is|are)\b"
    r"|\bpass(?:es|ed)? over\b|\bleft alone\b|\bwhere it is valid\b"
)
# An instruction and a statement in one sentence: neither follows the other's ending.
MIXED = re.compile(r"(?:하세요|세요),? [^.\n]*(?:합니다|습니다|입니다)[.]")
STIFF = re.compile("십시오")

COUNTS = re.compile("count|more|shown|left|left_out|missing|found|full|hidden|lines|pairs|skipped")
OTHERS = re.compile("conflicts|secrets|marks|files|sessions|principles|logs|records|versions|there")
# Where a sentence is only said above a number, or of two and more.
ABOVE_ONE = {
    *("answers.compact_required", "answers.brief_part", "answers.brief_near", "answers.partial"),
    *("doctor.overdue", "import.compact", "import.passed_too_many_paths", "view.seen"),
    *("view_fragments.used", "fragment_commands.recalled_often"),
}
SINGULAR = re.compile(
    r"(?<![\w.,-])1 (?:[a-z]+ )??(?!is |was |has |as )[a-z]+s\b|\b(?:All|the) 1\b"
)


def facts_of(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def needs(key: str) -> set[str]:
    return facts_of(ENGLISH[key]) - ALWAYS


def test_every_command_that_a_sentence_names_exists() -> None:
    named = re.compile(r"\{(?:cli|program)\} ([a-z]+)")
    texts = [*ENGLISH.items(), *KOREAN.items()]
    known = {name.partition(" ")[0] for name in cli.COMMANDS}
    none_of(
        f"{key}: {word}"
        for key, text in texts
        for word in named.findall(text)
        if word not in known and key != "fragments.services.program_failed"
    )


def test_every_key_that_is_said_has_a_sentence_and_every_sentence_is_said() -> None:
    assert [it for it in everything_said() if not it.has_gap and it.key not in ENGLISH] == []
    none_of(key for key in ENGLISH.keys() - OF_ARGPARSE if not is_written(key))


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


def test_both_languages_have_the_same_sentences_with_the_same_facts() -> None:
    assert {it for it in ENGLISH.keys() - KOREAN.keys() if not it.startswith(OF_OPERATORS)} == set()
    assert KOREAN.keys() - ENGLISH.keys() == set()
    none_of(key for key in KOREAN if facts_of(ENGLISH[key]) != facts_of(KOREAN[key]))
    hangul = re.compile("[가-힣]")
    same = {"demo.saved_topic"}  # a topic is a name
    same |= {"fragment_commands.topic", "rooms.topic", "lessons.kinds.principle"}  # so is a field
    none_of(key for key, text in ENGLISH.items() if hangul.search(text))
    none_of(key for key, text in KOREAN.items() if not hangul.search(text) and key not in same)


def test_both_languages_keep_one_register_and_one_word_for_each_thing() -> None:
    banned = ((KOREAN, BANNED_KOREAN), (KOREAN, MIXED), (KOREAN, STIFF), (ENGLISH, BANNED_ENGLISH))
    none_of(
        (key, found[0])
        for texts, pattern in banned
        for key, text in texts.items()
        for found in pattern.finditer(text)
    )
    assert any("하세요" in text for text in KOREAN.values())


def one(fact: re.Match[str]) -> str:
    return "1" if COUNTS.fullmatch(fact[1]) or OTHERS.fullmatch(fact[1]) else "x"


def test_a_sentence_fits_one_as_well_as_two() -> None:
    """A count stands behind a colon or in parentheses, or `KEY_1` says it for one."""
    wrong = []
    for key, english in ENGLISH.items():
        if key in ABOVE_ONE or f"{key}_1" in ENGLISH or key.startswith("demo."):
            continue  # the demonstration has its own figures
        text = re.sub(r"\{(\w+)[^}]*\}", one, english)
        wrong += [(key, it[0]) for it in SINGULAR.finditer(text)]
    assert wrong == []


def test_a_sentence_is_said_in_the_language_of_the_call_or_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


def test_every_error_has_a_builtin_kind() -> None:
    kinds = [it for it in errors.SentinelError.__subclasses__() if it.__module__ == errors.__name__]
    assert len(kinds) == 3
    assert [it for it in kinds if not issubclass(it, ValueError | OSError | RuntimeError)] == []


# Tables of the program, read line by line.

DATA_TABLES = sorted(path.stem for path in (ROOT / "core" / "data").glob("*.jsonl"))


@pytest.mark.parametrize("broken", ['{"name": "a\\d"}', "", "[1]", '{"name": "b"}}'])
def test_a_broken_line_is_named(tmp_path: Path, broken: str) -> None:
    lines = ['{"name": "first"}', broken, '{"name": "third"}']
    (tmp_path / "rules.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ValueError, match=r"^rules\.jsonl, line 2: "):
        list(rows("rules", tmp_path))


@pytest.mark.parametrize("name", DATA_TABLES)
def test_a_table_is_written_as_its_change_is_read_best(name: str) -> None:
    """One row a line, Hangul as it is, so that a diff shows the changed rows alone."""
    text = (ROOT / "core" / "data" / f"{name}.jsonl").read_text(encoding="utf-8")
    assert text == "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(name))


def test_each_list_of_words_stands_once_by_its_name_and_says_what_it_is() -> None:
    found = list(rows("word_lists"))
    names = [row["list"] for row in found]
    assert names == sorted(set(names))
    assert all(list(row) == ["list", "about", "words"] and row["about"] for row in found)
