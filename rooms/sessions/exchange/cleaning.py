"""Takes secrets out of whole sessions once more, wherever their texts come from or go to."""

import re
from typing import NamedTuple

from core.exchange.cleaning import without_secrets
from rooms.sessions.session import Action, Session

_PLAIN = re.compile(r"[0-9TZ:+. -]*|ctx_[0-9a-f]{12}|[a-z]{1,12}")  # dates, our ids, our words


class Cleaned(NamedTuple):
    """A session with its actions, and the kind of each secret that was taken out of them."""

    session: Session
    actions: list[Action]
    redacted: tuple[str, ...] = ()


def cleaned(session: Session, actions: list[Action]) -> Cleaned:
    """Return a session without secrets; one that any of its texts gives away goes from all."""
    (done, others), kinds = without_secrets((session, tuple(actions)), _PLAIN)
    return Cleaned(done, list(others), kinds)
