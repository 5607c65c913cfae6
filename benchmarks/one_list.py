"""Measures what is lost where the texts of one memory stand in three rooms, and are asked as one.

`python benchmarks/one_list.py [--check]` parts each of the labelled sets of `ranking.py` at random,
by a seed, into three rooms, of which each knows only its own texts; it prints nDCG@10 of the one
list over them, of a single room with all the texts, and of the rooms' own lists taken in turn.
`--check`: status 1 where the one list is worse than the single room by more than LOST.
"""

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

# A script finds only the modules of its own directory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from ranking import Ranker, labelled_sets, ndcg_at_10

from core.lessons.answers import MOST_GATHERED
from core.room.one_list import Entry, Gathered, Source, in_one_order
from core.text.ranking import Ranking

SOURCES: tuple[Source, ...] = ("lesson", "fragment", "session")
SHARES = {"equal rooms": (1, 1, 1), "one large room": (2, 20, 1)}
SEED, LOST = 3, 0.02

Parts = Sequence[Sequence[int]]


def parted(count: int, shares: Sequence[int]) -> Parts:
    """Return the places of so many texts in three rooms of about these shares."""
    chance, rooms = random.Random(SEED), [list[int]() for _ in shares]
    for at in range(count):
        chance.choices(rooms, shares)[0].append(at)
    return rooms


def gathered(
    question: str, texts: Sequence[str], places: Sequence[int], source: Source
) -> Gathered:
    """Return what one room holds on a question; it knows no other."""
    holding = Ranking(question, [texts[at] for at in places]).holding()
    parts = holding.good_parts()
    best = list(parts)[:MOST_GATHERED]
    frequencies = holding.frequencies()
    if not holding.is_telling(parts, best):
        return Gathered(frequencies=frequencies)
    entries = [
        Entry(source, str(places[at]), texts[places[at]], (), str, worth=(0.0, "", places[at]))
        for at in best
    ]
    return Gathered(entries, frequencies)


def _whole(order: Sequence[int], texts: Sequence[str]) -> list[int]:
    shown = set(order)
    return [*order, *(at for at in range(len(texts)) if at not in shown)]


def in_rooms(shares: Sequence[int], join: Callable[[str, list[Gathered]], list[Entry]]) -> Ranker:
    """Return what ranks texts that stand in three rooms of these shares."""

    def ranker(question: str, texts: Sequence[str]) -> list[int]:
        rooms = zip(parted(len(texts), shares), SOURCES, strict=True)
        found = [gathered(question, texts, places, source) for places, source in rooms]
        return _whole([int(it.id) for it in join(question, found)], texts)

    return ranker


def in_turn(question: str, rooms: Sequence[Gathered]) -> list[Entry]:
    """Return the best of each room, then the second of each."""
    lists = [in_one_order(question, [room]) for room in rooms]
    most = max(map(len, lists), default=0)
    return [it[rank] for rank in range(most) for it in lists if rank < len(it)]


def main() -> int:
    """Print the table; 1 when asked to check and the one list loses too much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="status 1 where too much is lost")
    check = parser.parse_args().check
    sets = labelled_sets()
    ways = {"a single room": in_rooms((0, 1, 0), in_one_order)}
    for name, shares in SHARES.items():
        ways[f"{name}, one list"] = in_rooms(shares, in_one_order)
        ways[f"{name}, in turn"] = in_rooms(shares, in_turn)
    print(f"{'nDCG@10':28}" + "".join(f"{name:>22}" for name in sets))
    rows = {name: [ndcg_at_10(way, it) for it in sets.values()] for name, way in ways.items()}
    for name, figures in rows.items():
        print(f"{name:28}" + "".join(f"{it:22.3f}" for it in figures))
    missed = [
        name
        for name, figures in rows.items()
        if name.endswith("one list")
        and any(had - it > LOST for had, it in zip(rows["a single room"], figures, strict=True))
    ]
    for name in missed:
        print(f"loses more than {LOST}: {name}")
    return int(check and bool(missed))


if __name__ == "__main__":
    sys.exit(main())
