"""Measures how well fragments are recalled, beside an index alone and other memory servers."""

import json
import random
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# A script finds only the modules of its own directory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from peers import INSTALLED, OTHERS, Peer
from process import Refused, ServerProcess
from ranking import Labelled, Question, labelled_sets, ndcg_at_10

from core.config import Settings
from core.lessons.record import Draft
from core.text.terms import words_of
from rooms.fragments.config import Config
from rooms.fragments.fragment import Fragment, hash_of
from rooms.fragments.models.embedding import LOCAL_MODEL, Embedder, LocalModel
from rooms.fragments.models.vectors import fill
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import Room
from rooms.fragments.storage.sqlite import SqliteEngine

LOCOMO = "locomo10.json"
MEANING = Path(__file__).with_name("meaning.jsonl")
SEED = 7  # of the halves: one chose the shares of `recall`; the other was looked at once
MOST_FOREIGN = 60  # questions of another dialogue, for each
FEW = 8  # texts in a small room
WHOLE_TOKENS = 100_000
AT = "2026-01-01T00:00:00+00:00"

Way = Callable[[str, Sequence[str]], list[int]]


@dataclass(frozen=True, slots=True)
class Pool:
    """Texts with questions, and questions that nothing in them answers."""

    labelled: Labelled
    foreign: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Quality:
    """How well a way answers. silent: the share of foreign questions that get no answer."""

    ndcg: float
    hit: float
    silent: float | None


def room_of(path: Path, texts: Sequence[str]) -> Room:
    """A room with these texts, each a fragment whose number is its place and one."""
    engine = SqliteEngine(path, timeout_s=10)
    room = Room(engine=engine, config=Config(path), settings=Settings(), clock=lambda: AT)
    with engine.writing() as writing:
        writing.add([_fragment(at, text) for at, text in enumerate(texts)])
    return room


def _fragment(at: int, text: str) -> Fragment:
    return Fragment(id=f"f{at}", content=text, content_hash=hash_of(text), created_at=AT)


def recalled(room: Room, embedder: Embedder | None = None) -> Way:
    """The answers of the room, by words and, with an embedder, by meaning."""

    def way(question: str, texts: Sequence[str]) -> list[int]:
        query = Query(text=question, limit=10, tokens=WHOLE_TOKENS, with_links=False)
        return [it.number - 1 for it in recall(room, query, embedder=embedder).fragments]

    return way


def indexed(texts: Sequence[str], join: str) -> Way:
    """The answers of FTS5 alone, by its own rank. join: OR for any word, AND for all of them."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text)")
    connection.executemany("INSERT INTO texts VALUES (?)", [(text,) for text in texts])

    def way(question: str, texts: Sequence[str]) -> list[int]:
        words = dict.fromkeys(strong.run for strong, *_ in words_of(question))
        match = f" {join} ".join(f'"{word}"' for word in words)
        if not match:
            return []
        rows = connection.execute(
            "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 10", (match,)
        )
        return [number - 1 for (number,) in rows]

    return way


def asked_of(server: ServerProcess, peer: Peer) -> Way:
    """The answers of another server, in the order in which it gives them."""

    def way(question: str, texts: Sequence[str]) -> list[int]:
        try:
            answer = json.loads(server.call(*peer.search(question)))
        except (Refused, ValueError):
            return []
        return [int(it["name"].removeprefix("n")) for it in answer.get("entities", ())][:10]

    return way


def measured(way: Way, pool: Pool) -> Quality:
    """How well one way answers the questions of a pool."""
    labelled, silent = pool.labelled, None
    hits = [bool(its & set(way(query, labelled.texts)[:5])) for query, its in labelled.questions]
    if pool.foreign:
        answered = [bool(way(query, labelled.texts)) for query in pool.foreign]
        silent = 1 - sum(answered) / len(answered)
    return Quality(ndcg_at_10(way, labelled), sum(hits) / len(hits), silent)


def ways(labelled: Labelled, directory: Path) -> Iterator[tuple[str, Way]]:
    """Everything of this machine that answers, over these texts."""
    yield "recall", recalled(room_of(directory / "memory.db", labelled.texts))
    yield "FTS5, any word", indexed(labelled.texts, "OR")
    yield "FTS5, all words", indexed(labelled.texts, "AND")


def peer_ways(labelled: Labelled, directory: Path, stack: ExitStack) -> Iterator[tuple[str, Way]]:
    """The other servers that are installed. stack: ends them."""
    for peer in OTHERS:
        if not INSTALLED.is_dir():
            return
        server = stack.enter_context(peer.start(directory / peer.name / peer.file_name))
        for at, text in enumerate(labelled.texts):
            draft = Draft(topic=f"n{at}", missing_context=text, lesson="")
            server.call(*peer.save(draft, f"n{at}"))
        yield peer.name, asked_of(server, peer)


def meaning_pool() -> Pool:
    """60 fragments of coding teams, 40 questions that one of them answers, in the same words, in
    others or in another language, and 15 that none answers.
    """
    rows = [json.loads(line) for line in MEANING.read_text("utf-8").splitlines()]
    held = [row for row in rows if "text" in row]
    asked = [(row["question"], frozenset([at])) for at, row in enumerate(held) if "question" in row]
    foreign = [row["foreign"] for row in rows if "foreign" in row]
    return Pool(Labelled([row["text"] for row in held], asked), foreign)


def print_meaning() -> None:
    """Print how many questions are answered first, by words alone and with the local model."""
    pool, count = meaning_pool(), len(meaning_pool().labelled.questions)
    with tempfile.TemporaryDirectory(prefix="sentinel-memory-") as scratch:
        room = room_of(Path(scratch) / "memory.db", pool.labelled.texts)
        model = Embedder(LocalModel(), LOCAL_MODEL)
        for name, embedder in (("words", None), ("words and meaning", model)):
            if embedder:
                fill(room, embedder)
            first, silent = answered_first(recalled(room, embedder), pool)
            print(f"{name}: first {first} of {count}, silent {silent} of {len(pool.foreign)}")


def answered_first(way: Way, pool: Pool) -> tuple[int, int]:
    """How many questions have an answer in the first place, and how many foreign ones have none."""
    labelled = pool.labelled
    firsts = [(way(query, labelled.texts)[:1], answers) for query, answers in labelled.questions]
    first = sum(bool(answers.intersection(found)) for found, answers in firsts)
    return first, sum(not way(query, labelled.texts) for query in pool.foreign)


def own_pools() -> dict[str, Pool]:
    """The sets that stand in the tests; questions of a dialogue are foreign to lessons."""
    sets = labelled_sets()
    of_dialogue = [query for query, _ in sets["turns"].questions][:MOST_FOREIGN]
    of_lessons = [query for query, _ in sets["lessons"].questions][:MOST_FOREIGN]
    foreign = {"turns": of_lessons, "observations": of_lessons}
    return {name: Pool(its, foreign.get(name, of_dialogue)) for name, its in sets.items()}


def small_pools() -> dict[str, list[Pool]]:
    """Each question of lessons and observations in a room of a few texts, one of which answers it.

    Foreign to it is the question before: mostly about something that is not there.
    """
    chance, sets = random.Random(SEED), labelled_sets()
    return {
        f"{name}, {FEW} texts": [
            _small(sets[name], at, chance) for at in range(len(sets[name].questions))
        ]
        for name in ("observations", "lessons")
    }


def _small(labelled: Labelled, at: int, chance: random.Random) -> Pool:
    query, answers = labelled.questions[at]
    others = [it for it in range(len(labelled.texts)) if it not in answers]
    drawn = [chance.choice(sorted(answers)), *chance.sample(others, FEW - 1)]
    chance.shuffle(drawn)
    there = frozenset(place for place, it in enumerate(drawn) if it in answers)
    foreign, its = labelled.questions[at - 1]
    texts = [labelled.texts[it] for it in drawn]
    return Pool(Labelled(texts, [(query, there)]), [] if its & set(drawn) else [foreign])


def locomo_pools(directory: Path) -> dict[str, list[Pool]]:
    """The dialogues of LoCoMo: each by itself in halves, all turns in one pool, observations."""
    dialogues = [_dialogue(it) for it in json.loads((directory / LOCOMO).read_text("utf-8"))]
    chance = random.Random(SEED)
    halves = [[chance.random() < 0.5 for _ in turns.questions] for turns, _ in dialogues]
    pools: dict[str, list[Pool]] = {}
    for name, is_tuned in (("turns, tuned half", True), ("turns, other half", False)):
        chosen = [
            Labelled(turns.texts, _drawn(turns.questions, half, which=is_tuned))
            for (turns, _), half in zip(dialogues, halves, strict=True)
        ]
        others = [*chosen[1:], chosen[0]]
        pools[name] = [
            Pool(its, [query for query, _ in other.questions[:MOST_FOREIGN]])
            for its, other in zip(chosen, others, strict=True)
        ]
    pools["turns of all dialogues"] = [Pool(_joined([turns for turns, _ in dialogues]))]
    pools["observations"] = [Pool(seen) for _, seen in dialogues]
    return pools


def _drawn(questions: Sequence[Question], half: Sequence[bool], *, which: bool) -> list[Question]:
    return [it for it, is_first in zip(questions, half, strict=True) if is_first is which]


def _dialogue(data: dict[str, Any]) -> tuple[Labelled, Labelled]:
    turns: dict[str, str] = {}
    seen: list[tuple[str, frozenset[str]]] = []
    for number in range(1, 100):
        for turn in data["conversation"].get(f"session_{number}", ()):
            turns[turn["dia_id"]] = f"{turn['speaker']}: {turn['text']}"
        for told in data["observation"].get(f"session_{number}_observation", {}).values():
            seen += [(text, frozenset(_ids(evidence))) for text, evidence in told]
    places = {name: at for at, name in enumerate(turns)}
    of_turns, of_seen = list[Question](), list[Question]()
    for asked in data["qa"]:
        evidence = {it for it in _ids(asked.get("evidence") or []) if it in places}
        drawn = [at for at, (_, its) in enumerate(seen) if its & evidence]
        if evidence:
            of_turns.append((asked["question"], frozenset(places[it] for it in evidence)))
        if drawn:
            of_seen.append((asked["question"], frozenset(drawn)))
    return Labelled([*turns.values()], of_turns), Labelled([text for text, _ in seen], of_seen)


def _ids(evidence: str | Sequence[str]) -> list[str]:
    """The ids of turns, some of which stand together in one text."""
    some = [evidence] if isinstance(evidence, str) else evidence
    return " ".join(some).replace(";", " ").replace(",", " ").split()


def _joined(parts: Sequence[Labelled]) -> Labelled:
    texts, questions = list[str](), list[Question]()
    for part in parts:
        first = len(texts)
        texts += part.texts
        questions += [(query, frozenset(first + at for at in its)) for query, its in part.questions]
    return Labelled(texts, questions)


def rows(pools: Sequence[Pool], *, with_peers: bool) -> Iterator[tuple[str, Quality]]:
    """Each way with its quality: the mean over all questions of these pools."""
    found: dict[str, list[tuple[Quality, int]]] = {}
    for pool in pools:
        with (
            tempfile.TemporaryDirectory(prefix="sentinel-memory-") as scratch,
            ExitStack() as stack,
        ):
            some = [*ways(pool.labelled, Path(scratch))]
            if with_peers:
                some += peer_ways(pool.labelled, Path(scratch), stack)
            for way_name, way in some:
                count = len(pool.labelled.questions)
                found.setdefault(way_name, []).append((measured(way, pool), count))
    for way_name, parts in found.items():
        total = sum(count for _, count in parts)
        silent = [its.silent for its, _ in parts if its.silent is not None]
        yield (
            way_name,
            Quality(
                sum(its.ndcg * count for its, count in parts) / total,
                sum(its.hit * count for its, count in parts) / total,
                sum(silent) / len(silent) if silent else None,
            ),
        )


if __name__ == "__main__":
    print_meaning()
