"""Redacts a text of any length, with the secrets that hidden characters split."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from core.injection.ignorable import HIDDEN_CLASS
from core.sanitizer import Secret, find, replaced

_HIDDEN = re.compile(f"[{HIDDEN_CLASS}]+")


def secrets_in(text: str, known: Mapping[str, str] | None = None) -> list[Secret]:
    """Return every secret of a text of any length, in order of place; none overlaps another.

    Hidden characters hide none: the text is also read without them, and a secret then reaches over
    those inside it. known: values found in other texts, with their kinds.
    """
    found = find(text, known)
    if _HIDDEN.search(text):
        bare, places = _bare(text)
        seen = find(bare, known)
        found += [Secret(places[it.start], places[it.end - 1] + 1, it.kind) for it in seen]
    return united(found)


def is_whole(text: str) -> bool:
    """Return whether `secrets_in` finds in a text what `find` does, and nothing else."""
    return not _HIDDEN.search(text)


def redacted(text: str, known: Mapping[str, str] | None = None) -> tuple[str, list[str]]:
    """Return the text with a marker for every secret of `secrets_in`, and their kinds."""
    secrets = secrets_in(text, known)
    return replaced(text, secrets), [it.kind for it in secrets]


def values_in(texts: Iterable[str]) -> dict[str, str]:
    """Return the secrets of some texts with their kinds, to look for each in the others.

    What hidden characters split is returned without them.
    """
    return {
        _HIDDEN.sub("", text[it.start : it.end]): it.kind
        for text in texts
        for it in secrets_in(text)
    }


def safe(text: str) -> str:
    """Return a name, or "" when it holds a secret itself."""
    return "" if has_secret(text) else text


@lru_cache(maxsize=1_024)
def has_secret(text: str) -> bool:
    """Return whether a text that is about to be printed holds a secret."""
    return bool(secrets_in(text))


def _bare(text: str) -> tuple[str, list[int]]:
    """Return the text without hidden characters, and where each of the others stands."""
    places, at = list[int](), 0
    for run in _HIDDEN.finditer(text):
        places += range(at, run.start())
        at = run.end()
    places += range(at, len(text))
    return "".join(text[at] for at in places), places


def united(found: Iterable[Secret]) -> list[Secret]:
    """Return one secret for those that overlap, under the name of the longest."""
    out: list[Secret] = []
    for it in sorted(found, key=lambda secret: (secret.start, -secret.end)):
        if not out or it.start >= out[-1].end:
            out.append(it)
            continue
        last = out[-1]
        longer = max(last, it, key=lambda secret: secret.end - secret.start)
        out[-1] = Secret(last.start, max(last.end, it.end), longer.kind)
    return out
