"""Chooses the few records that an action needs, by its files, commands and words. For hooks.

Pure and deterministic. An irrelevant reminder trains a model to ignore all: a record must gather
evidence, and common things tell nothing. `benchmarks/real.py` measures the weights. It knows no
synonyms and no translations.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import chain, islice
from math import fsum, log
from typing import NamedTuple

from core.data import word_list
from core.lessons.action import (
    IMPORT,
    TOKEN,
    Action,
    Term,
    Vocabulary,
    files_in,
    phrases_in,
    terms_of,
    tool_files_in,
    worded,
)
from core.lessons.anchors import (
    MOST_ANCHORS,
    MOST_RECALLED_TRIGGERS,
    could_match,
    has_directory,
    matches,
)
from core.lessons.record import Record
from core.lessons.record_text import is_harmless, is_usable
from core.text.plain import normal_form
from core.text.terms import stem_of

MOST_RECORDS = 4  # of which those that only words speak for are three at most
_MOST_BY_WORDS = 3

# The weight that a record needs. The words of a command say less, since many lessons name commands.
_NEEDED, _NEEDED_IN_A_SHELL = 3.5, 5.6
_BESIDE_THE_BEST = 0.7  # of the best record's evidence; less is only noise beside it

# Files: those of `paths`, then those that the texts name.
_ANCHORED_FILE, _ANCHORED_PLACE, _ANCHORED_KIND = 3.6, 3.5, 2.0
_ANCHORED_WRITTEN, _ANCHORED_READ = 5.6, 4.5  # by the tool of a command
_NAMED_PATH, _NAMED_FILE, _NAMED_COMMON_FILE, _NAMED_FOLDER = 3.5, 2.5, 0.4, 1.2
_IN_A_COMMAND = 0.4
_TRIGGERED = 5.6  # the need of a command
_SURE = 2.9  # an anchor or a trigger of so much is not crowded out by better ones
_FEW = 1.5  # of more records anchored to one file, or triggered by one change, each tells less
_ENOUGH_CHANGES = 40  # from so many on they judge rarity better than the records do
# Commands: two words in a row, a long option.
_PHRASE, _OPTION, _MOST_OPTIONS = 3.5, 2.5, 1.5
# Words, each once: identifiers of several parts, other words, those of every program. Of Hangul the
# first two syllables are the word, since particles follow, and any two are a little of one, since
# words run together.
_NAME, _NAME_IN_COMMAND, _WORD, _COMMON_WORD, _PAIR = 0.9, 1.5, 1.25, 0.2, 0.2
_BESIDE_THE_LESSON = 0.8  # a word that only `missing_context` or `ask_next_time` has
_TOPIC = 0.6

# When a term is common in a project. Among so few changes or files that is an accident.
_FEWEST, _LEAST_SIZE = 3, 20
_COMMON_SHARE, _FEW_FILES = 0.02, 4
# The newest; other patterns count as rare. A pattern costs up to 1 ms.
_MOST_PATTERNS = 200

# A name that every second directory has says nothing about which one is meant.
_COMMON_FILE = re.compile(
    r"(?:index|main|utils?|helpers?|common|types?|models?|views?|urls|tests?|conftest|__init__"
    r"|readme|config|settings|setup|package|mod|lib|app|constants?|errors?|schema|page|layout|route"
    r"|handler|service|server|client)\.[a-z]+"
)
_OPTION_WORD = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]+", re.A)
# Behind a program a command may have options: `kubectl -n web apply`. In each gap they would cost
# a time that grows exponentially.
_GAP = r"[ \t]+(?:-[^\s;&|]+[ \t]+(?:[^\s;&|-][^\s;&|]*[ \t]+)?){0,6}?"


class Sample(NamedTuple):
    """How many of `size` texts have each term."""

    size: int = 0
    counts: Mapping[str, int] = {}

    @classmethod
    def of(cls, texts: Sequence[Collection[str]]) -> "Sample":
        return cls(len(texts), Counter(chain.from_iterable(texts)))

    def telling(self, term: str, common: float = _COMMON_SHARE) -> float:
        """Return 1 for a term in at most the share `common` of the texts, less for others."""
        count = self.counts.get(term, 0)
        if count < _FEWEST or common >= 1:
            return 1.0
        return min(1.0, log((count + 0.5) / (self.size + 1)) / log(common))


_NOTHING = Sample()


class Surroundings(NamedTuple):
    """Samples of what is common in a project."""

    changes: Sample = _NOTHING  # words of past changes
    actions: Sample = _NOTHING  # words of past actions
    names: Sample = _NOTHING  # words of file names
    anchors: Sample = _NOTHING  # patterns that stand for files
    touched: Sample = _NOTHING  # patterns that stand for changed files
    triggers: Sample = _NOTHING  # those in changes

    def weight_of_anchor(self, pattern: str) -> float:
        """Return 1 for a pattern of few files and few changed ones, less for others."""
        common = max(_COMMON_SHARE, _FEW_FILES / (self.anchors.size or 1))
        return min(it.telling(pattern, common) for it in (self.anchors, self.touched))

    @property
    def size(self) -> int:
        return self.changes.size + self.actions.size

    def rarity(self, word: str) -> float:
        """Return 1 for a word nowhere in the project, nearly 0 for one everywhere."""
        times = self.changes.counts.get(word, 0) + self.actions.counts.get(word, 0)
        counted = ((times, self.size), (self.names.counts.get(word, 0), self.names.size))
        return min(log((size + 1) / (it + 0.5)) / log(2 * (size + 1)) for it, size in counted)


def surroundings_of(
    records: Sequence[Record],
    changes: Sequence[Action],
    files: Sequence[str],
    actions: Sample = _NOTHING,
) -> Surroundings:
    """Count how common the words and anchors of the records are in a project.

    changes: past ones, each of one file. files: project-relative, with `/`. actions: counted
    before.
    """

    def words_of(text: str) -> set[str]:
        return {term for _, term in terms_of(worded(text))}

    words = words_of("\n".join(chain.from_iterable(record.texts for record in records)))
    triggers = {it for record in records for it in record.when[:MOST_RECALLED_TRIGGERS]}
    newest = (it for record in reversed(records) for it in record.paths[:MOST_ANCHORS])
    patterns = list(islice(dict.fromkeys(newest), _MOST_PATTERNS))

    def anchors(paths: Sequence[str]) -> Sample:
        joined = "\n".join(paths)
        able = [pattern for pattern in patterns if could_match(pattern, joined)]
        return Sample(len(paths), {it: sum(matches(it, path) for path in paths) for it in able})

    return Surroundings(
        changes=Sample.of([words & words_of(f"{it.paths[0]}\n{it.telling}") for it in changes]),
        actions=actions._replace(counts={it: n for it, n in actions.counts.items() if it in words}),
        names=Sample.of([words & words_of(path) for path in files]),
        anchors=anchors(files),
        touched=anchors([it.paths[0] for it in changes]),
        triggers=Sample(
            len(changes), {it: sum(it in one.text for one in changes) for it in triggers}
        ),
    )


class Choice(NamedTuple):
    records: Sequence[Record] = ()
    words: Collection[str] = ()  # shared by the action and the log


def choose_records(
    action: Action,
    records: Sequence[Record],
    count: int | None = None,
    having: Mapping[str, int] | None = None,
    surroundings: Surroundings | None = None,
) -> Choice:
    """Return at most MOST_RECORDS records, the best first, of equals the newer; mostly none.

    Records too long or like orders are passed over. count, having: as in AtHand, if these are not
    all records.
    """
    sought = Sought(action)
    if not sought.readings:
        return Choice()
    around = surroundings or Surroundings()
    candidates = [Candidate(record, sought, around) for record in records if is_usable(record)]
    weights = _weights(sought, candidates, count or len(records), having or {}, around)
    needed = _NEEDED_IN_A_SHELL if action.command and not action.paths else _NEEDED
    found = sorted(((it, at) for at, it in enumerate(weights) if it >= needed), reverse=True)
    by_words, least, chosen = 0, 0.0, list[Record]()
    for weight, at in found:
        record, is_sure = candidates[at].record, candidates[at].is_sure
        if len(chosen) == MOST_RECORDS or not (is_sure or by_words < _MOST_BY_WORDS):
            continue
        if (is_sure or weight >= least) and is_harmless(record):
            by_words += 0 if is_sure else 1
            least = least or _BESIDE_THE_BEST * weight
            chosen.append(record)
    return Choice(chosen, {word for it in candidates for _, word in it.whole})


class Sought:
    """An action, ready to be compared with records.

    readings: terms of its texts, the surest first, where a word counts first. files: with weights.
    names: caseless last parts, and folders with `/`.
    """

    def __init__(self, action: Action) -> None:
        action = action.readable()
        texts = {"path": "\n".join(action.paths), "command": action.command, "text": action.telling}
        self.readings = {kind: terms_of(text) for kind, text in texts.items() if text.strip()}
        self.vocabulary = Vocabulary(terms_of("\n".join(texts.values())))
        self.phrases = {("phrases", it) for it in phrases_in(action.command)}
        options = _OPTION_WORD.findall(action.command)
        self.options = {("options", option.casefold()) for option in options}
        self.tools = tool_files_in(action.command)
        self.files = {it: 1.0 if it in action.paths else _IN_A_COMMAND for it in action.named}
        parts = [path.casefold().strip("/").rpartition("/") for path in self.files]
        folders = {it for path, *_ in parts for it in path.split("/") if it}
        self.names = {f"{it}/" for it in folders} | {name for *_, name in parts if name}
        self._command = action.command.replace("\\\n", " ")
        self._whole = action.text
        self._text = f"{action.command}\n{IMPORT.sub('', action.text)}"

    def has(self, trigger: str) -> bool:
        """Return whether a trigger stands in the action and does not begin inside a word."""
        text = self._text if IMPORT.sub("", trigger) else self._whole  # only an import is in those
        words = trigger.split()
        if words and trigger in text:
            return bool(re.search(r"(?!(?<=\w)\w)" + re.escape(trigger), text, re.A))
        if len(words) < 2 or not all(word in self._command for word in words):
            return False
        program, *rest = map(re.escape, words)
        behind = r"[ \t]+".join(rest)
        return bool(re.search(rf"(?<!\w){program}{_GAP}{behind}", self._command, re.A))


class Candidate:
    """One record, read as far as an action asks.

    whole: shared terms; of_lesson: those in the lesson. anchored, triggered: weights.
    """

    def __init__(self, record: Record, sought: Sought, around: Surroundings) -> None:
        self.record = record
        lesson = worded(normal_form("NFC", record.lesson))
        others = worded(normal_form("NFC", f"{record.missing_context}\n{record.ask_next_time}"))
        text = f"{lesson}\n{others}"
        caseless = text.casefold()
        self.of_lesson = sought.vocabulary.terms_in(lesson)
        self.whole = self.of_lesson | sought.vocabulary.terms_in(others)
        self.files, self.phrases, self.options = set[str](), set[Term](), set[Term]()
        if any(name in caseless for name in sought.names):
            files = (name.casefold().strip("/.").rstrip("*/") for name in files_in(text))
            self.files.update(filter(None, files))
        if any(all(it in caseless for it in phrase.split()) for _, phrase in sought.phrases):
            words = f" {' '.join(TOKEN.findall(caseless))} "
            self.phrases = {it for it in sought.phrases if f" {it[1]} " in words}
        if any(option in caseless for _, option in sought.options):
            options = _OPTION_WORD.findall(text)
            self.options = sought.options.intersection(("options", it.casefold()) for it in options)
        triggers = [it for it in record.when[:MOST_RECALLED_TRIGGERS] if sought.has(it)]
        self.triggered = _TRIGGERED * max(map(around.triggers.telling, triggers), default=0.0)
        weights = [0.0]
        for pattern in record.paths[:MOST_ANCHORS]:
            for path, share in sought.files.items():
                if matches(pattern, path):
                    weight = _ANCHORED_KIND
                    if pattern.casefold().rstrip("/") == path.casefold():
                        weight = _ANCHORED_FILE
                    elif has_directory(pattern) or pattern.endswith("/"):
                        weight = _ANCHORED_PLACE
                    weights.append(weight * share * around.weight_of_anchor(pattern))
            name = pattern.casefold().rpartition("/")[2]
            if name in sought.tools:
                weights.append(_ANCHORED_WRITTEN if sought.tools[name] else _ANCHORED_READ)
        self.anchored = max(weights)
        if (self.anchored or self.triggered) and not is_harmless(record):
            self.anchored = self.triggered = 0.0

    @property
    def is_sure(self) -> bool:
        """Whether no better record crowds this one out, for its anchor or trigger."""
        return max(self.anchored, self.triggered) >= _SURE


def _weights(
    sought: Sought,
    candidates: Sequence[Candidate],
    count: int,
    having: Mapping[str, int],
    around: Surroundings,
) -> list[float]:
    """count: how many records the whole log has."""
    topics = {topic: terms_of(topic) for topic in {it.record.topic for it in candidates}}
    times = Counter(
        chain.from_iterable(
            it.whole | it.phrases | it.options | topics[it.record.topic] for it in candidates
        )
    )

    @cache
    def rarity(term: Term) -> float:
        """Return 1 for a term of one record, 0 for a term of all."""
        kind, text = term
        known = 1.0 if kind == "phrases" else around.rarity(text)
        # Among records a word counts only where little is known of the project.
        if kind in ("phrases", "options") or around.size < _ENOUGH_CHANGES:
            most = max(times[term], having.get(text, 0), 1)
            known = min(known, 1 - log(most) / log(count + 1))
        return known

    # Evidence of many records tells less; in a small project many stand for the same few files.
    few = _FEW if around.names.size >= _LEAST_SIZE else len(candidates)
    of_anchors = min(1.0, few / max(sum(it.anchored > 0 for it in candidates), 1))
    of_triggers = min(1.0, few / max(sum(it.triggered > 0 for it in candidates), 1))
    of_topics = {
        topic: _TOPIC * sum(_names_topic(it, terms) for it in sought.readings.values())
        for topic, terms in topics.items()
    }
    weights = list[float]()
    for it in candidates:
        weight = it.anchored * of_anchors + it.triggered * of_triggers + of_topics[it.record.topic]
        if it.phrases:
            weight += _PHRASE * max(map(rarity, it.phrases))
        if it.options:
            weight += _OPTION * min(sum(map(rarity, it.options)), _MOST_OPTIONS)
        of_files = [0.0]
        for path, share in sought.files.items() if it.files else ():
            caseless = path.casefold().rstrip("/")
            for name in it.files:
                if f"/{caseless}".endswith(f"/{name}"):
                    is_common = bool(_COMMON_FILE.fullmatch(name))
                    of_name = _NAMED_COMMON_FILE if is_common else _NAMED_FILE
                    of_files.append(share * (_NAMED_PATH if "/" in name else of_name))
                elif "/" in name and f"/{name}/" in f"/{caseless}":
                    of_files.append(share * _NAMED_FOLDER)
        weight += max(of_files)
        weights.append(weight + (_of_words(it, sought, rarity) if it.whole else 0.0))
    return weights


def _of_words(candidate: Candidate, sought: Sought, rarity: Callable[[Term], float]) -> float:
    weights, counted = list[float](), set[str]()
    for source, terms in sought.readings.items():
        shared = terms & candidate.whole
        of_names = _NAME_IN_COMMAND if source == "command" else _NAME
        for kind, full_weight in (("names", of_names), ("words", _WORD), ("pairs", _PAIR)):
            for term in [it for it in shared if it[0] == kind and it[1] not in counted]:
                is_common = kind == "words" and term[1] in _common_words()
                weight = _COMMON_WORD if is_common else full_weight
                if term not in candidate.of_lesson:
                    weight *= _BESIDE_THE_LESSON
                weights.append(weight * rarity(term))
                counted.add(term[1])
    return fsum(weights)  # the same in any order


def _names_topic(terms: AbstractSet[Term], topic: AbstractSet[Term]) -> bool:
    """Of a Korean topic the pairs count."""
    pairs = {term for term in topic if term[0] == "pairs"}
    words = {term for term in topic if term[0] == "words"}
    # A particle may take the place of the last syllable.
    most_lacking = 1 if len(pairs) > 1 else 0
    has_pairs = bool(pairs) and len(pairs - terms) <= most_lacking
    return has_pairs or (bool(words) and words <= terms)


@cache
def _common_words() -> frozenset[str]:
    return frozenset(map(stem_of, word_list("common_in_code")))
