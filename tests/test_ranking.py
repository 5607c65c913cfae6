"""Checks that a question finds the records that answer it, in English and in Korean.

The labelled questions are in `data/ranking_queries.json`; `pytest -rP` shows the measured values.
"""

import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Sequence
from math import log2
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ranking import order

Ranker = Callable[[str, Sequence[str]], list[int]]

LABELLED = json.loads(
    (Path(__file__).parent / "data" / "ranking_queries.json").read_text(encoding="utf-8")
)
FIELDS = ("topic", "missing_context", "lesson", "ask_next_time")
TEXTS = ["\n".join(record[field] for field in FIELDS) for record in LABELLED["records"]]

any_text = st.text(st.characters())  # with lone surrogates and NUL
related_text = st.text(st.sampled_from("aeFr_- 1결제를を\n\ud800\0"), max_size=30)


def newest_first(query: str, texts: Sequence[str]) -> list[int]:
    return list(reversed(range(len(texts))))


def words_in_common(query: str, texts: Sequence[str]) -> list[int]:
    wanted = set(re.findall(r"\w+", query.casefold()))
    common = [len(wanted.intersection(re.findall(r"\w+", text.casefold()))) for text in texts]
    return sorted(newest_first(query, texts), key=common.__getitem__, reverse=True)


def ndcg_at_10(ranker: Ranker) -> float:
    """Mean over the labelled queries; 1.0 when the relevant records always come first."""
    total = 0.0
    for labelled in LABELLED["queries"]:
        relevant = labelled["relevant"]
        top = ranker(labelled["query"], TEXTS)[:10]
        gain = sum(1 / log2(place + 2) for place, index in enumerate(top) if index in relevant)
        total += gain / sum(1 / log2(place + 2) for place in range(len(relevant)))
    return total / len(LABELLED["queries"])


def test_the_labelled_records_that_answer_come_first() -> None:
    ours, words, newest = map(ndcg_at_10, (order, words_in_common, newest_first))
    measured = f"nDCG@10: order {ours:.3f}, words in common {words:.3f}, newest {newest:.3f}"
    print(measured)
    assert ours >= 0.92, measured
    assert ours > words + 0.15, measured
    assert ours > newest + 0.15, measured


def test_a_korean_word_with_a_particle_finds_the_word_without_it() -> None:
    assert order("결제를", ["결제 모듈", "로그인 화면", "배포 순서"]) == [0, 2, 1]


@pytest.mark.parametrize("query", ["캐시무효화", "캐시 무효화"])
@pytest.mark.parametrize("text", ["캐시무효화는 커밋 뒤에", "캐시를 언제 무효화하는가"])
def test_a_korean_compound_is_found_spaced_or_not(query: str, text: str) -> None:
    assert order(query, [text, "로그인 화면", "배포 순서"]) == [0, 2, 1]


def test_a_single_syllable_is_found_where_a_word_begins() -> None:
    assert order("값", ["값을 반올림한다", "몸값", "배포 순서"]) == [0, 2, 1]
    assert order("UI 값", ["ui", "값", "배포 순서"]) == [1, 0, 2]


SPELLINGS = ["feeRate", "FeeRate", "fee_rate", "FEE_RATE", "fee-rate", "fee rate", "feerate"]


@pytest.mark.parametrize("query", SPELLINGS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_an_identifier_is_found_in_every_spelling(query: str, spelling: str) -> None:
    texts = [f"the unit of `{spelling}`.", "the unit of width", "a coffee machine"]
    assert order(query, texts) == [0, 2, 1]


@pytest.mark.parametrize(
    ("query", "text", "lookalike"),
    [
        ("rate", "feeRate", "separate"),
        ("server", "HTTPServer", "observer"),
        ("url", "parseURL", "curl"),
        ("path", "getURLPath", "telepath"),
        ("id", "user_id", "valid"),
        ("8", "utf8", "808"),
        ("utf", "utf8", "sutf"),
    ],
)
def test_a_part_of_an_identifier_is_a_word_of_the_text(
    query: str, text: str, lookalike: str
) -> None:
    assert order(query, [text, lookalike]) == [0, 1]


@pytest.mark.parametrize(
    ("query", "text", "lookalike"),
    [
        ("userId", "the id", "valid"),
        ("parseURL", "the url", "curl"),
        ("user-id", "the id", "valid"),
        ("utf8", "in utf", "sutf"),
        ("oauth2", "use oauth", "use 3"),
        ("i18n", "i18n", "18"),
        ("user_id", "userid", "user"),
        ("OAuth", "oauth", "auth"),
    ],
)
def test_an_identifier_in_the_query_is_looked_for_in_parts_and_joined(
    query: str, text: str, lookalike: str
) -> None:
    assert order(query, [text, lookalike]) == [0, 1]


@pytest.mark.parametrize("query", ["webhok", "webohok", "wehbook", "webhooc"])
def test_a_typing_error_in_a_latin_word_still_finds_it(query: str) -> None:
    assert order(query, ["a webhook arrives", "a table is locked", "배포 순서"]) == [0, 2, 1]


def test_a_typing_error_finds_its_word_among_many_records() -> None:
    texts = ["a webhook arrives", *("a table is locked" for _ in range(3_000))]
    assert order("webohok table", texts) == [0, *range(3_000, 0, -1)]


def test_pieces_of_a_word_that_many_records_contain_are_not_looked_for() -> None:
    assert order("locks", ["block", "free", *["locked"] * 100]) == [*range(101, 1, -1), 0, 1]
    assert order("locks", ["block", "free", *["locked"] * 101]) == [*range(102, 0, -1), 0]


@pytest.mark.parametrize(
    ("query", "text", "lookalike"),
    [
        ("caching", "cache", "touching"),
        ("stations", "station", "relations"),
        ("retries", "retry", "entries"),
        ("queries", "query", "series"),
        ("locking", "locks", "blocking"),
        ("status", "the status is", "statute"),
    ],
)
def test_an_inflected_word_finds_its_other_forms(query: str, text: str, lookalike: str) -> None:
    assert order(query, [text, lookalike]) == [0, 1]


def test_a_short_word_is_found_as_a_whole_word_only() -> None:
    assert order("CI", ["the CI runs", "a decision", "the circuit"]) == [0, 2, 1]


@pytest.mark.parametrize("text", ["API를 부른다", "결제API", "APIs", "`api`", "api_key", "v2Api"])
def test_a_short_word_is_found_beside_korean_and_in_identifiers(text: str) -> None:
    assert order("API", [text, "a rapid choice", "배포 순서"]) == [0, 2, 1]


def test_the_plural_of_a_short_word_is_that_word() -> None:
    assert order("key", ["all of the keys", "keyboard"]) == [0, 1]
    assert order("keys", ["one of the keys", "keyboard"]) == [0, 1]


def test_a_number_is_found_as_a_whole_number_only() -> None:
    assert order("413", ["413이 난다", "port 4130", "CP1413"]) == [0, 2, 1]


def test_compatibility_forms_case_and_decomposed_hangul_do_not_matter() -> None:
    texts = [unicodedata.normalize("NFD", "결제 모듈"), "ＷＥＢＨＯＯＫ", "배포 순서"]
    for query in ("결제", unicodedata.normalize("NFD", "결제")):
        assert order(query, texts) == [0, 2, 1]
    for query in ("webhook", "WebHook", "Ｗebhook"):
        assert order(query, texts) == [1, 2, 0]


def test_han_and_kana_are_found_without_spaces() -> None:
    assert order("決済エラー", ["二重決済を防ぐ", "画面の高さ", "エラー処理"]) == [2, 0, 1]


def test_a_query_in_two_languages_finds_records_in_both() -> None:
    texts = ["웹훅은 두 번 온다", "로그인 화면", "a webhook arrives twice", "a table is locked"]
    assert order("webhook 웹훅", texts) == [2, 0, 3, 1]


def test_function_words_do_not_outweigh_the_word_that_matters() -> None:
    texts = ["Locked tables", "What should we do about this?", "Where to go"]
    assert order("what should I do about a table?", texts) == [0, 2, 1]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    texts = ["nginx path", "table lock", "table scan", "table size"]
    assert order("table nginx", texts) == [0, 3, 2, 1]


def test_of_two_texts_with_the_word_the_shorter_comes_first() -> None:
    texts = ["nginx path", "nginx path " + "and much that is beside the point " * 5]
    assert order("nginx", texts) == [0, 1]


@pytest.mark.parametrize(
    "query", ["", " \n\0", "?! …", "what should I do about the", "isn't it", "\ud800", "_"]
)
def test_a_query_without_a_usable_word_gives_newest_first(query: str) -> None:
    texts = ["what should I do, isn't it", "", "? \ud800 _ \0 …", "the end"]
    assert order(query, texts) == [3, 2, 1, 0]


def test_of_equal_texts_the_newer_comes_first() -> None:
    texts = ["retry the webhook", "locked", "retry the webhook", "결제", "retry the webhook"]
    assert order("webhook retries", texts) == [4, 2, 0, 3, 1]


def test_no_texts_give_no_order() -> None:
    assert order("webhook", []) == []


def test_only_the_first_1000_characters_of_a_query_count() -> None:
    assert order("결제 " * 331 + "table", ["a table", "locked"]) == [0, 1]
    assert order("결제 " * 334 + "table", ["a table", "locked"]) == [1, 0]


@given(query=any_text, texts=st.lists(any_text, max_size=8))
def test_every_index_appears_once_whatever_the_text(query: str, texts: list[str]) -> None:
    assert sorted(order(query, texts)) == list(range(len(texts)))


@given(query=related_text, texts=st.lists(related_text, max_size=8))
def test_every_index_appears_once_when_terms_are_found(query: str, texts: list[str]) -> None:
    ranked = order(query, texts)
    assert sorted(ranked) == list(range(len(texts)))
    assert ranked == order(query, tuple(texts))


def test_the_order_is_the_same_in_every_process() -> None:
    program = (
        "import json, sys; from core.ranking import order;"
        "queries, texts = json.load(sys.stdin);"
        "print(json.dumps([order(query, texts) for query in queries]))"
    )
    queries = [labelled["query"] for labelled in LABELLED["queries"]]
    for seed in ("1", "2"):
        finished = subprocess.run(
            [sys.executable, "-c", program],
            input=json.dumps([queries, TEXTS]),
            capture_output=True,
            check=True,
            text=True,
            cwd=Path(__file__).parent.parent,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert json.loads(finished.stdout) == [order(query, TEXTS) for query in queries]
