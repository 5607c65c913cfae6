"""Tests what a user may adjust by environment variables."""

import pytest

from core.messages import language_of
from core.settings import Settings, read_settings


def test_without_variables_the_defaults_hold() -> None:
    assert read_settings({}) == Settings(
        budget_tokens=20_000, budget_chars=45_000, hook_tokens=1_500, lock_timeout_s=10
    )


def test_every_variable_sets_its_value() -> None:
    assert read_settings(
        {
            "SENTINEL_MEMORY_LANG": "ko_KR.UTF-8",
            "SENTINEL_MEMORY_BUDGET": " 40000 ",
            "SENTINEL_MEMORY_HOOK_BUDGET": "200",
            "SENTINEL_MEMORY_LOCK_TIMEOUT_S": "3",
            "SENTINEL_MEMORY_STRICT": "1",
        }
    ) == Settings(
        budget_tokens=40_000,
        budget_chars=90_000,
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
        {"SENTINEL_MEMORY_LANG": "secret-value", "SENTINEL_MEMORY_LOCK_TIMEOUT_S": "0"}
    )
    assert settings.lock_timeout_s == 10
    assert settings.warnings == (
        "SENTINEL_MEMORY_LANG is neither en nor ko; en is used",
        "SENTINEL_MEMORY_LOCK_TIMEOUT_S is not a whole number of 1 or more; 10 is used",
    )
    assert settings.errors == ()


UNUSABLE = ["many", "0", "-1", "+5000", "1e5", "20_000", "9.5", "20,000", "२००००", "00"]


@pytest.mark.parametrize(
    ("variable", "least", "default"),
    [("SENTINEL_MEMORY_BUDGET", 1_000, 20_000), ("SENTINEL_MEMORY_HOOK_BUDGET", 200, 1_500)],
)
def test_a_budget_that_is_no_positive_number_is_an_error_and_leaves_the_default(
    variable: str, least: int, default: int
) -> None:
    warning = f"{variable} is not a whole number of {least} or more; {default} is used"
    for value in UNUSABLE:
        settings = read_settings({variable: value})
        assert (settings.budget_tokens, settings.hook_tokens) == (20_000, 1_500), value
        [error] = settings.errors
        assert error.facts == {"variable": variable, "least": least, "default": default}
        assert settings.warnings == (warning,), value


def test_a_budget_too_small_for_one_record_becomes_the_least_one_and_is_warned_about() -> None:
    settings = read_settings(
        {"SENTINEL_MEMORY_BUDGET": "999", "SENTINEL_MEMORY_HOOK_BUDGET": "199"}
    )
    assert (settings.budget_tokens, settings.hook_tokens) == (1_000, 200)
    assert settings.errors == ()
    assert settings.warnings == (
        "SENTINEL_MEMORY_BUDGET is below the least that is of use; 1000 is used",
        "SENTINEL_MEMORY_HOOK_BUDGET is below the least that is of use; 200 is used",
    )


def test_a_small_budget_of_tokens_keeps_the_characters_that_clients_take() -> None:
    assert read_settings({"SENTINEL_MEMORY_BUDGET": "1000"}).budget_chars == 45_000


@pytest.mark.parametrize(
    ("former", "name"),
    [("BUDGET_TOKENS", "BUDGET"), ("BUDGET_CHARS", "BUDGET"), ("HOOK_TOKENS", "HOOK_BUDGET")],
)
def test_a_former_name_is_not_read_and_the_new_one_is_named(former: str, name: str) -> None:
    settings = read_settings({f"SENTINEL_MEMORY_{former}": "9000"})
    assert (settings.budget_tokens, settings.budget_chars) == (20_000, 45_000)
    assert settings.hook_tokens == 1_500
    assert settings.warnings == (
        f"SENTINEL_MEMORY_{former} is no longer read; set SENTINEL_MEMORY_{name}",
    )


@pytest.mark.parametrize("value", ["9" * 10, "9" * 5_000, "0001000000000"])
def test_a_budget_beyond_all_reason_is_a_very_large_one(value: str) -> None:
    settings = read_settings({"SENTINEL_MEMORY_BUDGET": value})
    assert (settings.budget_tokens, settings.errors, settings.warnings) == (999_999_999, (), ())


def test_a_value_in_which_a_client_left_a_variable_counts_as_unset() -> None:
    settings = read_settings({"SENTINEL_MEMORY_BUDGET": "${BUDGET}"})
    assert (settings.budget_tokens, settings.errors) == (20_000, ())
    assert settings.warnings == (
        "SENTINEL_MEMORY_BUDGET holds an unexpanded variable and is treated as unset",
    )


@pytest.mark.parametrize(
    ("environment", "lang"),
    [
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "ko"}, "ko"),
        ({"LANG": "Korean_Korea.949"}, "ko"),
        ({"LANG": "kok_IN.UTF-8"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LC_MESSAGES": "ko_KR.UTF-8", "LANG": "en_US.UTF-8"}, "ko"),
        ({"LC_ALL": "en_US.UTF-8", "LC_MESSAGES": "ko_KR", "LANG": "ko_KR"}, "en"),
        ({"LC_ALL": "", "LANG": "ko_KR"}, "ko"),
        ({"SENTINEL_MEMORY_LANG": "en", "LANG": "ko_KR"}, "en"),
        ({"SENTINEL_MEMORY_LANG": "ko", "LANG": "en_US"}, "ko"),
        ({"SENTINEL_MEMORY_LANG": "${lang}", "LANG": "ko_KR"}, "ko"),
        ({}, "en"),
    ],
)
def test_a_person_reads_the_language_of_the_locale_and_a_model_does_not(
    environment: dict[str, str], lang: str
) -> None:
    assert language_of(environment, for_person=True) == lang
    named = environment.get("SENTINEL_MEMORY_LANG")
    assert language_of(environment) == ("ko" if named == "ko" else "en")
