"""Reads what an action says, word by word, and finds by it the lines that a long log has for it.

Pure. A hook is a new process for each action, so of a log of thousands of lines only those are read
as records that share a word or a file with the action.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from math import log
from typing import NamedTuple

from core.data import word_list
from core.lessons.anchors.paths import could_match
from core.lessons.log import MOST_HIDDEN, MemoryLog, split_lines
from core.lessons.record import DECODER, Record, ids_in, parse_line
from core.text.english import function_words, stem_of
from core.text.normal_form import normal_form

# Of a log of more lines only those that come closest are read: an agent waits for the answer.
MOST_READ, MOST_CHOSEN = 1_000, 500
MOST_ANCHORS = 400  # a principle has those of all its originals, and a hand may write more
MOST_PATTERN_CHARS = 512  # four times the limit of a save
MOST_TRIGGERS = 100  # of a principle, as well
# Words of a long change say less and less of what it is about.
MOST_TELLING_CHARS = 250

# A Korean particle may follow a name without a blank, so that names end where ASCII does.
_FOLDERS = r"(?:[\w@.+*()\[\]\uac00-\ud7a3-]{0,255}+/)++"
_FILE = (  # compiled where a text may name one
    rf"{_FOLDERS}[\w@.+*\[\]-]{{0,255}}[\w*\]](?:/(?!\w))?|{_FOLDERS}|"
    r"[\w-]{1,255}+(?:\.[A-Za-z]\w{0,9})+"
)
# Encoded data. It has no words, and names without an end are slow to look for.
_DATA = re.compile(r"[\w@.+*()\[\]/=-]{300,}")
# Lines that bring in other modules: Python, JavaScript, Java, Go, Rust, C#, C, PHP, Ruby, Kotlin.
_IMPORT = re.compile(
    r"^[ \t]*+(?:import\b(?:[^\n{]*+\{[^{}]{0,2000}+\}[ \t]*+from\b)?+.*|\} from ['\"].*|"
    r"from[ \t]++\S++[ \t]++import\b.*|export[ \t](?>.*?[ \t]from[ \t]).*|#[ \t]*+include\b.*|"
    r"using[ \t][\w.:= ]++;|use[ \t]\w++(?:::|\\).*|package[ \t]++[\w.]++;?[ \t]*+|"
    r"require(?:_relative|_once)?+[ \t]*+\(?['\"].*|"
    r"(?:const|let|var)[ \t][^\n=]*+=[ \t]*+require\(.*)$",
    re.M,
)
_WORD_CHARS = 3
_FIRST_HANGUL = "\uac00"
TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*|[\uac00-\ud7a3]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DOTTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]{1,80}+(?:\.[A-Za-z_][A-Za-z0-9_]{1,80}+){1,20}")
# What `stem_of` takes away, in the bytes of a line.
_ENDINGS = b" s ing ings ion ions ies ed es ly e y".split(b" ")
_TO_WORDS = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256)).lower()
_WIDE_CHARS = re.compile(r"[^\0-\x7f]")
_ESCAPED = re.compile(rb"\\u00[2-7]")  # ASCII, which no program escapes without need
_BEGIN, _ID_AT = b'{"id": "', 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What an agent is about to do.

    paths: the files that it changes, relative to the project. command: what it gives to a shell.
    text: the lines that it writes, or what the user asks of it. removed: those that it takes away.
    """

    paths: Sequence[str] = ()
    command: str = ""
    text: str = ""
    removed: str = ""

    def readable(self) -> "Action":
        """Return the action without what only looks like a text, its paths in NFC."""
        return replace(
            self,
            paths=[normal_form("NFC", path) for path in self.paths],
            command=worded(normal_form("NFC", self.command)),
            text=worded(normal_form("NFC", self.text)),
            removed=worded(normal_form("NFC", self.removed)),
        )

    @property
    def telling(self) -> str:
        """The first lines of the change without imports: their words tell what it is about."""
        lines = without_imports(f"{self.text}\n{self.removed}").splitlines()
        return "\n".join(filter(None, map(str.strip, lines)))[:MOST_TELLING_CHARS]

    @property
    def named(self) -> list[str]:
        """The files that it changes, and those that its command names."""
        return list(dict.fromkeys((*self.paths, *files_in(self.command))))


def files_in(text: str) -> list[str]:
    """Return what looks like the name of a file or of a folder in a text."""
    return re.findall(_FILE, text, re.A) if text else []


def worded(text: str) -> str:
    """Return the text without what only looks like one."""
    return _DATA.sub(" ", text)


def without_imports(text: str) -> str:
    """Return code without the lines that bring in other modules: all of its like have these."""
    return _IMPORT.sub("", text)


class Reading:
    """The words of one text. False where it has none."""

    __slots__ = ("names", "pairs", "words")

    def __init__(self, text: str = "") -> None:
        self.words: set[str] = set()  # `set[str]()` takes ten times as long
        self.names: set[str] = set()
        self.pairs: set[str] = set()
        text = normal_form("NFKC", text)
        self.names.update(_dotted_names(text))
        for token in set(TOKEN.findall(text)):
            words, name, pairs = _terms(token)
            self.words.update(words)
            self.names.update(name)
            self.pairs.update(pairs)

    def __bool__(self) -> bool:
        return bool(self.words or self.names or self.pairs)


class Vocabulary:
    """The words of an action. Other texts are read only as far as they share them."""

    def __init__(self, readings: Iterable[Reading]) -> None:
        sought = Reading()
        for reading in readings:
            sought.words |= reading.words
            sought.names |= reading.names
            sought.pairs |= reading.pairs
        self._sought = sought
        self._dotted = [name for name in sought.names if "." in name]
        self._pieces = [*sought.words, *sought.pairs, *sought.names.difference(self._dotted)]
        self._known: dict[str, tuple[Collection[str], ...]] = {}

    def shared(self, text: str) -> Reading:
        """Return the words of a text that the action has, too."""
        reading, text, known = Reading(), normal_form("NFKC", text), self._known
        if not self._may_share(text):
            return reading
        if self._dotted:
            reading.names.update(self._sought.names.intersection(_dotted_names(text)))
        for token in TOKEN.findall(text):
            if token not in known:
                known[token] = self._of(token)
            if terms := known[token]:
                words, names, pairs = terms
                reading.words.update(words)
                reading.names.update(names)
                reading.pairs.update(pairs)
        return reading

    def _may_share(self, text: str) -> bool:
        """Return False only for a text without any of these words: most are, and it is quick."""
        caseless = text.casefold()
        joined = caseless.replace("_", "").replace("-", "")  # as names are
        return any(it in joined for it in self._pieces) or any(
            it in caseless for it in self._dotted
        )

    def _of(self, token: str) -> tuple[Collection[str], ...]:
        sought, (words, name, pairs) = self._sought, _terms(token)
        shared = sought.words & set(words), sought.names & set(name), sought.pairs & set(pairs)
        return shared if any(shared) else ()


def _dotted_names(text: str) -> Iterator[str]:
    """Yield each two names in a row that a dot joins."""
    for dotted in _DOTTED.findall(text):
        yield from map(".".join, pairwise(dotted.casefold().split(".")))


@cache
def meaningless() -> frozenset[str]:
    """Return the words that say nothing of an action; of Hangul the first two syllables."""
    return function_words() | word_list("meaningless")


@lru_cache(maxsize=32_768)
def _terms(token: str) -> tuple[Collection[str], Collection[str], Collection[str]]:
    """Return the words of a token, the name that it is if it has several parts, and its pairs."""
    if token[0] >= _FIRST_HANGUL:
        return {token[:2]} - meaningless(), (), list(map("".join, pairwise(token)))
    parts = [part.casefold() for part in _PART.findall(token)]
    name: list[str] = []
    if sum(len(part) > 1 for part in parts) > 1:
        name = [re.sub(r"[^a-z0-9]", "", token.casefold())]
    elif token.isalpha():
        parts.append(token.casefold())
    words = (part for part in parts if len(part) >= _WORD_CHARS and part not in meaningless())
    return set(map(stem_of, words)) - meaningless(), name, ()


class AtHand(NamedTuple):
    """The records of a log that an action could need, and how many the log has.

    having: of each word, at least how many records have it.
    """

    records: Sequence[Record]
    size: int
    having: Mapping[str, int]


def log_at_hand(action: Action, data: bytes) -> AtHand:
    """Return what an action could need of this log: all of it, unless it is long.

    Whether a merge hides a record is decided by the lines that say so, which are read, too.
    """
    lines = split_lines(data)
    if len(lines) <= MOST_READ:
        log = MemoryLog.parse(data)
        return AtHand(log.records, log.count, {})
    chosen, having = promising(action, lines)
    parse = lru_cache(maxsize=None)(parse_line)
    ids = [_id_of(line) for line in lines]
    listing = [at for at, line in enumerate(lines) if b'"source_ids"' in line]
    wanted = {record.id for at in chosen if (record := parse(lines[at]))}
    asked = {it.encode("utf-8", "replace") for it in wanted}
    asked |= _too_many([parse(lines[at]) for at in listing], ids)
    needed = {at for at, id_ in enumerate(ids) if id_ is None or id_ in asked}.union(listing)
    whole = MemoryLog.of_lines([lines[at] for at in sorted(needed.union(chosen))], parse)
    return AtHand([it for it in whole.records if it.id in wanted], len(lines), having)


def _id_of(line: bytes) -> bytes | None:
    """Return the id of a line as this program writes it; None for any other, which must be read.

    Of two keys the second counts, and either may be spelled with escapes.
    """
    end = line.find(b'"', _ID_AT) if line.startswith(_BEGIN) else -1
    if end < 0 or line.find(b'"id"', end) >= 0 or _ESCAPED.search(line):
        return None
    return line[_ID_AT:end]


def _too_many(listing: Iterable[Record | None], ids: Iterable[bytes | None]) -> set[bytes]:
    """Return the ids here that a record lists which lists more than it may hide.

    That it hides none of them is only seen where all of them are read.
    """
    found, present = set[bytes](), set(ids)
    for record in listing:
        if record and len(record.source_ids) > MOST_HIDDEN:
            listed = (it.encode("utf-8", "replace") for it in ids_in(record.source_ids))
            found.update(it for it in listed if it in present)
    return found


def promising(action: Action, lines: Sequence[bytes]) -> tuple[list[int], dict[str, int]]:
    """Return at most MOST_CHOSEN of these lines, in their order: those that share something.

    First those with a path anchor or a trigger that may be meant by the action, then those that
    have most of its words, where a word counts the more, the fewer lines have it; of equals the
    later. Also returns how many lines have each word.
    """
    action = action.readable()
    sought = Reading(" ".join([*action.paths, action.command, action.telling]))
    forms = {
        word.encode() + ending: word
        for word in sought.words | sought.names
        for ending in _ENDINGS
        if word.isascii()
    }
    wide = {it: _in_bytes(it) for it in sought.words if not it.isascii()}
    names, text = "\n".join(action.named), f"{action.command}\n{action.text}"
    near = (
        _listing(lines, b'"paths"', lambda pattern: could_match(pattern, names)) if names else set()
    )
    near |= _listing(lines, b'"when"', lambda trigger: trigger in text)
    found = list(_words_in(lines, forms, wide))
    counts: dict[str, int] = {}
    for words in found:
        for word in words:
            counts[word] = counts.get(word, 0) + 1
    rarity = {word: 1 - log(count) / log(len(lines) + 1) for word, count in counts.items()}
    scores = [
        (at in near, sum(map(rarity.__getitem__, words)), at) for at, words in enumerate(found)
    ]
    best = sorted((it for it in scores if it[0] or it[1]), reverse=True)
    return sorted(at for _, _, at in best[:MOST_CHOSEN]), counts


def _words_in(
    lines: Sequence[bytes], forms: Mapping[bytes, str], wide: Mapping[str, Sequence[bytes]]
) -> Iterator[Collection[str]]:
    """Yield for each line the words that it has."""
    wanted = frozenset(forms)
    for line in lines:
        tokens = wanted.intersection(line.translate(_TO_WORDS).split())
        words = {forms[token] for token in tokens}
        if wide:
            words.update(it for it, ways in wide.items() if any(way in line for way in ways))
        yield words


def _in_bytes(word: str) -> Sequence[bytes]:
    """Return how a line may write a word: as it is, or with escapes of JSON."""
    return word.encode(), _WIDE_CHARS.sub(lambda it: f"\\u{ord(it[0]):04x}", word).encode()


def _listing(lines: Sequence[bytes], key: bytes, fits: Callable[[str], bool]) -> set[int]:
    """Return the lines that list under a key something that fits."""
    found, known = set[int](), dict[bytes, bool]()
    for at, line in enumerate(lines):
        _, is_there, rest = line.partition(key)
        if is_there:
            if rest not in known:
                known[rest] = any(map(fits, _listed(rest)))
            if known[rest]:
                found.add(at)
    return found


def _listed(rest: bytes) -> Iterator[str]:
    """Yield what a line lists under a key that this follows."""
    try:
        listed, _ = DECODER.raw_decode(rest.decode("utf-8", "replace").lstrip(" :"))
    except (ValueError, RecursionError):
        return
    for it in listed[:MOST_ANCHORS] if isinstance(listed, list) else ():
        if isinstance(it, str) and len(it) <= MOST_PATTERN_CHARS:
            yield it
