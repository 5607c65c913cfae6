"""Counts which lessons of public guidance files get a mark, from clones that it is given.

Nothing of those files is kept: marks.jsonl names a commit, a path and lines, with the start of
SHA-256 over what stands there; this takes the texts out of clones. See benchmarks/README.md.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from real_changes import ChangedSourceError, clone_of, content

from core.guard.injection import marks_of

SET = Path(__file__).resolve().parent / "marks.jsonl"
MOST_MARKED = 0.01
DIGITS = 12
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ x]\]\s+)?")
_QUOTE = re.compile(r"\s*>\s?")
_OTHER = re.compile(r"\s*(?:#{1,6}\s|\||<|---|===|```|~~~|\.\. |:\w+:|@)")
_FENCE = re.compile(r"\s*(?:>\s*)?(```|~~~)")


@dataclass(frozen=True, slots=True)
class Passage:
    """A point of a list or a paragraph: its first line (from 1), how many, and its words."""

    line: int
    lines: int
    text: str


@dataclass(frozen=True, slots=True)
class Guidance:
    """A file of which lessons were drawn. lessons: line, lines, digest, draw of each."""

    repository: str
    commit: str
    path: str
    lang: str
    unseen: bool
    lessons: Sequence[tuple[int, int, str, str]]


def passages(text: str) -> Iterator[Passage]:
    """Yield the points and paragraphs of a document; headings, tables and code are none."""
    begun, words, fenced = 0, list[str](), False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        bare = _QUOTE.sub("", line.rstrip("\r"), count=1)
        ends = fenced or not bare.strip() or bool(_BULLET.match(bare) or _OTHER.match(bare))
        if ends and words:
            yield Passage(begun, number - begun, " ".join(words))
            words = []
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and bare.strip() and not _OTHER.match(bare):
            begun = begun if words else number
            words.append(_BULLET.sub("", bare, count=1).strip())


def guidance(path: Path = SET) -> list[Guidance]:
    """Return the files of the set."""
    rows: list[Mapping[str, Any]] = [json.loads(it) for it in path.read_text("utf-8").splitlines()]
    return [
        Guidance(
            **{**row, "lessons": [(line, lines, sha, draw) for line, lines, sha, draw in found]}
        )
        for row in rows
        if (found := row["lessons"])
    ]


def digest(text: str) -> str:
    """Return the start of SHA-256 over the words of a lesson."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:DIGITS]


def texts(clone: Path, given: Guidance) -> Iterator[tuple[str, str]]:
    """Yield the draw and the words of each lesson of a file.

    Raises ChangedSourceError when the clone lacks the file or holds another one.
    """
    words = content(clone, given.commit, given.path)
    found = {(it.line, it.lines): it.text for it in passages(words)}
    for line, lines, sha, draw in given.lessons:
        text = found.get((line, lines), "")
        if digest(text) != sha:
            raise ChangedSourceError(f"{given.repository} {given.path}:{line}")
        yield draw, text


def main(arguments: Sequence[str] | None = None, path: Path = SET) -> int:
    """Say which clones are missing, and how many lessons of the others are marked."""
    parser = argparse.ArgumentParser(description="Count marks on lessons of guidance files.")
    parser.add_argument("directory", type=Path, help="holds the clones, each as owner+name")
    parser.add_argument("--unseen", action="store_true", help="count the unseen half")
    parser.add_argument(
        "--list", action="store_true", help="name the marked ones of the tuned half"
    )
    given = parser.parse_args(arguments)
    drawn, marked = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    status = 0
    for it in guidance(path):
        if it.unseen != given.unseen:
            continue
        clone = clone_of(given.directory, it.repository)
        if clone is None:
            print(f"missing: {it.repository}")
            continue
        try:
            for draw, text in texts(clone, it):
                drawn[it.lang, draw] += 1
                if found := marks_of(text):
                    marked[it.lang, draw] += 1
                    if given.list and not it.unseen:
                        print(f"{', '.join(found)}: {it.repository} {it.path}: {text}")
        except ChangedSourceError as error:
            print(f"changed: {error}")
            status = 1
    for lang, draw in sorted(drawn):
        print(f"{lang} {draw}: {marked[lang, draw]} of {drawn[lang, draw]} marked")
    total, all_drawn = marked.total(), drawn.total()
    print(f"together: {total} of {all_drawn} marked ({total / max(all_drawn, 1):.2%})")
    return status or int(total > MOST_MARKED * all_drawn)


if __name__ == "__main__":
    sys.exit(main())
