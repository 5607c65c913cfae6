"""Says sentences of the program in a language, and expects errors by the keys of theirs."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import ParamSpec, TypeVar

import pytest

from core.errors import SentinelError
from core.messages import Language, say, use_language
from tests.support.tables import ROOT

FOLDERS = ("core", "protocol", "rooms", "http_server", "commands")
WORD_FILES = sorted(it for name in FOLDERS for it in ROOT.glob(f"{name}/**/words.en*.json"))
LANGUAGES: tuple[Language, ...] = ("en", "ko")
_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")
_Error = TypeVar("_Error", bound=SentinelError)


@cache
def sentences(language: str) -> dict[str, str]:
    """Return all sentences of a language by key."""
    paths = [it.with_name(it.name.replace(".en", f".{language}")) for it in WORD_FILES]
    return {k: text for it in paths for k, text in json.loads(it.read_text("utf-8")).items()}


def sentence(language: Language, key: str, /, **facts: str | int) -> str:
    """Return the sentence of a key in one language, its facts filled in."""
    return in_language(language, say, key, **facts)


def in_language(
    language: Language,
    function: Callable[_Given, _Answer],
    /,
    *given: _Given.args,
    **more: _Given.kwargs,
) -> _Answer:
    """Return the result of a function in a language: `in_language("ko", str, error)`."""
    with use_language(language):
        return function(*given, **more)


def pair(key: str) -> tuple[str, str]:
    """Return a sentence in English and Korean, its facts in braces."""
    return sentences("en")[key], sentences("ko")[key]


@contextmanager
def raised(
    kind: type[_Error], key: str, *, match: str | None = None
) -> Iterator[pytest.ExceptionInfo[_Error]]:
    """Expect an error by its class and the key of its sentence: `raised(RefusedError, "blank")`."""
    with pytest.raises(kind, match=match) as caught:
        yield caught
    assert caught.value.key == key
