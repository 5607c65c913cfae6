"""Says what a change of the memory log did: what it wrote, what it removed, the log afterwards."""

from dataclasses import dataclass
from typing import Literal

from core.errors import SentinelError
from core.lessons.log import MemoryLog
from core.lessons.record import Record

Fate = Literal["added", "known", "replaced", "collision", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What became of the version ids of a deletion.

    removed: the deleted records. changed: ids of records that stay, because they are no longer in
    this version (or were updated, and the id came without a version). absent: ids of no record.
    gone: ids of records that a principle has already replaced. hidden: records that a line had
    hidden, and whose own lines went now.
    """

    removed: tuple[Record, ...] = ()
    changed: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    hidden: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What one save did: the record as stored, what it replaced, and the log afterwards.

    redacted: one rule name for each replaced secret, in order of place. suspicious: fields that
    look like a secret but are stored as they came. before: the log in which it was saved.
    """

    record: Record
    removal: Removal
    redacted: tuple[str, ...]
    suspicious: tuple[str, ...]
    log: MemoryLog
    before: MemoryLog

    @property
    def is_repeated(self) -> bool:
        """Whether nothing was written, because the same words were saved within the day."""
        return self.log is self.before

    @property
    def settled(self) -> int:
        """How many versions of the gap have become one; 0 where there was one, or none."""
        there = self.before.with_id(self.record.id).values()
        versions = sum(it.gap == self.record.gap for it in there)
        return versions if versions > 1 else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtBack:
    """What bringing back former versions did: the records as stored, and the log afterwards.

    removal: the principle that they replaced, if any. redacted: as in Saved.
    """

    records: tuple[Record, ...]
    removal: Removal
    redacted: tuple[str, ...]
    log: MemoryLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """One record from elsewhere: as it is stored, or would be, and its fate.

    redacted: as in Saved, for all fields. error: why it is refused.
    """

    record: Record
    fate: Fate
    redacted: tuple[str, ...] = ()
    error: SentinelError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What adding records did: one Offered for each, in their order, and the log afterwards.

    hidden: records of the log that an added one has replaced: a principle, or a later version.
    """

    offered: tuple[Offered, ...]
    hidden: tuple[Record, ...]
    log: MemoryLog

    @property
    def records(self) -> list[Record]:
        """The records that were added."""
        return [it.record for it in self.offered if it.fate == "added"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewal:
    """What became of a record, or of several that are one now; `before` has the oldest first."""

    before: tuple[Record, ...]
    after: Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    """What changing texts of records did, in the order of the file, and the log afterwards.

    redacted, suspicious: as in Saved.
    """

    renewals: tuple[Renewal, ...]
    redacted: tuple[str, ...]
    suspicious: tuple[str, ...]
    log: MemoryLog
