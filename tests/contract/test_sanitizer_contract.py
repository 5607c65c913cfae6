import pytest

from core.sanitizer import sanitize
from server import log_memory, search_memory
from tests.contract.given import GAP, LESSON, LOG, QUESTION, SECRET, digest, on_disk

# Each in two parts, so that no scanner takes this file for a leak.
SECRETS = [
    SECRET,
    "sk" + "-proj-x8Jq2LmZ4vTn7RbW1cKs9YhD6fGa3PeU5oWiQx0Z",
    "sk" + "-ant-api03-x8Jq2LmZ4vTn7RbW1cKs9YhD6fGa3PeU5oWiQx0ZkLmNpQrStUvWxYz-AA",
    "AK" + "IAQZ3WJ7TNX5RLBHYD",
    "xo" + "xb-274918365012-583920174635-k7Qw2ZxR9bLm4TnV8cJs1YhD",
    "AI" + "zaSyD3kX9vQ2mL7pR4tW8zB1nC6hJ5fG0sYeU",
    "gl" + "pat-x8Jq2LmZ4vTn7RbW1cKs",
    "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiI4MTczNjQ1MjAifQ.k7Qw2ZxR9bLm4TnV8cJs1YhD6fGa3PeU5oWi0",
]


@pytest.mark.row("001 2-1.j")
@pytest.mark.parametrize("secret", SECRETS)
def test_a_key_is_replaced_within_its_sentence(secret: str) -> None:
    clean = sanitize(f"Call the service with {secret} in the header")
    assert secret not in clean
    assert "[REDACTED]" in clean
    assert clean.startswith("Call the service with ")
    assert clean.endswith(" in the header")


@pytest.mark.row("I9")
@pytest.mark.parametrize(
    "text",
    [
        f"api_key = {'q8Zt' + 'V3nLx7Rw2KbYp5Dm'}",
        f"Authorization: Bearer {'q8Zt' + 'V3nLx7Rw2KbYp5DmGs9c'}",
        f"토큰은 {SECRET}입니다",
        f"({SECRET})",
        f"first {SECRET}, then {SECRETS[3]}",
    ],
)
def test_a_key_is_found_by_its_name_and_beside_other_signs(text: str) -> None:
    clean = sanitize(text)
    assert "[REDACTED]" in clean
    for secret in (SECRET, SECRETS[3], "q8Zt" + "V3nLx7Rw2KbYp5Dm"):
        assert secret not in clean


@pytest.mark.parametrize(
    "text",
    [
        "",
        GAP,
        LESSON,
        QUESTION,
        "결제 모듈: 국가별 세율표를 먼저 확인 😀\n둘째 줄",
        "The token limit is 6,250 and the password must be hashed with bcrypt",
        "Bearer authentication is required; the API key lives in the vault",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert sanitize(text) == text


@pytest.mark.parametrize("secret", SECRETS)
def test_what_is_clean_is_not_changed_again(secret: str) -> None:
    once = sanitize(f"key: {secret}")
    assert sanitize(once) == once


@pytest.mark.row("001 5-2.a")
def test_gap_and_lesson_are_redacted_before_the_id_is_made() -> None:
    answer = log_memory("payment", f"The key {SECRET} was not named", f"Never print {SECRET}")
    (record,) = on_disk()
    assert record["missing_context"] == "The key [REDACTED] was not named"
    assert record["lesson"] == "Never print [REDACTED]"
    assert record["id"] == digest("payment" + "The key [REDACTED] was not named")
    assert SECRET not in answer + LOG.read_text("utf-8")


def test_a_principle_is_redacted_before_the_id_is_made() -> None:
    log_memory("payment", "", f"Never print {SECRET}", type="principle")
    assert on_disk()[0]["id"] == digest("payment" + "Never print [REDACTED]")


@pytest.mark.row("001 5-2.a")
def test_topic_and_question_are_not_altered() -> None:
    answer = log_memory(SECRET, GAP, LESSON, f"Is {SECRETS[3]} still valid?")
    (record,) = on_disk()
    assert record["topic"] == SECRET
    assert record["ask_next_time"] == f"Is {SECRETS[3]} still valid?"
    assert "topic" in answer


def test_a_suspicious_question_is_named_and_not_repeated() -> None:
    assert "ask_next_time" not in log_memory("payment", GAP, LESSON)
    answer = log_memory("payment", GAP, LESSON, f"Is {SECRET} still valid?")
    assert "ask_next_time" in answer
    assert SECRET not in answer


@pytest.mark.row("001 4-1.d")
def test_limits_hold_for_what_is_stored() -> None:
    keys = " ".join(f"gh{'p'}_{number:02}" + SECRET[6:] for number in range(26))
    assert len(keys) > 1024
    log_memory("payment", GAP, keys)
    assert on_disk()[0]["lesson"].count("[REDACTED]") >= 1
    assert "[REDACTED]" in search_memory("")
