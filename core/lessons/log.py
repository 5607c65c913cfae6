"""One version of the memory log: its lines, and the records that a reader sees. Pure.

After a git merge an id can stand in several lines. A version lists its former versions (`former`),
a principle or a renamed record its originals (`source_ids`). The next change drops leftovers.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain

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
)
from core.text.plain import seconds_of

MOST_HIDDEN = 100  # an answer of compact_memory shows no more records at their usual size
MOST_REDACTIONS = 50  # a millisecond each, which a stranger's lines could ask for without end
LEAST_LINE_CHARS = 12  # shorter lines of a text are alike by chance

CONFLICT_BEGIN = re.compile(rb"<{7}(?!<)")
_MARKER = re.compile(rb"(?P<run>([<|>])\2{6,})(?: .*)?|(?P<middle>={7,})", re.S)

BOM = b"\xef\xbb\xbf"
UTF_16_BOMS = (b"\xff\xfe", b"\xfe\xff")

# How a log begins in UTF-16; without a mark its first sign says which of the two it is.
_UTF_16 = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"{\0": "utf-16-le", b"\0{": "utf-16-be"}
_ASCII_TEXT = re.compile(rb'"[ -~]{10}')  # every record in UTF-8 has that much, UTF-16 hardly ever
_INTERLEAVED_NULS = re.compile(rb"(?:[^\0]\0){2}|(?:\0[^\0]){2}", re.S)
# How that begins which a filter of git keeps in the place of a file: LFS, git-crypt.
FILTER_HEADS = (b"version https://git-lfs.github.com/spec/", b"\0GITCRYPT\0")
UTF_16_TEXT = re.compile(r"[\t -~]{4}")


def split_lines(data: bytes) -> list[bytes]:
    r"""Return the lines of a file with their `\n`, the only line end there is."""
    *lines, rest = data.split(b"\n")
    return [*(line + b"\n" for line in lines), *filter(None, [rest])]


def conflict_lines(lines: Sequence[bytes], entries: Sequence[object]) -> frozenset[int]:
    """Return the lines of conflict markers and of the common ancestor between them."""
    marker_lines: set[int] = set()
    base_at, base_run = -1, 0
    for at, entry in enumerate(entries):
        if entry is not None:
            continue
        marker = _MARKER.fullmatch(lines[at].removeprefix(BOM).rstrip(b"\r\n"))
        if not marker:
            continue
        marker_lines.add(at)
        run = len(marker["run"] or marker["middle"])
        if base_at < 0:
            if marker[0].startswith(b"|"):
                base_at, base_run = at, run
        elif run <= base_run:  # an ancestor with a conflict of its own has longer markers
            if marker["middle"] and run == base_run:
                marker_lines.update(range(base_at, at))  # both sides removed what only stands there
            base_at = -1
    return frozenset(marker_lines)


class MemoryLog:
    """One version of the file, never changed, and the records that a reader sees."""

    def __init__(self, lines: Sequence[bytes] = (), entries: Sequence[Record | None] = ()) -> None:
        self.lines = lines
        self.conflict = conflict_lines(lines, entries)  # from 0, as all lines here
        if self.conflict:
            entries = [None if at in self.conflict else entry for at, entry in enumerate(entries)]
        self.entries = entries  # by line
        starts = [at for at in self.conflict if CONFLICT_BEGIN.match(lines[at].removeprefix(BOM))]
        self.conflict_count = len(starts) or int(bool(self.conflict))
        others = [at for at, entry in enumerate(entries) if not (entry or at in self.conflict)]
        self.unreadable_count = sum(1 for at in others if self.line_content(at).strip())
        self._lines_of: dict[str, list[int]] = {}
        for at, record in self.all_records():
            self._lines_of.setdefault(record.id, []).append(at)
        self._heirs: dict[int, Record] = {}  # records that inherit; the next change writes them
        self.leftover_lines: set[int] = set()  # lines that no reader sees
        self._settle()
        self.count = len(self.records)
        self.topics = Counter(record.topic for record in self.records)

    @classmethod
    def parse(cls, data: bytes) -> "MemoryLog":
        """Return the log of a file; any bytes are accepted."""
        lines = split_lines(data)
        parse = cached_parse_line if len(lines) <= CACHED_LINES else parse_line
        return cls.from_lines(lines, parse)

    @classmethod
    def from_lines(
        cls, lines: Sequence[bytes], parse: Callable[[bytes], Record | None]
    ) -> "MemoryLog":
        """Return the log of these lines; `parse` should cache."""
        entries = [parse(line.removeprefix(BOM)) for line in lines]  # a merge may move the first
        if lines and (bom := bom_of(lines[0])):
            entries[0] = parse(lines[0].removeprefix(bom))
        return cls(lines, entries)

    def line_content(self, at: int) -> bytes:
        """Return a line; the first and a record's line lose their byte order mark."""
        line = self.lines[at]
        return line if at and not self.entries[at] else line.removeprefix(bom_of(line))

    def to_bytes(self) -> bytes:
        return b"".join(self.lines)

    @property
    def flaws(self) -> dict[str, int]:
        return {
            "unreadable_lines": self.unreadable_count,
            "conflicts": self.conflict_count,
            "hidden_records": len(self.hidden_pairs),
            "unsettled_gaps": len(self.rivals),
        }

    def all_records(self) -> Iterator[tuple[int, Record]]:
        """Yield every record with its line (from 0), leftovers of a merge included."""
        return ((at, record) for at, record in enumerate(self.entries) if record)

    def find_by_id(self, record_id: str) -> dict[int, Record]:
        """Return the visible records of an id by line: one, unless unsettled or shared."""
        lines = self._lines_of.get(record_id, ())
        return {at: self._seen_records[at] for at in lines if at in self._seen_records}

    def rewrite(
        self, cut_lines: Iterable[int] = (), placed: Mapping[int, Sequence[Record]] | None = None
    ) -> "MemoryLog":
        """Return the log without leftovers and `cut_lines`, with `placed` records in their lines.

        Line `len(lines)` is the end. Raises RefusedError above MOST_LINE_BYTES.
        """
        gone_lines = self.leftover_lines.union(cut_lines)
        heirs = {at: [record] for at, record in self._heirs.items() if at not in gone_lines}
        new_records: dict[int, Sequence[Record]] = {**heirs, **(placed or {})}
        old_lines = list(self.lines)
        if len(old_lines) in new_records and old_lines and not old_lines[-1].endswith(b"\n"):
            old_lines[-1] += b"\n"
        bom = BOM if old_lines and old_lines[0].startswith(BOM) else b""
        lines, entries = list[bytes](), list[Record | None]()
        next_line = 0
        for at in sorted(gone_lines.union(new_records)):
            lines += old_lines[next_line:at]
            entries += self.entries[next_line:at]
            for record in new_records.get(at, ()):
                line = record.to_line()
                if len(line) > MOST_LINE_BYTES:
                    raise RefusedError("record_too_large", limit_bytes=MOST_LINE_BYTES)
                lines.append(line if lines else bom + line)
                entries.append(record)
            next_line = at + 1
        return MemoryLog([*lines, *old_lines[next_line:]], [*entries, *self.entries[next_line:]])

    def _settle(self) -> None:
        records = dict(self.all_records())
        hiders = _Hiders(records, self._lines_of)
        self.replaced_ids = hiders.replaced  # version ids by id
        hider_at: dict[int, Record] = {}
        rival_lines: list[list[int]] = []
        for name, lines in self._lines_of.items():
            if len(lines) == 1 and name not in self.replaced_ids:  # nearly all
                continue
            # Two gaps whose joined texts are equal share an id; they are no versions of each other.
            gaps: dict[tuple[str, str, str], dict[int, Record]] = {}
            for at in lines:
                if hider := hiders.hider_of(at, records[at]):
                    hider_at[at] = hider
                else:
                    gaps.setdefault(records[at].gap, {})[at] = records[at]
            self.leftover_lines.update(lines)
            for versions in gaps.values():
                best = _choose_survivors(versions)
                winners = {at: best[at] for at in best if not hiders.hider_of(at, best[at])}
                self.leftover_lines.difference_update(winners)
                self._heirs |= {at: best[at] for at in winners if best[at] is not records[at]}
                if len(winners) > 1:
                    rival_lines.append(sorted(winners))
        self._seen_records = {
            at: self._heirs.get(at, records[at]) for at in records if at not in self.leftover_lines
        }
        self.records = [*self._seen_records.values()]  # the visible ones, in file order
        # Versions of one gap in different words that do not follow each other.
        self.rivals = [[self._seen_records[at] for at in lines] for lines in sorted(rival_lines)]
        visible_gaps = {(record.id, record.gap) for record in self.records} if hider_at else set()
        pairs = {
            (records[at].id, records[at].gap): (records[at], hider_at[at])
            for at in sorted(hider_at)
        }
        # Records whose gap no reader sees, each with its hider.
        self.hidden_pairs = [pair for gap, pair in pairs.items() if gap not in visible_gaps]


# A server reads the same file at every call, which opens a store of its own.
cached_log = lru_cache(maxsize=1)(MemoryLog.parse)


class _Hiders:
    """The records that hide others. replaced: version ids that they list, by id.

    Anybody can write such a list: it hides at most MOST_HIDDEN lines, earlier or dated no later.
    """

    def __init__(self, records: Mapping[int, Record], present: Container[str]) -> None:
        self.replaced: dict[str, set[str]] = {}
        self._listers: dict[str, list[tuple[int, Record]]] = {}  # by version id
        self._redactions = MOST_REDACTIONS
        for at, record in records.items():
            if not record.source_ids:
                continue
            if len([name for name in ids_in(record.source_ids) if name in present]) > MOST_HIDDEN:
                continue
            for version_id in dict.fromkeys(record.source_ids):
                self.replaced.setdefault(id_in(version_id), set()).add(version_id)
                self._listers.setdefault(version_id, []).append((at, record))

    def hider_of(self, at: int, record: Record) -> Record | None:
        """Return the record that hides this one: a principle, or its later self."""
        if record.id not in self.replaced:
            return None
        for hider_at, hider in self._listers.get(record.version_id, ()):
            came_after = hider_at > at or _last_s(hider) >= _last_s(record)
            if came_after and (hider.type == "principle" or self._is_former(record, hider)):
                return hider
        return None

    def _is_former(self, record: Record, successor: Record) -> bool:
        """Return whether a log became the other, in other words or without a secret."""
        if record.type == "principle":
            return False
        if _shares_text(successor, record):
            return True
        if not self._redactions:
            return False
        from core.lessons.draft import redact_fields  # hardly any log needs these
        from core.sanitizer import MARKER

        if MARKER not in successor.missing_context + successor.lesson:
            return False
        self._redactions -= 1
        return _shares_text(successor, redact_fields(record)[0])


def _last_s(record: Record) -> float:
    return max(map(seconds_of, record.moments))


def _shares_text(record: Record, original: Record) -> bool:
    if record.missing_context == original.missing_context or record.lesson == original.lesson:
        return True
    long_lines = _long_lines(record.missing_context, record.lesson)
    return not long_lines.isdisjoint(_long_lines(original.missing_context, original.lesson))


@lru_cache(maxsize=16)  # a stranger's may have very many, and be named often
def _long_lines(*texts: str) -> frozenset[str]:
    lines = (line for text in texts for line in text.split("\n"))
    return frozenset(line for line in lines if len(line) >= LEAST_LINE_CHARS)


def _choose_survivors(versions: Mapping[int, Record]) -> dict[int, Record]:
    """Return, by line, the versions of one gap that no other follows, equal words as one."""
    if len(versions) == 1:
        return dict(versions)
    # Different words come from two branches: all are seen until a save settles it.
    by_words: dict[tuple[str, str], dict[int, Record]] = {}
    for at, record in (_choose_latest(versions) or versions).items():
        by_words.setdefault((record.lesson, record.ask_next_time), {})[at] = record
    survivors: dict[int, Record] = {}
    for same_words in by_words.values():
        newest_at = max(same_words, key=lambda at: (same_words[at].version_key(), at))
        others = versions if len(by_words) == 1 else same_words
        newest = same_words[newest_at]
        union = unite_versions(newest, [others[at] for at in others if at != newest_at])
        if union != newest and len(union.to_line()) > MOST_LINE_BYTES:
            return dict(versions)  # without a line that remembers them they all stay
        survivors[newest_at] = newest if union == newest else union  # the same keeps its line
    return survivors


def _choose_latest(versions: Mapping[int, Record]) -> dict[int, Record]:
    """Return, by line, the versions that no other follows."""
    followers = Counter(digest for version in versions.values() for digest in set(version.former))
    # A program that does not know `former` keeps the creation date and adds its update's.
    updates = (version for version in versions.values() if version.updated and not version.former)
    dates = {version.created for version in updates}
    return {
        at: version
        for at, version in versions.items()
        if (version.updated or version.created not in dates)
        and followers[version.fingerprint()] == (version.fingerprint() in version.former)
    }


def follows(record: Record, other: Record) -> bool:
    """Return whether a merge takes `record` for a later version than `other`."""
    return [*_choose_latest({0: other, 1: record})] == [1]


def with_former(record: Record, *earlier: Record) -> Record:
    """Return the record as a successor of these versions."""
    digests = [digest for version in earlier for digest in (*version.former, version.fingerprint())]
    return replace(record, former=tuple(dict.fromkeys((*record.former, *digests)))[-MOST_FORMER:])


def unite_versions(record: Record, others: Iterable[Record]) -> Record:
    """Return the record as a successor of these versions, with their originals."""
    values = {*record.former, record.fingerprint(), *record.source_ids}
    updates = [
        version
        for version in sorted(others, key=Record.version_key)
        if not values.issuperset((*version.former, version.fingerprint(), *version.source_ids))
    ]
    if not updates:
        return record
    source_ids = dict.fromkeys(chain(*(version.source_ids for version in (record, *updates))))
    count = len(ids_in(source_ids) - ids_in(record.source_ids))
    union = replace(with_former(record, *updates, record), source_ids=tuple(source_ids))
    if not count:
        return union
    return replace(union, source_count=min((record.source_count or 0) + count, MOST_COUNTED))


# The encodings that the file may have: UTF-8, or UTF-16 by mistake, into which nothing is saved.


def utf_16_name(data: bytes) -> str:
    """Return Python's name of the encoding of a file that is UTF-16 to its end, else ""."""
    name = _UTF_16.get(data[:2], "")
    if not name or b"\0" not in data or _ASCII_TEXT.search(data):
        return ""
    try:
        return name if UTF_16_TEXT.search(data.decode(name)) else ""
    except UnicodeDecodeError:
        return ""


def begins_like_utf_16(data: bytes) -> bool:
    """Return whether a file begins as UTF-16, so that UTF-8 behind it would be a mix."""
    first_line = data[: data.find(b"\n") + 2] if b"\n" in data else data
    is_marked = data in UTF_16_BOMS or (data.startswith(UTF_16_BOMS) and b"\0" in first_line)
    return (is_marked or bool(_INTERLEAVED_NULS.match(data))) and not _ASCII_TEXT.search(first_line)


def obstacle_in(data: bytes) -> str:
    """Return the error of a file that is no log in UTF-8, by its key; "" for a log."""
    if begins_like_utf_16(data):
        return "log_encoding"
    return "log_filtered" if data.startswith(FILTER_HEADS) else ""


def bom_of(line: bytes) -> bytes:
    """Return the byte order mark of a first line, b"" for none.

    A mark of UTF-16 before other text counts: a program's mistake.
    """
    if line.startswith(BOM):
        return BOM
    return line[:2] if line.startswith(UTF_16_BOMS) and b"\0" not in line[:4] else b""
