"""Tests that a question finds the records that answer it, in English and in Korean.

The labelled questions are those of `benchmarks/ranking.py`; `pytest -rP` shows what was measured.
"""

import json
import os
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.ranking import Ranking, rank
from tests.support.cli_process import Run
from tests.support.rows import none_of
from tests.support.stdio_client import ROOT

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))

from ranking import FLOORS, labelled_sets, ndcg_at_10, newest_first, words_in_common

any_text = st.text(st.characters())  # with lone surrogates and NUL
related_text = st.text(st.sampled_from("aeFr_- 1결제를を\n\ud800\0"), max_size=30)


@pytest.mark.long
def test_the_labelled_texts_that_answer_come_first() -> None:
    sets = labelled_sets()
    for name, floor in FLOORS.items():
        ours, words, newest = (
            ndcg_at_10(ranker, sets[name]) for ranker in (rank, words_in_common, newest_first)
        )
        measured = f"nDCG@10, {name}: rank {ours:.3f}, words {words:.3f}, newest {newest:.3f}"
        print(measured)
        assert ours >= floor, measured
        assert ours > max(words, newest) + 0.1, measured


def test_every_labelled_question_is_answered_by_a_text() -> None:
    for labelled in labelled_sets().values():
        for _, relevant in labelled.questions:
            assert relevant and relevant < set(range(len(labelled.texts)))


# What a question finds beside other texts, whatever their spelling.
FOUND = {
    "a Korean compound, spaced or not": [
        *(("캐시무효화", "캐시무효화는 커밋 뒤에"), ("캐시 무효화", "캐시무효화는 커밋 뒤에")),
        *(("캐시무효화", "캐시를 언제 무효화하는가"), ("캐시 무효화", "캐시를 언제 무효화하는가")),
    ],
    "a typing error": [
        (it, "a webhook arrives") for it in "webhok webohok wehbook webhooc".split()
    ],
    "a short word beside Korean and in identifiers": [
        ("API", it) for it in ("API를 부른다", "결제API", "APIs", "`api`", "api_key", "v2Api")
    ],
    "other signs and letters": [
        *(("tm", "a ™ sign"), ("CAFÉ", "the café — open"), ("été", "L'ÉTÉ")),
        *(("straße", "DIE STRASSE"), ("привет", "Привет, мир"), ("㈜", "(주)"), ("テスト", "ﾃｽﾄ")),
        *(("fee", "× feeRate"), ("rate", "값은 feeRate"), ("rate", "é feeRate")),
        ("rate", "— feeRate"),
    ],
    "a word with another spelling by itself": [
        (it, f"about {it} here") for it in ("5µs", "m²", "½tax", "Ꙁemlja", "ꭰꮃ", "カ\u3099ス")
    ],
    "compatibility forms, case and decomposed Hangul": [
        *(
            (it, unicodedata.normalize("NFD", "결제 모듈"))
            for it in ("결제", "\u1100\u1167\u11af제")
        ),
        *((it, "ＷＥＢＨＯＯＫ") for it in ("webhook", "WebHook", "Ｗebhook")),
    ],
}


@pytest.mark.parametrize("what", FOUND)
def test_a_text_is_found_whatever_the_spelling(what: str) -> None:
    others = ["배포 순서", "the end"]
    none_of(row for row in FOUND[what] if rank(row[0], [row[1], *others]) != [0, 2, 1])


@pytest.mark.parametrize(
    ("query", "texts", "order"),
    [
        ("결제를", ["결제 모듈", "로그인 화면", "배포 순서"], [0, 2, 1]),  # a particle
        ("값", ["값을 반올림한다", "몸값", "배포 순서"], [0, 2, 1]),  # one syllable begins a word
        ("UI 값", ["ui", "값", "배포 순서"], [1, 0, 2]),
        ("CI", ["the CI runs", "a decision", "the circuit"], [0, 2, 1]),  # a whole word
        ("key", ["all of the keys", "keyboard"], [0, 1]),
        ("keys", ["one of the keys", "keyboard"], [0, 1]),
        ("413", ["413이 난다", "port 4130", "CP1413"], [0, 2, 1]),  # a whole number
        ("決済エラー", ["二重決済を防ぐ", "画面の高さ", "エラー処理"], [2, 0, 1]),
        # What stands before a word in another text does not matter.
        ("map", ["\ud800", "a map", "heat", "map", "결", "map of it"], [3, 1, 5, 4, 2, 0]),
        (
            "webhook 웹훅",
            ["웹훅은 두 번 온다", "로그인 화면", "a webhook arrives twice", "a table is locked"],
            [2, 0, 3, 1],
        ),
        # Function words do not outweigh the word that matters, nor common words a rare one.
        (
            "what should I do about a table?",
            ["Locked tables", "What should we do about this?", "Where to go"],
            [0, 2, 1],
        ),
        (
            "table nginx",
            ["nginx path", "the end", "table lock", "table scan", "table size"],
            [0, 4, 3, 2, 1],
        ),
        ("nginx", ["nginx path", "nginx path " + "and much that is beside the point " * 5], [0, 1]),
        # A short text leans on a relevant neighbour, but not one in which nothing is found.
        ("table nginx", ["nginx path", "table", "end", "table"], [0, 1, 3, 2]),
        ("table nginx", ["table", "end", "table", "nginx path"], [3, 2, 0, 1]),
        ("nginx", ["end", "nginx path", "end", "start"], [1, 3, 2, 0]),
        # Of equal texts the newer comes first.
        (
            "webhook retries",
            ["retry the webhook", "locked", "retry the webhook", "결제", "retry the webhook"],
            [4, 2, 0, 3, 1],
        ),
        ("webhook", [], []),
        # Pieces of a word that many records contain are not looked for; those of others are.
        ("locks", ["block", "free", *["locked"] * 100], [*range(101, 1, -1), 0, 1]),
        ("locks", ["block", "free", *["locked"] * 101], [*range(102, 0, -1), 0]),
        (
            "webohok table",
            ["a webhook arrives", "the end", *["a table is locked"] * 3_000],
            [0, *range(3_001, 0, -1)],
        ),
        ("order 결제", ["결제", *["webhook"] * 1_100, "order"], [1_101, 0, *range(1_100, 0, -1)]),
    ],
)
def test_texts_come_in_this_order(query: str, texts: list[str], order: list[int]) -> None:
    assert rank(query, texts) == order


SPELLINGS = ["feeRate", "FeeRate", "fee_rate", "FEE_RATE", "fee-rate", "fee rate", "feerate"]


def test_an_identifier_is_found_in_every_spelling() -> None:
    others = ["the unit of width", "a coffee machine"]
    none_of(
        (query, spelling)
        for query in SPELLINGS
        for spelling in SPELLINGS
        if rank(query, [f"the unit of `{spelling}`.", *others]) != [0, 2, 1]
    )


def no_lookalike_comes_first(*rows: str) -> None:
    """Each row holds a query, a text that has it, and one that only looks so."""
    split = [[part.strip() for part in row.split("|")] for row in rows]
    none_of(row for query, *row in split if rank(query, row) != [0, 1])


def test_a_part_of_an_identifier_is_a_word_of_the_text() -> None:
    no_lookalike_comes_first(
        *("rate | feeRate | separate", "server | HTTPServer | observer", "url | parseURL | curl"),
        *("path | getURLPath | telepath", "id | user_id | valid", "8 | utf8 | 808"),
        "utf | utf8 | sutf",
    )


def test_an_identifier_in_the_query_is_looked_for_in_parts_and_joined() -> None:
    no_lookalike_comes_first(
        *("userId | the id | valid", "parseURL | the url | curl", "user-id | the id | valid"),
        *("utf8 | in utf | sutf", "oauth2 | use oauth | use 3", "i18n | i18n | 18"),
        *("user_id | userid | user", "OAuth | oauth | auth"),
    )


def test_an_inflected_word_finds_its_other_forms() -> None:
    no_lookalike_comes_first(
        *("caching | cache | touching", "stations | station | relations"),
        *("retries | retry | entries", "queries | query | series"),
        *("locking | locks | blocking", "status | the status is | statute"),
    )


def test_an_irregular_form_finds_the_others() -> None:
    no_lookalike_comes_first(
        *("go | she went home | a goal", "buy | it was bought | a brought cup"),
        *("come | they came late | a camera", "child | all the children | a chilling"),
    )


@pytest.mark.parametrize("before", [0, 700])
def test_names_have_parts_where_other_signs_change_the_length_of_a_text(before: int) -> None:
    texts = ["the end"] * before + [
        "ﬁ separAte",
        "ﬁ feeRate",
        "a rated cup and more of it to drink",
    ]
    assert rank("rate", texts)[:3] == [before + 1, before + 2, before]


def test_a_longer_text_leans_less_on_its_neighbour() -> None:
    # By itself it comes first, and with the same gain it would stay there.
    longer = "table " * 5 + "and so on " * 15
    assert rank("table", ["table", "end", longer]) == [2, 0, 1]
    texts = ["nginx path", "table", "end", longer, "nginx path"]
    assert rank("table nginx", texts) == [4, 0, 1, 3, 2]


@pytest.mark.parametrize(
    "query",
    ["", " \n\0", "?! …", "what should I do about the", "we've didn't it'll", "\ud800", "_"],
)
def test_a_query_without_a_usable_word_gives_newest_first(query: str) -> None:
    texts = ["what should I do, we've didn't it'll", "", "? \ud800 _ \0 …", "the end"]
    assert rank(query, texts) == [3, 2, 1, 0]


def test_texts_that_change_between_two_calls_are_read_again() -> None:
    texts = ["a table", "locked", "the end"]
    assert rank("table", texts) == [0, 2, 1]
    texts[:2] = texts[1], texts[0]
    assert rank("table", texts) == [1, 2, 0]


MANY = [f"record {number} of the table about locks and the order" for number in range(3_000)]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("table locks order nginx", "nginx"),
        ("nginxx table", "nginx"),
        ("the order of the deployments", "deployed once"),
        ("마이그레이션 order", "그레이"),
        ("bought", "buy"),
        ("webhooks order", "a webhook"),
    ],
)
def test_among_many_records_those_with_the_rarest_word_come_first(query: str, text: str) -> None:
    texts = [*MANY[:1_500], text, *MANY[1_500:]]
    assert rank(query, texts)[0] == 1_500


def test_among_many_records_the_common_words_tell_the_found_apart() -> None:
    words = "alpha", "beta", "gamma", "delta", "order"
    texts = [f"{word} {number}" for word in words[:4] for number in range(1_000)]
    texts[1_500] = "beta order went"
    texts[2_500] = "gamma alpha"
    texts += ["order"] * 4_000
    assert rank("alpha beta gamma delta order go", texts)[:2] == [1_500, 2_500]


def test_topics_are_ordered_by_their_most_relevant_record() -> None:
    topics = ["deploy", "payment", "auth", "payment", "deploy", "auth", "docs"]
    texts = ["nginx", "webhook", "token", "refund", "webhook, webhook!", "token", "readme"]
    assert Ranking("webhook", texts).topics(topics) == ["deploy", "payment", "auth", "docs"]
    assert Ranking("readme", texts).topics(topics) == ["docs", "auth", "deploy", "payment"]


def test_topics_without_a_usable_query_are_ordered_by_size_then_by_age() -> None:
    topics = ["auth", "docs", "deploy", "deploy", "auth", "api"]
    assert Ranking("", [""] * 6).topics(topics) == ["auth", "deploy", "api", "docs"]
    assert Ranking("x", []).topics([]) == []


def test_only_the_first_1000_characters_of_a_query_count() -> None:
    assert rank("결제 " * 331 + "table", ["a table", "locked"]) == [0, 1]
    assert rank("결제 " * 334 + "table", ["a table", "locked"]) == [1, 0]


@pytest.mark.long  # it costs much
@pytest.mark.row("001 2-1.b")
@given(query=any_text, texts=st.lists(any_text, max_size=8))
def test_every_index_appears_once_whatever_the_text(query: str, texts: list[str]) -> None:
    assert sorted(rank(query, texts)) == list(range(len(texts)))


@given(query=related_text, texts=st.lists(related_text, max_size=8))
def test_every_index_appears_once_when_terms_are_found(query: str, texts: list[str]) -> None:
    ranked = rank(query, texts)
    assert sorted(ranked) == list(range(len(texts)))
    assert ranked == rank(query, tuple(texts))


@pytest.mark.long  # it costs much
def test_the_order_is_the_same_in_every_process() -> None:
    program = (
        "import json, sys; from core.text.ranking import rank;"
        "queries, texts = json.load(sys.stdin);"
        "print(json.dumps([rank(query, texts) for query in queries]))"
    )
    labelled = labelled_sets()["lessons"]
    queries = [query for query, _ in labelled.questions]
    for seed in ("1", "2"):
        done = Run.process(
            *(sys.executable, "-c", program),
            given=json.dumps([queries, labelled.texts]).encode(),
            cwd=ROOT,
            environment={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert done.told == [rank(query, labelled.texts) for query in queries]


def test_the_topic_of_the_text_that_comes_first_comes_first() -> None:
    texts = ["a tax tax pay", "b zz tax", "a zz log", "b tax tax pay"]
    for topics in (["a", "b", "a", "b"], ["b", "a", "b", "a"]):
        first = rank("pay tax", texts)[0]
        assert Ranking("pay tax", texts).topics(topics)[0] == topics[first]
