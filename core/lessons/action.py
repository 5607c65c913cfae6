"""Reads what an agent is about to do, and the records of a log that come close to that.

Pure. `shell_files` names only commands whose point is a file: `npm test` tells of none.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain, dropwhile, filterfalse, pairwise
from math import log
from typing import NamedTuple

from core.data import rows, word_list
from core.lessons.anchors import MOST_ANCHORS, MOST_RECALLED_TRIGGERS, could_match
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from core.text.plain import normal_form
from core.text.terms import stem_of

# Words of a long change say less and less about its subject.
MOST_GIST_CHARS = 250
# Of more records only those that come closest are compared: an agent waits for the answer.
MOST_READ_RECORDS, MOST_CHOSEN_RECORDS = 1_000, 500

# A Korean particle may follow a name without a blank, so that names end where ASCII does.
_FOLDERS = r"(?:[\w@.+*()\[\]\uac00-\ud7a3-]{0,255}+/)++"
_FILE = (  # compiled where a text may name one
    rf"{_FOLDERS}[\w@.+*\[\]-]{{0,255}}[\w*\]](?:/(?!\w))?|{_FOLDERS}|"
    r"[\w-]{1,255}+(?:\.[A-Za-z]\w{0,9})+"
)
_NAMED_FILE = rf"(?<![@(])(?<!\./)(?:@|\((?![\w-]+\)/)|\./)*+({_FILE})"
# Encoded data. It has no words, and names without an end are slow to look for.
_DATA_CHARS = 300
_ENCODED_DATA = re.compile(rf"[\w@.+*()\[\]/=-]{{{_DATA_CHARS},}}")
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
WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*|[\uac00-\ud7a3]+")
_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DOTTED_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{1,80}+(?:\.[A-Za-z_][A-Za-z0-9_]{1,80}+){1,20}")
_COMMAND_END = re.compile(r"&&|\|\||[;|\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.A)
# Words before the program that really runs.
_WRAPPERS = frozenset(
    "sudo env time uv run npx pnpm yarn exec poetry pipenv bundle python python3 -m bash sh -c cd"
    " then do node source".split()
)

# What `stem_of` takes away, and signs of a text in UTF-8 as letters and blanks.
_ENDINGS = b" s ing ings ion ions ies ed es ly e y".split(b" ")
_LETTERS = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256)).lower()

Term = tuple[str, str]  # its kind, "words", "names" or "pairs", and its text


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """An action of an agent before it happens."""

    paths: Sequence[str] = ()  # relative to the project
    command: str = ""
    text: str = ""  # lines to write, or a user's prompt
    removed: str = ""  # lines that go

    def without_data(self) -> "Action":
        """Return the action in NFC, without encoded data."""
        return replace(
            self,
            paths=[normal_form("NFC", path) for path in self.paths],
            command=without_data(normal_form("NFC", self.command)),
            text=without_data(normal_form("NFC", self.text)),
            removed=without_data(normal_form("NFC", self.removed)),
        )

    @property
    def gist(self) -> str:
        """The first MOST_GIST_CHARS of the changed lines, without imports."""
        lines = IMPORT.sub("", f"{self.text}\n{self.removed}").splitlines()
        return "\n".join(filter(None, map(str.strip, lines)))[:MOST_GIST_CHARS]

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys((*self.paths, *files_in(self.command))))


def files_in(text: str) -> list[str]:
    """Return the names of files and folders in a text: `core/store.py`, `docs/`."""
    return re.findall(_NAMED_FILE, text, re.A) if text else []


def without_data(text: str) -> str:
    """Return the text without encoded data: runs of 300 and more signs."""
    longest_chars = max(map(len, text.split()), default=0) if len(text) >= _DATA_CHARS else 0
    return _ENCODED_DATA.sub(" ", text) if longest_chars >= _DATA_CHARS else text


def terms_of(text: str) -> frozenset[Term]:
    """Return the stems of words, names of several parts and pairs of syllables in a text.

    terms_of("stripe_webhook")  # words strip and webhook, name stripewebhook
    """
    text = normal_form("NFKC", text)
    return frozenset(_dotted_names(text)).union(*map(_terms_of_word, set(WORD.findall(text))))


class Vocabulary:
    """The terms of an action, to compare many texts with."""

    def __init__(self, terms: AbstractSet[Term]) -> None:
        self._terms = terms
        self._dotted = {term for term in terms if "." in term[1]}
        self._pieces = {text for _, text in terms - self._dotted}
        self._terms_by_word: dict[str, AbstractSet[Term]] = {}

    def terms_in(self, text: str) -> set[Term]:
        text = normal_form("NFKC", text)
        caseless_text = text.casefold()
        joined_text = caseless_text.replace("_", "").replace("-", "")  # as names are
        may_share = any(piece in joined_text for piece in self._pieces) or any(
            dotted_name in caseless_text for _, dotted_name in self._dotted
        )
        if not may_share:  # as most texts, and it is quick to see that
            return set()
        words = set(WORD.findall(text))
        for word in filterfalse(self._terms_by_word.__contains__, words):
            self._terms_by_word[word] = self._terms & _terms_of_word(word)
        terms = set(self._dotted.intersection(_dotted_names(text)) if self._dotted else ())
        return terms.union(*map(self._terms_by_word.__getitem__, words))


def _dotted_names(text: str) -> Iterator[Term]:
    for dotted_name in _DOTTED_NAME.findall(text):
        for owner, member in pairwise(dotted_name.casefold().split(".")):
            yield "names", f"{owner}.{member}"


@cache
def _meaningless_words() -> frozenset[str]:
    """Of Korean words it holds the first two syllables."""
    return word_list("function_words") | word_list("meaningless")


@lru_cache(maxsize=32_768)
def _terms_of_word(word: str) -> frozenset[Term]:
    if word[0] >= _FIRST_HANGUL:
        words = {word[:2]} - _meaningless_words()
        pairs = [("pairs", first + second) for first, second in pairwise(word)]
        return frozenset([*pairs, *(("words", text) for text in words)])
    parts = [part.casefold() for part in _NAME_PART.findall(word)]
    names = list[Term]()
    if len([part for part in parts if len(part) > 1]) > 1:
        names.append(("names", re.sub(r"[^a-z0-9]", "", word.casefold())))
    elif word.isalpha():
        parts.append(word.casefold())
    words = {part for part in parts if len(part) >= _WORD_CHARS} - _meaningless_words()
    stems = set(map(stem_of, words)) - _meaningless_words()
    return frozenset([*names, *(("words", stem) for stem in stems)])


def phrases_in(command: str) -> Iterator[str]:
    """Yield two words in a row, as texts have them, of each program: `docker compose`."""
    for words in _programs(command):
        for pair in pairwise(dropwhile(_WRAPPERS.__contains__, words)):
            if all(map(WORD.fullmatch, pair)) and not _meaningless_words().intersection(pair):
                yield " ".join(pair)


def tool_files_in(command: str) -> dict[str, bool]:
    """Return files that a command works on, by caseless name; True where it writes the file.

    tool_files_in("uv lock")  # {'uv.lock': True, 'pyproject.toml': True}
    """
    files: dict[str, bool] = {}
    for words in _programs(command):
        for at, word in enumerate(words):
            for next_words, names in _files_by_program().get(word.rpartition("/")[2], ()):
                # An option may have a word of its own.
                if not next_words or next_words.intersection(words[at + 1 : at + 3]):
                    files |= dict.fromkeys(names, bool(next_words))
            if word not in _WRAPPERS:
                if re.search(r"[./]", word):  # a script of the project
                    files.setdefault(word.rpartition("/")[2], False)
                break
    return files


@cache
def _files_by_program() -> Mapping[str, Sequence[tuple[frozenset[str], Sequence[str]]]]:
    """Return, by program, the words that may follow it (none: any) and its files."""
    table: dict[str, list[tuple[frozenset[str], Sequence[str]]]] = {}
    for row in rows("shell_files"):  # from each tool's documentation
        entry = frozenset(row.get("words", "").split()), row["files"].casefold().split()
        for program in row["programs"].split():
            table.setdefault(program, []).append(entry)
    return table


def _programs(command: str) -> Iterator[list[str]]:
    for part in _COMMAND_END.split(command):
        words = filter(None, (word.strip("'\"()`").casefold() for word in part.split()))
        yield [word for word in words if not (_ASSIGNMENT.match(word) or word.startswith("-"))]


# the records of a log


class Shortlist(NamedTuple):
    """The records that an action could need, and counts of the whole log."""

    records: Sequence[Record]
    size: int  # of records
    word_counts: Mapping[str, int]  # of records with a word, if there are many


def choose_shortlist(action: Action, data: bytes) -> Shortlist:
    """Return the records that an action could need: all of MOST_READ_RECORDS at most.

    Of more, MOST_CHOSEN_RECORDS with near anchors or shared words, rare ones first.
    """
    records = MemoryLog.parse(data).records
    if len(records) <= MOST_READ_RECORDS:
        return Shortlist(records, len(records), {})
    action = action.without_data()
    terms = terms_of(" ".join([*action.paths, action.command, action.gist]))
    words = {text for kind, text in terms if kind != "pairs"}
    # To read the terms of each record would take a second.
    forms = {word.encode() + end: word for word in words if word.isascii() for end in _ENDINGS}
    sought_forms, wide_words = frozenset(forms), [word for word in words if not word.isascii()]
    shared_words = list[set[str]]()
    for record in records:
        record_text = " ".join(record.texts)
        parts = record_text.encode("utf-8", "replace").translate(_LETTERS).split()
        shared_words.append({*map(forms.__getitem__, sought_forms.intersection(parts))})
        shared_words[-1].update(word for word in wide_words if word in record_text)
    word_counts = Counter(chain.from_iterable(shared_words))
    rarity = {word: 1 - log(count) / log(len(records) + 1) for word, count in word_counts.items()}
    names, text = "\n".join(action.files), f"{action.command}\n{action.text}"

    @cache  # many records have the same
    def is_meant(paths: Sequence[str], triggers: Sequence[str]) -> bool:
        has_path = any(names and could_match(pattern, names) for pattern in paths[:MOST_ANCHORS])
        return has_path or any(trigger in text for trigger in triggers[:MOST_RECALLED_TRIGGERS])

    scores = list[tuple[bool, float, int]]()
    for at, (record, record_words) in enumerate(zip(records, shared_words, strict=True)):
        is_near = is_meant(record.paths, record.when)
        if is_near or record_words:
            scores.append((is_near, sum(map(rarity.__getitem__, record_words)), at))
    chosen_places = sorted(at for *_, at in sorted(scores, reverse=True)[:MOST_CHOSEN_RECORDS])
    return Shortlist([records[at] for at in chosen_places], len(records), word_counts)
