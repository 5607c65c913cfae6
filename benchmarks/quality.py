"""Measures how well searches find their answers: lessons, texts over three rooms, fragments.

`--locomo FILE` counts the dialogues of LoCoMo as well, which are not part of this project. Nothing
in it is random; README.md beside this file says how everything is counted.
"""

import random
import re
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import labelled
from labelled import FIELDS, Pool, Ranker, labelled_sets, ndcg_at_10, rank
from measure import CREATED, Figure, options, read_lines, reported

from core.config import CONTEXT_DIRECTORY, LOG_NAME, Settings, read_settings
from core.lessons.answers import MOST_GATHERED, Frame, search_answer
from core.lessons.record import Draft, Record, new_record
from core.lessons.record_text import record_block
from core.store import MemoryStore
from core.text.ranking import Entries, Entry, Ranking, Source, rank_entries
from core.text.terms import terms_of
from rooms.fragments.fragment import Fragment, Query, hash_of
from rooms.fragments.models.vectors import LOCAL_MODEL, Embedder, LocalModel, embed_missing
from rooms.fragments.recall import recall
from rooms.fragments.room import Config, Room
from rooms.fragments.storage.sqlite import SqliteEngine

# nDCG@10 of `rank`, and of a recall of fragments, on each labelled set.
FLOORS = {"turns": 0.335, "observations": 0.77, "lessons": 0.92, "lessons among others": 0.69}
RECALL_FLOORS = {"turns": 0.34, "observations": 0.74, "lessons": 0.87, "lessons among others": 0.69}
HITS_BESIDE = 2.0  # hits among five, times those of an index that wants all words
FEW_HITS = {"observations": 0.88, "lessons": 0.8}  # hits in rooms of a few texts
MEANING_FLOORS = {"words": (21, 11), "words and meaning": (28, 13)}  # first answers, silent ones

SOURCES: tuple[Source, ...] = ("lesson", "fragment", "session")
SHARES = {"equal rooms": (1, 1, 1), "one large room": (2, 20, 1)}
ROOMS_SEED, LOST = 3, 0.02  # nDCG@10 that the one list may lose

SURVIVAL_RECORDS = 500
SURVIVAL_FLOORS = {1_000: 0.9, 5_000: 0.95, 20_000: 0.98}  # by the tokens of the answer

AT = "2026-01-01T00:00:00+00:00"
WHOLE_TOKENS = 100_000
DATA = "the labelled sets of tests/data and benchmarks"


# Texts in the order of a question.


def newest_first(query: str, texts: Sequence[str]) -> list[int]:
    return list(reversed(range(len(texts))))


def words_in_common(query: str, texts: Sequence[str]) -> list[int]:
    wanted = set(_plain_words(query))
    common = [len(wanted.intersection(_plain_words(text))) for text in texts]
    return sorted(newest_first(query, texts), key=common.__getitem__, reverse=True)


def bm25(query: str, texts: Sequence[str], k1: float = 1.2, b: float = 0.75) -> list[int]:
    """BM25 as it stands in books."""
    counted = [Counter(_plain_words(text)) for text in texts]
    lengths = [it.total() for it in counted]
    mean = sum(lengths) / len(lengths)
    scores = [0.0] * len(texts)
    for token in dict.fromkeys(_plain_words(query)):
        found = [index for index, it in enumerate(counted) if token in it]
        rarity = log(1 + (len(texts) - len(found) + 0.5) / (len(found) + 0.5))
        for index in found:
            times = counted[index][token]
            damping = k1 * (1 - b + b * lengths[index] / mean)
            scores[index] += rarity * times * (k1 + 1) / (times + damping)
    return sorted(newest_first(query, texts), key=scores.__getitem__, reverse=True)


def _plain_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def ranking() -> Iterator[Figure]:
    """Yield nDCG@10 of the order of a search, and of simpler ones beside it."""
    ways: dict[str, Ranker] = {"BM25": bm25, "search": rank}
    for way, ranker in ways.items():
        for name, its in labelled_sets().items():
            least = FLOORS[name] if ranker is rank else None
            yield Figure(f"ranking, {name}, {way}", ndcg_at_10(ranker, its), least=least)


# One list over three rooms.


def in_rooms(shares: Sequence[int], join: Callable[[str, list[Entries]], list[Entry]]) -> Ranker:
    """Return a ranker of texts that stand in rooms of these shares."""

    def ranker(question: str, texts: Sequence[str]) -> list[int]:
        chance, rooms = random.Random(ROOMS_SEED), [list[int]() for _ in shares]
        for at in range(len(texts)):
            chance.choices(rooms, shares)[0].append(at)
        found = list[Entries]()
        for source, places in zip(SOURCES, rooms, strict=True):  # a room knows no other
            coverage = Ranking(question, [texts[at] for at in places]).coverage()
            parts = coverage.good_shares()
            best = list(parts)[:MOST_GATHERED]
            told = [places[it] for it in best] if coverage.may_answer(parts, best) else []
            entries = [Entry(source, str(at), texts[at], (), str, (0.0, "", at)) for at in told]
            found.append(Entries(entries, coverage.frequencies()))
        order = [int(it.id) for it in join(question, found)]
        shown = set(order)
        return [*order, *(at for at in range(len(texts)) if at not in shown)]

    return ranker


def in_turn(question: str, rooms: Sequence[Entries]) -> list[Entry]:
    """Return the best of each room, then the second of each."""
    lists = [rank_entries(question, [room]) for room in rooms]
    most = max(map(len, lists), default=0)
    return [it[rank] for rank in range(most) for it in lists if rank < len(it)]


def one_list() -> Iterator[Figure]:
    """Yield nDCG@10 of the one list over three rooms, of one room, and of the lists in turn."""
    for name, its in labelled_sets().items():
        single = ndcg_at_10(in_rooms((0, 1, 0), rank_entries), its)
        yield Figure(f"one room, {name}", single)
        for rooms, shares in SHARES.items():
            joined = ndcg_at_10(in_rooms(shares, rank_entries), its)
            yield Figure(f"one list over {rooms}, {name}", joined, least=single - LOST)
            turns = ndcg_at_10(in_rooms(shares, in_turn), its)
            yield Figure(f"lists in turn over {rooms}, {name}", turns)


# Whether the lesson that matters survives the budget of an answer.


def distractors() -> Iterator[Record]:
    """Yield records of ten other projects, then the gaps of some with the lessons of others."""
    given = [
        record
        for name in ("actions_tuned.jsonl", "actions_unseen.jsonl")
        for project in read_lines(name)
        for record in project["records"]
        if record["missing_context"]
    ]
    yield from map(_record, given)
    for shift in range(1, len(given)):
        for at, one in enumerate(given):
            other = given[(at + 7 * shift) % len(given)]
            yield _record({**one, "lesson": other["lesson"], "ask_next_time": ""})


def _record(given: Mapping[str, Any]) -> Record:
    return new_record(Draft(**{field: given[field] for field in FIELDS}), now=CREATED)


def survival() -> Iterator[Figure]:
    """Yield of how many tasks an answer holds the lesson whole, by budget and way of asking.

    The lessons stand at even distances in a log. Where task and lesson are in different languages,
    only keywords connect them.
    """
    rows = read_lines("survival.jsonl")
    lessons = list({lesson.id: lesson for lesson in map(_record, rows)}.values())
    lines = [it.to_line() for it in islice(distractors(), SURVIVAL_RECORDS - len(lessons))]
    step = SURVIVAL_RECORDS / len(lessons)
    for at, lesson in enumerate(lessons):
        lines.insert(int(at * step), lesson.to_line())
    tasks = [(_record(row), row["language"], asked) for row in rows for asked in row["tasks"]]
    with tempfile.TemporaryDirectory(prefix="sentinel-memory-survival-") as scratch:
        path = Path(scratch, CONTEXT_DIRECTORY, LOG_NAME)
        path.parent.mkdir(parents=True)
        path.write_bytes(b"".join(lines))
        log = MemoryStore(path).read()
    for budget, floor in SURVIVAL_FLOORS.items():
        settings = read_settings({"SENTINEL_MEMORY_BUDGET": str(budget)})
        frame = Frame(project="/shop", settings=settings)
        found: dict[str, list[bool]] = {}
        for lesson, spoken, asked in tasks:
            block = f"\n{record_block(lesson)}\n"
            language = "same" if spoken in (asked["language"], "mixed") else "other"
            ways = {"keywords": asked["query"], "task": asked["task"], "nothing": ""}
            for way, query in ways.items():
                shown = block in search_answer(log, frame, query=query) + "\n"
                found.setdefault(way, []).append(shown)
                if query:
                    found.setdefault(f"{way}, {language} language", []).append(shown)
        for way, hits in found.items():
            least = floor if way == "keywords" else None
            label = f"lesson whole in {budget:,} tokens, {way}"
            yield Figure(label, sum(hits) / len(hits), least=least)


# Fragments.


class Quality(NamedTuple):
    """How well a way answers."""

    ndcg: float
    hit: float
    silent: float | None  # the share of foreign questions that get no answer


def room_of(path: Path, texts: Sequence[str]) -> Room:
    """A room with these texts, each a fragment whose number is its place and one."""
    engine = SqliteEngine(path, timeout_s=10)
    room = Room(engine=engine, config=Config(path), settings=Settings(), clock=lambda: AT)
    made = [
        Fragment(id=f"f{at}", content=text, content_hash=hash_of(text), created_at=AT)
        for at, text in enumerate(texts)
    ]
    with engine.writing() as writing:
        writing.add(made)
    return room


def recalled(room: Room, embedder: Embedder | None = None) -> Ranker:
    """The answers of the room, by words and, with an embedder, by meaning."""

    def way(question: str, texts: Sequence[str]) -> list[int]:
        query = Query(text=question, limit=10, tokens=WHOLE_TOKENS, with_links=False)
        return [it.number - 1 for it in recall(room, query, embedder=embedder).fragments]

    return way


def indexed(texts: Sequence[str], join: str) -> Ranker:
    """The answers of FTS5 alone, by its own rank. join: OR for any word, AND for all of them."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text)")
    connection.executemany("INSERT INTO texts VALUES (?)", [(text,) for text in texts])

    def way(question: str, texts: Sequence[str]) -> list[int]:
        words = dict.fromkeys(strong.run for strong, *_ in terms_of(question))
        match = f" {join} ".join(f'"{word}"' for word in words)
        if not match:
            return []
        rows = connection.execute(
            "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 10", (match,)
        )
        return [number - 1 for (number,) in rows]

    return way


def measured(way: Ranker, pool: Pool) -> Quality:
    """How well one way answers the questions of a pool."""
    texts, questions, silent = pool.labelled.texts, pool.labelled.questions, None
    hits = [bool(its & set(way(query, texts)[:5])) for query, its in questions]
    if pool.foreign:
        answered = [bool(way(query, texts)) for query in pool.foreign]
        silent = 1 - sum(answered) / len(answered)
    return Quality(ndcg_at_10(way, pool.labelled), sum(hits) / len(hits), silent)


def answered_first(way: Ranker, pool: Pool) -> tuple[int, int]:
    """How many questions have an answer in the first place, and how many foreign ones have none."""
    texts = pool.labelled.texts
    firsts = [(way(query, texts)[:1], answers) for query, answers in pool.labelled.questions]
    first = sum(bool(answers.intersection(found)) for found, answers in firsts)
    return first, sum(not way(query, texts) for query in pool.foreign)


def fragments() -> Iterator[Figure]:
    """Yield how well a recall answers, beside an index alone, and by meaning."""
    for name, pool in labelled.own_pools().items():
        found = dict(qualities([pool]))
        hit = found["recall"].hit
        least_hit = HITS_BESIDE * found["FTS5, all words"].hit
        for way, its in found.items():
            is_ours = way == "recall"
            least = RECALL_FLOORS[name] if is_ours else None
            yield Figure(f"fragments, {name}, {way}: nDCG@10", its.ndcg, least=least)
            if its.silent is not None:
                yield Figure(f"fragments, {name}, {way}: silent", its.silent)
        yield Figure(f"fragments, {name}: hit@5", hit, least=least_hit)
    for name, pools in labelled.small_pools().items():
        hit = dict(qualities(pools))["recall"].hit
        yield Figure(f"fragments, {name}: hit@5", hit, least=FEW_HITS[name.partition(",")[0]])


def meaning() -> Iterator[Figure]:
    """Yield how many questions are answered first, by words alone and with the local model."""
    pool = labelled.meaning_pool()
    count, foreign = len(pool.labelled.questions), len(pool.foreign)
    with tempfile.TemporaryDirectory(prefix="sentinel-memory-") as scratch:
        room = room_of(Path(scratch) / "memory.db", pool.labelled.texts)
        for name, floors in MEANING_FLOORS.items():
            embedder = None if name == "words" else Embedder(LocalModel(), LOCAL_MODEL)
            if embedder:
                embed_missing(room, embedder)
            first, silent = answered_first(recalled(room, embedder), pool)
            yield Figure(f"meaning, {name}: first of {count}", first, least=floors[0])
            yield Figure(f"meaning, {name}: silent of {foreign}", silent, least=floors[1])


def qualities(pools: Sequence[Pool]) -> Iterator[tuple[str, Quality]]:
    """Yield each way of answering with its mean over all questions of these pools."""
    found: dict[str, list[tuple[Quality, int]]] = {}
    for pool in pools:
        texts = pool.labelled.texts
        with tempfile.TemporaryDirectory(prefix="sentinel-memory-") as scratch:
            ways = {
                "recall": recalled(room_of(Path(scratch) / "memory.db", texts)),
                "FTS5, any word": indexed(texts, "OR"),
                "FTS5, all words": indexed(texts, "AND"),
            }
            for name, way in ways.items():
                its = measured(way, pool), len(pool.labelled.questions)
                found.setdefault(name, []).append(its)
    for name, parts in found.items():
        total = sum(count for _, count in parts)
        silent = [its.silent for its, _ in parts if its.silent is not None]
        ndcg = sum(its.ndcg * count for its, count in parts) / total
        hit = sum(its.hit * count for its, count in parts) / total
        yield name, Quality(ndcg, hit, sum(silent) / len(silent) if silent else None)


def locomo(path: Path) -> Iterator[Figure]:
    """Yield how well its questions are answered, by halves, of which one chose a rule."""
    for name, pools in labelled.locomo_pools(path).items():
        for way, its in qualities(pools):
            figures = {"nDCG@10": its.ndcg, "hit@5": its.hit, "silent": its.silent}
            for what, value in figures.items():
                if value is not None:
                    yield Figure(f"{name}, {way}: {what}", value)


def main() -> int:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--locomo", type=Path, metavar="FILE", help="its locomo10.json")
    given = parser.parse_args()
    status = 0
    for part in (ranking, one_list, survival, fragments, meaning):
        name = part.__name__.replace("_", " ")
        status |= reported(part(), given, name, DATA)
    if given.locomo:
        status |= reported(locomo(given.locomo), given, "locomo", "LoCoMo, ten dialogues")
    return status


if __name__ == "__main__":
    sys.exit(main())
