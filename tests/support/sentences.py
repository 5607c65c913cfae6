"""Says sentences of the program in a language of the test's choice."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

import pytest

from core.errors import SentinelError
from core.messages import Language, say, speaking
from tests.support.said import sentences

LANGUAGES: tuple[Language, ...] = ("en", "ko")

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")
_Error = TypeVar("_Error", bound=SentinelError)


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
    """Return what a function returns in a language: `in_language("ko", str, error)`."""
    with speaking(language):
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
