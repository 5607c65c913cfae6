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
from itertools import chain, islice, pairwise
from math import fsum, log
from typing import NamedTuple

from core.data import word_list
from core.lessons.action import (
    IMPORT,
    WORD,
    Action,
    Term,
    Vocabulary,
    files_in,
    phrases_in,
    terms_of,
    tool_files_in,
    without_data,
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
_SURE_WEIGHT = 2.9  # an anchor or a trigger of so much is not crowded out by better ones
_FEW_RECORDS = 1.5  # for one file, or triggered by one change: of more, each tells less
_ENOUGH_CHANGES = 40  # from so many on they judge rarity better than the records do
# Commands: two words in a row, a long option.
_PHRASE, _OPTION, _MOST_OPTIONS = 3.5, 2.5, 1.5
# Words, each once: identifiers of several parts, other words, those of every program. Of Hangul the
# first two syllables are the word, since particles follow, and any two are a little of one, since
# words run together.
_NAME, _NAME_IN_COMMAND, _WORD, _COMMON_WORD, _PAIR = 0.9, 1.5, 1.25, 0.2, 0.2
_BESIDE_LESSON = 0.8  # a word that only `missing_context` or `ask_next_time` has
_TOPIC = 0.6

# When a term is common in a project. Among so few changes or files that is an accident.
_LEAST_COUNT, _LEAST_SIZE = 3, 20
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
    def from_texts(cls, texts: Sequence[Collection[str]]) -> "Sample":
        return cls(len(texts), Counter(chain.from_iterable(texts)))

    def weight_of(self, term: str, common_share: float = _COMMON_SHARE) -> float:
        """Return 1 for a term in at most `common_share` of the texts, less for others."""
        count = self.counts.get(term, 0)
        if count < _LEAST_COUNT or common_share >= 1:
            return 1.0
        return min(1.0, log((count + 0.5) / (self.size + 1)) / log(common_share))


_NO_TEXTS = Sample()


class Surroundings(NamedTuple):
    """Samples of what is common in a project."""

    changes: Sample = _NO_TEXTS  # words of past changes
    actions: Sample = _NO_TEXTS  # words of past actions
    names: Sample = _NO_TEXTS  # words of file names
    anchors: Sample = _NO_TEXTS  # patterns that stand for files
    touched: Sample = _NO_TEXTS  # patterns that stand for changed files
    triggers: Sample = _NO_TEXTS  # those in changes

    def weight_of_anchor(self, pattern: str) -> float:
        """Return 1 for a pattern of few files and few changed ones, less for others."""
        share = max(_COMMON_SHARE, _FEW_FILES / (self.anchors.size or 1))
        return min(sample.weight_of(pattern, share) for sample in (self.anchors, self.touched))

    @property
    def size(self) -> int:
        return self.changes.size + self.actions.size

    def rarity_of(self, word: str) -> float:
        """Return 1 for a word nowhere in the project, nearly 0 for one everywhere."""
        count = self.changes.counts.get(word, 0) + self.actions.counts.get(word, 0)
        samples = ((count, self.size), (self.names.counts.get(word, 0), self.names.size))
        return min(log((size + 1) / (count + 0.5)) / log(2 * (size + 1)) for count, size in samples)


def surroundings_of(
    records: Sequence[Record],
    changes: Sequence[Action],
    files: Sequence[str],
    actions: Sample = _NO_TEXTS,
) -> Surroundings:
    """Count how common the words and anchors of the records are in a project.

    changes: of one file each. files: project-relative, with `/`. actions: counted before.
    """

    def words_of(text: str) -> set[str]:
        return {term for _, term in terms_of(without_data(text))}

    words = words_of("\n".join(chain.from_iterable(record.texts for record in records)))
    triggers = {trigger for record in records for trigger in record.when[:MOST_RECALLED_TRIGGERS]}
    anchors = (path for record in reversed(records) for path in record.paths[:MOST_ANCHORS])
    patterns = list(islice(dict.fromkeys(anchors), _MOST_PATTERNS))

    def count_matches(paths: Sequence[str]) -> Sample:
        joined = "\n".join(paths)
        candidates = [pattern for pattern in patterns if could_match(pattern, joined)]
        counts = {pattern: sum(matches(pattern, path) for path in paths) for pattern in candidates}
        return Sample(len(paths), counts)

    edit_words = [words & words_of(f"{edit.paths[0]}\n{edit.gist}") for edit in changes]
    action_counts = {word: count for word, count in actions.counts.items() if word in words}
    trigger_counts = {piece: sum(piece in edit.text for edit in changes) for piece in triggers}
    return Surroundings(
        changes=Sample.from_texts(edit_words),
        actions=actions._replace(counts=action_counts),
        names=Sample.from_texts([words & words_of(path) for path in files]),
        anchors=count_matches(files),
        touched=count_matches([edit.paths[0] for edit in changes]),
        triggers=Sample(len(changes), trigger_counts),
    )


class Choice(NamedTuple):
    records: Sequence[Record] = ()
    words: Collection[str] = ()  # shared by the action and the log


def choose_records(
    action: Action,
    records: Sequence[Record],
    count: int | None = None,
    word_counts: Mapping[str, int] | None = None,
    surroundings: Surroundings | None = None,
) -> Choice:
    """Return at most MOST_RECORDS records, the best first, of equals the newer; mostly none.

    Records too long or like orders are passed over. count, word_counts: of a Shortlist.
    """
    query = Query(action)
    if not query.sources:
        return Choice()
    project = surroundings or Surroundings()
    candidates = [Candidate(record, query, project) for record in records if is_usable(record)]
    weights = _weigh(query, candidates, count or len(records), word_counts or {}, project)
    needed_weight = _NEEDED_IN_A_SHELL if action.command and not action.paths else _NEEDED
    pairs = ((weight, at) for at, weight in enumerate(weights) if weight >= needed_weight)
    by_words_count, least_weight, chosen = 0, 0.0, list[Record]()
    for weight, at in sorted(pairs, reverse=True):
        record, is_sure = candidates[at].record, candidates[at].is_sure
        if len(chosen) == MOST_RECORDS or not (is_sure or by_words_count < _MOST_BY_WORDS):
            continue
        if (is_sure or weight >= least_weight) and is_harmless(record):
            by_words_count += 0 if is_sure else 1
            least_weight = least_weight or _BESIDE_THE_BEST * weight
            chosen.append(record)
    return Choice(chosen, {word for candidate in candidates for _, word in candidate.shared_terms})


class Query:
    """An action, ready to be compared with records.

    sources: terms of its texts, the surest first, where a word counts first. files: with weights.
    names: caseless last parts, and folders with `/`.
    """

    def __init__(self, action: Action) -> None:
        action = action.without_data()
        texts = {"path": "\n".join(action.paths), "command": action.command, "text": action.gist}
        self.sources = {kind: terms_of(text) for kind, text in texts.items() if text.strip()}
        self.vocabulary = Vocabulary(terms_of("\n".join(texts.values())))
        self.phrases = {("phrases", phrase) for phrase in phrases_in(action.command)}
        self.phrase_starts = {phrase.split()[0] for _, phrase in self.phrases}
        options = _OPTION_WORD.findall(action.command)
        self.options = {("options", option.casefold()) for option in options}
        self.tools = tool_files_in(action.command)
        self.files = {path: 1.0 if path in action.paths else _IN_A_COMMAND for path in action.files}
        self.file_text = "\n".join(self.files)
        parts = [path.casefold().strip("/").rpartition("/") for path in self.files]
        folders = {folder for path, *_ in parts for folder in path.split("/") if folder}
        self.names = {f"{folder}/" for folder in folders} | {name for *_, name in parts if name}
        self._command = action.command.replace("\\\n", " ")
        self._full_text = action.text
        self._text = f"{action.command}\n{IMPORT.sub('', action.text)}"

    def has_trigger(self, trigger: str) -> bool:
        """Return whether a trigger stands in the action and does not begin inside a word."""
        text = self._text if IMPORT.sub("", trigger) else self._full_text  # an import alone
        words = trigger.split()
        if words and trigger in text:
            return bool(re.search(r"(?!(?<=\w)\w)" + re.escape(trigger), text, re.A))
        if len(words) < 2 or not all(word in self._command for word in words):
            return False
        program, *rest = map(re.escape, words)
        rest_pattern = r"[ \t]+".join(rest)
        return bool(re.search(rf"(?<!\w){program}{_GAP}{rest_pattern}", self._command, re.A))


class Candidate:
    """One record, read as far as an action asks.

    shared_terms: with the action; lesson_terms: those in the lesson.
    """

    def __init__(self, record: Record, query: Query, project: Surroundings) -> None:
        self.record = record
        lesson = without_data(normal_form("NFC", record.lesson))
        rest = without_data(normal_form("NFC", f"{record.missing_context}\n{record.ask_next_time}"))
        text = f"{lesson}\n{rest}"
        haystack = text.casefold()
        self.lesson_terms = query.vocabulary.terms_in(lesson)
        self.shared_terms = self.lesson_terms | query.vocabulary.terms_in(rest)
        self.files, self.phrases, self.options = set[str](), set[Term](), set[Term]()
        if any(name in haystack for name in query.names):
            files = (name.casefold().strip("/.").rstrip("*/") for name in files_in(text))
            self.files.update(filter(None, files))
        if any(word in haystack for word in query.phrase_starts):
            pairs = map(" ".join, pairwise(WORD.findall(haystack)))
            self.phrases = query.phrases.intersection(("phrases", pair) for pair in pairs)
        if any(option in haystack for _, option in query.options):
            options = map(str.casefold, _OPTION_WORD.findall(text))
            self.options = query.options.intersection(("options", option) for option in options)
        self.terms = self.shared_terms | self.phrases | self.options
        triggers = filter(query.has_trigger, record.when[:MOST_RECALLED_TRIGGERS])
        self.trigger_weight = _TRIGGERED * max([0.0, *map(project.triggers.weight_of, triggers)])
        weights = [0.0]
        for pattern in record.paths[:MOST_ANCHORS]:
            for path, share in query.files.items() if could_match(pattern, query.file_text) else ():
                if matches(pattern, path):
                    weight = _ANCHORED_KIND
                    if pattern.casefold().rstrip("/") == path.casefold():
                        weight = _ANCHORED_FILE
                    elif has_directory(pattern) or pattern.endswith("/"):
                        weight = _ANCHORED_PLACE
                    weights.append(weight * share * project.weight_of_anchor(pattern))
            name = pattern.casefold().rpartition("/")[2]
            if name in query.tools:
                weights.append(_ANCHORED_WRITTEN if query.tools[name] else _ANCHORED_READ)
        self.anchor_weight = max(weights)
        if (self.anchor_weight or self.trigger_weight) and not is_harmless(record):
            self.anchor_weight = self.trigger_weight = 0.0

    @property
    def is_sure(self) -> bool:
        """Whether no better record crowds this one out, for its anchor or trigger."""
        return max(self.anchor_weight, self.trigger_weight) >= _SURE_WEIGHT


def _weigh(
    query: Query,
    candidates: Sequence[Candidate],
    count: int,
    word_counts: Mapping[str, int],
    project: Surroundings,
) -> list[float]:
    """count: how many records the whole log has."""
    topics = {name: terms_of(name) for name in {candidate.record.topic for candidate in candidates}}
    terms = (candidate.terms | topics[candidate.record.topic] for candidate in candidates)
    holder_counts = Counter(chain.from_iterable(terms))

    @cache
    def rarity_of(term: Term) -> float:
        """Return 1 for a term of one record, 0 for a term of all."""
        kind, text = term
        rarity = 1.0 if kind == "phrases" else project.rarity_of(text)
        # Among records a word counts only where little is known of the project.
        if kind in ("phrases", "options") or project.size < _ENOUGH_CHANGES:
            holders = max(holder_counts[term], word_counts.get(text, 0), 1)
            rarity = min(rarity, 1 - log(holders) / log(count + 1))
        return rarity

    # Evidence of many records tells less; in a small project many stand for the same few files.
    few_records = _FEW_RECORDS if project.names.size >= _LEAST_SIZE else len(candidates)
    anchored_count = sum(candidate.anchor_weight > 0 for candidate in candidates)
    anchor_factor = min(1.0, few_records / max(anchored_count, 1))
    triggered_count = sum(candidate.trigger_weight > 0 for candidate in candidates)
    trigger_factor = min(1.0, few_records / max(triggered_count, 1))
    topic_weights = {
        topic: _TOPIC * sum(_has_topic(source, terms) for source in query.sources.values())
        for topic, terms in topics.items()
    }
    weights = list[float]()
    for candidate in candidates:
        weight = candidate.anchor_weight * anchor_factor + candidate.trigger_weight * trigger_factor
        weight += topic_weights[candidate.record.topic]
        if candidate.phrases:
            weight += _PHRASE * max(map(rarity_of, candidate.phrases))
        if candidate.options:
            weight += _OPTION * min(sum(map(rarity_of, candidate.options)), _MOST_OPTIONS)
        file_weights = [0.0]
        for path, share in query.files.items() if candidate.files else ():
            caseless_path = path.casefold().rstrip("/")
            for name in candidate.files:
                if f"/{caseless_path}".endswith(f"/{name}"):
                    is_common = bool(_COMMON_FILE.fullmatch(name))
                    name_weight = _NAMED_COMMON_FILE if is_common else _NAMED_FILE
                    file_weights.append(share * (_NAMED_PATH if "/" in name else name_weight))
                elif "/" in name and f"/{name}/" in f"/{caseless_path}":
                    file_weights.append(share * _NAMED_FOLDER)
        weight += max(file_weights)
        words_weight = _weigh_words(candidate, query, rarity_of) if candidate.shared_terms else 0.0
        weights.append(weight + words_weight)
    return weights


def _weigh_words(candidate: Candidate, query: Query, rarity_of: Callable[[Term], float]) -> float:
    weights, texts = list[float](), set[str]()
    for source, source_terms in query.sources.items():
        terms = source_terms & candidate.shared_terms
        name_weight = _NAME_IN_COMMAND if source == "command" else _NAME
        for kind, full_weight in (("names", name_weight), ("words", _WORD), ("pairs", _PAIR)):
            for term in [term for term in terms if term[0] == kind and term[1] not in texts]:
                is_common = kind == "words" and term[1] in _common_words()
                weight = _COMMON_WORD if is_common else full_weight
                if term not in candidate.lesson_terms:
                    weight *= _BESIDE_LESSON
                weights.append(weight * rarity_of(term))
                texts.add(term[1])
    return fsum(weights)  # the same in any order


def _has_topic(terms: AbstractSet[Term], topic_terms: AbstractSet[Term]) -> bool:
    """Of a Korean topic the pairs count."""
    pairs = {term for term in topic_terms if term[0] == "pairs"}
    words = {term for term in topic_terms if term[0] == "words"}
    # A particle may take the place of the last syllable.
    most_lacking = 1 if len(pairs) > 1 else 0
    has_pairs = bool(pairs) and len(pairs - terms) <= most_lacking
    return has_pairs or (bool(words) and words <= terms)


@cache
def _common_words() -> frozenset[str]:
    return frozenset(map(stem_of, word_list("common_in_code")))
