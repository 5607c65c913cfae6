"""Tests what may be stored of a text: no secret, no blank, nothing too long; and its keywords."""

import base64
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.sanitizer import find
from rooms.fragments.draft import prepared
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import Draft, plain_keyword
from rooms.fragments.texts import KEYWORD_CHARS, MOST_FOUND, Text, cleaned, keywords_of
from tests.support.tables import table

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)


@pytest.mark.row("002 2.12.b")
def test_the_limit_of_a_content_holds_behind_the_redactor() -> None:
    body = base64.encodebytes(random.Random(1).randbytes(1_200)).decode()
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----"
    draft, _ = prepared(Draft(content=key))
    assert len(draft.content) < 100


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
    with pytest.raises(FragmentsError) as caught:
        prepared(Draft(content="x", keywords=keywords))
    assert str(caught.value).startswith(said)
    assert time.process_time() - start < 2


@pytest.mark.long  # it costs much
@given(st.text(max_size=400), st.lists(st.text(max_size=60), max_size=8))
def test_any_text_is_stored_whole_or_refused(content: str, keywords: list[str]) -> None:
    try:
        done, redacted = prepared(Draft(content=content, keywords=tuple(keywords)))
    except FragmentsError as error:
        assert error.key in ("blank", "too_large", "too_long", "too_many", "lone_surrogate")
        return
    assert 0 < len(done.content.encode()) <= 1_024
    assert prepared(done)[0] == done
    assert not find(done.content) or redacted == ()


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
