"""Tests that a share tells how much of a question a text has, and what an index needs for it."""

import unicodedata
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.ranking import Frequencies, Ranking
from core.text.terms import pieces_of, words_of

OTHERS = ["배포 순서를 정한다", "a table is locked", "the colour of a button"]


def share(query: str, text: str, *others: str) -> float:
    """Of the question in the text, beside others."""
    return Ranking(query, [text, *(others or OTHERS)]).holding().shares().get(0, 0.0)


def test_a_text_with_all_words_has_all_of_the_question() -> None:
    assert share("lock the redirect loop", "A redirect looping: locked.") == 1.0
    assert share("결제를 취소했습니다", "결제 취소") == 1.0
    assert share("feeRate", "fee_rate") == share("unit_rate", "unitRate") == 1.0
    assert share("find", "found") == 1.0


def test_a_text_without_any_of_it_has_no_share() -> None:
    assert Ranking("redirect", OTHERS).holding().shares() == {}
    assert Ranking("?! \0", OTHERS).holding().shares() == {}
    assert Ranking("redirect", []).holding().shares() == {}


def test_a_rare_word_is_more_of_a_question_than_a_common_one() -> None:
    others = [*(f"fix {letter}" for letter in ascii_lowercase * 20), "the redirect"]
    rare, common = share("fix redirect", "redirect", *others), share("fix redirect", "fix", *others)
    assert common < 0.25 < 0.6 < rare


def test_an_identifier_counts_once_in_all_its_forms() -> None:
    whole, half = (
        share("OAuth timeout", "OAuth timeout"),
        share("OAuth timeout", "OAuth", "timeout"),
    )
    assert (whole, half) == (1.0, share("auth timeout", "auth", "timeout")) == (1.0, 0.5)
    assert 0.25 < share("feeRate", "feerate") < 1.0


def test_one_pair_of_letters_within_a_word_is_little() -> None:
    assert share("로그인", "블로그 글", "로그인 화면") < 0.25
    assert share("로그인기능", "인기 상품", "로그인 화면", "기능 추가") < 0.25
    assert share("로그인기능", "로그인 화면", "인기 상품", "기능 추가") > 0.25


def test_a_compound_is_found_in_its_parts() -> None:
    assert share("캐시무효화", "캐시를 언제 무효화하는가", "캐시를 비운다") > 0.6
    assert share("결제모듈을", "결제 모듈", "결제모듈 공통화") > 0.25


def test_words_that_only_ask_are_no_part_of_a_question() -> None:
    bare = share("정산 시간", "정산 배치를 새벽에 돌린다")
    for asked in ("정산 시간 언제였지?", "정산 시간은 어떻게 되나요?", "왜 정산 시간이 있지?"):
        assert share(asked, "정산 배치를 새벽에 돌린다") == bare, asked
    assert Ranking("왜 어떻게 해야 하나요?", ["어떻게 해야 하나"]).holding().shares() == {}
    assert share("하나로 이어진 어디든지 배포", "하나로 이어진 어디든지 배포") == 1.0


def test_a_word_of_one_syllable_is_found_behind_another_ending() -> None:
    for query, text in (
        ("앱을", "모바일 앱은"),
        ("락으로", "락을 잡는다"),
        ("묶기", "쿼리를 묶었다"),
    ):
        assert share(query, text) >= 0.25, query
    assert share("앱을", "앱을 연다") == share("묶는다", "묶는다") == 1.0
    assert share("경로", "경쟁") == share("다음", "다른 곳") == 0.0


@pytest.mark.row("003 T37")
def test_candidates_are_weighed_by_the_frequencies_of_all_texts() -> None:
    query, texts = "proxy timeout", ["proxy", "timeout", "timeout"]
    proxy, timeout = (word[0] for word in words_of(query))
    known = Frequencies(1_000, {proxy: 900, timeout: 2})
    assert Ranking(query, texts).order()[0] == 0
    assert Ranking(query, texts, known).order() == [2, 1, 0]
    shares = Ranking(query, texts, known).holding().shares()
    assert shares[0] < 0.1 < 0.9 < shares[1]


def test_a_term_without_a_frequency_is_as_common_as_among_the_candidates() -> None:
    texts = ["proxy", "proxy timeout", "timeout"]
    bare = Ranking("proxy timeout", texts, Frequencies(3, {}))
    assert bare.holding().shares() == Ranking("proxy timeout", texts).holding().shares()


def test_frequencies_that_are_too_small_or_too_large_do_no_harm() -> None:
    [word] = words_of("proxy")
    for having in (0, 1, 10, 10**9):
        found = Ranking("proxy", ["proxy", "proxy", "x"], Frequencies(10, {word[0]: having}))
        assert found.order() == [1, 0, 2]


def test_candidates_gain_nothing_from_those_beside_them() -> None:
    texts = ["a lock", "a lock: lock, lock", "a lock", "wait", "a lock"]
    assert Ranking("lock", texts).order() == [1, 2, 0, 4, 3]
    assert Ranking("lock", texts, Frequencies(100, {})).order() == [1, 4, 2, 0, 3]


def test_pieces_are_words_parts_and_pairs_in_one_spelling() -> None:
    assert list(dict.fromkeys(pieces_of("feeRate utf8"))) == [
        "fee",
        "rate",
        "utf8",
        "utf",
        "8",
        "feerate",
    ]
    decomposed = unicodedata.normalize("NFD", "결제API를")
    assert set(pieces_of(decomposed)) == {"결제", "api", "를"}
    assert {"로그", "그인", "로그인"} == set(pieces_of("로그인"))


@given(st.text(st.sampled_from("aeFr_- 1결제를を\n\ud800\0"), max_size=40))
def test_every_strong_term_of_a_text_is_a_piece_of_it_or_begins_one(text: str) -> None:
    pieces = set(pieces_of(text))
    for strong, *_ in words_of(text):
        if not strong.weak:
            assert any(piece.startswith(strong.needle) for piece in pieces), strong


@given(st.text(st.characters()), st.lists(st.text(st.characters()), max_size=4))
def test_a_share_is_above_0_and_at_most_1(query: str, texts: list[str]) -> None:
    assert all(0 < its <= 1 for its in Ranking(query, texts).holding().shares().values())
