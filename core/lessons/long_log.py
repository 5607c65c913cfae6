"""Finds the lines of a long log that an action could need, without reading all of them as records.

Pure. A hook is a new process for each action: of a log of thousands of lines only those are read as
records that share a word or a file with the action.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import log
from typing import NamedTuple

from core.lessons.action import Action, Reading
from core.lessons.anchors import MOST_ANCHORS, could_match
from core.lessons.log import MOST_HIDDEN, MemoryLog, split_lines
from core.lessons.record import DECODER, Record, ids_in, parse_line

# Of a log of more lines only those that come closest are read: an agent waits for the answer.
MOST_READ, MOST_CHOSEN = 1_000, 500

# What `stem_of` takes away, in the bytes of a line.
_ENDINGS = b" s ing ings ion ions ies ed es ly e y".split(b" ")
_TO_WORDS = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256)).lower()
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
    chosen, having = _promising(action, lines)
    parse = lru_cache(maxsize=None)(parse_line)
    wanted = {record.id for at in chosen if (record := parse(lines[at]))}
    read, ids = set(chosen), set(wanted)
    for at, line in enumerate(lines):
        if b'"source_ids"' in line:
            read.add(at)
            record = parse(line)
            # That one hides none of too many is only seen where all of them are read.
            if record and len(record.source_ids) > MOST_HIDDEN:
                ids.update(ids_in(record.source_ids))
    for at, line in enumerate(lines):
        # The id of a line as this program writes it; any other line must be read. Of two keys the
        # second counts, and either may be spelled with escapes.
        end = line.find(b'"', _ID_AT) if line.startswith(_BEGIN) else -1
        is_plain = end >= 0 and line.find(b'"id"', end) < 0 and not _ESCAPED.search(line)
        if not is_plain or line[_ID_AT:end].decode("utf-8", "replace") in ids:
            read.add(at)
    whole = MemoryLog.of_lines([lines[at] for at in sorted(read)], parse)
    return AtHand([it for it in whole.records if it.id in wanted], len(lines), having)


def _promising(action: Action, lines: Sequence[bytes]) -> tuple[list[int], Mapping[str, int]]:
    """Return at most MOST_CHOSEN of these lines, in their order: those that share something.

    First those with a path anchor or a trigger that may be meant by the action, then those that
    have most of its words, where a word counts the more, the fewer lines have it; of equals the
    later. Also returns how many lines have each word.
    """
    action = action.readable()
    sought = Reading(" ".join([*action.paths, action.command, action.telling]))
    near = _near(action, lines)
    terms = sought.words | sought.names
    forms = {it.encode() + end: it for it in terms if it.isascii() for end in _ENDINGS}
    # A program may write other letters as they are, or with escapes of JSON.
    wide = {it: (it.encode(), _escaped(it)) for it in sought.words if not it.isascii()}
    wanted, found = frozenset(forms), list[set[str]]()
    for line in lines:
        words = {forms[it] for it in wanted.intersection(line.translate(_TO_WORDS).split())}
        words.update(it for it, ways in wide.items() if any(way in line for way in ways))
        found.append(words)
    counts = Counter(chain.from_iterable(found))
    rarity = {word: 1 - log(count) / log(len(lines) + 1) for word, count in counts.items()}
    scores = [
        (at in near, sum(rarity[word] for word in words), at) for at, words in enumerate(found)
    ]
    best = sorted((it for it in scores if it[0] or it[1]), reverse=True)
    return sorted(at for _, _, at in best[:MOST_CHOSEN]), counts


def _escaped(word: str) -> bytes:
    return "".join(char if char.isascii() else f"\\u{ord(char):04x}" for char in word).encode()


def _near(action: Action, lines: Sequence[bytes]) -> set[int]:
    """Return the lines with a path anchor or a trigger that may be meant by the action."""
    names, text = "\n".join(action.named), f"{action.command}\n{action.text}"
    keys = (b'"paths"', b'"when"') if names else (b'"when"',)
    near, known = set[int](), dict[tuple[bytes, bytes], bool]()  # many lines end alike
    for at, line in enumerate(lines):
        for key in keys:
            _, is_there, rest = line.partition(key)
            if is_there and (key, rest) not in known:
                if key == b'"when"':
                    known[key, rest] = any(it in text for it in _listed(rest))
                else:
                    known[key, rest] = any(could_match(it, names) for it in _listed(rest))
            if is_there and known[key, rest]:
                near.add(at)
    return near


def _listed(rest: bytes) -> Iterator[str]:
    """Yield what a line lists under a key that this follows."""
    try:
        listed, _ = DECODER.raw_decode(rest.decode("utf-8", "replace").lstrip(" :"))
    except (ValueError, RecursionError):
        return
    if isinstance(listed, list):
        yield from (it for it in listed[:MOST_ANCHORS] if isinstance(it, str))
