"""Reads what a command for a shell runs, and which files it works on without naming them.

Pure. `uv lock` writes `uv.lock`. Only commands whose whole point is a file have one here: `npm
test` says nothing of package.json.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise

from core.data import rows
from core.lessons.recall.reading import meaningless

_COMMAND_END = re.compile(r"&&|\|\||[;|\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.A)
# What stands before the program that is really run.
_WRAPPERS = frozenset(
    "sudo env time uv run npx pnpm yarn exec poetry pipenv bundle python python3 -m bash sh -c cd"
    " then do".split()
)


def phrases_in(command: str) -> Iterator[tuple[str, str]]:
    """Yield two words in a row of each program that a command runs."""
    for words in _programs(command):
        while words and words[0] in _WRAPPERS:
            del words[0]
        yield from (pair for pair in pairwise(words) if not meaningless() & {*pair})


def tool_files(command: str) -> Iterator[tuple[str, bool]]:
    """Yield the names, caseless, of the files that the programs of a command work on.

    Beside each whether the command is one that writes it, as `uv lock`, not only reads, as `make`.
    """
    for words in _programs(command):
        yield from _files_of(words)
        while words and words[0] in _WRAPPERS:
            del words[0]
            yield from _files_of(words)


def _files_of(words: Sequence[str]) -> Iterator[tuple[str, bool]]:
    if words:
        for following, names in _files().get(words[0].rpartition("/")[2], ()):
            # An option may have a word of its own.
            if not following or following.intersection(words[1:3]):
                yield from ((name, bool(following)) for name in names)


@cache
def _files() -> Mapping[str, Sequence[tuple[frozenset[str], tuple[str, ...]]]]:
    """Return the words that may follow each program, none for any, and the files that it has.

    Sources: the documentation of each tool on the files that it reads or writes by default.
    """
    table: dict[str, list[tuple[frozenset[str], tuple[str, ...]]]] = {}
    for row in rows("shell_files"):
        following = frozenset(row.get("words", "").split())
        names = tuple(row["files"].casefold().split())
        for program in row["programs"].split():
            table.setdefault(program, []).append((following, names))
    return table


def _programs(command: str) -> Iterator[list[str]]:
    """Yield the words of each program that a command runs, options left out."""
    for part in _COMMAND_END.split(command):
        words = [word.strip("'\"()`").casefold() for word in part.split()]
        yield [it for it in words if it and not _ASSIGNMENT.match(it) and not it.startswith("-")]
