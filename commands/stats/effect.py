"""Counts what became of the records that hooks showed at an action, and of those they withheld.

Pure: records, sessions and commits in, figures out. A unit is one record in one session, from the
first time that an action needed it there.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any

from commands.hook.journal import Session, checksum_of, is_recent, versions_in
from commands.hook.trial import has_trigger
from commands.stats.hook_use import SAVED_WITHIN_S, START
from commands.stats.intervals import Share
from core.lessons.answers.counting import DAY_S, last_s
from core.lessons.git.project.history import Commit
from core.lessons.record import Record, id_in

WITHIN_DAYS = 14
MOST_GIT_S = 5

_REPAIRS = re.compile(r"\W*(?:revert|(?:hot|bug)?fix(?:e[sd]|up)?|되돌|버그|오류)(?![a-z])", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A record that an action of a session needed. files: checksums of those that were to change.

    at_s, ends_s: when, and an hour after the last event of the session. is_trial: whether it could
    have been withheld. is_triggered: whether one of its triggers stood in what was to be written.
    """

    record: Record
    at_s: int
    ends_s: int
    is_withheld: bool
    is_trial: bool
    is_triggered: bool
    files: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A commit, and what it added to which file, by its checksum."""

    at_s: int
    subject: str
    added: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Arms:
    """The same outcome where the record was shown and where it was withheld."""

    shown: Share
    withheld: Share

    @property
    def is_enough(self) -> bool:
        """Whether both may be told."""
        return self.shown.is_enough and self.withheld.is_enough


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What became of the units.

    trial: how many of those that could be withheld were shown, and withheld. outcomes: by name, of
    those whose outcome is known. followed: units that were shown at their trigger, and of these
    with which the next commit of the file added no line with it. waiting: those of them of which no
    commit tells. is_whole: whether all commits were read.
    """

    trial: tuple[int, int]
    outcomes: Mapping[str, Arms]
    followed: Share
    waiting: int
    is_whole: bool = True


def units_of(records: Sequence[Record], sessions: Iterable[Session], *, now_s: float) -> list[Unit]:
    """Return the units of the last KEPT_DAYS whose records the log still has."""
    known = {record.id: record for record in records}
    found = list[Unit]()
    for session in sessions:
        events = [event for event in session.events if is_recent(event, now_s)]
        events.sort(key=itemgetter("at"))
        seen = dict[str, Unit]()
        for event in events:
            if event["event"] == START:
                continue
            for unit in _units(event, known, events[-1]["at"] + SAVED_WITHIN_S):
                seen.setdefault(unit.record.id, unit)
        found += seen.values()
    return found


def _units(event: Mapping[str, Any], known: Mapping[str, Record], ends_s: int) -> Iterator[Unit]:
    triggered = set(versions_in(event, "triggered"))
    for name in ("shown", "withheld"):
        for version in versions_in(event, name):
            if record := known.get(id_in(version)):
                yield Unit(
                    record=record,
                    at_s=event["at"],
                    ends_s=ends_s,
                    is_withheld=name == "withheld",
                    is_trial=event.get("holdout") is True,
                    is_triggered=version in triggered,
                    files=frozenset(versions_in(event, "files")),
                )


def asking(units: Iterable[Unit]) -> list[Unit]:
    """Return the units of which commits may tell something."""
    return [unit for unit in units if unit.files and (unit.is_trial or unit.is_triggered)]


def changes_of(commits: Iterable[Commit], units: Iterable[Unit]) -> list[Change]:
    """Return what the commits did to the files of these units, in the order of time."""
    files = {file for unit in units for file in unit.files}
    changes = []
    for commit in commits:
        added = dict[str, list[str]]()
        for hunk in commit.hunks:
            if (file := checksum_of(hunk.path)) in files:
                added.setdefault(file, []).append(hunk.added)
        if added:
            changes.append(Change(at_s=commit.at_s, subject=commit.subject, added=added))
    return sorted(changes, key=attrgetter("at_s"))


def count_effect(
    units: Sequence[Unit], changes: Sequence[Change], *, now_s: float, is_whole: bool
) -> Effect:
    """Count what became of the units.

    changes: since the first of them. is_whole: whether these are all until now.
    """
    history = _History(changes, now_s if is_whole else 0)
    trial = [unit for unit in units if unit.is_trial]
    told = [unit for unit in units if unit.is_triggered and not unit.is_withheld]
    outcomes = {
        "logged_again": _arms((unit, _is_logged_again(unit)) for unit in trial),
        "repaired": _arms((unit, history.is_repaired(unit)) for unit in trial),
        "followed": _arms((it, history.is_followed(it)) for it in trial if it.is_triggered),
    }
    followed = _share(history.is_followed(unit) for unit in told)
    return Effect(
        trial=(sum(not it.is_withheld for it in trial), sum(it.is_withheld for it in trial)),
        outcomes=outcomes,
        followed=followed,
        waiting=len(told) - followed.of,
        is_whole=is_whole,
    )


def _is_logged_again(unit: Unit) -> bool:
    """Return whether the gap was last logged again before the session ended."""
    return unit.record.seen > 1 and unit.at_s < last_s(unit.record) <= unit.ends_s


def _arms(outcomes: Iterable[tuple[Unit, bool | None]]) -> Arms:
    pairs = list(outcomes)
    return Arms(
        shown=_share(it for unit, it in pairs if not unit.is_withheld),
        withheld=_share(it for unit, it in pairs if unit.is_withheld),
    )


def _share(outcomes: Iterable[bool | None]) -> Share:
    """Return how many hold of those that are known."""
    known = [it for it in outcomes if it is not None]
    return Share(sum(known), len(known))


class _History:
    """What git tells of the files of a unit."""

    def __init__(self, changes: Sequence[Change], until_s: float) -> None:
        self._changes, self._until_s = changes, until_s

    def _since(self, at_s: int, files: frozenset[str]) -> list[Change]:
        """Return what changed one of the files within WITHIN_DAYS."""
        last_s = at_s + WITHIN_DAYS * DAY_S
        return [it for it in self._changes if at_s <= it.at_s <= last_s and files & it.added.keys()]

    def is_followed(self, unit: Unit) -> bool | None:
        """Return whether the next commit adds no line with a trigger; None without one."""
        for change in self._since(unit.at_s, unit.files)[:1]:
            texts = [text for file in unit.files for text in change.added.get(file, ())]
            return not any(has_trigger(unit.record, text) for text in texts)
        return None

    def is_repaired(self, unit: Unit) -> bool | None:
        """Return whether one after the next commit repairs its files; None as long as it may."""
        for change in self._since(unit.at_s, unit.files)[:1]:
            if change.at_s + WITHIN_DAYS * DAY_S > self._until_s:
                return None
            later = (it for it in self._since(change.at_s, unit.files) if it is not change)
            return any(_REPAIRS.match(it.subject) for it in later)
        return None
