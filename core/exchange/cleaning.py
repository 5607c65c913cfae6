"""Takes secrets out of whole values of ours once more, wherever they come from or go to."""

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from core.sanitizer import find, redact, values_in


def without_secrets(value: Any, plain: re.Pattern[str]) -> tuple[Any, tuple[str, ...]]:
    """Return a value of ours without secrets, and the kind of each that was taken out.

    One that any of its texts gives away goes from all. plain: what matches it whole has none.
    """
    texts = [text for text in _texts(value) if not plain.fullmatch(text)]
    if not find("\n\n".join(texts)):
        return value, ()
    known, kinds = values_in(texts), list[str]()

    def clean(text: str) -> str:
        if plain.fullmatch(text):
            return text
        done, found = redact(text, known)
        kinds.extend(found)
        return done

    return mapped(value, clean), tuple(kinds)


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value of ours with each text in it changed, however deep it stands."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(mapped(it, change) for it in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{it: mapped(given, change) for it, given in _items(value)})
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for it in value:
            yield from _texts(it)
    elif is_dataclass(value):
        for _, given in _items(value):
            yield from _texts(given)


def _items(value: Any) -> list[tuple[str, Any]]:
    return [(it.name, getattr(value, it.name)) for it in fields(value)]
