"""Finds the lines of a long log that an action could need, without reading all of them as records.

Pure. A hook is a new process for each action: of a log of thousands of lines only those are read as
records that share a word or a file with the action.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import log
from typing import NamedTuple

from core.lessons.action import Action, Reading
from core.lessons.anchors import MOST_ANCHORS, MOST_PATTERN_CHARS, could_match
from core.lessons.log import MOST_HIDDEN, MemoryLog, split_lines
from core.lessons.record import DECODER, Record, ids_in, parse_line

# Of a log of more lines only those that come closest are read: an agent waits for the answer.
MOST_READ, MOST_CHOSEN = 1_000, 500

# What `stem_of` takes away, in the bytes of a line.
_ENDINGS = b" s ing ings ion ions ies ed es ly e y".split(b" ")
_TO_WORDS = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256)).lower()
_WIDE_CHARS = re.compile(r"[^\0-\x7f]")
_ESCAPED = re.compile(rb"\\u00[2-7]")  # ASCII, which no program escapes without need
_BEGIN, _ID_AT = b'{"id": "', 8


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
