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
from core.lessons.log import FILTER_HEADS, MemoryLog, begins_like_utf_16, cached_log
from core.lessons.record import Draft, Record, normalise_topic, split_version_ids, utc_now
from core.messages import log_warning
from core.program import NO_CANCELLATION, Cancellation

if TYPE_CHECKING:
    from core.lessons.upkeep import Cleaning

_Result = TypeVar("_Result")
_TOLD_RECORDS = 500  # a progress is told after so many


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
        self._known: MemoryLog | None = None  # whose flaws were told

    # Reading.

    def read(self) -> MemoryLog:
        return self._parsed(self.file.read())

    def read_all(self, topic: str | None = None) -> list[Record]:
        """Return all records in file order, or those of exactly this topic."""
        wanted = None if topic is None else normalise_topic(topic)
        return [it for it in self.read().records if wanted is None or it.topic == wanted]

    def read_bytes(self) -> bytes:
        """Return the file as it is, unreadable lines included."""
        return self.file.read()

    def read_side_records(self) -> list[changes.ReplacedRecord]:
        """Return the records that left the log and are kept beside it, the newest first."""
        return list(changes.replaced_records_in(self.file.read_side()))

    def _parsed(self, data: bytes) -> MemoryLog:
        log = cached_log(data)
        if log is not self._known:
            self._known = log
            if skipped := log.skipped + len(log.conflict):
                log_warning("lines_skipped", path=str(self.path), count=skipped)
            if log.conflicts:
                log_warning("open_conflicts", path=str(self.path), count=log.conflicts)
        return log

    # Changing.

    def upsert_log(
        self,
        record: Draft,
        source_ids: str | Sequence[str] = (),
        *,
        dry_run: bool = False,
        now: str = "",
    ) -> Outcome:
        """Save a record, redacted and checked; the same gap again updates the stored record.

        source_ids: version ids of a principle's originals, which go in the same write, in that
        version only. now: the time of a dry run whose version id was shown.
        """
        tokens = split_version_ids(source_ids)
        if tokens and record.type != "principle":
            raise RefusedError("source_ids_of_log")
        draft, redacted, suspicious = redact_draft(
            record, project=self._project, strict=self._strict
        )
        return self._write(
            lambda log: changes.upsert(log, draft, tokens, now=now or self._now()),
            redacted=redacted,
            suspicious=suspicious,
            dry_run=dry_run,
        )

    def delete_by_ids(self, ids: str | Sequence[str]) -> Outcome:
        """Delete unchanged records by their version ids, or by ids of records never updated."""
        tokens = split_version_ids(ids)
        return self._write(lambda log: changes.delete(log, tokens), only_if_needed=True)

    def bring_back(
        self,
        records: Sequence[Record],
        *,
        instead_of: str = "",
        since: MemoryLog | None = None,
        dry_run: bool = False,
    ) -> Outcome:
        """Put former versions of records back into the log, redacted and checked.

        instead_of: version id of a principle that goes in the same write and leaves its place.
        since: the log that the caller has seen; a changed record is refused.
        """
        cleaned = [redact_record(record, strict=self._strict) for record in records]
        versions = [record for record, _, _ in cleaned]
        return self._write(
            lambda log: changes.bring_back(log, versions, instead_of, now=self._now(), since=since),
            redacted=[kind for _, kinds, _ in cleaned for kind in kinds],
            dry_run=dry_run,
        )

    def add_all(
        self,
        records: Sequence[Record | Offer],
        *,
        dry_run: bool = False,
        progress: Callable[[int, int], object] = lambda done, count: None,
    ) -> tuple[Outcome, list[Offer]]:
        """Add records from elsewhere that the log lacks; also return the fate of each.

        A record keeps dates and counts and is redacted in all fields; a breach refuses it alone.
        Other words for a gap stand beside the log's; an added record hides its originals until the
        next save removes them.

        records: or a dry run's offers, not checked again. progress: gets the checked records and
        all, as numbers.
        """
        offers = list[Offer]()
        for it in records:
            offer = it if isinstance(it, Offer) else redact_offer(it, strict=self._strict)
            offers.append(offer)
            if not len(offers) % _TOLD_RECORDS:
                progress(len(offers), len(records))

        def include(log: MemoryLog) -> Outcome:
            added, offers[:] = changes.add(log, offers)
            return added

        is_known = any(isinstance(it, Offer) for it in records)  # that there is something to add
        return self._write(include, dry_run=dry_run, only_if_needed=not is_known), offers

    def renew(self, changed: Mapping[str, Record], *, join: bool, dry_run: bool = False) -> Outcome:
        """Give records other texts and paths, redacted; no merge brings the old back.

        changed: new records by present version id. join: records of one gap become one; no text is
        lost.
        """
        records, redacted, suspicious = dict[str, Record](), list[str](), list[str]()
        for token, record in changed.items():
            try:
                records[token], kinds, fields = redact_record(
                    record, project=self._project, strict=self._strict, is_edit=True
                )
            except SentinelError as error:
                # One among several is named; a topic is the same for all.
                if len(changed) > 1 and error.facts.get("field") != "topic":
                    error.record = token
                raise
            redacted += kinds
            suspicious += fields
        return self._write(
            lambda log: changes.renew(log, records, now=self._now(), join=join),
            redacted=redacted,
            suspicious=suspicious,
            dry_run=dry_run,
        )

    def _write(
        self,
        decide: Callable[[MemoryLog], Outcome],
        *,
        redacted: Sequence[str] = (),
        suspicious: Sequence[str] = (),
        dry_run: bool = False,
        only_if_needed: bool = False,
    ) -> Outcome:
        """Replace the log by the result of `decide`; keep beside it the records that leave.

        only_if_needed: look first without the lock; a checkout may be read-only.
        """

        kinds, fields = tuple(redacted), tuple(dict.fromkeys(suspicious))

        def decided(data: bytes) -> Replacement[Outcome]:
            self._check_encoding(data)
            outcome = replace(decide(self._parsed(data)), redacted=kinds, suspicious=fields)
            if not outcome.is_written:
                return Replacement(data, outcome)
            return self._replacement(outcome.before, outcome.log, outcome)

        if dry_run or only_if_needed:
            trial = decided(self.file.read()).outcome
            if dry_run or not trial.is_written:
                return trial
        return self.file.rewrite(decided)

    def _check_encoding(self, data: bytes) -> None:
        if begins_like_utf_16(data):
            raise DiskError("log_encoding", path=str(self.path))
        if data.startswith(FILTER_HEADS):
            raise DiskError("log_filtered", path=str(self.path))

    def _replacement(
        self, before: MemoryLog, after: MemoryLog, outcome: _Result, aside: bytes = b""
    ) -> Replacement[_Result]:
        replaced = changes.find_replaced_records(before, after, self._now)
        lines = b"".join(it.to_line() for it in replaced)
        return Replacement(after.to_bytes(), outcome, aside, lines)

    # Putting the file right; see `core/lessons/upkeep.py`.

    def repair(self, *, aside_name: str) -> bool:
        """Repair the log as `upkeep.repair` in one atomic write, and remove strays.

        aside_name: a new file beside the log for lines that leave; True if it was made.
        """
        from core.lessons.upkeep import repair  # a server starts faster without it

        def mend(data: bytes) -> Replacement[bool]:
            repaired, aside = repair(data)
            before, after = MemoryLog.parse(data), MemoryLog.parse(repaired)
            return self._replacement(before, after, bool(aside), aside)

        return self.file.rewrite(mend, aside_name=aside_name)

    def clean(self, *, dry_run: bool = False) -> "Cleaning":
        """Take the secrets out as `upkeep.clean` in one atomic write, also of the side file."""
        from core.lessons.upkeep import clean_log  # as above

        def scrub(data: bytes) -> "Replacement[Cleaning]":
            self._check_encoding(data)
            cleaning = clean_log(data, now=self._now())
            before, after = MemoryLog.parse(data), MemoryLog.parse(cleaning.data)
            return self._replacement(before, after, cleaning)

        planned = scrub(self.file.read()).outcome
        if dry_run:
            return planned
        side = self.file.read_side()
        if changes.clean_side_file(side) != side:
            self.file.rewrite_side(changes.clean_side_file)
        # Where there is nothing to write, it works on a read-only checkout, too.
        return self.file.rewrite(scrub) if planned.changes else planned


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
    store = _store_here()
    wanted = set(split_version_ids(ids))
    tokens = [record.version_id for record in store.read_all() if record.id in wanted]
    return len(store.delete_by_ids(tokens).removed)


def read_all(topic: str | None = None) -> list[dict[str, Any]]:
    """Return all records in file order, or those of exactly this topic."""
    return [record.as_json() for record in _store_here().read_all(topic)]


def count() -> int:
    return _store_here().read().count


def _store_here() -> MemoryStore:
    """Return the store of MEMORY_LOG_PATH in the present directory."""
    settings = read_settings(os.environ)
    path = Path.cwd() / MEMORY_LOG_PATH
    return MemoryStore(path, lock_timeout_s=settings.lock_timeout_s, strict=settings.strict)
