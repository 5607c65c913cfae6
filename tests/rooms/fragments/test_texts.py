"""Tests what may be stored of a text: no secret, no blank, nothing too long; and its keywords."""

import base64
import math
import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.sanitizer import find
from rooms.fragments.draft import Draft, prepared
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import KEYWORD_CHARS, PRIVACIES, WORDS_OF_TYPE, plain_keyword
from rooms.fragments.texts import MOST_FOUND, Text, cleaned, keywords_of, plain_id
from tests.support.sentences import in_language
from tests.support.tables import table

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)


def clean(content: str, **fields: Any) -> Draft:
    return prepared(Draft(content=content, **fields)).draft


def refusal(content: str = "x", *, strict: bool = False, **fields: Any) -> str:
    with pytest.raises(FragmentsError) as caught:
        prepared(Draft(content=content, **fields), strict=strict)
    assert in_language("ko", str, caught.value) != str(caught.value)
    return str(caught.value)


def test_a_draft_without_anything_wrong_comes_back_as_it_is() -> None:
    draft = Draft(
        content="a text: `rm -rf`, 100 %, “quotes”\n\ttwo lines",
        topic="배포",
        type="error",
        keywords=("Redis", "연결"),
        importance=0.25,
        source="shop",
        linked_to=("abc", "def"),
        privacy="team",
        is_anchor=True,
    )
    assert prepared(draft) == (draft, ())
    assert clean("a\0b\x1b[31mc\r\nd\te\x85").content == "ab[31mc\nd\te"
    for word in (*WORDS_OF_TYPE, ""):
        assert clean("x", type=f" {word.upper()}\n").type == word
    for privacy in PRIVACIES:
        assert clean("x", privacy=f" {privacy.title()} ").privacy == privacy
    signs = ("abc", " #abc ", "`abc`", '["abc"]', "(abc)")
    assert {plain_id(each) for each in signs} == {"abc"}


@pytest.mark.row("002 2.10.b")
def test_a_secret_goes_from_every_text_though_one_alone_gives_it_away() -> None:
    for hider in ("", "\u200b", "\0"):
        text = f"{TOKEN[:20]}{hider}{TOKEN[20:]}"
        done = prepared(Draft(content=f"key {text}", topic=text, source=text, keywords=(text, "b")))
        assert len(done.redacted) == 1
        assert TOKEN[20:] not in repr(done.draft)
        assert (done.draft.topic, done.draft.source) == ("[REDACTED]", "[REDACTED]")
        assert done.draft.keywords == ("[REDACTED]", "b")
    given_away = clean("log in with Xk29bQw7zLp4", source="password=Xk29bQw7zLp4")
    assert "Xk29bQw7zLp4" not in repr(given_away)
    assert refusal("x", topic=TOKEN, strict=True).startswith("topic: this looks like a secret")


@pytest.mark.row("002 2.12.b")
def test_the_limit_of_a_content_is_in_bytes_and_holds_behind_the_redactor() -> None:
    assert clean("가" * 341).content == "가" * 341
    assert "1,025 bytes, 1 above the limit of 1,024" in refusal("x" * 1_025)
    assert "1,026 bytes" in refusal("가" * 342)
    body = base64.encodebytes(random.Random(1).randbytes(1_200)).decode()
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----"
    assert len(clean(key).content) < 100


@pytest.mark.row("002 2.10.b", "002 2.12.f", "004 4.3")
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        *(({"content": text}, "content: it is blank") for text in ("", " \n", "\u200b", "\0\x07")),
        ({"topic": "x" * 51}, "topic: 51 characters"),
        ({"source": "x" * 201}, "source: 201 characters"),
        ({"keywords": ("x" * 51,)}, "keywords: 51 characters"),
        ({"keywords": tuple(map(str, range(21)))}, "keywords: 21 given"),
        ({"linked_to": tuple(map(str, range(21)))}, "linkedTo: 21 given"),
        ({"topic": "x\ud800"}, "topic: it contains half"),
        ({"keywords": ("a", "x\udfff")}, "keywords: it contains half"),
        *(({"importance": share}, "importance: ") for share in (1.01, -0.1, math.nan)),
        ({"privacy": "secret"}, "privacy_scope: private, team, public"),
        ({"type": "thought"}, "type: "),
    ],
)
def test_what_cannot_be_stored_is_refused_with_its_field(fields: dict[str, Any], said: str) -> None:
    sentence = refusal(**fields)
    assert sentence.startswith(said)
    assert "Nothing was saved." in sentence


def test_keywords_in_one_text_are_parted_and_the_same_in_another_spelling_are_one() -> None:
    keywords = ("Redis, sentinel;redis", " 연결、REDIS ", "", "a b")
    assert clean("x", keywords=keywords).keywords == ("Redis", "sentinel", "연결", "a b")
    assert clean("x", keywords=("a",) * 50).keywords == ("a",)


@pytest.mark.long  # it measures time
@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        (tuple(f"{at} {'x' * 9_990}" for at in range(400)), "keywords: 400 given"),
        (("a," * 2_000_000,), "keywords: 2,000,001 given"),
        (("x" * 4_000_000,), "keywords: 4,000,000 characters"),
        # Separators of a secret part it in a text that is too long to be looked through.
        ((f"{' ' * 11_000}password='Xk29bQw7,zLp4Rt55'",), "keywords: 11,0"),
    ],
)
def test_keywords_are_counted_before_they_are_looked_at(keywords: tuple[str], said: str) -> None:
    start = time.process_time()
    assert refusal(keywords=keywords).startswith(said)
    assert time.process_time() - start < 2


@pytest.mark.long  # it costs much
@given(st.text(max_size=400), st.lists(st.text(max_size=60), max_size=8))
def test_any_text_is_stored_whole_or_refused(content: str, keywords: list[str]) -> None:
    try:
        done = prepared(Draft(content=content, keywords=tuple(keywords)))
    except FragmentsError as error:
        assert error.key in ("blank", "too_large", "too_long", "too_many", "lone_surrogate")
        return
    assert 0 < len(done.draft.content.encode()) <= 1_024
    assert prepared(done.draft).draft == done.draft
    assert not find(done.draft.content) or done.redacted == ()


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.94")
@given(ANY, st.sampled_from(["", "\0", "\x1f", "\u200b", "\x9f"]))
def test_no_secret_survives_what_hides_it(around: str, hider: str) -> None:
    split = TOKEN[:12] + hider + TOKEN[12:]
    [text], _ = cleaned([Text("content", f"{around} {split} {around}", 4_000)], strict=False)
    assert TOKEN not in text.replace("\u200b", "")


@pytest.mark.row("002 2.34")
def test_the_keywords_of_a_text_are_its_names_and_nouns() -> None:
    texts: dict[str, list[str]] = table("fragment_keywords")
    assert {text: [*keywords_of(text)] for text in texts} == texts


@pytest.mark.long  # it costs much
@given(st.text())
def test_any_text_has_few_keywords_that_differ(text: str) -> None:
    found = keywords_of(text)
    assert len({plain_keyword(each) for each in found}) == len(found) <= MOST_FOUND
    assert all(1 < len(each) <= KEYWORD_CHARS for each in found)


@pytest.mark.long
@pytest.mark.parametrize("piece", ["a-", "a_", "A", "가", "가 ", "x.", "ア", "를", "漢"])
def test_a_text_at_its_limit_takes_no_time(piece: str) -> None:
    start = time.process_time()
    keywords_of(piece * (10_000 // len(piece)))
    assert time.process_time() - start < 5
