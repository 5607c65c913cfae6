"""Reads what an agent is about to do: the files, the words and the programs of its action.

Pure. A word is a stem; a name one of several parts, without the signs between them; a pair two
syllables of Hangul in a row. `uv lock` works on `uv.lock`: only commands whose whole point is a
file have one here, since `npm test` says nothing of package.json.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import dropwhile, pairwise

from core.data import rows, word_list
from core.text.plain import normal_form
from core.text.terms import function_words, stem_of

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
_COMMAND_END = re.compile(r"&&|\|\||[;|\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.A)
# What stands before the program that is really run.
_WRAPPERS = frozenset(
    "sudo env time uv run npx pnpm yarn exec poetry pipenv bundle python python3 -m bash sh -c cd"
    " then do".split()
)


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
            self._add(_terms(token))

    def __bool__(self) -> bool:
        return bool(self.words or self.names or self.pairs)

    def _add(self, terms: Sequence[Collection[str]]) -> None:
        words, names, pairs = terms
        self.words.update(words)
        self.names.update(names)
        self.pairs.update(pairs)

    @property
    def terms(self) -> set[str]:
        """The words, names and pairs."""
        return self.words | self.names | self.pairs


class Vocabulary:
    """The words of an action. Other texts are read only as far as they share them."""

    def __init__(self, text: str) -> None:
        self._sought = Reading(text)
        self._dotted = {name for name in self._sought.names if "." in name}
        self._pieces = self._sought.terms - self._dotted
        self._known: dict[str, Sequence[Collection[str]]] = {}

    def shared(self, text: str) -> Reading:
        """Return the words of a text that the action has, too."""
        reading, text, known = Reading(), normal_form("NFKC", text), self._known
        caseless = text.casefold()
        joined = caseless.replace("_", "").replace("-", "")  # as names are
        may_share = any(it in joined for it in self._pieces) or any(
            it in caseless for it in self._dotted
        )
        if not may_share:  # as most texts, and it is quick to see that
            return reading
        if self._dotted:
            reading.names.update(self._dotted.intersection(_dotted_names(text)))
        for token in TOKEN.findall(text):
            if token not in known:
                known[token] = self._of(token)
            if known[token]:
                reading._add(known[token])
        return reading

    def _of(self, token: str) -> Sequence[Collection[str]]:
        sought, (words, name, pairs) = self._sought, _terms(token)
        shared = sought.words & set(words), sought.names & set(name), sought.pairs & set(pairs)
        return shared if any(shared) else ()


def _dotted_names(text: str) -> Iterator[str]:
    """Yield each two names in a row that a dot joins."""
    for dotted in _DOTTED.findall(text):
        yield from map(".".join, pairwise(dotted.casefold().split(".")))


@cache
def _meaningless() -> frozenset[str]:
    """Return the words that say nothing of an action; of Hangul the first two syllables."""
    return function_words() | word_list("meaningless")


@lru_cache(maxsize=32_768)
def _terms(token: str) -> Sequence[Collection[str]]:
    """Return the words of a token, the name that it is if it has several parts, and its pairs."""
    if token[0] >= _FIRST_HANGUL:
        return {token[:2]} - _meaningless(), (), list(map("".join, pairwise(token)))
    parts = [part.casefold() for part in _PART.findall(token)]
    name: list[str] = []
    if sum(len(part) > 1 for part in parts) > 1:
        name = [re.sub(r"[^a-z0-9]", "", token.casefold())]
    elif token.isalpha():
        parts.append(token.casefold())
    words = (part for part in parts if len(part) >= _WORD_CHARS and part not in _meaningless())
    return set(map(stem_of, words)) - _meaningless(), name, ()


def phrases_in(command: str) -> Iterator[tuple[str, str]]:
    """Yield two words in a row of each program that a command runs."""
    for words in _programs(command):
        program = dropwhile(_WRAPPERS.__contains__, words)
        yield from (pair for pair in pairwise(program) if not _meaningless() & {*pair})


def tool_files(command: str) -> Iterator[tuple[str, bool]]:
    """Yield the names, caseless, of the files that the programs of a command work on.

    Beside each whether the command is one that writes it, as `uv lock`, not only reads, as `make`.
    """
    for words in _programs(command):
        for at, word in enumerate(words):
            for following, names in _files().get(word.rpartition("/")[2], ()):
                # An option may have a word of its own.
                if not following or following.intersection(words[at + 1 : at + 3]):
                    yield from ((name, bool(following)) for name in names)
            if word not in _WRAPPERS:
                break


@cache
def _files() -> Mapping[str, Sequence[tuple[frozenset[str], Sequence[str]]]]:
    """Return the words that may follow each program, none for any, and the files that it has.

    Sources: the documentation of each tool on the files that it reads or writes by default.
    """
    table: dict[str, list[tuple[frozenset[str], Sequence[str]]]] = {}
    for row in rows("shell_files"):
        files = frozenset(row.get("words", "").split()), row["files"].casefold().split()
        for program in row["programs"].split():
            table.setdefault(program, []).append(files)
    return table


def _programs(command: str) -> Iterator[list[str]]:
    """Yield the words of each program that a command runs, options left out."""
    for part in _COMMAND_END.split(command):
        words = [word.strip("'\"()`").casefold() for word in part.split()]
        yield [it for it in words if it and not _ASSIGNMENT.match(it) and not it.startswith("-")]
