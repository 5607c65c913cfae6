"""Tests that every sentence exists in both languages, with the same facts."""

import importlib
import re
import string

from core import errors
from core.messages import MESSAGES, Facts, Table, sentence
from tests.support.stdio_client import ROOT

ROOMS = ("core", "protocol", "rooms", "http_server", "commands")


def tables() -> dict[str, Table]:
    """Every table of sentences, by the file that holds it."""
    found: dict[str, Table] = {"core/messages.py": MESSAGES}
    for path in sorted(path for room in ROOMS for path in ROOT.glob(f"{room}/**/*words.py")):
        name = path.relative_to(ROOT).with_suffix("")
        found[f"{name}.py"] = importlib.import_module(".".join(name.parts)).WORDS
    return found


def facts_of(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def is_korean(text: str) -> bool:
    return any("가" <= char <= "힣" for char in text)


def test_both_languages_name_the_same_facts() -> None:
    wrong = [
        (file, key)
        for file, table in tables().items()
        for key, (english, korean) in table.items()
        if facts_of(english) != facts_of(korean)
    ]
    assert wrong == []


def test_the_korean_edition_is_korean_and_the_english_one_is_not() -> None:
    wrong = [
        (file, key)
        for file, table in tables().items()
        for key, (english, korean) in table.items()
        if is_korean(english) or not is_korean(korean)
    ]
    assert wrong == []


COUNTS = re.compile("count|more|shown|left|left_out|missing|found|full|hidden|lines|pairs|skipped")
OTHERS = re.compile("conflicts|secrets|marks|files|sessions|principles|logs|records|versions|there")
# Where a sentence is only said above a number, or of two and more.
ABOVE_ONE = {
    ("core/lessons/answers/words.py", ("compact_required", "brief_part", "brief_near", "partial")),
    ("commands/doctor/words.py", ("overdue",)),
    ("commands/exchange/import_words.py", ("compact", "passed_too_many_paths")),
    ("commands/view/words.py", ("seen",)),
    ("commands/view/fragments/words.py", ("used",)),
    ("commands/fragments/words.py", ("recalled_often",)),
}
SINGULAR = re.compile(
    r"(?<![\w.,-])1 (?:[a-z]+ )??(?!is |was |has |as )[a-z]+s\b|\b(?:All|the) 1\b"
)


def one(fact: re.Match[str]) -> str:
    return "1" if COUNTS.fullmatch(fact[1]) or OTHERS.fullmatch(fact[1]) else "x"


def test_a_sentence_fits_one_as_well_as_two() -> None:
    """A count stands behind a colon or in parentheses, or `KEY_1` says it for one."""
    wrong = []
    for file, table in tables().items():
        passed = {key for name, keys in ABOVE_ONE if name == file for key in keys}
        for key, (english, _) in table.items():
            if key in passed or f"{key}_1" in table or file == "commands/demo/words.py":
                continue  # the demonstration has its own figures
            text = re.sub(r"\{(\w+)[^}]*\}", one, english)
            wrong += [(file, key, it[0]) for it in SINGULAR.finditer(text)]
    assert wrong == []


def test_every_room_that_speaks_is_looked_at() -> None:
    assert {"core/lessons/answers/words.py", "protocol/words.py"} < tables().keys()
    assert len(tables()) > 12


def test_a_sentence_is_filled_in_the_language_asked_for() -> None:
    english, korean = (
        sentence(MESSAGES, lang, "blank_field", field="topic") for lang in ("en", "ko")
    )
    assert english.startswith("topic: it is blank.")
    assert korean.startswith("topic: 비어 있습니다.")


def test_every_error_has_a_sentence_and_a_builtin_kind() -> None:
    kinds = [kind for kind in errors.SentinelError.__subclasses__() if kind.key]
    assert len(kinds) >= 12
    for kind in kinds:
        assert kind.key in kind.words
        assert issubclass(kind, ValueError | OSError | RuntimeError)


def test_an_error_says_its_sentence_in_both_languages() -> None:
    error = errors.LogBusyError(path="x.lock", waited_s=10)
    facts: Facts = {"path": "x.lock", "waited_s": 10}
    assert str(error) == sentence(MESSAGES, "en", "log_busy", **facts)
    assert error.text("ko") == sentence(MESSAGES, "ko", "log_busy", **facts)
