"""What every form of an exported document is made of: its head, and sessions whole and clean."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.messages import say
from core.room.redaction import without_secrets
from rooms.sessions.actions.kinds import KINDS, result_of
from rooms.sessions.session import Action, Session

MARK = "sentinel-memory-sessions"  # in the first line of each form: an export may replace it
_PLAIN = re.compile(r"[0-9TZ:+. -]*|ctx_[0-9a-f]{12}|[a-z]{1,12}")  # dates, our ids, our words


@dataclass(frozen=True, slots=True)
class Head:
    """What a document says of itself. exported: the moment, in ISO 8601."""

    project: str
    count: int
    exported: str


class Whole(NamedTuple):
    """A session with its actions. parent: the number of the one it continues, 0 for none."""

    session: Session
    actions: Sequence[Action]
    parent: int = 0


class Form(NamedTuple):
    """One form of document, which is written piece by piece.

    begins: with what every document of it begins, also after years. between: what stands between
    two sessions. end: gets how many sessions were left out.
    """

    suffixes: tuple[str, ...]
    begins: str
    begin: Callable[[Head], str]
    session: Callable[[Whole, Head], str]
    end: Callable[[Head, int], str]
    between: str = ""


def facts_of(whole: Whole) -> list[str]:
    """Return what is known of a session beside its texts, a few words each, unescaped."""
    session = whole.session
    started, saved = session.started_at[:10], session.date
    facts = [say("sessions.exchange.started", date=started)] if started and started != saved else []
    facts += [say("sessions.exchange.saved", date=saved), session.status, session.agent]
    if whole.parent:
        facts.append(say("sessions.exchange.continues", name=f"#{whole.parent}"))
    return [fact for fact in facts if fact]


def outcome(result: str) -> str:
    """Return how an approach went, in the reader's language."""
    return say(f"sessions.exchange.{result if result in ('success', 'failed') else 'partial'}")


def kind_of(action: Action) -> str:
    """Return what an action was, in the reader's language."""
    return say(f"sessions.exchange.{action.kind}") if action.kind in KINDS else action.kind


def ended(action: Action) -> str:
    """Return how an action went, as far as it is known; unescaped."""
    return result_of(action, "sessions.exchange")


def done_in(action: Action) -> str:
    """Return what an action did, and in which file where that does not say so; unescaped."""
    path = action.file_path if action.file_path not in action.content else ""
    return " ".join(filter(None, (action.content, path)))


class Cleaned(NamedTuple):
    """A session with its actions, and the kind of each secret that was taken out of them."""

    session: Session
    actions: list[Action]
    redacted: tuple[str, ...] = ()


def cleaned(session: Session, actions: list[Action]) -> Cleaned:
    """Return a session without secrets; one that any of its texts gives away goes from all."""
    (done, others), kinds = without_secrets((session, tuple(actions)), _PLAIN)
    return Cleaned(done, list(others), kinds)
