"""Chooses the records that an action needs: the few whose files, commands and words are its own.

Pure, lexical and deterministic. An irrelevant reminder trains the model to ignore all reminders, so
silence is the rule: a record must gather evidence worth a threshold, and evidence is worth the
more, the rarer it is in the project. The weights were chosen on the labelled actions of
`benchmarks/recall.py`, which also says how often they are right. What this cannot do: synonyms,
translations, and rules about what code does rather than what it is called.
"""

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
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
from core.lessons.anchors import MOST_ANCHORS, MOST_RECALLED_TRIGGERS, is_exact, matches
from core.lessons.rarity import Surroundings
from core.lessons.record import Record
from core.lessons.record_text import is_harmless, is_usable
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
    sought = Sought(action)
    if not sought.readings:
        return Choice()
    candidates = [Candidate(record, sought) for record in records if is_usable(record)]
    evidence = Evidence(
        sought, candidates, count or len(records), having or {}, surroundings or Surroundings()
    )
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
    return Choice(chosen, {word for it in candidates for word in it.whole.terms})


class Sought:
    """What an action says, as records are compared with it.

    readings: of its texts by their kinds, the surest first, since a word counts where it stands
    first. words: of all of them. phrases and options: of its command. tools: the files that its
    programs work on. names: caseless, of the files that it names the last parts, of the folders
    around them all with their `/`.
    """

    def __init__(self, action: Action) -> None:
        self.action = action = action.readable()
        texts = {"path": "\n".join(action.paths), "command": action.command, "text": action.telling}
        self.readings = {kind: Reading(text) for kind, text in texts.items() if text.strip()}
        self.words = Vocabulary("\n".join(texts.values()))
        self.phrases = set(phrases_in(action.command))
        self.options = {it.casefold() for it in _OPTION_WORD.findall(action.command)}
        self.tools = dict(tool_files(action.command))
        self.files = action.named
        self.names = set[str]()
        for path in self.files:
            *folders, name = path.casefold().strip("/").split("/")
            self.names.update(f"{it}/" for it in folders if it)
            self.names.update([name] if name else ())
        self._text = f"{action.command}\n{without_imports(action.text)}"

    def has(self, trigger: str) -> bool:
        """Return whether a trigger stands there; in an import only if it is one itself."""
        is_there, is_imported = _stands(trigger, self._text), _stands(trigger, self.action.text)
        if not is_there and not is_imported:
            return False
        return is_there if without_imports(trigger) else is_imported


def _stands(trigger: str, text: str) -> bool:
    """Return whether a trigger stands in a text, not in the middle of another word."""
    at = text.find(trigger) if trigger.strip() else -1
    while at > 0 and _is_word(trigger[0]) and _is_word(text[at - 1]):
        at = text.find(trigger, at + 1)
    return at >= 0


def _is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


class Candidate:
    """Reads one record as far as an action asks: what cannot be there is not looked for.

    whole: the words that it shares with the action, topic: those of its topic. phrases, options and
    files: of its texts, where they may be those of the action. anchored, triggered: what its own
    paths and triggers weigh.
    """

    def __init__(self, record: Record, sought: Sought) -> None:
        self.record, self._sought = record, sought
        texts = record.lesson, record.missing_context, record.ask_next_time
        text = worded(normal_form("NFC", "\n".join(texts)))
        caseless = text.casefold()
        self.whole = sought.words.shared(text)
        self.topic = _topic(record.topic)
        self.triggers = [it for it in record.when[:MOST_RECALLED_TRIGGERS] if sought.has(it)]
        self.anchored = self.triggered = 0.0
        self.files, self.phrases, self.options = set[str](), set[tuple[str, str]](), set[str]()
        if any(name in caseless for name in sought.names):
            files = (name.casefold().strip("/.").rstrip("*/") for name in files_in(text))
            self.files.update(filter(None, files))
        if any(one in caseless and other in caseless for one, other in sought.phrases):
            words = [word.casefold() for word in TOKEN.findall(text)]
            self.phrases = sought.phrases.intersection(pairwise(words))
        if any(option in caseless for option in sought.options):
            options = {option.casefold() for option in _OPTION_WORD.findall(text)}
            self.options = sought.options & options

    @property
    def is_sure(self) -> bool:
        """Whether an anchor or a trigger speaks for it so clearly that no better one crowds it."""
        return max(self.anchored, self.triggered) >= _SURE

    def terms(self, kind: str) -> Collection[Hashable]:
        """Return what it has of a kind, as far as the action may ask for it."""
        if kind in ("phrases", "options"):
            return getattr(self, kind)  # type: ignore[no-any-return]
        return getattr(self.whole, kind) | getattr(self.topic, kind)  # type: ignore[no-any-return]


@lru_cache(maxsize=1_024)  # few topics, many records
def _topic(topic: str) -> Reading:
    return Reading(topic)


class Evidence:
    """Weighs what speaks for a record at one action; rare words weigh more.

    count: of the records that these were chosen from. The others hardly have what an action says.
    """

    def __init__(
        self,
        sought: Sought,
        candidates: Sequence[Candidate],
        count: int,
        having: Mapping[str, int],
        surroundings: Surroundings,
    ) -> None:
        self._sought, self._candidates, self._around = sought, candidates, surroundings
        self._count, self._having = count, having
        self._rarities: dict[tuple[str, Hashable], float] = {}
        self._times: dict[str, Counter[Hashable]] = {}
        for it in candidates:
            anchored = self._anchored(it.record)
            telling = map(surroundings.triggers.telling, it.triggers)
            triggered = _TRIGGERED * max(telling, default=0.0)
            if (anchored or triggered) and is_harmless(it.record):
                it.anchored, it.triggered = anchored, triggered
        self._share_of_anchored = self._share(it.anchored for it in candidates)
        self._share_of_triggered = self._share(it.triggered for it in candidates)

    def of(self, candidate: Candidate) -> float:
        """Return the weight of all that speaks for this record."""
        anchored = candidate.anchored * self._share_of_anchored
        triggered = candidate.triggered * self._share_of_triggered
        weight = anchored + triggered + self._named(candidate.files)
        phrases = (self._rarity("phrases", it) for it in candidate.phrases)
        options = sum(self._rarity("options", it) for it in candidate.options)
        weight += _PHRASE * max(phrases, default=0.0) + _OPTION * min(options, _MOST_OPTIONS)
        counted: set[str] = set()
        rule = worded(candidate.record.lesson) if candidate.whole else ""
        lesson = self._sought.words.shared(rule)
        for kind, reading in self._sought.readings.items():
            if _names_topic(reading, candidate.topic):
                weight += _TOPIC
            if candidate.whole:
                name_weight = _NAME_IN_COMMAND if kind == "command" else _NAME
                weight += self._of_words(candidate.whole, lesson, reading, name_weight, counted)
        return weight

    def _share(self, weights: Iterable[float]) -> float:
        """Return what is left of the weight of each when many have one: it tells less of which.

        In a small project many stand for the same few files, and all of it is left.
        """
        if self._around.is_small:
            return 1.0
        return min(1.0, _FEW / (sum(weight > 0 for weight in weights) or 1))

    def _share_of_file(self, path: str) -> float:
        return 1.0 if path in self._sought.action.paths else _IN_A_COMMAND

    def _anchored(self, record: Record) -> float:
        """Return what the path anchors of a record weigh."""
        weights = [0.0]
        for pattern in record.paths[:MOST_ANCHORS]:
            for path in self._sought.files:
                if matches(pattern, path):
                    weight = _ANCHORED_KIND
                    if pattern.casefold().rstrip("/") == path.casefold():
                        weight = _ANCHORED_FILE
                    elif is_exact(pattern) or pattern.endswith("/"):
                        weight = _ANCHORED_PLACE
                    weight *= self._share_of_file(path)
                    weights.append(weight * self._around.weight_of_anchor(pattern))
            name = pattern.casefold().rpartition("/")[2]
            if name in self._sought.tools:
                is_written = self._sought.tools[name]
                weights.append(_ANCHORED_WRITTEN if is_written else _ANCHORED_READ)
        return max(weights)

    def _named(self, names: Collection[str]) -> float:
        """Return what the files weigh that the texts of a record name."""
        weights = [0.0]
        for path in self._sought.files if names else ():
            share, path_parts = self._share_of_file(path), path.casefold().rstrip("/")
            for name in names:
                weights.append(share * _naming(name, path_parts))
        return max(weights)

    def _of_words(
        self,
        whole: Reading,
        lesson: Reading,
        reading: Reading,
        name_weight: float,
        counted: set[str],
    ) -> float:
        """Return what the words weigh that a record shares with a text of the action.

        whole, lesson: what its texts and its lesson share with the action. counted: the words of
        the texts before, which count once; those of this one are added.
        """
        total = 0.0
        for kind, full_weight in (("names", name_weight), ("words", _WORD), ("pairs", _PAIR)):
            shared = getattr(reading, kind) & getattr(whole, kind)
            for term in shared - counted:
                is_common = kind == "words" and term in _common_words()
                weight = _COMMON_WORD if is_common else full_weight
                if term not in getattr(lesson, kind):
                    weight *= _BESIDE_THE_LESSON
                total += weight * self._rarity(kind, term)
            counted |= shared
        return total

    def _rarity(self, kind: str, term: Hashable) -> float:
        """Return 1 for what only one record has, 0 for what all of them have.

        A word counts as it is known in the project; only where little is known, among the records.
        """
        if (kind, term) not in self._rarities:
            is_word = isinstance(term, str)
            rarity = self._around.rarity(term) if isinstance(term, str) else 1.0
            knows_enough = self._around.size >= _ENOUGH_CHANGES
            if not is_word or kind == "options" or not knows_enough:
                if kind not in self._times:
                    terms = (it.terms(kind) for it in self._candidates)
                    self._times[kind] = Counter(chain.from_iterable(terms))
                elsewhere = self._having.get(term, 0) if isinstance(term, str) else 0
                times = max(self._times[kind][term], elsewhere) or 1
                rarity = min(rarity, 1 - log(times) / log(self._count + 1))
            self._rarities[kind, term] = rarity
        return self._rarities[kind, term]


def _names_topic(reading: Reading, topic: Reading) -> bool:
    """Return whether a text has all words of a topic, or all pairs of one in Hangul."""
    # A particle may take the place of the last syllable.
    most_lacking = 1 if len(topic.pairs) > 1 else 0
    has_pairs = bool(topic.pairs) and len(topic.pairs - reading.pairs) <= most_lacking
    return has_pairs or (bool(topic.words) and topic.words <= reading.words)


def _naming(name: str, path: str) -> float:
    """Return the weight of a name in the record's text for a path, 0 for another path."""
    if path == name or path.endswith(f"/{name}"):
        if "/" in name:
            return _NAMED_PATH
        return _NAMED_COMMON_FILE if _COMMON_FILE.fullmatch(name) else _NAMED_FILE
    return _NAMED_FOLDER if "/" in name and f"/{name}/" in f"/{path}" else 0.0


@cache
def _common_words() -> frozenset[str]:
    return frozenset(map(stem_of, word_list("common_in_code")))
