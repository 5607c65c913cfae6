"""Says how a fragment ages: its tier, its importance, and when it goes into the bin.

Pure: moments are texts, ISO 8601 in UTC. A clock set back ages nothing; an unreadable moment is
now.
"""

from datetime import UTC, datetime, timedelta
from math import log
from typing import NamedTuple

from rooms.fragments.fragment import TYPES, Fragment, Tier
from rooms.fragments.room import Config

HOT_DAYS, WARM_DAYS = 7, 30  # not used for longer: warm, cold
HOT_USES = 10  # recalled so often, a fragment stays hot and warm for twice as long
HALVING_WEEKS = 26  # in which a cold fragment loses half of its importance
LEAST_IMPORTANCE = 0.1  # below which it does not sink
BIN_DAYS = 30
ANCHOR_USES, ANCHOR_IMPORTANCE = 10, 0.8  # from which pinning a fragment is worth a thought

_WEEK = timedelta(days=7)


class Decay(NamedTuple):
    """The importance left, and the moment up to which it has decayed."""

    importance: float
    decayed_at: str


def moment_before(now: str, **span: float) -> str:
    """Return an earlier moment, as it is stored. span: as for `timedelta`.

    >>> moment_before("2026-03-08T09:30:00+00:00", days=7)
    '2026-03-01T09:30:00+00:00'
    """
    try:
        return (datetime.fromisoformat(now) - timedelta(**span)).isoformat(timespec="seconds")
    except OverflowError:
        return ""  # before there were any moments


def is_pinned(fragment: Fragment) -> bool:
    """Return whether a fragment neither ages nor goes without force."""
    return fragment.is_anchor or fragment.tier == "permanent"


def tier_of(fragment: Fragment, now: str) -> Tier:
    """Return the tier of a fragment by its days without use."""
    if is_pinned(fragment):
        return "permanent"
    idle_days = _days_since(fragment.used_at, now) / (2 if fragment.access_count >= HOT_USES else 1)
    return "hot" if idle_days < HOT_DAYS else "warm" if idle_days < WARM_DAYS else "cold"


def is_expired(fragment: Fragment, now: str) -> bool:
    if is_pinned(fragment) or not fragment.expires_at:
        return False
    return _days_since(fragment.expires_at, now) > 0


def is_stale(fragment: Fragment, now: str, config: Config) -> bool:
    """Return whether a fragment is cold, and unused for the stale days of `config` or its own."""
    if not fragment.stale_days or tier_of(fragment, now) != "cold":
        return False
    days = dict(config.stale_days).get(fragment.kind, fragment.stale_days)
    return bool(days) and _days_since(fragment.used_at, now) > days


def is_doubtful(fragment: Fragment, now: str, config: Config) -> bool:
    """Return whether nobody confirmed it for long; it is only listed."""
    days = TYPES[fragment.kind].doubtful_days
    if days and config.doubtful_days is not None:
        days = config.doubtful_days
    return bool(days) and _days_since(fragment.verified_at or fragment.created_at, now) > days


def decay_of(fragment: Fragment, now: str) -> Decay | None:
    """Return a cold fragment's lower importance, by whole weeks, each once; None if it stays."""
    moment = datetime.fromisoformat(now)
    decayed_at = _moment_of(fragment.decayed_at, moment) if fragment.decayed_at else None
    if decayed_at and decayed_at > moment:  # the clock was put back
        return Decay(fragment.importance, now)
    if is_pinned(fragment):
        return None
    warm_time = timedelta(days=WARM_DAYS * (2 if fragment.access_count >= HOT_USES else 1))
    cold_since = min(_moment_of(fragment.used_at, moment), moment) + warm_time
    start = max(cold_since, decayed_at) if decayed_at else cold_since
    weeks = (moment - start) // _WEEK
    if weeks < 1 or fragment.importance <= LEAST_IMPORTANCE:
        return None
    importance = max(fragment.importance * 0.5 ** (weeks / HALVING_WEEKS), LEAST_IMPORTANCE)
    return Decay(importance, (start + weeks * _WEEK).isoformat(timespec="seconds"))


def utility_of(fragment: Fragment) -> float:
    """Return the specification's utility: importance × (1 + ln(max(access_count, 1)))."""
    return fragment.importance * (1 + log(max(fragment.access_count, 1)))


def is_worth_pinning(fragment: Fragment) -> bool:
    """Return whether its use and importance suggest a pin."""
    is_used = fragment.access_count >= ANCHOR_USES
    return is_used and fragment.importance >= ANCHOR_IMPORTANCE and not is_pinned(fragment)


def _moment_of(text: str, now: datetime) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return now
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _days_since(text: str, now: str) -> float:
    moment = datetime.fromisoformat(now)
    return (moment - _moment_of(text, moment)) / timedelta(days=1)
