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
from core.lessons.action import files_in, without_data
from core.lessons.anchors import MOST_ANCHORS, could_match, matches
from core.lessons.record import Record
from core.lessons.record_text import is_usable
from core.text.plain import normal_form
from core.text.terms import stem_of

MOST_RANKED = 2_000  # records by the work in git, the later lines: each takes some 20 µs
MOST_FILES, MOST_OF_A_COMMIT = 200, 60

# Weights of a word of the work, by its place, and of an anchor for one of its files.
_WORK_WORD, _COMMITTED_FILE = 1.0, 0.5
_ANCHORED_CHANGE, _ANCHORED_COMMIT = 6.0, 3.0
_DAMPING = 0.3  # of records with many words

# A record must share with a prompt more than one telling word, or a file and its anchor.
_NEEDED, _ANCHORED_PROMPT, _BESIDE_LESSON = 1.4, 2.0, 0.8

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[\uac00-\ud7a3]{2}")
_WORD_CHARS = 3
_FIRST_HANGUL = "\uac00"
# Of a file that a prompt names, all but the last: most lessons of a project are about files there.
_FOLDERS = re.compile(r"(?<![\w@.()/-])/*+(?:[\w@.()-]++/)+(?=[\w@.()\[\]-]+/[\w@.-]+\.\w)", re.A)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work in git that goes on in a project; paths are project-relative, with `/`."""

    branch: str = ""
    changed_files: Sequence[str] = ()
    commits: Sequence[tuple[str, Sequence[str]]] = ()  # the last: subject and changed files

    def __bool__(self) -> bool:
        return bool(self.branch or self.changed_files or self.commits)


def choose_by_work(records: Sequence[Record], work: Work) -> list[Record]:
    """Return the last records that share anything with the work, the closest first."""
    if not work:
        return []
    records = [record for record in records[-MOST_RANKED:] if is_usable(record)]
    count = len(records)

    def rarity_of(holder_count: int) -> float:
        return log(1 + (count - holder_count + 0.5) / (holder_count + 0.5))

    weights: dict[str, float] = {}  # a word of several commits or files weighs more
    for texts, weight in (
        ([subject for subject, _ in work.commits], _WORK_WORD),
        ([" ".join(paths[:MOST_OF_A_COMMIT]) for _, paths in work.commits], _COMMITTED_FILE),
        (work.changed_files[:MOST_FILES], _WORK_WORD),
        ([work.branch], _WORK_WORD),
    ):
        for word, times in Counter(chain.from_iterable(map(_words_in, texts))).items():
            weights[word] = max(weights.get(word, 0.0), weight * (1 + log(times)))
    record_words = [_words_in(" ".join(record.texts)) for record in records]
    holder_counts = Counter(chain.from_iterable(weights.keys() & words for words in record_words))
    word_weights = {word: weights[word] * rarity_of(times) for word, times in holder_counts.items()}
    mean_words = sum(map(len, record_words)) / max(count, 1) or 1.0
    scores = [
        fsum(word_weights[word] for word in word_weights.keys() & words)
        / (1 - _DAMPING + _DAMPING * len(words) / mean_words)
        for words in record_words
    ]
    committed = [path for _, paths in work.commits for path in paths[:MOST_OF_A_COMMIT]]
    for paths, weight in ((work.changed_files, _ANCHORED_CHANGE), (committed, _ANCHORED_COMMIT)):
        places = _find_anchored(records, paths[:MOST_FILES])
        for at in places:
            scores[at] += weight * rarity_of(len(places))
    ranked = sorted(((score, at) for at, score in enumerate(scores) if score > 0), reverse=True)
    return [records[at] for _, at in ranked]


def choose_for_prompt(
    prompt: str, records: Sequence[Record], count: int, word_counts: Mapping[str, int]
) -> list[Record]:
    """Return the records that a prompt is about, the best first; mostly none.

    count, word_counts: as in Shortlist, if these are not all records.
    """
    records = [record for record in records if is_usable(record)]
    text = without_data(prompt)
    query = _words_in(_FOLDERS.sub("", text)).difference(map(stem_of, word_list("of_any_task")))
    shared_words = [query & _words_in(" ".join(record.texts)) for record in records]
    log_count = log(count + 1)
    rarity = {
        word: 1 - log(max(count, word_counts.get(word, 0))) / log_count
        for word, count in Counter(chain.from_iterable(shared_words)).items()
    }
    places = _find_anchored(records, list(islice(dict.fromkeys(files_in(text)), MOST_FILES)))
    scores = []
    for at, (record, words) in enumerate(zip(records, shared_words, strict=True)):
        score = _ANCHORED_PROMPT * (1 - log(len(places)) / log_count) if at in places else 0.0
        rule = _words_in(f"{record.topic} {record.lesson}") if words else set()
        score += fsum(rarity[word] * (1.0 if word in rule else _BESIDE_LESSON) for word in words)
        if score >= _NEEDED:
            scores.append((score, at))
    return [records[at] for _, at in sorted(scores, reverse=True)]


def _find_anchored(records: Sequence[Record], files: Sequence[str]) -> set[int]:
    names = "\n".join(files)

    @cache  # many records have the same
    def is_anchored(pattern: str) -> bool:
        return could_match(pattern, names) and any(matches(pattern, path) for path in files)

    path_lists = (record.paths[:MOST_ANCHORS] for record in records)
    return {at for at, paths in enumerate(path_lists) if files and any(map(is_anchored, paths))}


def _words_in(text: str) -> set[str]:
    return set(filter(None, map(_stem, set(_WORD.findall(normal_form("NFC", text))))))


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    word = word.lower()
    is_telling = len(word) >= _WORD_CHARS or word >= _FIRST_HANGUL
    return stem_of(word) if is_telling and word not in word_list("function_words") else ""
