"""Chooses the records that an action needs: the few whose files, commands and words are its own.

Pure, lexical and deterministic. An irrelevant reminder trains the model to ignore all reminders, so
silence is the rule: a record must gather evidence worth a threshold, and evidence is worth the
more, the rarer it is in the project. The weights were chosen on the labelled actions of
`benchmarks/recall.py`, which also says how often they are right. What this cannot do: synonyms,
translations, and rules about what code does rather than what it is called.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from math import log
from typing import NamedTuple

from core.data import word_list
from core.lessons.action import (
    TOKEN,
    Action,
    Reading,
    Vocabulary,
    files_in,
    phrases_in,
    tool_files,
    without_imports,
    worded,
)
from core.lessons.anchors import (
    MOST_ANCHORS,
    MOST_PATTERN_CHARS,
    MOST_RECALLED_TRIGGERS,
    is_exact,
    matches,
)
from core.lessons.record import Record
from core.lessons.selection import is_harmless, is_usable
from core.lessons.surroundings import Surroundings
from core.text.plain import normal_form
from core.text.terms import stem_of

MOST_RECORDS = 4  # of which those that only words speak for are three at most
_MOST_BY_WORDS = 3

# What a record must reach. The words of a command say less, since many lessons name commands.
_NEEDED, _NEEDED_IN_A_SHELL = 3.5, 5.6
_BESIDE_THE_BEST = 0.7  # of the best record's evidence; less is only noise beside it

# Files: those of `paths`, then those that the texts name.
_ANCHORED_FILE, _ANCHORED_PLACE, _ANCHORED_KIND = 3.6, 3.5, 2.0
_ANCHORED_WRITTEN, _ANCHORED_READ = 5.6, 4.5  # by the tool of a command
_NAMED_PATH, _NAMED_FILE, _NAMED_COMMON_FILE, _NAMED_FOLDER = 3.5, 2.5, 0.4, 1.2
_IN_A_COMMAND = 0.4
_TRIGGERED = 5.6  # what a command needs
_SURE = 2.9  # an anchor or a trigger of so much is not crowded out by better ones
_FEW = 1.5  # of more records anchored to one file, or triggered by one change, each tells less
_ENOUGH_CHANGES = 40  # from so many on they say better what is rare than the records do
# Commands: two words in a row, a long option.
_PHRASE, _OPTION, _MOST_OPTIONS = 3.5, 2.5, 1.5
# Words, each once: identifiers of several parts, other words, those of every program. Of Hangul the
# first two syllables are the word, since particles follow, and any two are a little of one, since
# words run together.
_NAME, _NAME_IN_COMMAND, _WORD, _COMMON_WORD, _PAIR = 0.9, 1.5, 1.25, 0.2, 0.2
_BESIDE_THE_LESSON = 0.8  # a word that only `missing_context` or `ask_next_time` has
_TOPIC = 0.6

# A name that every second directory has says nothing about which one is meant.
_COMMON_FILE = re.compile(
    r"(?:index|main|utils?|helpers?|common|types?|models?|views?|urls|tests?|conftest|__init__"
    r"|readme|config|settings|setup|package|mod|lib|app|constants?|errors?|schema|page|layout|route"
    r"|handler|service|server|client)\.[a-z]+"
)
_OPTION_WORD = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]+", re.A)


class Choice(NamedTuple):
    """The records that an action needs, and the words that it shares with the log."""

    records: Sequence[Record] = ()
    words: Collection[str] = ()


def choose(
    action: Action,
    records: Sequence[Record],
    count: int | None = None,
    having: Mapping[str, int] | None = None,
    surroundings: Surroundings | None = None,
) -> Choice:
    """Return at most MOST_RECORDS of these records, the best first; of equals the newer first.

    Nearly always none. Any text is allowed on both sides; a record that is not usable, or reads
    like an order to a model, is passed over. count, having: as in AtHand, when these are not all
    records of the log. surroundings: what is common in the project, as far as it is known.
    """
    action = action.readable()
    # The surest first: a word counts where it stands first.
    texts = {"path": "\n".join(action.paths), "command": action.command, "text": action.telling}
    sources = [(name, Reading(text)) for name, text in texts.items() if text.strip()]
    if not sources:
        return Choice()
    sought = Sought.of(action, [reading for _, reading in sources])
    candidates = [Candidate(record, sought) for record in records if is_usable(record)]
    rarity = Rarity(candidates, count or len(records), having or {}, surroundings or Surroundings())
    evidence = Evidence(action, sources, sought, rarity)
    weights = [evidence.of(candidate) for candidate in candidates]
    needed = _NEEDED_IN_A_SHELL if action.command and not action.paths else _NEEDED
    found = sorted(((it, at) for at, it in enumerate(weights) if it >= needed), reverse=True)
    by_words, least, chosen = 0, 0.0, list[Record]()
    for weight, at in found:
        record, is_sure = candidates[at].record, candidates[at].is_sure
        if len(chosen) == MOST_RECORDS or not (is_sure or by_words < _MOST_BY_WORDS):
            continue
        if (is_sure or weight >= least) and is_harmless(record):
            by_words += not is_sure
            least = least or _BESIDE_THE_BEST * weight
            chosen.append(record)
    return Choice(chosen, {word for it in candidates for word in it.shared})


class Sought(NamedTuple):
    """What an action says. words: of its texts. phrases and options: of its command.

    names: caseless, of the files that it names the last parts, of the folders around them all with
    their `/`. text: what it runs and writes but what brings in other modules. imports: with that.
    """

    text: str
    imports: str
    words: Vocabulary
    phrases: Collection[tuple[str, str]]
    options: Collection[str]
    names: Collection[str]

    @classmethod
    def of(cls, action: Action, readings: Sequence[Reading]) -> "Sought":
        return cls(
            text=f"{action.command}\n{without_imports(action.text)}",
            imports=action.text,
            words=Vocabulary(readings),
            phrases=set(phrases_in(action.command)),
            options={it.casefold() for it in _OPTION_WORD.findall(action.command)},
            names=set(_signs(action.named)),
        )

    def has(self, trigger: str) -> bool:
        """Return whether a trigger stands there; in an import only if it is one itself."""
        if not stands(trigger, self.text) and not stands(trigger, self.imports):
            return False
        is_import = not without_imports(trigger)
        return stands(trigger, self.imports if is_import else self.text)


def _signs(paths: Iterable[str]) -> Iterator[str]:
    """Yield pieces of which a text has one if it names a file or one of the folders around it."""
    for path in paths:
        *folders, name = path.casefold().strip("/").split("/")
        yield from (f"{it}/" for it in folders if it)
        if name:
            yield name


def stands(trigger: str, text: str) -> bool:
    """Return whether a trigger stands in a text, not in the middle of another word."""
    at = text.find(trigger) if trigger.strip() else -1
    while at > 0 and _is_word(trigger[0]) and _is_word(text[at - 1]):
        at = text.find(trigger, at + 1)
    return at >= 0


def _is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


class Candidate:
    """Reads one record as far as an action asks: what cannot be there is not looked for."""

    def __init__(self, record: Record, sought: Sought) -> None:
        self.record, self._sought = record, sought
        texts = record.lesson, record.missing_context, record.ask_next_time
        self.text = worded(normal_form("NFC", "\n".join(texts)))
        self._caseless = self.text.casefold()
        self.whole = sought.words.shared(self.text)
        self.topic = _topic(record.topic)
        self.triggers = [it for it in record.when[:MOST_RECALLED_TRIGGERS] if sought.has(it)]
        self.anchored = self.triggered = 0.0
        self.is_sure = False

    @cached_property
    def lesson(self) -> Reading:
        return self._sought.words.shared(worded(self.record.lesson))

    @property
    def shared(self) -> Collection[str]:
        """The terms that the record shares with the action."""
        return self.whole.words | self.whole.names | self.whole.pairs

    @cached_property
    def files(self) -> set[str]:
        if not any(name in self._caseless for name in self._sought.names):
            return set()
        found = (name.casefold().strip("/.").rstrip("*/") for name in files_in(self.text))
        return {name for name in found if name}

    @cached_property
    def phrases(self) -> set[tuple[str, str]]:
        text = self._caseless
        if not any(one in text and other in text for one, other in self._sought.phrases):
            return set()
        words = [word.casefold() for word in TOKEN.findall(self.text)]
        return set(pairwise(words))

    @cached_property
    def options(self) -> set[str]:
        if not any(option in self._caseless for option in self._sought.options):
            return set()
        return {option.casefold() for option in _OPTION_WORD.findall(self.text)}


@lru_cache(maxsize=1_024)  # few topics, many records
def _topic(topic: str) -> Reading:
    return Reading(topic)


class Rarity:
    """Says how rare a term is: in the project as far as it is known, else among the records.

    count: of the records that these were chosen from. The others hardly have what an action says.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        count: int,
        having: Mapping[str, int],
        surroundings: Surroundings,
    ) -> None:
        self.candidates, self._count, self._having = candidates, count, having
        self.surroundings = surroundings
        self._found: dict[object, float] = {}
        self._times: dict[str, dict[object, int]] = {}

    def of(self, kind: str, term: object) -> float:
        """Return 1 for what only one record has, 0 for what all of them have."""
        if (kind, term) not in self._found:
            self._found[kind, term] = self._of(kind, term)
        return self._found[kind, term]

    def _of(self, kind: str, term: object) -> float:
        known = self.surroundings
        in_project = known.rarity(term) if isinstance(term, str) else 1.0
        if isinstance(term, str) and kind != "options" and known.size >= _ENOUGH_CHANGES:
            return in_project
        found = self._times_of(kind).get(term, 0)
        elsewhere = self._having.get(term, 0) if isinstance(term, str) else 0
        return min(in_project, 1 - log(max(found, elsewhere) or 1) / log(self._count + 1))

    def _times_of(self, kind: str) -> Mapping[object, int]:
        """Return how many records have each term of a kind."""
        if kind not in self._times:
            counts = self._times[kind] = dict[object, int]()
            for candidate in self.candidates:
                for term in _having(candidate, kind):
                    counts[term] = counts.get(term, 0) + 1
        return self._times[kind]


class Evidence:
    """Weighs what speaks for a record at one action; rare words weigh more."""

    def __init__(
        self,
        action: Action,
        sources: Sequence[tuple[str, Reading]],
        sought: Sought,
        rarity: Rarity,
    ) -> None:
        self._action, self._sources, self._rarity = action, sources, rarity
        self._phrases, self._options = sought.phrases, sought.options
        self._named = action.named
        self._of_tools = dict(tool_files(action.command))
        telling = rarity.surroundings.triggers.telling
        for it in rarity.candidates:
            anchored = self._of_anchors(it.record)
            triggered = _TRIGGERED * max(map(telling, it.triggers), default=0.0)
            if (anchored or triggered) and is_harmless(it.record):
                it.anchored, it.triggered = anchored, triggered
        self._share_of_anchored = self._share(it.anchored for it in rarity.candidates)
        self._share_of_triggered = self._share(it.triggered for it in rarity.candidates)

    def of(self, candidate: Candidate) -> float:
        """Return the weight of all that speaks for this record."""
        anchored = candidate.anchored * self._share_of_anchored
        triggered = candidate.triggered * self._share_of_triggered
        candidate.is_sure = max(candidate.anchored, candidate.triggered) >= _SURE
        weight = anchored + triggered + self._of_files(candidate)
        if self._action.command:
            weight += self._of_command(candidate)
        counted: set[str] = set()
        for source, reading in self._sources:
            weight += self._of_topic(candidate.topic, reading)
            if candidate.whole:
                weight += self._of_words(candidate, reading, source, counted)
        return weight

    def _share(self, weights: Iterable[float]) -> float:
        """Return what is left of the weight of each when many have one: it tells less of which.

        In a small project many stand for the same few files, and all of it is left.
        """
        if self._rarity.surroundings.is_small:
            return 1.0
        return min(1.0, _FEW / (sum(weight > 0 for weight in weights) or 1))

    def _of_anchors(self, record: Record) -> float:
        anchored, telling = 0.0, self._rarity.surroundings.weight_of_anchor
        for pattern in record.paths[:MOST_ANCHORS]:
            if len(pattern) > MOST_PATTERN_CHARS:
                continue
            for path in self._named:
                if matches(pattern, path):
                    share = 1.0 if path in self._action.paths else _IN_A_COMMAND
                    anchored = max(anchored, share * _anchor(pattern, path) * telling(pattern))
            name = pattern.casefold().rpartition("/")[2]
            if name in self._of_tools:
                weight = _ANCHORED_WRITTEN if self._of_tools[name] else _ANCHORED_READ
                anchored = max(anchored, weight)
        return anchored

    def _of_files(self, candidate: Candidate) -> float:
        named = 0.0
        for path in self._named if candidate.files else ():
            share = 1.0 if path in self._action.paths else _IN_A_COMMAND
            for name in candidate.files:
                named = max(named, share * _naming(name, path.casefold().rstrip("/")))
        return named

    def _of_command(self, candidate: Candidate) -> float:
        phrases = candidate.phrases.intersection(self._phrases)
        options = candidate.options.intersection(self._options)
        phrase = max((self._rarity.of("phrases", it) for it in phrases), default=0.0)
        option = sum(self._rarity.of("options", it) for it in options)
        return _PHRASE * phrase + _OPTION * min(option, _MOST_OPTIONS)

    def _of_topic(self, topic: Reading, reading: Reading) -> float:
        words = bool(topic.words) and topic.words <= reading.words
        # A particle may take the place of the last syllable.
        pairs = bool(topic.pairs) and len(topic.pairs - reading.pairs) <= (len(topic.pairs) > 1)
        return _TOPIC if words or pairs else 0.0

    def _of_words(
        self, candidate: Candidate, reading: Reading, source: str, counted: set[str]
    ) -> float:
        total = 0.0
        name_weight = _NAME_IN_COMMAND if source == "command" else _NAME
        for kind, full_weight in (("names", name_weight), ("words", _WORD), ("pairs", _PAIR)):
            shared = getattr(reading, kind) & getattr(candidate.whole, kind)
            for term in shared - counted:
                is_common = kind == "words" and term in _common_words()
                weight = _COMMON_WORD if is_common else full_weight
                if term not in getattr(candidate.lesson, kind):
                    weight *= _BESIDE_THE_LESSON
                total += weight * self._rarity.of(kind, term)
            counted |= shared
        return total


def _having(candidate: Candidate, kind: str) -> Collection[object]:
    if kind in ("phrases", "options"):
        return getattr(candidate, kind)  # type: ignore[no-any-return]
    return getattr(candidate.whole, kind) | getattr(candidate.topic, kind)  # type: ignore[no-any-return]


def _anchor(pattern: str, path: str) -> float:
    """Return the weight of a pattern of the record that stands for this file."""
    if pattern.casefold().rstrip("/") == path.casefold():
        return _ANCHORED_FILE
    is_place = is_exact(pattern) or pattern.endswith("/")
    return _ANCHORED_PLACE if is_place else _ANCHORED_KIND


def _naming(name: str, path: str) -> float:
    """Return the weight of a name in the record's text for a path, 0 for another path."""
    if path == name or path.endswith(f"/{name}"):
        if "/" in name:
            return _NAMED_PATH
        return _NAMED_COMMON_FILE if _COMMON_FILE.fullmatch(name) else _NAMED_FILE
    if "/" in name and f"/{name}/" in f"/{path}":
        return _NAMED_FOLDER
    return 0.0


@cache
def _common_words() -> frozenset[str]:
    return frozenset(map(stem_of, word_list("common_in_code")))
