"""The one door to the memory file: save, delete, read and count the records of one project."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from core.config import CONTEXT_DIRECTORY, DEFAULTS, LOG_NAME, Project, Settings, read_settings
from core.errors import DiskError, RefusedError, SentinelError
from core.lessons import changes
from core.lessons.changes import Outcome
from core.lessons.draft import Offer, draft_from, redact_draft, redact_offer, redact_record
from core.lessons.file import LogFile, Replacement
from core.lessons.log import MemoryLog, cached_log, obstacle_in
from core.lessons.record import Draft, Record, normalise_topic, split_version_ids
from core.messages import log_warning
from core.program import NO_CANCELLATION, Cancellation
from core.text.plain import utc_now

if TYPE_CHECKING:
    from core.lessons.upkeep import RedactedLog

_Result = TypeVar("_Result")
_PROGRESS_RECORDS = 500  # between two reports of progress


class MemoryStore:
    """The records of one memory log. Safe for threads and processes that share the file.

    Readers never wait and see one complete version; they raise LogReadError. A change is one atomic
    replacement, on disk when the call returns; after BusyError, DiskError or a ValueError the file
    is as before. `dry_run` takes no lock and writes nothing.

    path: usually `<project>/.context/memory_log.jsonl`; may be missing. lock_timeout_s: for another
    writer, unless `cancellation` ends the wait. strict: refuse secrets in any field, do not redact.
    now: returns ISO 8601 in UTC.
    """

    def __init__(
        self,
        path: Path,
        *,
        lock_timeout_s: float = DEFAULTS.lock_timeout_s,
        cancellation: Cancellation = NO_CANCELLATION,
        strict: bool = False,
        now: Callable[[], str] = utc_now,
    ) -> None:
        self.path = path
        self.file = LogFile(path, lock_timeout_s, cancellation, asks_git=True)
        self._project = str(path.absolute().parent.parent)  # a model names files as it sees them
        self._strict = strict
        self._now = now
        self._warned_log: MemoryLog | None = None  # whose flaws were reported

    # Reading.

    def read(self) -> MemoryLog:
        return self._parse(self.file.read())

    def read_bytes(self) -> bytes:
        """Return the file as it is, unreadable lines included."""
        return self.file.read()

    def read_side_records(self) -> list[changes.ReplacedRecord]:
        """Return the records that left the log and are kept beside it, the newest first."""
        return list(changes.replaced_records_in(self.file.read_side()))

    def _parse(self, data: bytes) -> MemoryLog:
        log = cached_log(data)
        if log is not self._warned_log:
            self._warned_log = log
            if line_count := log.unreadable_count + len(log.conflict):
                log_warning("lines_skipped", path=str(self.path), count=line_count)
            if log.conflict_count:
                log_warning("open_conflicts", path=str(self.path), count=log.conflict_count)
        return log

    # Changing.

    def upsert_log(
        self,
        draft: Draft,
        source_ids: str | Sequence[str] = (),
        *,
        dry_run: bool = False,
        now: str = "",
    ) -> Outcome:
        """Save a record, redacted and checked; the same gap again updates the stored record.

        source_ids: version ids of a principle's originals, which go in the same write, in that
        version only. now: the time of a dry run whose version id was shown.
        """
        version_ids = split_version_ids(source_ids)
        if version_ids and draft.type != "principle":
            raise RefusedError("source_ids_of_log")
        draft, kinds, fields = redact_draft(draft, project=self._project, strict=self._strict)
        return self._write(
            lambda log: changes.upsert(log, draft, version_ids, now=now or self._now()),
            secret_kinds=kinds,
            suspicious_fields=fields,
            dry_run=dry_run,
        )

    def delete_by_ids(self, ids: str | Sequence[str]) -> Outcome:
        """Delete unchanged records by their version ids, or by ids of records never updated."""
        version_ids = split_version_ids(ids)
        return self._write(lambda log: changes.delete(log, version_ids), only_if_needed=True)

    def bring_back(
        self,
        records: Sequence[Record],
        *,
        version_id: str = "",
        base: MemoryLog | None = None,
        dry_run: bool = False,
    ) -> Outcome:
        """Put former versions of records back into the log, redacted and checked.

        version_id: of a principle that goes in the same write and leaves its place.
        base: the log that the caller has seen; a changed record is refused.
        """
        results = [redact_record(record, strict=self._strict) for record in records]
        versions = [record for record, _, _ in results]
        return self._write(
            lambda log: changes.bring_back(log, versions, version_id, now=self._now(), since=base),
            secret_kinds=[kind for _, kinds, _ in results for kind in kinds],
            dry_run=dry_run,
        )

    def add_all(
        self,
        records: Sequence[Record | Offer],
        *,
        dry_run: bool = False,
        progress: Callable[[int, int], object] = lambda done, count: None,
    ) -> tuple[Outcome, list[Offer]]:
        """Add records from elsewhere that the log lacks; also return the offer of each.

        A record keeps dates and counts and is redacted in all fields; a breach refuses it alone.
        Other words for a gap stand beside the log's; an added record hides its originals until the
        next save removes them.

        records: or a dry run's offers, not checked again. progress: gets the checked records and
        all, as numbers.
        """
        offers = list[Offer]()
        for item in records:
            offer = item if isinstance(item, Offer) else redact_offer(item, strict=self._strict)
            offers.append(offer)
            if not len(offers) % _PROGRESS_RECORDS:
                progress(len(offers), len(records))

        def include(log: MemoryLog) -> Outcome:
            outcome, offers[:] = changes.add(log, offers)
            return outcome

        has_offers = any(isinstance(item, Offer) for item in records)  # the log lacks something
        return self._write(include, dry_run=dry_run, only_if_needed=not has_offers), offers

    def renew(self, edits: Mapping[str, Record], *, join: bool, dry_run: bool = False) -> Outcome:
        """Give records other texts and paths, redacted; no merge brings the old back.

        edits: new records by present version id. join: records of one gap become one; no text is
        lost.
        """
        records, all_kinds, all_fields = dict[str, Record](), list[str](), list[str]()
        for version_id, record in edits.items():
            try:
                records[version_id], kinds, fields = redact_record(
                    record, project=self._project, strict=self._strict, is_edit=True
                )
            except SentinelError as error:
                # One among several is named; a topic is the same for all.
                if len(edits) > 1 and error.facts.get("field") != "topic":
                    error.version_id = version_id
                raise
            all_kinds += kinds
            all_fields += fields
        return self._write(
            lambda log: changes.renew(log, records, now=self._now(), join=join),
            secret_kinds=all_kinds,
            suspicious_fields=all_fields,
            dry_run=dry_run,
        )

    def _write(
        self,
        decide: Callable[[MemoryLog], Outcome],
        *,
        secret_kinds: Sequence[str] = (),
        suspicious_fields: Sequence[str] = (),
        dry_run: bool = False,
        only_if_needed: bool = False,
    ) -> Outcome:
        """Replace the log by the result of `decide`; keep beside it the records that leave.

        only_if_needed: look first without the lock; a checkout may be read-only.
        """
        kinds, fields = tuple(secret_kinds), tuple(dict.fromkeys(suspicious_fields))

        def apply(data: bytes) -> Replacement[Outcome]:
            if obstacle := obstacle_in(data):
                raise DiskError(obstacle, path=str(self.path))
            outcome = decide(self._parse(data))
            outcome = replace(outcome, secret_kinds=kinds, suspicious_fields=fields)
            if not outcome.is_written:
                return Replacement(data, outcome)
            return self._replacement_of(outcome.before, outcome.log, outcome)

        if dry_run or only_if_needed:
            trial = apply(self.file.read()).result
            if dry_run or not trial.is_written:
                return trial
        return self.file.rewrite(apply)

    def _replacement_of(
        self, before: MemoryLog, after: MemoryLog, result: _Result, aside: bytes = b""
    ) -> Replacement[_Result]:
        entries = changes.find_replaced_records(before, after, self._now)
        side_lines = b"".join(entry.to_line() for entry in entries)
        return Replacement(after.to_bytes(), result, aside, side_lines)

    # Putting the file right; see `core/lessons/upkeep.py`.

    def repair(self, *, aside_name: str) -> bool:
        """Repair the log as `upkeep.repair` in one atomic write, and remove strays.

        aside_name: a new file beside the log for lines that leave; True if it was made.
        """
        from core.lessons.upkeep import repair  # a server starts faster without it

        def mend(data: bytes) -> Replacement[bool]:
            new_data, aside = repair(data)
            before, after = MemoryLog.parse(data), MemoryLog.parse(new_data)
            return self._replacement_of(before, after, bool(aside), aside)

        return self.file.rewrite(mend, aside_name=aside_name)

    def redact(self, *, dry_run: bool = False) -> "RedactedLog":
        """Take the secrets out as `redact_log` in one atomic write, also of the side file."""
        from core.lessons.upkeep import redact_log  # as above

        def apply(data: bytes) -> "Replacement[RedactedLog]":
            if obstacle := obstacle_in(data):
                raise DiskError(obstacle, path=str(self.path))
            redaction = redact_log(data, now=self._now())
            before, after = MemoryLog.parse(data), MemoryLog.parse(redaction.data)
            return self._replacement_of(before, after, redaction)

        plan = apply(self.file.read()).result
        if dry_run:
            return plan
        side_data = self.file.read_side()
        if changes.redact_side_file(side_data) != side_data:
            self.file.rewrite_side(changes.redact_side_file)
        # Where there is nothing to write, it works on a read-only checkout, too.
        return self.file.rewrite(apply) if plan.changes else plan


def open_store(
    project: Project, settings: Settings, cancellation: Cancellation = NO_CANCELLATION
) -> MemoryStore:
    """Return the store of a project; nothing is read or created yet."""
    return MemoryStore(
        project.log_path,
        lock_timeout_s=settings.lock_timeout_s,
        cancellation=cancellation,
        strict=settings.strict,
    )


# The store as the specification names it: functions on plain dicts, in the form of the file.

MEMORY_LOG_PATH: str | os.PathLike[str] = Path(CONTEXT_DIRECTORY, LOG_NAME)


def upsert_log(record: Mapping[str, Any]) -> dict[str, Any]:
    """Save a record, redacted and checked, and return it as stored.

    record: `topic`, `lesson` and, for a log, `missing_context`. Raises ValueError for a breach of
    the format, and OSError as `MemoryStore`.
    """
    return _store_here().upsert_log(draft_from(record)).record.as_json()


def delete_by_ids(ids: str | Sequence[str]) -> int:
    """Delete the records with these ids in any version; return how many there were."""
    record_ids = set(split_version_ids(ids))

    def delete(log: MemoryLog) -> Outcome:  # the versions of now: somebody may update one
        records = (record for record in log.records if record.id in record_ids)
        return changes.delete(log, [record.version_id for record in records])

    return len(_store_here()._write(delete, only_if_needed=True).removed_records)


def read_all(topic: str | None = None) -> list[dict[str, Any]]:
    """Return all records in file order, or those of exactly this topic."""
    topic = None if topic is None else normalise_topic(topic)
    records = _store_here().read().records
    return [record.as_json() for record in records if topic in (None, record.topic)]


def count() -> int:
    return _store_here().read().count


def _store_here() -> MemoryStore:
    """Return the store of MEMORY_LOG_PATH in the present directory."""
    settings = read_settings(os.environ)
    path = Path.cwd() / MEMORY_LOG_PATH
    return MemoryStore(path, lock_timeout_s=settings.lock_timeout_s, strict=settings.strict)
