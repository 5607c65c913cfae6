"""Takes secrets out of whole sessions once more, wherever their texts come from or go to."""

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

from core.sanitizer import values_in
from core.text_redaction import redacted, secrets_in
from rooms.sessions.session import Action, Session

_PLAIN = re.compile(r"[0-9TZ:+. -]*|ctx_[0-9a-f]{12}|[a-z]{1,12}")  # dates, our ids, our words


class Cleaned(NamedTuple):
    """A session with its actions, and the kind of each secret that was taken out of them."""

    session: Session
    actions: list[Action]
    redacted: tuple[str, ...] = ()


def cleaned(session: Session, actions: list[Action]) -> Cleaned:
    """Return a session without secrets; one that any of its texts gives away goes from all."""
    texts = [text for text in _texts((session, tuple(actions))) if not _PLAIN.fullmatch(text)]
    if not secrets_in("\n\n".join(texts)):
        return Cleaned(session, actions)
    known, kinds = values_in(texts), list[str]()

    def clean(text: str) -> str:
        if _PLAIN.fullmatch(text):
            return text
        done, found = redacted(text, known)
        kinds.extend(found)
        return done

    done, others = mapped((session, tuple(actions)), clean)
    return Cleaned(done, list(others), tuple(kinds))


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
