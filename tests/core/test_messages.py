"""Tests the sentences: that each is said, in both languages, with the facts that it names.

And the tables of the program: that a broken line is named. Which sentences are said is read from
the syntax trees of the program.
"""

import ast
import json
import os
import re
import string
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest

import cli
from core import errors
from core.data import rows
from core.errors import SentinelError
from core.messages import ending_sound_of, fill_template, has_sentence, language, say, use_language
from tests.support.sentences import FOLDERS, pair, sentences
from tests.support.tables import ROOT, none_of, table

ALWAYS = {"cli", "git", "program"}  # facts that `say` knows itself
# Sentences that only operators of a server read may lack Korean.
OF_OPERATORS = ("keys.", "migrate.", "fragment_commands.embed", "fragment_commands.consolidat")
ENGLISH, KOREAN = sentences("en"), sentences("ko")
OF_ARGPARSE = {"parser.positional arguments", "parser.options"}

# One register, and one word for each thing: texts for people use these words, or others that mean
# something else.
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
    with use_language("ko"):
        assert say("errors.blank_field", field="topic").startswith("topic: 비어 있습니다.")
        assert str(error).startswith(pair("errors.log_busy")[1].partition("{")[0])
        with use_language("en"):
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


def test_a_table_has_a_row_a_line_and_a_broken_one_is_named(tmp_path: Path) -> None:
    for broken in ['{"name": "a\\d"}', "", "[1]", '{"name": "b"}}']:
        lines = ['{"name": "first"}', broken, '{"name": "third"}']
        (tmp_path / "rules.jsonl").write_text("\n".join(lines), encoding="utf-8")
        with pytest.raises(ValueError, match=r"^rules\.jsonl, line 2: "):
            list(rows("rules", tmp_path))
    for path in (ROOT / "core" / "data").glob("*.jsonl"):
        # One row a line, Hangul as it is, so that a diff shows the changed rows alone.
        shown = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows(path.stem)]
        assert path.read_text(encoding="utf-8") == "".join(shown)
    found = list(rows("word_lists"))
    names = [row["list"] for row in found]
    assert names == sorted(set(names))
    assert all(list(row) == ["list", "about", "words"] and row["about"] for row in found)


# The particle behind a fact of a Korean sentence fits how that fact ends.

PARTICLES = table("particles")
FINALS = [chr(ord("가") + number) for number in range(28)]
FACTS = "src/결제.py", "payment", "2026-05-24", "7dfcec0f@69ab21", "1,000", "기록 셋", "list --all"


def filled_in(template: str, fact: str | int) -> str:
    return fill_template(template, {"x": fact})


def test_a_particle_has_the_form_that_its_fact_takes_as_koreans_read_it() -> None:
    for number, syllable in enumerate(FINALS):
        for spelling, forms in PARTICLES["forms"].items():
            want = syllable + forms[0 if number else 1]
            assert filled_in("{x}" + spelling, syllable) == want
        want = syllable + ("로" if number in (0, 8) else "으로")
        assert filled_in("{x}(으)로", syllable) == want
        apart = unicodedata.normalize("NFD", syllable)
        assert ending_sound_of(apart) == ending_sound_of(syllable)
        assert filled_in("{x}을(를)", apart).startswith(apart)
    for it, shown in PARTICLES["digits are read in sino korean"]:
        assert filled_in("{x}(으)로", it) == shown
    for it, shown in PARTICLES["latin words are read as koreans write them"]:
        assert filled_in("{x}은(는)", it) == shown
    for it, shown in PARTICLES["only a particle right behind the fact changes"]:
        assert filled_in(it, "결제") == shown
    spoken = {"값!": "이", "메모…": "가", "끝 🎉": "이", "use()": "가", '"규칙"': "이"}
    for fact, particle in spoken.items():
        assert filled_in("{x}이(가)", fact) == fact + particle
    for fact in ("", "…", "🎉", "漢字", "Москва", "café", "٣", "ㄱ", "$"):
        assert filled_in("{x}을(를)", fact) == f"{fact}을(를)"
    assert filled_in("{x} 끝", "문서을(를)") == "문서을(를) 끝"
    assert fill_template("{x}{y}", {"x": "값", "y": "을(를)"}) == "값을(를)"
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
            shown = fill_template(text, dict.fromkeys(names, fact))
            wrong += [(key, it[0]) for it in PATTERNS["two forms of a particle"].finditer(shown)]
    assert wrong == []


# Which sentences the program says. A key is a text, or a text with gaps that values fill in:
# `say(f"keys.{column}")`.
_GAP = "\0"


class Said(NamedTuple):
    """One call that says a sentence.

    key: with a gap for each value in it. facts: the names that it gives; None where it gives a
    mapping, which may hold any.
    """

    key: str
    facts: frozenset[str] | None
    place: str

    @property
    def has_gap(self) -> bool:
        """Whether a value fills in a part of the key."""
        return _GAP in self.key

    def candidates(self) -> list[str]:
        """Return the keys of all sentences that it may say; [] where none of the key is known."""
        if not self.has_gap:
            return [self.key]
        pattern = _pattern(self.key)
        return [key for key in sentences("en") if pattern and pattern.fullmatch(key)]


@cache
def everything_said() -> list[Said]:
    """Return every call of `say` and `explain`, and every error with the key of its sentence."""
    return [
        said
        for name, nodes in _nodes().items()
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        for said in _said_by(name, node.func.id, node)
    ]


def is_written(key: str) -> bool:
    """Return whether the program has a key: whole, or without its table, maybe with gaps."""
    parts = key.split(".")
    names = [".".join(parts[at:]) for at in range(len(parts))]
    texts, patterns = _texts()
    if not texts.isdisjoint(names):
        return True
    found = filter(None, (pattern.fullmatch(name) for pattern in patterns for name in names))
    return any(
        all(it in texts or texts.issuperset(re.split("[_: ]", it)) for it in match.groups())
        for match in found
    )


def _pattern(key: str) -> re.Pattern[str] | None:
    """Return a pattern for a key with gaps; None for no key, and where all of it is gap."""
    if not re.search("[a-z]", key) or not re.fullmatch(rf"[a-z_0-9.{_GAP}]+", key):
        return None
    return re.compile(re.escape(key).replace(re.escape(_GAP), "([a-z_0-9 :-]*)"))


@cache
def _nodes() -> dict[str, list[ast.AST]]:
    paths = [it for name in FOLDERS for it in ROOT.glob(f"{name}/**/*.py")]
    return {
        path.relative_to(ROOT).as_posix(): list(ast.walk(ast.parse(path.read_text("utf-8"))))
        for path in (*paths, ROOT / "cli.py", ROOT / "server.py")
    }


@cache
def _texts() -> tuple[frozenset[str], list[re.Pattern[str]]]:
    """Return the texts of the program with their words, and the patterns of keys with gaps."""
    texts, built = {""}, set[str]()
    for node in (node for nodes in _nodes().values() for node in nodes):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.update((node.value, *node.value.split(), node.value.rpartition(".")[2]))
        elif isinstance(node, ast.JoinedStr):
            built.update(_keys(node))
        elif isinstance(node, ast.keyword) and node.arg:
            texts.add(node.arg)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            texts.add(node.target.id)  # facts and columns are called by fields
    return frozenset(texts), [pattern for key in built if (pattern := _pattern(key))]


def _said_by(name: str, called: str, call: ast.Call) -> Iterator[Said]:
    """Yield the sentences of one call in a file."""
    place = f"{name}:{call.lineno}"
    names = [it.arg for it in call.keywords]
    facts = None if None in names else frozenset(it for it in names if it)
    keys = _keys(call.args[0]) if call.args else []
    if called in ("say", "explain"):
        start = "help." if called == "explain" else ""
        yield from (Said(start + key, facts, place) for key in keys)
    elif called == "Finding":  # whose sentence is said where it is shown
        yield from (Said(key, None, place) for key in keys if "." in key)
    elif called.endswith("Error"):
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        error = vars(import_module(module)).get(called)
        if isinstance(error, type) and issubclass(error, SentinelError):
            for key in keys or [error.key]:
                yield Said(key if "." in key else f"{error.table}.{key}", None, place)


def _keys(node: ast.expr) -> list[str]:
    """Return the keys that an expression may be, with gaps for its unknown parts."""
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.IfExp):
        return _keys(node.body) + _keys(node.orelse)
    if isinstance(node, ast.FormattedValue):
        return _keys(node.value)
    if isinstance(node, ast.JoinedStr):
        return ["".join(parts) for parts in product(*map(_keys, node.values))]
    return [_GAP]
