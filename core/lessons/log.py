"""One version of the memory log: its lines, and the records that a reader sees. Pure.

After a git merge an id can stand in several lines. A version lists its former versions (`former`),
a principle or a renamed record its originals (`source_ids`). The next change drops older versions
and hidden records.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from core.errors import RefusedError
from core.lessons.record import (
    CACHED_LINES,
    MOST_COUNTED,
    MOST_FORMER,
    MOST_LINE_BYTES,
    Record,
    cached_parse_line,
    id_in,
    ids_in,
    parse_line,
    seconds_of,
)

MOST_HIDDEN = 100  # an answer of compact_memory shows no more records at their usual size
MOST_REDACTIONS = 50  # a millisecond each, which a stranger's lines could ask for without end
LEAST_LINE_CHARS = 12  # shorter lines of a text are alike by chance
NOTHING_PLACED: Mapping[int, Sequence[Record]] = {}

CONFLICT_BEGIN = re.compile(rb"<{7}(?!<)")
_MARKER = re.compile(rb"(?P<run>([<|>])\2{6,})(?: .*)?|(?P<middle>={7,})", re.S)

BOM = b"\xef\xbb\xbf"
UTF_16_BOMS = (b"\xff\xfe", b"\xfe\xff")

# How a log begins in UTF-16; without a mark its first sign says which of the two it is.
_UTF_16 = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"{\0": "utf-16-le", b"\0{": "utf-16-be"}
_TYPE = re.compile(rb'"[ -~]{10}')  # every record in UTF-8 has that much, UTF-16 hardly ever
_INTERLEAVED = re.compile(rb"(?:[^\0]\0){2}|(?:\0[^\0]){2}", re.S)
# How that begins which a filter of git keeps in the place of a file: LFS, git-crypt.
FILTER_HEADS = (b"version https://git-lfs.github.com/spec/", b"\0GITCRYPT\0")
IN_UTF_16 = re.compile(r"[\t -~]{4}")
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


def split_lines(data: bytes) -> list[bytes]:
    r"""Return the lines of a file with their `\n`, the only line end there is."""
    return _LINE.findall(data)


def conflict_lines(lines: Sequence[bytes], entries: Sequence[object]) -> frozenset[int]:
    """Return the lines of conflict markers and of the common ancestor between them."""
    found: set[int] = set()
    base_at, base_run = -1, 0
    for at, entry in enumerate(entries):
        if entry is not None:
            continue
        marker = _MARKER.fullmatch(lines[at].removeprefix(BOM).rstrip(b"\r\n"))
        if not marker:
            continue
        found.add(at)
        run = len(marker["run"] or marker["middle"])
        if base_at < 0:
            if marker[0].startswith(b"|"):
                base_at, base_run = at, run
        elif run <= base_run:  # an ancestor with a conflict of its own has longer markers
            if marker["middle"] and run == base_run:
                found.update(range(base_at, at))  # both sides removed what only stands there
            base_at = -1
    return frozenset(found)


class MemoryLog:
    """One version of the file, never changed, and the records that a reader sees."""

    def __init__(self, lines: Sequence[bytes] = (), entries: Sequence[Record | None] = ()) -> None:
        self.lines = lines
        self.conflict = conflict_lines(lines, entries)  # from 0, as all lines here
        if self.conflict:
            entries = [None if at in self.conflict else it for at, it in enumerate(entries)]
        self.entries = entries  # by line
        begun = [at for at in self.conflict if CONFLICT_BEGIN.match(lines[at].removeprefix(BOM))]
        self.conflicts = len(begun) or int(bool(self.conflict))
        odd = [at for at, it in enumerate(entries) if it is None and at not in self.conflict]
        self.skipped = len([at for at in odd if self.content(at).strip()])  # no blank ones
        self._lines_of: dict[str, list[int]] = {}
        for at, record in self.all_records():
            self._lines_of.setdefault(record.id, []).append(at)
        self._settled: dict[int, Record] = {}  # records that inherit; the next change writes them
        self.leftover_lines: set[int] = set()  # lines that no reader sees
        self._decide()
        self.count = len(self.records)
        self.topics = Counter(record.topic for record in self.records)

    @classmethod
    def parse(cls, data: bytes) -> "MemoryLog":
        """Return the log of a file; any bytes are accepted."""
        lines = split_lines(data)
        return cls.from_lines(
            lines, cached_parse_line if len(lines) <= CACHED_LINES else parse_line
        )

    @classmethod
    def from_lines(
        cls, lines: Sequence[bytes], parse: Callable[[bytes], Record | None]
    ) -> "MemoryLog":
        """Return the log of these lines; `parse` should cache."""
        entries = [parse(line.removeprefix(BOM)) for line in lines]  # a merge may move the first
        if lines and (mark := mark_of(lines[0])):
            entries[0] = parse(lines[0].removeprefix(mark))
        return cls(lines, entries)

    def content(self, at: int) -> bytes:
        """Return a line without the byte order mark of the first, or of a record."""
        line = self.lines[at]
        return line if at and not self.entries[at] else line.removeprefix(mark_of(line))

    def to_bytes(self) -> bytes:
        return b"".join(self.lines)

    @property
    def flaws(self) -> dict[str, int]:
        return {
            "unreadable_lines": self.skipped,
            "conflicts": self.conflicts,
            "hidden_records": len(self.hidden),
            "unsettled_gaps": len(self.unsettled),
        }

    def all_records(self) -> Iterator[tuple[int, Record]]:
        """Yield every record with its line (from 0), leftovers of a merge included."""
        return ((at, record) for at, record in enumerate(self.entries) if record)

    def with_id(self, record_id_: str) -> dict[int, Record]:
        """Return the visible records of an id by line: one, unless unsettled or shared."""
        lines = self._lines_of.get(record_id_, ())
        return {at: self._seen[at] for at in lines if at in self._seen}

    def rewrite(
        self, drop: Iterable[int] = (), placed: Mapping[int, Sequence[Record]] = NOTHING_PLACED
    ) -> "MemoryLog":
        """Return the log without leftovers and lines `drop`, with `placed` records in their lines.

        Line `len(lines)` is the end. Raises RefusedError above MOST_LINE_BYTES.
        """
        dropped = self.leftover_lines.union(drop)
        chosen: dict[int, Sequence[Record]] = {
            at: [record]
            for at, record in self._settled.items()
            if at not in dropped and len(record.to_line()) <= MOST_LINE_BYTES  # else it stays
        }
        chosen.update(placed)
        old = list(self.lines)
        if len(old) in chosen and old and not old[-1].endswith(b"\n"):
            old[-1] += b"\n"
        bom = BOM if old and old[0].startswith(BOM) else b""
        lines, entries = list[bytes](), list[Record | None]()
        done = 0
        for at in sorted(dropped.union(chosen)):
            lines += old[done:at]
            entries += self.entries[done:at]
            for record in chosen.get(at, ()):
                line = record.to_line()
                if len(line) > MOST_LINE_BYTES:
                    raise RefusedError("record_too_large", limit_bytes=MOST_LINE_BYTES)
                lines.append(line if lines else bom + line)
                entries.append(record)
            done = at + 1
        return MemoryLog([*lines, *old[done:]], [*entries, *self.entries[done:]])

    def _decide(self) -> None:
        written = dict(self.all_records())
        hiders = _Hiders(written, self._lines_of)
        self.replaced = hiders.replaced  # version ids by id
        hidden: dict[int, Record] = {}
        unsettled: list[list[int]] = []
        for name, lines in self._lines_of.items():
            if len(lines) == 1 and name not in self.replaced:  # nearly all
                continue
            # Two gaps whose joined texts are equal share an id; they are no versions of each other.
            gaps: dict[tuple[str, str, str], dict[int, Record]] = {}
            for at in lines:
                if hider := hiders.of(at, written[at]):
                    hidden[at] = hider
                else:
                    gaps.setdefault(written[at].gap, {})[at] = written[at]
            self.leftover_lines.update(lines)
            for versions in gaps.values():
                kept = {at: it for at, it in _survivors(versions).items() if not hiders.of(at, it)}
                self.leftover_lines.difference_update(kept)
                self._settled |= {at: it for at, it in kept.items() if it is not written[at]}
                if len(kept) > 1:
                    unsettled.append(sorted(kept))
        self._seen = {
            at: self._settled.get(at, it)
            for at, it in written.items()
            if at not in self.leftover_lines
        }
        self.records = [*self._seen.values()]  # the visible ones, in file order
        # Versions of one gap in different words that do not follow each other.
        self.unsettled = [[self._seen[at] for at in lines] for lines in sorted(unsettled)]
        seen = {(it.id, it.gap) for it in self.records} if hidden else set()
        pairs = {
            (written[at].id, written[at].gap): (written[at], hidden[at]) for at in sorted(hidden)
        }
        # Records whose gap no reader sees, each with its hider.
        self.hidden = [pair for gap, pair in pairs.items() if gap not in seen]


# A server reads the same file at every call, which opens a store of its own.
cached_log = lru_cache(maxsize=1)(MemoryLog.parse)


class _Hiders:
    """The records that hide others. replaced: version ids that they list, by id.

    Anybody can write such a list: it hides only earlier lines or records dated no later, at most
    MOST_HIDDEN.
    """

    def __init__(self, records: Mapping[int, Record], present: Container[str]) -> None:
        self.replaced: dict[str, set[str]] = {}
        self._listing: dict[str, list[tuple[int, Record]]] = {}  # by version id
        self._redactions = MOST_REDACTIONS
        for at, record in records.items():
            if not record.source_ids:
                continue
            if len([it for it in ids_in(record.source_ids) if it in present]) > MOST_HIDDEN:
                continue
            for token in dict.fromkeys(record.source_ids):
                self.replaced.setdefault(id_in(token), set()).add(token)
                self._listing.setdefault(token, []).append((at, record))

    def of(self, at: int, record: Record) -> Record | None:
        """Return the record that hides this one: a principle, or its later self."""
        if record.id not in self.replaced:
            return None
        for hider_at, hider in self._listing.get(record.version_id, ()):
            came_after = hider_at > at or _last_s(hider) >= _last_s(record)
            if came_after and (hider.type == "principle" or self._is_former(record, hider)):
                return hider
        return None

    def _is_former(self, record: Record, renewed: Record) -> bool:
        """Return whether a log became the other, in other words or without a secret."""
        if record.type == "principle":
            return False
        if _shares_text(renewed, record):
            return True
        if not self._redactions:
            return False
        from core.lessons.draft import clean_record  # hardly any log needs these
        from core.sanitizer import MARKER

        if MARKER not in renewed.missing_context + renewed.lesson:
            return False
        self._redactions -= 1
        return _shares_text(renewed, clean_record(record)[0])


def _last_s(record: Record) -> float:
    return max(map(seconds_of, (record.created, record.updated, record.compacted_at)))


def _shares_text(record: Record, original: Record) -> bool:
    if record.missing_context == original.missing_context or record.lesson == original.lesson:
        return True
    long_lines = _long_lines(record.missing_context, record.lesson)
    return not long_lines.isdisjoint(_long_lines(original.missing_context, original.lesson))


@lru_cache(maxsize=16)  # a stranger's may have very many, and be named often
def _long_lines(*texts: str) -> frozenset[str]:
    lines = (line for text in texts for line in text.split("\n"))
    return frozenset(line for line in lines if len(line) >= LEAST_LINE_CHARS)


def _survivors(versions: Mapping[int, Record]) -> dict[int, Record]:
    """Return, by line, the versions of one gap that no other follows, equal words as one."""
    if len(versions) == 1:
        return dict(versions)
    # Different words come from two branches: all are seen until a save settles it.
    by_words: dict[tuple[str, str], dict[int, Record]] = {}
    for at, record in (_latest(versions) or versions).items():
        by_words.setdefault((record.lesson, record.ask_next_time), {})[at] = record
    survivors: dict[int, Record] = {}
    for alike in by_words.values():
        newest_at = max(alike, key=lambda at: (alike[at].version(), at))
        others = versions if len(by_words) == 1 else alike
        newest = alike[newest_at]
        changed = united(newest, [it for at, it in others.items() if at != newest_at])
        survivors[newest_at] = newest if changed == newest else changed  # the same keeps its line
    return survivors


def _latest(versions: Mapping[int, Record]) -> dict[int, Record]:
    """Return, by line, the versions that no other follows."""
    followed = Counter(known for it in versions.values() for known in set(it.former))
    # A program that does not know `former` keeps the creation date and adds its update's.
    rewritten = {it.created for it in versions.values() if it.updated and not it.former}
    return {
        at: it
        for at, it in versions.items()
        if (it.updated or it.created not in rewritten)
        and followed[it.fingerprint()] == (it.fingerprint() in it.former)
    }


def follows(record: Record, other: Record) -> bool:
    """Return whether a merge takes `record` for a later version than `other`."""
    return [*_latest({0: other, 1: record})] == [1]


def with_former(record: Record, *earlier: Record) -> Record:
    """Return the record as a successor of these versions."""
    known = [fingerprint for it in earlier for fingerprint in (*it.former, it.fingerprint())]
    return replace(record, former=tuple(dict.fromkeys((*record.former, *known)))[-MOST_FORMER:])


def united(record: Record, others: Iterable[Record]) -> Record:
    """Return the record as a successor of these versions, with their originals."""
    known = {*record.former, record.fingerprint(), *record.source_ids}
    news = [
        it
        for it in sorted(others, key=Record.version)
        if not known.issuperset((*it.former, it.fingerprint(), *it.source_ids))
    ]
    if not news:
        return record
    source_ids = dict.fromkeys(token for it in (record, *news) for token in it.source_ids)
    added = len(ids_in(source_ids) - ids_in(record.source_ids))
    changed = replace(with_former(record, *news, record), source_ids=tuple(source_ids))
    if not added:
        return changed
    return replace(changed, source_count=min((record.source_count or 0) + added, MOST_COUNTED))


# The encodings that the file may have: UTF-8, or UTF-16 by mistake, into which nothing is saved.


def utf_16_name(data: bytes) -> str:
    """Return Python's name of the encoding of a file that is UTF-16 to its end, else ""."""
    name = _UTF_16.get(data[:2], "")
    if not name or b"\0" not in data or _TYPE.search(data):
        return ""
    try:
        return name if IN_UTF_16.search(data.decode(name)) else ""
    except UnicodeDecodeError:
        return ""


def begins_like_utf_16(data: bytes) -> bool:
    """Return whether a file begins as UTF-16, so that UTF-8 behind it would be a mix."""
    first = data[: data.find(b"\n") + 2] if b"\n" in data else data
    is_marked = data in UTF_16_BOMS or (data.startswith(UTF_16_BOMS) and b"\0" in first)
    return (is_marked or bool(_INTERLEAVED.match(data))) and not _TYPE.search(first)


def mark_of(line: bytes) -> bytes:
    """Return the byte order mark of a first line, b"" for none.

    A mark of UTF-16 before other text counts: a program's mistake.
    """
    if line.startswith(BOM):
        return BOM
    return line[:2] if line.startswith(UTF_16_BOMS) and b"\0" not in line[:4] else b""
