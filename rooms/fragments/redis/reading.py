"""Reads one state of the fragments, where answers to the questions of the index are remembered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace
from functools import cached_property
from typing import Any, TypeVar

from core.text.ranking import Holding
from rooms.fragments.fragment import Wanted
from rooms.fragments.redis.cache import Cache
from rooms.fragments.redis.seals import data_of_holding, holding_of_data, pairs_of_data
from rooms.fragments.storage.rows import Rows

_Answer = TypeVar("_Answer")

# What a revision says nothing of: recalling, pinning and ageing change these without a new one.
_UNKNOWN: dict[str, Any] = {
    "used_before": "",
    "expires_before": "",
    "checked_before": "",
    "tiers": (),
    "is_anchor": None,
}


class CachedReading:
    """See `Reading`: three of its questions are looked up first, the others go through.

    agent: who asks; what is kept for it is given to nobody else.
    """

    def __init__(self, reading: Rows, cache: Cache, agent: str) -> None:
        self._reading, self._cache, self._agent = reading, cache, agent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reading, name)

    def with_keywords(
        self, keywords: Sequence[str], wanted: Wanted, most: int
    ) -> list[tuple[int, int]]:
        """See `Reading`."""
        agents = wanted.agents or tuple(self._revisions)
        if self._revisions and replace(wanted, agents=()) == Wanted():
            seen = {it: self._revisions[it] for it in agents if it in self._revisions}
            found = self._cache.sets.having(keywords, seen, most)
            if found is not None:
                self._cache.hits += 1
                return found
        return self._looked_up(
            wanted,
            ["keywords", *keywords],
            most,
            lambda: self._reading.with_keywords(keywords, wanted, most),
            (list, pairs_of_data),
        )

    def holding(self, query: str, most: int) -> Holding:
        """See `Reading`."""
        return self._looked_up(
            Wanted(),
            ["holding", query],
            most,
            lambda: self._reading.holding(query, most),
            (data_of_holding, holding_of_data),
        )

    def near(self, vector: bytes, wanted: Wanted, most: int) -> list[tuple[int, float]]:
        """See `Reading`."""
        return self._looked_up(
            wanted,
            ["near", vector.hex()],
            most,
            lambda: self._reading.near(vector, wanted, most),
            (list, pairs_of_data),
        )

    @cached_property
    def _revisions(self) -> Mapping[str, str]:
        return self._reading.revisions() if self._cache.client.is_worth_asking else {}

    def _looked_up(
        self,
        wanted: Wanted,
        question: Sequence[str],
        most: int,
        ask: Callable[[], _Answer],
        forms: tuple[Callable[[_Answer], Any], Callable[[Any], _Answer]],
    ) -> _Answer:
        """Return what is remembered of a question, or else its answer, which is then remembered.

        forms: what makes data of an answer, and an answer of data.
        """
        revisions = self._revisions
        if not revisions or replace(wanted, **_UNKNOWN) != wanted:
            return ask()
        to_data, of_data = forms
        whole = [*question, most, list(astuple(wanted))]
        name = self._cache.name_of(self._agent, whole, revisions)
        data = self._cache.answer(name, revisions)
        if data is not None:
            self._cache.hits += 1
            return of_data(data)
        answer = ask()
        self._cache.keep(name, revisions, to_data(answer))
        return answer
