"""Says what a fragment is worth: what orders fragments without a question, and equals with one.

How often a fragment was recalled counts for nothing: what was found once would be found for ever.
"""

from contextlib import suppress
from datetime import datetime

from rooms.fragments.config import Config
from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.storage.rows import Rows

_HALF_DAYS = 30  # after so many days a fragment is half as recent
_MOST_LISTED = 100  # of the newest and of the most important: those are listed first
_DAY_S = 86_400


class Worth:
    """What orders fragments where no question does. has_order: else only the newest come first."""

    def __init__(self, config: Config, now: str, *, has_order: bool) -> None:
        self._config, self._has_order = config, has_order
        self._now = datetime.fromisoformat(now).timestamp()

    def __call__(self, fragment: Fragment) -> tuple[float, str, int]:
        """Return what is greater for a fragment that comes before."""
        at = max(fragment.updated_at, fragment.created_at)
        if not self._has_order:
            return 0.0, at, fragment.number
        age_days = max(self._now - _seconds(at), 0.0) / _DAY_S
        recency = 0.5 ** (age_days / _HALF_DAYS)
        config = self._config
        worth = config.importance_weight * fragment.importance + config.recency_weight * recency
        return worth, at, fragment.number


def worth_in(reading: Rows, agents: tuple[str, ...], config: Config, now: str) -> Worth:
    """Return what orders fragments in a room of so many."""
    has_order = reading.has(Wanted(agents=agents), max(config.activation_threshold, 1))
    return Worth(config, now, has_order=has_order)


def by_worth(reading: Rows, wanted: Wanted, worth: Worth) -> list[Fragment]:
    """Return fragments without a question: those worth most first."""
    listed = {
        it.number: it
        for order in ("newest", "worth")
        for it in reading.find(wanted, order=order, limit=_MOST_LISTED)
    }
    return sorted(listed.values(), key=worth, reverse=True)


def _seconds(moment: str) -> float:
    with suppress(ValueError):  # a hand or an import can write anything there
        return datetime.fromisoformat(moment).timestamp()
    return 0.0
