"""Makes the fragments of a team of 100 agents, and what the agents ask, both by a seed."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import accumulate

from tokens import labelled_records

from core.config import DEFAULT_AGENT
from core.text.plain import estimate_tokens
from rooms.fragments.fragment import KINDS, TYPES, Fragment, hash_of

AGENTS = tuple(f"agent{number:02}" for number in range(100))
SHARED = 0.02  # of all fragments are everybody's
RARE_SHARE, RARE_SYLLABLES = 0.08, 3  # names of services, people, files: few fragments have one
SYLLABLES = [one + other for one in "bdfgklmnprstvz" for other in ("a", "e", "i", "o", "u")]
FEWEST_WORDS, MOST_WORDS, MOST_KEYWORDS = 8, 32, 5
TOPICS = 400
MINUTES = 43_200  # over which the fragments were saved, up to now: nothing of them is stale


@lru_cache(maxsize=1)
def words() -> Sequence[str]:
    """The words of the lessons in both languages, each as often as it stands there."""
    return [word for it in labelled_records() for text in it.texts for word in text.split()]


class Writer:
    """Writes texts as agents do, by a seed."""

    def __init__(self, seed: str) -> None:
        self._chance = random.Random(seed)
        self._now = datetime.now(UTC)
        self._shares = list(accumulate(1 / rank for rank in range(1, len(AGENTS) + 1)))

    def agent(self) -> str:
        """One of the agents: the first has 19 % of all fragments, the last 0.2 %."""
        return self._chance.choices(AGENTS, cum_weights=self._shares)[0]

    def text(self, count: int) -> str:
        """So many words."""
        chance = self._chance
        told = chance.choices(words(), k=count)
        for at in range(count):
            if chance.random() < RARE_SHARE:
                told[at] = "".join(chance.choices(SYLLABLES, k=RARE_SYLLABLES))
        return " ".join(told)

    def question(self) -> str:
        """What an agent asks in some words."""
        return self.text(self._chance.randint(2, 5))

    def fragment(self, number: int, of: int) -> Fragment:
        """One fragment of so many."""
        chance = self._chance
        content = self.text(chance.randint(FEWEST_WORDS, MOST_WORDS))[:300]
        row = TYPES[chance.choice(KINDS)]
        moment = self._now - timedelta(minutes=MINUTES * (1 - number / of))
        said = moment.isoformat(timespec="seconds")
        return Fragment(
            id=f"f{number:x}",
            content=content,
            content_hash=hash_of(content),
            estimated_tokens=estimate_tokens(content),
            topic=f"{chance.choice(words())[:40]} {chance.randrange(TOPICS)}",
            keywords=tuple(dict.fromkeys(self.text(chance.randint(1, MOST_KEYWORDS)).split())),
            kind=row.kind,
            lifetime=row.lifetime,
            agent=DEFAULT_AGENT if chance.random() < SHARED else self.agent(),
            importance=round(chance.random(), 2),
            is_anchor=chance.random() < 0.001,
            created_at=said,
            updated_at=said,
            verified_at=said,
        )


def fragments(count: int) -> Iterator[Fragment]:
    """So many fragments, the same each time but for their dates."""
    writer = Writer(f"fragments {count}")
    for number in range(count):
        yield writer.fragment(number, count)
