"""Holds the labelled texts: questions with the texts that answer them, and how a way is judged."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

from measure import ROOT, read_lines

from core.text.ranking import Ranking

FIELDS = ("topic", "missing_context", "lesson", "ask_next_time")
FEW = 8  # texts in a small room
MOST_FOREIGN = 60  # questions of another dialogue, for each
SEED = 7  # of every draw

Ranker = Callable[[str, Sequence[str]], list[int]]
Question = tuple[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Labelled:
    """Texts, and questions with the indexes of the texts that answer them."""

    texts: Sequence[str]
    questions: Sequence[Question]


def labelled_sets() -> dict[str, Labelled]:
    """Return the sets by their names; the last one has lessons of other projects between them."""
    data = ROOT / "tests/data"
    dialogue = json.loads((data / "ranking_dialogue.json").read_text("utf-8"))
    turns, seen = dialogue["turns"], dialogue["observations"]
    place = {turn["id"]: at for at, turn in enumerate(turns)}
    of_turns, of_seen = [], []
    for question in dialogue["questions"]:
        answers = set(question["turns"])
        of_turns.append((question["query"], frozenset(place[it] for it in answers)))
        drawn = [at for at, it in enumerate(seen) if answers.intersection(it["turns"])]
        of_seen.append((question["query"], frozenset(drawn)))
    lessons = json.loads((data / "ranking_queries.json").read_text("utf-8"))
    texts = [_text(record) for record in lessons["records"]]
    asked = [(it["query"], frozenset(it["relevant"])) for it in lessons["queries"]]
    others = [_text(it) for it in read_lines("lessons.jsonl")]
    for name in ("tuned", "unseen"):
        rows = read_lines(f"actions_{name}.jsonl")
        others += [_text(it) for row in rows for it in row["records"]]
    return {
        "turns": Labelled([it["text"] for it in turns], of_turns),
        "observations": Labelled([it["text"] for it in seen], of_seen),
        "lessons": Labelled(texts, asked),
        "lessons among others": Labelled([*texts, *others], asked),
    }


def _text(record: dict[str, Any]) -> str:
    return "\n".join(str(record.get(field) or "") for field in FIELDS)


def rank(query: str, texts: Sequence[str]) -> list[int]:
    return Ranking(query, texts).order()


def ndcg_at_10(ranker: Ranker, labelled: Labelled) -> float:
    """Mean over the questions; 1.0 when the texts that answer always come first."""
    total = 0.0
    for query, relevant in labelled.questions:
        top = ranker(query, labelled.texts)[:10]
        gain = sum(1 / log2(place + 2) for place, index in enumerate(top) if index in relevant)
        total += gain / sum(1 / log2(place + 2) for place in range(min(10, len(relevant))))
    return total / len(labelled.questions)


@dataclass(frozen=True, slots=True)
class Pool:
    """Texts with questions, and questions that nothing in them answers."""

    labelled: Labelled
    foreign: Sequence[str] = ()


def meaning_pool() -> Pool:
    """60 fragments of coding teams, 40 questions that one of them answers, in the same words, in
    others or in another language, and 15 that none answers.
    """
    rows = read_lines("meaning.jsonl")
    held = [row for row in rows if "text" in row]
    asked = [(row["question"], frozenset([at])) for at, row in enumerate(held) if "question" in row]
    foreign = [row["foreign"] for row in rows if "foreign" in row]
    return Pool(Labelled([row["text"] for row in held], asked), foreign)


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
    pools: dict[str, list[Pool]] = {}
    for name in ("observations", "lessons"):
        labelled = sets[name]
        for at, (query, answers) in enumerate(labelled.questions):
            others = [it for it in range(len(labelled.texts)) if it not in answers]
            drawn = [chance.choice(sorted(answers)), *chance.sample(others, FEW - 1)]
            chance.shuffle(drawn)
            there = frozenset(place for place, it in enumerate(drawn) if it in answers)
            foreign, its = labelled.questions[at - 1]
            small = Labelled([labelled.texts[it] for it in drawn], [(query, there)])
            pool = Pool(small, [] if its & set(drawn) else [foreign])
            pools.setdefault(f"{name}, {FEW} texts", []).append(pool)
    return pools


def locomo_pools(path: Path) -> dict[str, list[Pool]]:
    """The dialogues of LoCoMo, their questions in two halves."""
    dialogues = list[Labelled]()
    for data in json.loads(path.read_text("utf-8")):
        said = [data["conversation"].get(f"session_{number}", ()) for number in range(1, 100)]
        texts = {it["dia_id"]: f"{it['speaker']}: {it['text']}" for turns in said for it in turns}
        places, questions = {name: at for at, name in enumerate(texts)}, list[Question]()
        for asked in data["qa"]:
            given = asked.get("evidence") or []
            some = [given] if isinstance(given, str) else given
            # Some ids stand together in one text.
            ids = " ".join(some).replace(";", " ").replace(",", " ").split()
            if evidence := [it for it in ids if it in places]:
                questions.append((asked["question"], frozenset(places[it] for it in evidence)))
        dialogues.append(Labelled([*texts.values()], questions))
    chance = random.Random(SEED)
    halves = [[chance.random() < 0.5 for _ in turns.questions] for turns in dialogues]
    pools: dict[str, list[Pool]] = {}
    for name, is_tuned in (("turns, tuned half", True), ("turns, other half", False)):
        chosen = []
        for turns, half in zip(dialogues, halves, strict=True):
            drawn = zip(turns.questions, half, strict=True)
            questions = [it for it, is_first in drawn if is_first is is_tuned]
            chosen.append(Labelled(turns.texts, questions))
        others = [*chosen[1:], chosen[0]]
        pools[name] = [
            Pool(its, [query for query, _ in other.questions[:MOST_FOREIGN]])
            for its, other in zip(chosen, others, strict=True)
        ]
    return pools
