"""Every sentence exists in both languages, with the same facts."""

import string

import pytest

from commands.bundle import words as bundle_words
from commands.demo import words as demo_words
from commands.doctor import words as doctor_words
from commands.exchange import export_words, import_words
from commands.onboard import words as onboard_words
from commands.records import history_words
from commands.records import words as desk_words
from commands.report import words as report_words
from commands.scan import words as scan_words
from commands.setup import words as setup_words
from commands.stats import words as stats_words
from commands.view import words as view_words
from core import errors
from core.messages import MESSAGES, Table, say

TABLES: dict[str, Table] = {
    "server": MESSAGES,
    "bundle": bundle_words.WORDS,
    "demo": demo_words.WORDS,
    "desk": desk_words.WORDS,
    "doctor": doctor_words.WORDS,
    "export": export_words.WORDS,
    "history": history_words.WORDS,
    "import": import_words.WORDS,
    "onboard": onboard_words.WORDS,
    "report": report_words.WORDS,
    "scan": scan_words.WORDS,
    "setup": setup_words.WORDS,
    "stats": stats_words.WORDS,
    "view": view_words.WORDS,
}
SENTENCES = [(table, key) for table, sentences in TABLES.items() for key in sentences]


def facts_of(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize(("table", "key"), SENTENCES)
def test_both_languages_name_the_same_facts(table: str, key: str) -> None:
    english, korean = TABLES[table][key]
    assert facts_of(english) == facts_of(korean)


@pytest.mark.parametrize(("table", "key"), SENTENCES)
def test_the_korean_edition_is_korean_and_the_english_one_is_not(table: str, key: str) -> None:
    english, korean = TABLES[table][key]
    assert any("가" <= char <= "힣" for char in korean)
    assert not any("가" <= char <= "힣" for char in english)


def test_a_sentence_is_filled_in_the_language_asked_for() -> None:
    assert say("en", "blank_field", field="topic").startswith("topic: it is blank.")
    assert say("ko", "blank_field", field="topic").startswith("topic: 비어 있습니다.")


def test_every_error_has_a_sentence_and_a_builtin_kind() -> None:
    kinds = errors.SentinelError.__subclasses__()
    assert len(kinds) >= 12
    for kind in kinds:
        assert kind.key in MESSAGES
        assert issubclass(kind, ValueError | OSError)


def test_an_error_says_its_sentence_in_both_languages() -> None:
    error = errors.LogBusyError(path="x.lock", waited_s=10)
    assert str(error) == say("en", "log_busy", path="x.lock", waited_s=10)
    assert error.text("ko") == say("ko", "log_busy", path="x.lock", waited_s=10)
