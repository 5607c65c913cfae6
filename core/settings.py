"""Reads what a user may adjust, from environment variables that begin with SENTINEL_MEMORY_."""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from core.errors import RefusedError, SentinelError

DEFAULT_BUDGET_TOKENS = 20_000
DEFAULT_BUDGET_CHARS = 45_000
DEFAULT_HOOK_TOKENS = 1_500
DEFAULT_LOCK_TIMEOUT_S = 10
DEFAULT_THRESHOLD = 50

# The head of an answer and one record at the byte limits, in English or Korean.
LEAST_BUDGET_TOKENS = 1_000
LEAST_HOOK_TOKENS = 200

# The rooms of the memory, each with the profiles that it can be offered in.
ROOMS: Mapping[str, tuple[str, ...]] = {
    "lessons": (),
    "sessions": ("core",),
    "fragments": ("core",),
}
DEFAULT_ROOMS = ("lessons",)
ROOMS_VARIABLE = "SENTINEL_MEMORY_ROOMS"

Answers = Literal["text", "json"]

_PREFIX = "SENTINEL_MEMORY_"
_FORMER_NAMES = {"BUDGET_TOKENS": "BUDGET", "BUDGET_CHARS": "BUDGET", "HOOK_TOKENS": "HOOK_BUDGET"}
_MOST_DIGITS, _MOST = 9, 999_999_999
_ON = frozenset(("1", "true", "yes", "on"))
_OFF = frozenset(("", "0", "false", "no", "off"))

# The names that an agent may have, wherever one is given: in a call, for a key, in a file.
DEFAULT_AGENT = "default"  # whose knowledge all agents share
NAME_CHARS = 100
REFUSED_AGENTS = frozenset(("system", "admin"))  # names that another program's rules would trust


class Settings(NamedTuple):
    """The settings of one call; `warnings` name the variables that hold no usable value.

    budget_tokens and budget_chars bound one answer, hook_tokens what a hook shows when a session
    starts; lock_timeout_s bounds the wait for a writer; a compaction is required above `threshold`
    records; strict refuses a record with a secret instead of storing it redacted. rooms: those that
    a server offers, as `read_rooms` returns them; answers: the form in which the tools of other
    rooms than the log answer. errors: values with which a server must not start; the defaults stand
    in their places.
    """

    budget_tokens: int = DEFAULT_BUDGET_TOKENS
    budget_chars: int = DEFAULT_BUDGET_CHARS
    hook_tokens: int = DEFAULT_HOOK_TOKENS
    lock_timeout_s: int = DEFAULT_LOCK_TIMEOUT_S
    threshold: int = DEFAULT_THRESHOLD
    strict: bool = False
    rooms: tuple[str, ...] = DEFAULT_ROOMS
    answers: Answers = "text"
    warnings: tuple[str, ...] = ()
    errors: tuple[SentinelError, ...] = ()


def read_rooms(text: str, source: str = ROOMS_VARIABLE) -> tuple[str, ...]:
    """Return the rooms that a text lists, each as `name` or `name:profile`; the default for none.

    source: where the text was given. Raises RefusedError for an unknown word.
    """
    words = tuple(dict.fromkeys(word for word in text.lower().replace(",", " ").split()))
    names = [word.partition(":")[0] for word in words]
    for word, name in zip(words, names, strict=True):
        is_known = word in ROOMS or (name in ROOMS and word.partition(":")[2] in ROOMS[name])
        if not is_known or names.count(name) > 1:
            known = [it for room in ROOMS for it in (room, *(f"{room}:{p}" for p in ROOMS[room]))]
            raise RefusedError("bad_rooms", source=source, known=", ".join(known))
    return words or DEFAULT_ROOMS


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings from `environment`; an unusable value leaves the default."""
    reading = _Reading(environment)
    budget_tokens = reading.tokens(
        "SENTINEL_MEMORY_BUDGET", DEFAULT_BUDGET_TOKENS, LEAST_BUDGET_TOKENS
    )
    reading.check_language()
    return Settings(
        budget_tokens=budget_tokens,
        # Clients cut at characters as well, whatever these cost: only who asks for more gets more.
        budget_chars=max(
            DEFAULT_BUDGET_CHARS, DEFAULT_BUDGET_CHARS * budget_tokens // DEFAULT_BUDGET_TOKENS
        ),
        hook_tokens=reading.tokens(
            "SENTINEL_MEMORY_HOOK_BUDGET", DEFAULT_HOOK_TOKENS, LEAST_HOOK_TOKENS
        ),
        lock_timeout_s=reading.positive("SENTINEL_MEMORY_LOCK_TIMEOUT_S", DEFAULT_LOCK_TIMEOUT_S),
        threshold=reading.positive("SENTINEL_MEMORY_THRESHOLD", DEFAULT_THRESHOLD),
        strict=reading.is_strict(),
        rooms=reading.rooms(),
        answers=reading.answers(),
        warnings=(*reading.warnings, *reading.former_names()),
        errors=tuple(reading.errors),
    )


class _Reading:
    """Reads the variables of one environment and collects what is wrong with them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.warnings: list[str] = []
        self.errors: list[SentinelError] = []

    def _value(self, name: str) -> str:
        value = self._environment.get(name, "").strip()
        if "${" in value:
            self.warnings.append(f"{name} holds an unexpanded variable and is treated as unset")
            return ""
        return value

    def _number(self, name: str, default: int) -> int:
        """Return the positive number of a variable, the default for none, 0 for anything else."""
        value = self._value(name) or str(default)
        if not (value.isascii() and value.isdigit()):
            return 0
        digits = value.lstrip("0")
        return int(digits or 0) if len(digits) <= _MOST_DIGITS else _MOST

    def tokens(self, name: str, default: int, least: int) -> int:
        given = self._number(name, default)
        if not given:
            self.errors.append(
                RefusedError("bad_setting", variable=name, least=least, default=default)
            )
            self._unusable(name, least, default)
            return default
        if given < least:
            self.warnings.append(f"{name} is below the least that is of use; {least} is used")
        return max(given, least)

    def positive(self, name: str, default: int) -> int:
        given = self._number(name, default)
        if not given:
            self._unusable(name, 1, default)
        return given or default

    def _unusable(self, name: str, least: int, default: int) -> None:
        self.warnings.append(f"{name} is not a whole number of {least} or more; {default} is used")

    def check_language(self) -> None:
        wanted = self._value("SENTINEL_MEMORY_LANG").lower()
        if wanted and not wanted.startswith(("en", "ko")):
            self.warnings.append("SENTINEL_MEMORY_LANG is neither en nor ko; en is used")

    def is_strict(self) -> bool:
        strict = self._value("SENTINEL_MEMORY_STRICT").lower()
        if strict not in _ON | _OFF:  # whoever sets it wants more safety than without it, not less
            self.warnings.append("SENTINEL_MEMORY_STRICT is neither 1 nor 0; 1 is used")
        return strict not in _OFF

    def rooms(self) -> tuple[str, ...]:
        try:
            return read_rooms(self._value(ROOMS_VARIABLE))
        except RefusedError as error:
            self.errors.append(error)
            return DEFAULT_ROOMS

    def answers(self) -> Answers:
        wanted = self._value("SENTINEL_MEMORY_ANSWERS").lower()
        if wanted not in ("", "text", "json"):
            self.warnings.append("SENTINEL_MEMORY_ANSWERS is neither text nor json; text is used")
        return "json" if wanted == "json" else "text"

    def former_names(self) -> Iterator[str]:
        for former, name in _FORMER_NAMES.items():
            if self._value(_PREFIX + former):
                yield f"{_PREFIX}{former} is no longer read; set {_PREFIX}{name}"
