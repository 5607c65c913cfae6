"""What a user may adjust, read from environment variables that all begin with SENTINEL_MEMORY_."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.messages import Language

DEFAULT_BUDGET_TOKENS = 20_000
DEFAULT_BUDGET_CHARS = 45_000
DEFAULT_HOOK_TOKENS = 1_500
DEFAULT_LOCK_TIMEOUT_S = 10
DEFAULT_THRESHOLD = 50

_ON = frozenset(("1", "true", "yes", "on"))
_OFF = frozenset(("", "0", "false", "no", "off"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one call; `warnings` name the variables that could not be used.

    budget_tokens and budget_chars bound one answer, hook_tokens what a hook shows when a session
    starts; lock_timeout_s bounds the wait for a writer; strict refuses a record with a secret
    instead of storing it redacted.
    """

    lang: Language = "en"
    budget_tokens: int = DEFAULT_BUDGET_TOKENS
    budget_chars: int = DEFAULT_BUDGET_CHARS
    hook_tokens: int = DEFAULT_HOOK_TOKENS
    lock_timeout_s: int = DEFAULT_LOCK_TIMEOUT_S
    strict: bool = False
    warnings: tuple[str, ...] = ()


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Settings from `environment`; an unusable value leaves the default and a warning."""
    warnings: list[str] = []

    def number(name: str, default: int, least: int) -> int:
        value = environment.get(name, "").strip()
        if not value:
            return default
        if value.isascii() and value.isdigit() and len(value) <= 9 and int(value) >= least:
            return int(value)
        warnings.append(f"{name} is not a whole number of {least} or more; {default} is used")
        return default

    lang: Language = "en"
    wanted = environment.get("SENTINEL_MEMORY_LANG", "").strip().lower()
    if wanted.startswith("ko"):
        lang = "ko"
    elif wanted and not wanted.startswith("en"):
        warnings.append("SENTINEL_MEMORY_LANG is neither en nor ko; en is used")
    strict = environment.get("SENTINEL_MEMORY_STRICT", "").strip().lower()
    if strict not in _ON | _OFF:  # whoever sets it wants more safety than without it, not less
        warnings.append("SENTINEL_MEMORY_STRICT is neither 1 nor 0; 1 is used")
    return Settings(
        lang=lang,
        budget_tokens=number("SENTINEL_MEMORY_BUDGET_TOKENS", DEFAULT_BUDGET_TOKENS, 500),
        budget_chars=number("SENTINEL_MEMORY_BUDGET_CHARS", DEFAULT_BUDGET_CHARS, 1_000),
        hook_tokens=number("SENTINEL_MEMORY_HOOK_TOKENS", DEFAULT_HOOK_TOKENS, 200),
        lock_timeout_s=number("SENTINEL_MEMORY_LOCK_TIMEOUT_S", DEFAULT_LOCK_TIMEOUT_S, 1),
        strict=strict not in _OFF,
        warnings=tuple(warnings),
    )
