"""Watches what a transaction does to the keywords of fragments."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.redis.keyword_sets import Change, Words, words_of
from rooms.fragments.storage.rows import Rows

MOST_FOLLOWED = 2_000  # fragments of one transaction: after more the sets are made anew
_CHANGING = {"keywords", "agent", "deleted_at", "superseded_at"}


class WatchedWriting:
    """See `Writing`: all of it goes through."""

    def __init__(self, writing: Rows) -> None:
        self._writing = writing
        self._before = dict[int, tuple[str, Words]]()  # by number whose it was, and its keywords

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writing, name)

    def add(self, fragments: Sequence[Fragment]) -> list[Fragment]:
        """See `Writing`."""
        added = self._writing.add(fragments)
        for it in added:
            self._before.setdefault(it.number, (it.agent, frozenset()))
        return added

    def replace(self, fragments: Sequence[Fragment]) -> None:
        """See `Writing`."""
        self._watch(it.number for it in fragments)
        self._writing.replace(fragments)

    def touch(self, numbers: Iterable[int], values: Mapping[str, Any]) -> None:
        """See `Writing`."""
        some = list(numbers)
        if values.keys() & _CHANGING:
            self._watch(some)
        self._writing.touch(some, values)

    def drop(self, ids: Iterable[str]) -> int:
        """See `Writing`."""
        some = list(ids)
        self._note(self._writing.by_ids(some))
        return self._writing.drop(some)

    def changes(self) -> dict[str, Change]:
        """Return what the transaction does by agent; to be asked last of all.

        An agent with too many changes is left out.
        """
        revised: Mapping[str, tuple[str, str]] = getattr(self._writing, "revised", dict)()
        if not revised or len(self._before) > MOST_FOLLOWED:
            return {}
        after = {it.number: it for it in self._writing.by_numbers(self._before)}
        words = dict[str, dict[int, tuple[Words, Words]]]()
        for number, (agent, before) in self._before.items():
            now = after.get(number)
            owner = now.agent if now else agent
            if owner == agent:
                words.setdefault(agent, {})[number] = before, _words_of(now)
            else:
                words.setdefault(agent, {})[number] = before, frozenset()
                words.setdefault(owner, {})[number] = frozenset(), _words_of(now)
        return {
            agent: Change(former, revision, words.get(agent, {}))
            for agent, (former, revision) in revised.items()
            if former or self._are_all(agent, words.get(agent, {}))
        }

    def _are_all(self, agent: str, words: Mapping[int, tuple[Words, Words]]) -> bool:
        """Return whether an agent has no other fragments: then its sets begin with these."""
        return self._writing.count(Wanted(agents=(agent,), state="all"))[""] <= len(words)

    def _watch(self, numbers: Iterable[int]) -> None:
        new = [it for it in numbers if it not in self._before]
        if new and len(self._before) <= MOST_FOLLOWED:
            self._note(self._writing.by_numbers(new))

    def _note(self, fragments: Iterable[Fragment]) -> None:
        for it in fragments:
            self._before.setdefault(it.number, (it.agent, _words_of(it)))


def _words_of(fragment: Fragment | None) -> Words:
    """Return the keywords by which a fragment is found: none of one that is gone."""
    return words_of(fragment.keywords) if fragment and fragment.is_live else frozenset()
