"""Says every sentence of the program, in the language of the call.

`core/data/words.*.answers.json` is for models, `words.*.people.json` for commands; the HTTP server
and each room keep theirs. Both languages name the same facts in braces. Record data and field names
are never translated.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Literal

from core import program

Language = Literal["en", "ko"]
Facts = dict[str, str | int]

LANG_VARIABLE = "SENTINEL_MEMORY_LANG"
_LOCALES = "LC_ALL", "LC_MESSAGES", "LANG"  # the first that is set holds
_ROOT = Path(__file__).resolve().parents[1]
_SPOKEN: ContextVar[Language | None] = ContextVar("language", default=None)


def say(key: str, /, **facts: str | int) -> str:
    """Return the sentence of a key, facts filled in. Raises KeyError for a key without one.

        say("sessions.answers.saved_at", date="2026-03-01")

    `{cli}` begins a command for whoever started the program, `{program}` in a text that others
    read.
    """
    spoken = language()
    text = _template(key, spoken)
    filled_in: Facts = {"cli": program.CLI, "program": program.NAME, **facts}
    if spoken == "en":
        return text.format(**filled_in)
    from core.particles import filled  # only Korean sentences pay for it

    return filled(text, filled_in)


def tell(key: str, /, **facts: str | int) -> None:
    """Log a sentence of `errors` as a warning, in the operator's language."""
    with speaking(language_of(os.environ, for_person=True)):
        program.warn("%s", say(f"errors.{key}", **facts))


def has_sentence(key: str) -> bool:
    return any(key in _sentences(path) for path in _files(key, "en"))


def language() -> Language:
    """Return the language of this call: of `speaking`, else of the environment."""
    return _SPOKEN.get() or language_of(os.environ)


@contextmanager
def speaking(spoken: Language) -> Iterator[None]:
    """Say the sentences of this context in one language."""
    token = _SPOKEN.set(spoken)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def language_of(environment: Mapping[str, str], *, for_person: bool = False) -> Language:
    """Return the language that SENTINEL_MEMORY_LANG names, English without it.

    for_person: then the locale counts. A model gets English, whoever starts its server.
    """
    wanted = environment.get(LANG_VARIABLE, "").strip().lower()
    if for_person and (not wanted or "${" in wanted):  # a client did not fill the variable in
        locale = next(filter(None, map(environment.get, _LOCALES)), "")
        name = locale.lower().replace("-", "_").partition(".")[0].partition("_")[0]
        return "ko" if name in ("ko", "korean") else "en"  # ko_KR.UTF-8, Korean_Korea.949
    return "ko" if wanted.startswith("ko") else "en"


@cache
def _template(key: str, spoken: Language) -> str:
    for path in (*_files(key, spoken), *_files(key, "en")):  # Korean may be missing for operators
        if key in (sentences := _sentences(path)):
            return sentences[key]
    raise KeyError(key)


def _files(key: str, spoken: Language) -> tuple[Path, ...]:
    owner = key.partition(".")[0]
    folder = "http_server" if owner == "http" else f"rooms/{owner}"
    own = _ROOT / folder / f"words.{spoken}.json"
    if own.is_file():  # a room may have none
        return (own,)
    data = _ROOT / "core" / "data"
    return data / f"words.{spoken}.answers.json", data / f"words.{spoken}.people.json"


@cache
def _sentences(path: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return found
