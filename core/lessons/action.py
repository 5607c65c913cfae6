"""Reads what an agent is about to do, and the records of a log that come close to that.

Pure. `shell_files` names only commands whose point is a file: `npm test` says nothing of
package.json.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain, dropwhile, pairwise
from math import log
from typing import NamedTuple

from core.data import rows, word_list
from core.lessons.anchors import MOST_ANCHORS, MOST_RECALLED_TRIGGERS, could_match
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from core.text.plain import normal_form
from core.text.terms import stem_of

# Words of a long change say less and less about its subject.
MOST_TELLING_CHARS = 250
# Of more records only those that come closest are compared: an agent waits for the answer.
MOST_READ, MOST_CHOSEN = 1_000, 500

# A Korean particle may follow a name without a blank, so that names end where ASCII does.
_FOLDERS = r"(?:[\w@.+*()\[\]\uac00-\ud7a3-]{0,255}+/)++"
_FILE = (  # compiled where a text may name one
    rf"{_FOLDERS}[\w@.+*\[\]-]{{0,255}}[\w*\]](?:/(?!\w))?|{_FOLDERS}|"
    r"[\w-]{1,255}+(?:\.[A-Za-z]\w{0,9})+"
)
_NAMED_FILE = rf"(?<![@(])(?<!\./)(?:@|\((?![\w-]+\)/)|\./)*+({_FILE})"
# Encoded data. It has no words, and names without an end are slow to look for.
_DATA_CHARS = 300
_DATA = re.compile(rf"[\w@.+*()\[\]/=-]{{{_DATA_CHARS},}}")
# Lines that bring in other modules, which all files of a project share.
# Python, JavaScript, Java, Go, Rust, C#, C, PHP, Ruby, Kotlin.
IMPORT = re.compile(
    r"^[ \t]*+(?:import\b(?:[^\n{]*+\{[^{}]{0,2000}+\}[ \t]*+from\b)?+.*|(?:\} )?from ['\"].*|"
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
# Words before the program that really runs.
_WRAPPERS = frozenset(
    "sudo env time uv run npx pnpm yarn exec poetry pipenv bundle python python3 -m bash sh -c cd"
    " then do node source".split()
)

# What `stem_of` takes away, and signs of a text in UTF-8 as letters and blanks.
_ENDINGS = b" s ing ings ion ions ies ed es ly e y".split(b" ")
_TO_WORDS = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256)).lower()

Term = tuple[str, str]  # its kind, "words", "names" or "pairs", and its text


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """An action of an agent before it happens."""

    paths: Sequence[str] = ()  # relative to the project
    command: str = ""
    text: str = ""  # lines to write, or a user's prompt
    removed: str = ""  # lines that go

    def readable(self) -> "Action":
        """Return the action in NFC, without encoded data."""
        return replace(
            self,
            paths=[normal_form("NFC", path) for path in self.paths],
            command=worded(normal_form("NFC", self.command)),
            text=worded(normal_form("NFC", self.text)),
            removed=worded(normal_form("NFC", self.removed)),
        )

    @property
    def telling(self) -> str:
        """The first MOST_TELLING_CHARS of the changed lines, without imports."""
        lines = IMPORT.sub("", f"{self.text}\n{self.removed}").splitlines()
        return "\n".join(filter(None, map(str.strip, lines)))[:MOST_TELLING_CHARS]

    @property
    def named(self) -> list[str]:
        return list(dict.fromkeys((*self.paths, *files_in(self.command))))


def files_in(text: str) -> list[str]:
    """Return the names of files and folders in a text: `core/store.py`, `docs/`."""
    return re.findall(_NAMED_FILE, text, re.A) if text else []


def worded(text: str) -> str:
    """Return the text without encoded data: runs of 300 and more signs."""
    longest = max(map(len, text.split()), default=0) if len(text) >= _DATA_CHARS else 0
    return _DATA.sub(" ", text) if longest >= _DATA_CHARS else text


def terms_of(text: str) -> frozenset[Term]:
    """Return the stems of words, names of several parts and pairs of syllables in a text.

    terms_of("stripe_webhook")  # words strip and webhook, name stripewebhook
    """
    text = normal_form("NFKC", text)
    return frozenset(_dotted_names(text)).union(*map(_terms, set(TOKEN.findall(text))))


class Vocabulary:
    """The terms of an action, to compare many texts with."""

    def __init__(self, terms: AbstractSet[Term]) -> None:
        self._terms = terms
        self._dotted = {term for term in terms if "." in term[1]}
        self._pieces = {text for _, text in terms - self._dotted}
        self._known: dict[str, AbstractSet[Term]] = {}

    def terms_in(self, text: str) -> set[Term]:
        text = normal_form("NFKC", text)
        caseless = text.casefold()
        joined = caseless.replace("_", "").replace("-", "")  # as names are
        may_share = any(it in joined for it in self._pieces) or any(
            it in caseless for _, it in self._dotted
        )
        if not may_share:  # as most texts, and it is quick to see that
            return set()
        tokens = set(TOKEN.findall(text))
        for token in tokens - self._known.keys():
            self._known[token] = self._terms & _terms(token)
        found = set(self._dotted.intersection(_dotted_names(text)) if self._dotted else ())
        return found.union(*map(self._known.__getitem__, tokens))


def _dotted_names(text: str) -> Iterator[Term]:
    for dotted in _DOTTED.findall(text):
        for one, other in pairwise(dotted.casefold().split(".")):
            yield "names", f"{one}.{other}"


@cache
def _meaningless() -> frozenset[str]:
    """Of Korean words it holds the first two syllables."""
    return word_list("function_words") | word_list("meaningless")


@lru_cache(maxsize=32_768)
def _terms(token: str) -> frozenset[Term]:
    if token[0] >= _FIRST_HANGUL:
        words = {token[:2]} - _meaningless()
        pairs = [("pairs", one + other) for one, other in pairwise(token)]
        return frozenset([*pairs, *(("words", word) for word in words)])
    parts = [part.casefold() for part in _PART.findall(token)]
    names = list[Term]()
    if len([part for part in parts if len(part) > 1]) > 1:
        names.append(("names", re.sub(r"[^a-z0-9]", "", token.casefold())))
    elif token.isalpha():
        parts.append(token.casefold())
    words = {part for part in parts if len(part) >= _WORD_CHARS} - _meaningless()
    stems = set(map(stem_of, words)) - _meaningless()
    return frozenset([*names, *(("words", stem) for stem in stems)])


def phrases_in(command: str) -> Iterator[str]:
    """Yield two words in a row of each program of a command, as `docker compose`."""
    for words in _programs(command):
        for pair in pairwise(dropwhile(_WRAPPERS.__contains__, words)):
            if not _meaningless().intersection(pair):
                yield " ".join(pair)


def tool_files_in(command: str) -> dict[str, bool]:
    """Return files that a command works on, by caseless name; True where it writes the file.

    tool_files("uv lock")  # {'uv.lock': True, 'pyproject.toml': True}
    """
    found: dict[str, bool] = {}
    for words in _programs(command):
        for at, word in enumerate(words):
            for following, names in _files().get(word.rpartition("/")[2], ()):
                # An option may have a word of its own.
                if not following or following.intersection(words[at + 1 : at + 3]):
                    found |= dict.fromkeys(names, bool(following))
            if word not in _WRAPPERS:
                if re.search(r"[./]", word):  # a script of the project
                    found.setdefault(word.rpartition("/")[2], False)
                break
    return found


@cache
def _files() -> Mapping[str, Sequence[tuple[frozenset[str], Sequence[str]]]]:
    """Return, by program, the words that may follow it (none: any) and its files."""
    table: dict[str, list[tuple[frozenset[str], Sequence[str]]]] = {}
    for row in rows("shell_files"):  # from each tool's documentation
        files = frozenset(row.get("words", "").split()), row["files"].casefold().split()
        for program in row["programs"].split():
            table.setdefault(program, []).append(files)
    return table


def _programs(command: str) -> Iterator[list[str]]:
    for part in _COMMAND_END.split(command):
        words = [word.strip("'\"()`").casefold() for word in part.split()]
        yield [it for it in words if it and not _ASSIGNMENT.match(it) and not it.startswith("-")]


# the records of a log


class Shortlist(NamedTuple):
    """The records that an action could need, and counts of the whole log."""

    records: Sequence[Record]
    size: int  # of records
    having: Mapping[str, int]  # of records with a word, if there are many


def choose_shortlist(action: Action, data: bytes) -> Shortlist:
    """Return the records that an action could need: all of MOST_READ at most.

    Of more, MOST_CHOSEN with near anchors or shared words, rare ones first.
    """
    records = MemoryLog.parse(data).records
    if len(records) <= MOST_READ:
        return Shortlist(records, len(records), {})
    action = action.readable()
    terms = terms_of(" ".join([*action.paths, action.command, action.telling]))
    words = {text for kind, text in terms if kind != "pairs"}
    # To read the terms of each record would take a second.
    forms = {it.encode() + end: it for it in words if it.isascii() for end in _ENDINGS}
    wanted, wide = frozenset(forms), [it for it in words if not it.isascii()]
    shared = list[set[str]]()
    for record in records:
        said = " ".join(record.texts)
        parts = said.encode("utf-8", "replace").translate(_TO_WORDS).split()
        shared.append({*map(forms.__getitem__, wanted.intersection(parts))})
        shared[-1].update(it for it in wide if it in said)
    having = Counter(chain.from_iterable(shared))
    rarity = {word: 1 - log(count) / log(len(records) + 1) for word, count in having.items()}
    names, text = "\n".join(action.named), f"{action.command}\n{action.text}"

    @cache  # many records have the same
    def is_meant(paths: Sequence[str], triggers: Sequence[str]) -> bool:
        return any(names and could_match(it, names) for it in paths[:MOST_ANCHORS]) or any(
            it in text for it in triggers[:MOST_RECALLED_TRIGGERS]
        )

    scores = list[tuple[bool, float, int]]()
    for at, (record, found) in enumerate(zip(records, shared, strict=True)):
        is_near = is_meant(record.paths, record.when)
        if is_near or found:
            scores.append((is_near, sum(map(rarity.__getitem__, found)), at))
    chosen = sorted(at for *_, at in sorted(scores, reverse=True)[:MOST_CHOSEN])
    return Shortlist([records[at] for at in chosen], len(records), having)
