"""A record that left the log, and its line in `memory_log.replaced.jsonl`, the oldest first.

Pure. A line is that of the record as it stood, without secrets, and one more key: `replaced` says
`at` which moment it left, `by` which version id it was followed, if any, and under which `version`
id it stood where redaction has changed that.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.lessons.draft import clean_record
from core.lessons.log import MemoryLog, split_lines
from core.lessons.record import Record, id_in, parse_line
from core.sanitizer import MARKER, find

KEY = "replaced"

_Entries = Sequence[Record | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """A record that left the log. at: ISO 8601. by: the version id of what followed it, or ""."""

    record: Record
    token: str
    at: str
    by: str = ""

    def to_line(self) -> bytes:
        """Return its line in the file."""
        left = {"at": self.at}
        if self.by and not find(self.by):
            left["by"] = self.by
        if self.token != self.record.token and id_in(self.token) == self.record.id:
            left["version"] = self.token
        return replace(self.record, extra={**self.record.extra, KEY: left}).to_line()


def what_left(before: MemoryLog, after: MemoryLog, now: Callable[[], str]) -> list[Replaced]:
    """Return the records of one version of the log that the next holds in no words, redacted.

    A version that only counts or dates differently is not lost. now: gives the moment, ISO 8601;
    asked only when something left.
    """
    old, new = _where_they_differ(before.entries, after.entries)
    kept = set(map(id, new))
    gone = [record for record in old if record and id(record) not in kept]
    if not gone:
        return []
    gaps = {record.gap for record in gone}
    there = {_words(record) for _, record in after.all_records() if record.gap in gaps}
    known = set(map(id, old))
    followers = _followers([it for it in new if it and id(it) not in known], after)
    left: dict[str, Replaced] = {}
    at = ""
    for record in gone:
        if _words(record) in there:
            continue
        clean, secrets = clean_record(record)
        if secrets and _words(clean) in there:
            continue
        at = at or now()
        follower = followers.get(record.id) or followers.get(record.token)
        by = follower.token if follower else ""
        left[record.token] = Replaced(record=clean, token=record.token, at=at, by=by)
    return list(left.values())


def _words(record: Record) -> tuple[object, ...]:
    return (record.type, record.texts, record.paths, record.when, repr(record.extra))


def _where_they_differ(one: _Entries, two: _Entries) -> tuple[_Entries, _Entries]:
    """Return the entries of two logs without those with which both begin, and both end."""
    most = min(len(one), len(two))
    begin = next((at for at in range(most) if one[at] is not two[at]), most)
    most -= begin
    end = next((at for at in range(most) if one[-1 - at] is not two[-1 - at]), most)
    return one[begin : len(one) - end], two[begin : len(two) - end]


def _followers(new: Iterable[Record], after: MemoryLog) -> dict[str, Record]:
    """Return by id the next version of a record, and by version id what lists it as replaced."""
    found: dict[str, Record] = {}
    for _, record in after.all_records():
        if record.source_ids:
            found |= dict.fromkeys(record.source_ids, record)
    return found | {record.id: record for record in new}


def replaced_in(data: bytes) -> Iterator[Replaced]:
    """Yield the records of the file, the newest first and each version once.

    A save that failed late, and was made again, has left its lines twice. Lines that hold no record
    are passed over, as the one that a killed writer has torn.
    """
    tokens: set[str] = set()
    for line in reversed(split_lines(data)):
        found = _parsed(line)
        if found and found.token not in tokens:
            tokens.add(found.token)
            yield found


def cleaned(data: bytes) -> bytes:
    """Return the file with no secret in any record; a line that holds none is left out."""
    kept = []
    for line in split_lines(data):
        found = _parsed(line)
        if found:
            kept.append(replace(found, record=clean_record(found.record)[0]).to_line())
    return b"".join(kept)


def _parsed(line: bytes) -> Replaced | None:
    record = parse_line(line)
    if not record:
        return None
    left: Any = record.extra.get(KEY)
    facts = left if isinstance(left, dict) else {}
    extra = {key: value for key, value in record.extra.items() if key != KEY}
    record = replace(record, extra=extra)
    at, by, version = (_text(facts.get(key)) for key in ("at", "by", "version"))
    is_ours = id_in(version) == record.id and MARKER.encode() in line
    token = version if is_ours else record.token
    return Replaced(record=record, token=token, at=at, by=by)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
