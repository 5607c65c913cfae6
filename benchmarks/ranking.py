"""Measures how well and how fast records are ordered by a question, beside simpler rankers."""

import argparse
import json
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log, log2
from pathlib import Path
from typing import Any

# A script finds only the modules of its own directory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.text import ranking
from core.text.ranking import rank
from core.text.terms import function_words, stem_of

ROOT = Path(__file__).resolve().parent.parent
FIELDS = ("topic", "missing_context", "lesson", "ask_next_time")
FLOORS = {"turns": 0.335, "observations": 0.77, "lessons": 0.92, "lessons among others": 0.69}
COUNTS = (1_000, 10_000, 100_000)
ROUNDS = 3

# Some are long, some mixed, and some have words that no text has.
QUESTIONS = (
    "webhook signature",
    "payment refund retry 결제 환불",
    "how do we handle timeouts when the database migration locks a table",
    "캐시 무효화 순서가 맞지 않을 때 배포",
    "docker compose healthcheck port feeRate",
    "When did Caroline go to the LGBTQ support group?",
    "What did Audrey find in the attic when her mother was selling the house?",
    "payment webhook retries deadlock migration index rollback"
    " 결제 환불 중복 승인 재시도 마이그레이션 인덱스 배포 롤백",
    "the order of messages when a kafka partition is added"
    " 파티션을 늘리면 메시지 순서가 깨지는지 확인하고 컨슈머 재시작 순서를 정리",
)

Ranker = Callable[[str, Sequence[str]], list[int]]
Question = tuple[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Labelled:
    """Texts, and questions with the indexes of the texts that answer them."""

    texts: Sequence[str]
    questions: Sequence[Question]


@dataclass(frozen=True, slots=True)
class Speed:
    """Milliseconds of processor time for one question."""

    kind: str
    count: int
    is_cold: bool
    median: float
    worst: float


def labelled_sets() -> dict[str, Labelled]:
    """The sets by their names; the last one has the lessons of other projects between them."""
    lessons = _loaded("tests/data/ranking_queries.json")
    texts = [_text(record) for record in lessons["records"]]
    asked = [(it["query"], frozenset(it["relevant"])) for it in lessons["queries"]]
    return {
        **_dialogue(),
        "lessons": Labelled(texts, asked),
        "lessons among others": Labelled([*texts, *_other_lessons()], asked),
    }


def _dialogue() -> dict[str, Labelled]:
    dialogue = _loaded("tests/data/ranking_dialogue.json")
    turns, seen = dialogue["turns"], dialogue["observations"]
    place = {turn["id"]: at for at, turn in enumerate(turns)}
    of_turns, of_seen = [], []
    for question in dialogue["questions"]:
        answers = set(question["turns"])
        of_turns.append((question["query"], frozenset(place[it] for it in answers)))
        drawn = [at for at, it in enumerate(seen) if answers.intersection(it["turns"])]
        of_seen.append((question["query"], frozenset(drawn)))
    return {
        "turns": Labelled([it["text"] for it in turns], of_turns),
        "observations": Labelled([it["text"] for it in seen], of_seen),
    }


def _other_lessons() -> Iterator[str]:
    for line in (ROOT / "benchmarks/lessons.jsonl").read_text("utf-8").splitlines():
        yield _text(json.loads(line))
    for name in ("tuned", "unseen"):
        path = ROOT / "benchmarks" / f"actions_{name}.jsonl"
        for line in path.read_text("utf-8").splitlines():
            yield from map(_text, json.loads(line)["records"])


def _loaded(path: str) -> dict[str, list[dict[str, Any]]]:
    return json.loads((ROOT / path).read_text("utf-8"))  # type: ignore[no-any-return]


def _text(record: dict[str, Any]) -> str:
    return "\n".join(str(record.get(field) or "") for field in FIELDS)


def ndcg_at_10(ranker: Ranker, labelled: Labelled) -> float:
    """Mean over the questions; 1.0 when the texts that answer always come first."""
    total = 0.0
    for query, relevant in labelled.questions:
        top = ranker(query, labelled.texts)[:10]
        gain = sum(1 / log2(place + 2) for place, index in enumerate(top) if index in relevant)
        total += gain / sum(1 / log2(place + 2) for place in range(min(10, len(relevant))))
    return total / len(labelled.questions)


def newest_first(query: str, texts: Sequence[str]) -> list[int]:
    return list(reversed(range(len(texts))))


def words_in_common(query: str, texts: Sequence[str]) -> list[int]:
    wanted = set(_plain_words(query))
    common = [len(wanted.intersection(_plain_words(text))) for text in texts]
    return sorted(newest_first(query, texts), key=common.__getitem__, reverse=True)


def bm25(tokens: Callable[[str], list[str]], k1: float, b: float) -> Ranker:
    """BM25 over these tokens, as it stands in books."""

    def ranker(query: str, texts: Sequence[str]) -> list[int]:
        counted = [Counter(tokens(text)) for text in texts]
        lengths = [it.total() for it in counted]
        mean = sum(lengths) / len(lengths)
        scores = [0.0] * len(texts)
        for token in dict.fromkeys(tokens(query)):
            found = [index for index, it in enumerate(counted) if token in it]
            rarity = log(1 + (len(texts) - len(found) + 0.5) / (len(found) + 0.5))
            for index in found:
                times = counted[index][token]
                damping = k1 * (1 - b + b * lengths[index] / mean)
                scores[index] += rarity * times * (k1 + 1) / (times + damping)
        return sorted(newest_first(query, texts), key=scores.__getitem__, reverse=True)

    return ranker


def _plain_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _stems(text: str) -> list[str]:
    """Light stems of English words, pairs of characters of Korean ones."""
    found = []
    for word in re.findall(r"[\uac00-\ud7a3]+|[^\W\uac00-\ud7a3]+", text.casefold()):
        if word[0] >= "\uac00":
            found += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        else:
            found.append(stem_of(word))
    return found


def _without_function_words(text: str) -> list[str]:
    words = re.sub(r"\w+", lambda it: "" if it[0] in function_words() else it[0], text.casefold())
    return _stems(words)


def _with_grams(text: str) -> list[str]:
    """The same, with padded 4-grams of English words and the first syllables of Korean ones."""
    found = _without_function_words(text)
    for word in re.findall(r"[\uac00-\ud7a3]+|[^\W\uac00-\ud7a3]+", text.casefold()):
        if word[0] >= "\uac00":
            found.append(f"<{word[0]}")
        elif word not in function_words():
            padded = f"<{word}>"
            found += [f"gram {padded[at : at + 4]}" for at in range(len(padded) - 3)]
    return found


RUNGS: dict[str, Ranker] = {
    "newest first": newest_first,
    "words in common": words_in_common,
    "BM25, whole words": bm25(_plain_words, 1.2, 0.75),
    "the same, stems and pairs": bm25(_stems, 1.2, 0.75),
    "the same, no function words": bm25(_without_function_words, 1.2, 0.75),
    "the same, k1 0.9, b 0.4": bm25(_without_function_words, 0.9, 0.4),
    "the same, 4-grams": bm25(_with_grams, 0.9, 0.4),
    "rank": rank,
}


def quality_rows() -> list[tuple[str, dict[str, float]]]:
    """Each ranker with its nDCG@10 on each set."""
    sets = labelled_sets()
    return [(name, {it: ndcg_at_10(way, sets[it]) for it in sets}) for name, way in RUNGS.items()]


def speed_rows(counts: Sequence[int] = COUNTS) -> list[Speed]:
    """The time of each question, on texts that were never seen and on those of the last call."""
    rows = []
    for kind, least, most in (("turns", 60, 120), ("records", 100, 300)):
        for count in counts:
            texts = made_texts(count, least, most)
            cold, warm = [], []
            for question in QUESTIONS:
                ranking._scanned.cache_clear()
                cold.append(_ms(question, texts))
                warm += [_ms(question, texts) for _ in range(ROUNDS)]
            for is_cold, times in ((True, cold), (False, warm)):
                worst = statistics.quantiles(times, n=20, method="inclusive")[-1]
                rows.append(Speed(kind, count, is_cold, statistics.median(times), worst))
    return rows


def _ms(question: str, texts: Sequence[str]) -> float:
    begun = time.process_time()
    rank(question, texts)
    return (time.process_time() - begun) * 1_000


def made_texts(count: int, least_chars: int, most_chars: int) -> list[str]:
    """Texts of words as often as in nature, two in five of them Korean with some English words.

    The most frequent words are those of the lessons and of the dialogue, the others are made up.
    """
    chance = random.Random(1)
    sets = labelled_sets()
    known = Counter(" ".join([*sets["lessons"].texts, *sets["turns"].texts]).split())
    ranked = [word for word, _ in known.most_common()]
    english = [word for word in ranked if word.isascii()]
    korean = [word for word in ranked if not word.isascii()]
    for _ in range(20_000):
        syllables = [chance.choice("bcdfghklmnprstvz") + chance.choice("aeiou") for _ in range(3)]
        english.append("".join(syllables) + chance.choice(["", "s", "ed", "ing", "n"]))
        blocks = [chr(0xAC00 + 28 * chance.randrange(399)) for _ in range(chance.randint(2, 4))]
        korean.append("".join(blocks) + chance.choice(["", "을", "는", "에서"]))
    weights = {
        id(it): list(accumulate(1 / (at + 3) for at in range(len(it)))) for it in (english, korean)
    }

    def some(words: list[str], number: int) -> list[str]:
        return chance.choices(words, cum_weights=weights[id(words)], k=number)

    texts = []
    for _ in range(count):
        chars = chance.randint(least_chars, most_chars)
        if chance.random() < 0.4:
            words = some(korean, chars // 6 + 1) + some(english, chars // 30)
            chance.shuffle(words)
        else:
            words = some(english, chars // 6 + 1)
        texts.append(" ".join(words))
    return texts


def main() -> int:
    """Print the tables; 1 when asked to check and a floor is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="status 1 below a floor; no times")
    check = parser.parse_args().check
    rows = quality_rows()
    print(f"{'nDCG@10':28}" + "".join(f"{name:>22}" for name in FLOORS))
    for name, figures in rows:
        print(f"{name:28}" + "".join(f"{figures[it]:22.3f}" for it in FLOORS))
    if not check:
        print(f"\n{'ms of processor time':28}{'texts':>10}{'median':>10}{'95 in 100':>12}")
        for row in speed_rows():
            label = f"{row.kind}, {'first call' if row.is_cold else 'again'}"
            print(f"{label:28}{row.count:>10,}{row.median:>10.1f}{row.worst:>12.1f}")
    ours = dict(rows)["rank"]
    missed = [name for name, floor in FLOORS.items() if ours[name] < floor]
    for name in missed:
        print(f"below its floor: {name}")
    return int(check and bool(missed))


if __name__ == "__main__":
    sys.exit(main())
