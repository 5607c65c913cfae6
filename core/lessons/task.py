"""Chooses the records for a task before its first action: by the work in git, or by a prompt.

Pure and deterministic. Rare shared words count more, and `paths` for a file of the task.
`benchmarks/real.py` measures the weights.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, islice
from math import fsum, log

from core.data import word_list
from core.lessons.action import files_in, worded
from core.lessons.anchors import MOST_ANCHORS, could_match, matches
from core.lessons.record import Record
from core.lessons.record_text import is_usable
from core.text.plain import normal_form
from core.text.terms import stem_of

MOST_RANKED = 2_000  # records by the work in git, the later lines: each takes some 20 µs
MOST_FILES, MOST_OF_A_COMMIT = 200, 60

# Weights of a word of the work, by its place, and of an anchor for one of its files.
_SAID, _COMMITTED_FILE = 1.0, 0.5
_ANCHORED_CHANGE, _ANCHORED_COMMIT = 6.0, 3.0
_DAMPING = 0.3  # of records with many words

# A record must share with a prompt more than one telling word, or a file and its anchor.
_NEEDED, _ANCHORED_PROMPT, _BESIDE_THE_LESSON = 1.4, 2.0, 0.8

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[\uac00-\ud7a3]{2}")
_WORD_CHARS = 3
_FIRST_HANGUL = "\uac00"
# Of a file that a prompt names, all but the last: most lessons of a project are about files there.
_FOLDERS = re.compile(r"(?<![\w@.()/-])/*+(?:[\w@.()-]++/)+(?=[\w@.()\[\]-]+/[\w@.-]+\.\w)", re.A)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work in git that goes on in a project; paths are project-relative, with `/`."""

    branch: str = ""
    changed: Sequence[str] = ()
    commits: Sequence[tuple[str, Sequence[str]]] = ()  # the last: subject and changed files

    def __bool__(self) -> bool:
        return bool(self.branch or self.changed or self.commits)


def choose_by_work(records: Sequence[Record], work: Work) -> list[Record]:
    """Return the last records that share anything with the work, the closest first."""
    if not work:
        return []
    records = [it for it in records[-MOST_RANKED:] if is_usable(it)]
    count = len(records)

    def rarity_of(having: int) -> float:
        return log(1 + (count - having + 0.5) / (having + 0.5))

    weights: dict[str, float] = {}  # a word of several commits or files weighs more
    for texts, weight in (
        ([subject for subject, _ in work.commits], _SAID),
        ([" ".join(paths[:MOST_OF_A_COMMIT]) for _, paths in work.commits], _COMMITTED_FILE),
        (work.changed[:MOST_FILES], _SAID),
        ([work.branch], _SAID),
    ):
        for word, times in Counter(chain.from_iterable(map(_words, texts))).items():
            weights[word] = max(weights.get(word, 0.0), weight * (1 + log(times)))
    read = [_words(" ".join(it.texts)) for it in records]
    having = Counter(chain.from_iterable(weights.keys() & words for words in read))
    worth = {word: weights[word] * rarity_of(times) for word, times in having.items()}
    mean = sum(map(len, read)) / max(count, 1) or 1.0
    scores = [
        fsum(worth[word] for word in worth.keys() & words)
        / (1 - _DAMPING + _DAMPING * len(words) / mean)
        for words in read
    ]
    committed = [path for _, paths in work.commits for path in paths[:MOST_OF_A_COMMIT]]
    for paths, weight in ((work.changed, _ANCHORED_CHANGE), (committed, _ANCHORED_COMMIT)):
        anchored = _anchored(records, paths[:MOST_FILES])
        for at in anchored:
            scores[at] += weight * rarity_of(len(anchored))
    found = sorted(((score, at) for at, score in enumerate(scores) if score > 0), reverse=True)
    return [records[at] for _, at in found]


def choose_for_prompt(
    prompt: str, records: Sequence[Record], count: int, having: Mapping[str, int]
) -> list[Record]:
    """Return the records that a prompt is about, the best first; mostly none.

    count, having: as in AtHand, if these are not all records.
    """
    records = [it for it in records if is_usable(it)]
    text = worded(prompt)
    sought = _words(_FOLDERS.sub("", text)).difference(map(stem_of, word_list("of_any_task")))
    shared = [sought & _words(" ".join(it.texts)) for it in records]
    most = log(count + 1)
    rarity = {
        word: 1 - log(max(found, having.get(word, 0))) / most
        for word, found in Counter(chain.from_iterable(shared)).items()
    }
    anchored = _anchored(records, list(islice(dict.fromkeys(files_in(text)), MOST_FILES)))
    found = []
    for at, (record, words) in enumerate(zip(records, shared, strict=True)):
        score = _ANCHORED_PROMPT * (1 - log(len(anchored)) / most) if at in anchored else 0.0
        rule = _words(f"{record.topic} {record.lesson}") if words else set()
        score += fsum(rarity[it] * (1.0 if it in rule else _BESIDE_THE_LESSON) for it in words)
        if score >= _NEEDED:
            found.append((score, at))
    return [records[at] for _, at in sorted(found, reverse=True)]


def _anchored(records: Sequence[Record], files: Sequence[str]) -> set[int]:
    names = "\n".join(files)

    @cache  # many records have the same
    def stands(pattern: str) -> bool:
        return could_match(pattern, names) and any(matches(pattern, it) for it in files)

    of_each = (record.paths[:MOST_ANCHORS] for record in records)
    return {at for at, patterns in enumerate(of_each) if files and any(map(stands, patterns))}


def _words(text: str) -> set[str]:
    return set(filter(None, map(_term, set(_WORD.findall(normal_form("NFC", text))))))


@lru_cache(maxsize=20_000)
def _term(word: str) -> str:
    word = word.lower()
    says_something = len(word) >= _WORD_CHARS or word >= _FIRST_HANGUL
    return stem_of(word) if says_something and word not in word_list("function_words") else ""
