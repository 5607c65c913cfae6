"""What a user may adjust by environment variables."""

import pytest

from core.settings import Settings, read_settings


def test_without_variables_the_defaults_hold() -> None:
    assert read_settings({}) == Settings(
        lang="en", budget_tokens=20_000, budget_chars=45_000, hook_tokens=1_500, lock_timeout_s=10
    )


def test_every_variable_sets_its_value() -> None:
    assert read_settings(
        {
            "SENTINEL_MEMORY_LANG": "ko_KR.UTF-8",
            "SENTINEL_MEMORY_BUDGET_TOKENS": "9000",
            "SENTINEL_MEMORY_BUDGET_CHARS": " 8000 ",
            "SENTINEL_MEMORY_HOOK_TOKENS": "200",
            "SENTINEL_MEMORY_LOCK_TIMEOUT_S": "3",
            "SENTINEL_MEMORY_STRICT": "1",
        }
    ) == Settings(
        lang="ko",
        budget_tokens=9_000,
        budget_chars=8_000,
        hook_tokens=200,
        lock_timeout_s=3,
        strict=True,
    )


@pytest.mark.parametrize(
    ("value", "strict"), [("1", True), (" True ", True), ("0", False), ("off", False), ("", False)]
)
def test_strict_is_switched_on_and_off_by_the_usual_words(value: str, strict: bool) -> None:
    assert read_settings({"SENTINEL_MEMORY_STRICT": value}) == Settings(strict=strict)


def test_an_unclear_wish_for_strictness_counts_as_one_and_is_warned_about() -> None:
    settings = read_settings({"SENTINEL_MEMORY_STRICT": "always"})
    assert settings.strict
    assert settings.warnings == ("SENTINEL_MEMORY_STRICT is neither 1 nor 0; 1 is used",)


def test_an_unusable_value_leaves_the_default_and_a_warning_that_does_not_repeat_it() -> None:
    settings = read_settings(
        {
            "SENTINEL_MEMORY_LANG": "secret-value",
            "SENTINEL_MEMORY_BUDGET_TOKENS": "many",
            "SENTINEL_MEMORY_HOOK_TOKENS": "199",
            "SENTINEL_MEMORY_LOCK_TIMEOUT_S": "0",
        }
    )
    assert (settings.lang, settings.budget_tokens, settings.lock_timeout_s) == ("en", 20_000, 10)
    assert settings.warnings == (
        "SENTINEL_MEMORY_LANG is neither en nor ko; en is used",
        "SENTINEL_MEMORY_BUDGET_TOKENS is not a whole number of 500 or more; 20000 is used",
        "SENTINEL_MEMORY_HOOK_TOKENS is not a whole number of 200 or more; 1500 is used",
        "SENTINEL_MEMORY_LOCK_TIMEOUT_S is not a whole number of 1 or more; 10 is used",
    )
