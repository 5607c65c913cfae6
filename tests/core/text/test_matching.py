"""Tests what people find with which words, in which order, and where it is in a text."""

import json
import unicodedata
from statistics import mean

import pytest

from core.text.english import forms_of
from core.text.hangul import without_particle
from core.text.matching import STRONG, WEAK, Entry, Search
from tests.support.rows import none_of
from tests.support.stdio_client import ROOT

# What a query finds, and what it does not.
FOUND = """
timeouts            | The timeout is 5 s      | The time is out
timeout             | Timeouts, again         | timeouter
migrations          | migrate the table       | a migrant
migrate             | Two migrations          | migraine
using               | use it                  | us
run                 | it was running, it ran  | a rune
queries             | one query               | a quest
wrote               | it is written           | a wrist
setting             | the settings            | a setter
thing               | things                  | the
seed                | seeds                   | see
apis                | an API                  | apiary
token               | verify_token_v2         | tokenless
verify token        | verifyTokenV2           | verify it
verify_token        | verifyTokenV2           | verify the token
verifyToken         | verify-token            | verify a token
verifytoken         | verifyToken             | verify token
fee_rate            | the feeRate             | the fee and the rate
feeRate             | feerate                 | fee
github              | on GitHub               | git hubs
server              | an HTTPServer           | servery
--flag              | use --flag              | flagship
ranking.py          | core/text/ranking.py    | ranking in py
core/text           | core/text/ranking.py    | text/core
utf8                | in UTF-8                | utf 16
sha                 | sha256                  | shade
2026-05             | since 2026-05-03        | 2026-06-05
=>                  | a => b                  | a = b
환불                | 환불이 늦다             | 교환 불가
환불이              | 환불을 한다             | 교환이
환불에서는          | 부분환불은              | 환율
저장했다            | 저장합니다              | 저녁
캐시                | 서버캐시를              | 캐나다
값                  | 값을 반올림한다         | 몸값
token을             | the token               | 토큰을
ㅎㅂ                | 환불                    | 하루
결ㅈ                | 결제                    | 결과
겨                  | 결제                    | 고객
전각 ＡＰＩ         | 전각 api                | 전각
"""


def found(query: str, *texts: str, loose: bool = False) -> list[int]:
    return Search(query, [Entry([(WEAK, text)]) for text in texts], loose=loose).hits()


def test_a_word_is_found_in_its_forms_and_spellings_and_others_are_not() -> None:
    rows = [[part.strip() for part in row.split("|")] for row in FOUND.strip().splitlines()]
    none_of(
        (form, query, *texts)
        for query, *texts in rows
        for form in ("NFC", "NFD", "NFKD")
        if found(unicodedata.normalize(form, query), *texts) != [0]
        or found(query, *(unicodedata.normalize(form, text) for text in texts)) != [0]
    )


def test_every_word_must_be_there_but_for_those_without_a_meaning() -> None:
    assert found("lock timeout", "a lock", "a timeout", "the lock has a timeout") == [2]
    assert found("how is the lock", "a lock", "how is it") == [0]
    assert found("the", "the lock", "a lock") == [0]
    assert found("", "a lock") == []


def test_a_word_that_no_text_has_is_the_beginning_of_one() -> None:
    assert found("migr", "a migration", "emigrant") == [0]
    assert found("auth", "the authentication", "auth is on") == [1]


def test_parts_of_words_are_found_only_where_that_is_asked_for() -> None:
    assert found("out", "a timeout", "out of it") == [1]
    assert found("auth timeo", "authentication, timeouts", "OAuth", loose=True) == [0]
    assert found("rout", "a sprout", "the route", loose=True) == [1, 0]


def test_the_typed_word_is_better_than_another_form_and_the_lesson_better_than_the_rest() -> None:
    assert found("locks", "a lock", "the locks", "locked") == [1, 2, 0]
    entries = [Entry([(STRONG, "a lock")]), Entry([(WEAK, "a lock, the lock, one lock")])]
    assert Search("lock", entries).hits() == [0, 1]
    assert found("split brain", "brain of a split", "the split brain", "brain, split") == [1, 2, 0]


def test_of_equals_the_later_comes_first() -> None:
    assert found("lock", "a lock", "a key", "a lock") == [2, 0]


def test_an_id_or_a_date_is_found_by_its_beginning() -> None:
    entries = [Entry([], ["3fb3a1c29d00e8f1", "2026-05-03"]), Entry([(WEAK, "face")], ["ab3fb3a1"])]
    assert Search("3FB3", entries).hits() == [0]
    assert Search("2026-05", entries).hits() == [0]
    assert Search("a1c2", entries).hits() == []
    assert Search("3fb", entries).hits() == []  # three characters are in too many ids


@pytest.mark.parametrize(
    ("query", "text", "shown"),
    [
        ("timeouts", "The Timeout of A_TIMEOUT", ["Timeout", "TIMEOUT"]),
        ("verify_token", "call verifyToken()", ["verifyToken"]),
        ("캐시 환불", "환불이면 서버캐시를", ["환불", "캐시"]),
        ("ㅎㅂ", "부분 환불", ["환불"]),
        ("결ㅈ", "첫 결제", ["결제"]),
        ("cafe", "ｃａｆｅ ﬁn", ["ｃａｆｅ"]),
        ("결제", unicodedata.normalize("NFD", "첫 결제를"), [unicodedata.normalize("NFD", "결제")]),
        ("ß", "İ ß", ["ß"]),
    ],
)
def test_the_places_are_those_of_the_text_as_it_is(query: str, text: str, shown: list[str]) -> None:
    search = Search(query, [Entry([(WEAK, text)])])
    assert [text[start:end] for start, end in search.places(text)] == shown


def test_a_mistyped_word_has_near_ones_and_only_the_nearest() -> None:
    texts = ["the timeout and times", "결제를 마이그레이션한다", "a cache"]
    search = Search("", [Entry([(WEAK, text)]) for text in texts])
    near = {word: search.near(word) for word in ("timeot", "tiemouts", "결재", "cahce", "zzzzzz")}
    wanted = {"timeot": ["timeout"], "tiemouts": ["timeout"], "결재": ["결제"], "cahce": ["cache"]}
    assert near == {**wanted, "zzzzzz": []}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("size", [1_000, pytest.param(5_000, marks=pytest.mark.long)])
def test_hostile_texts_take_no_long_time(size: int) -> None:
    long = "a-" * 4 * size
    assert found("a-a-a-b", long, long + "b") == [1]
    assert found("a" * size, "a" * 20 * size) == [0]
    assert found("\ud800 가", "\ud800 가") == [0]


def test_a_form_of_a_word_finds_the_others() -> None:
    """A verb, its noun, its plural: whichever is typed."""
    groups = "cache caches cached caching, stop stops stopped stopping, retry retries retried"
    groups += ", delete deletes deleted deleting deletion deletions, key keys, class classes"
    none_of(
        (word, other)
        for group in groups.split(", ")
        for word in group.split()
        for other in group.split()
        if other not in forms_of(word) and not (word.endswith("ions") or other.endswith("ions"))
    )


def test_a_particle_is_taken_off_and_a_noun_that_ends_like_one_is_left() -> None:
    words = "환불이 환불에서는 서비스로 회의 효과 정의 이해하다 저장됩니다 결제"
    assert [without_particle(word) for word in words.split()] == (
        "환불 환불 서비스 회의 효과 정의 이해 저장 결제".split()
    )


def test_labelled_queries_find_what_they_should() -> None:
    """Written before the search was: precision of the first five was 0.51 by models' ranking."""
    asked = (ROOT / "tests" / "data" / "search_queries.txt").read_text(encoding="utf-8")
    lessons = {}
    for name in ("excalidraw", "voila"):
        lines = (ROOT / "benchmarks" / "real" / f"{name}.jsonl").read_text(encoding="utf-8")
        read = [it["lesson"] for it in map(json.loads, lines.splitlines()) if "lesson" in it]
        lessons[name] = read
    precisions, recalls = [], []
    for row in asked.splitlines():
        name, query, wanted = (part.strip() for part in row.split("|"))
        entries = []
        for it in lessons[name]:
            rest = [it["missing_context"], it.get("ask_next_time", "")]
            rest += [*it.get("paths", ()), *it.get("when", ())]
            texts = [(STRONG, it["lesson"]), (STRONG, it["topic"])]
            entries.append(Entry([*texts, *((WEAK, text) for text in rest)]))
        first = [lessons[name][at]["id"] for at in Search(query, entries).hits()[:5]]
        right = len(set(first) & set(wanted.split()))
        if first:
            precisions.append(right / len(first))
        if wanted:
            recalls.append(right / min(5, len(wanted.split())))
    measured = f"precision of the first five {mean(precisions):.3f}, recall {mean(recalls):.3f}"
    print(measured)
    assert mean(precisions) >= 0.9, measured
    assert mean(recalls) >= 0.88, measured
