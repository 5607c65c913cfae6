"""The one door to the memory file: save, delete, read and count records of one project.

The file is long because every way in redacts and checks alike.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import (
    FieldTooLongError,
    SecretRefusedError,
    SentinelError,
    SourceIdsOfLogError,
)
from core.injection.marks import may_hide
from core.lessons.files import Change, LogFile
from core.lessons.log import Added, BroughtBack, MemoryLog, Offered, Removal, Renewed, Saved
from core.lessons.paths import normalise_paths
from core.lessons.record import (
    LIMITS_BYTES,
    Draft,
    Record,
    check,
    marked,
    normalise_topic,
    record_id,
    reidentified,
    split_tokens,
    utc_now,
)
from core.settings import DEFAULT_LOCK_TIMEOUT_S

if TYPE_CHECKING:
    from core.lessons.upkeep.cleaning import Cleaning
    from core.sanitizer import Redaction

MOST_REDACTED_CHARS = 32_768

_log = logging.getLogger("sentinel_memory")


class MemoryStore:
    """The records of one memory log. Safe for threads and processes that share the file.

    Readers never wait and see one complete version; every save is one atomic replacement, on disk
    when the call returns. An error means that the file is byte for byte what it was.

    path: the file, usually `<project>/.context/memory_log.jsonl`; it need not exist.
    lock_timeout_s: how long a save waits for another writer before LogBusyError.
    strict: refuse a text with a secret, in whatever field, instead of storing it redacted.
    now: gives the present as ISO 8601 text in UTC.
    """

    def __init__(
        self,
        path: Path,
        *,
        lock_timeout_s: float = DEFAULT_LOCK_TIMEOUT_S,
        strict: bool = False,
        now: Callable[[], str] = utc_now,
    ) -> None:
        self._file = LogFile(path, lock_timeout_s=lock_timeout_s)
        self._project = str(path.absolute().parent.parent)  # a model names files as it sees them
        self._strict = strict
        self._now = now
        self._last = b"", MemoryLog()

    @property
    def path(self) -> Path:
        """Where the memory log is, whether it exists or not."""
        return self._file.path

    def upsert_log(self, record: Draft, source_ids: str | Sequence[str] = ()) -> Saved:
        """Save a record, redacted and checked; the same gap again updates the one that is there.

        source_ids: tokens (`id@fp`) of the originals that a principle replaces; they go in the
        same atomic write that saves it, and only in the version that their token names.

        Raises ValueError (BlankFieldError, FieldTooLongError, LoneSurrogateError,
        UnknownTypeError, PathOutsideError, NegatedPathError, TooManyPathsError,
        SourceIdsOfLogError, IdCollisionError, SecretRefusedError when strict), LogBusyError,
        LogReadError or LogWriteError.
        """
        tokens = split_tokens(source_ids)
        if tokens and record.type != "principle":
            raise SourceIdsOfLogError
        if record.paths is not None:
            record = replace(record, paths=normalise_paths(record.paths, self._project))
        draft, kinds, suspicious = _redacted(record, strict=self._strict)

        def save(data: bytes) -> Change[tuple[MemoryLog, Record, Removal]]:
            log = self._parsed(data)
            changed, record, removal = log.upsert(draft, tokens, now=self._now())
            return Change(changed.to_bytes(), (changed, record, removal))

        changed, saved, removal = self._file.rewrite(save)
        return Saved(
            record=saved,
            removal=removal,
            redacted=kinds,
            suspicious=suspicious,
            log=changed,
        )

    def delete_by_ids(self, ids: str | Sequence[str]) -> tuple[Removal, MemoryLog]:
        """Delete the records that these tokens (`id@fp`, or ids never updated) name.

        A record that was changed since its token was printed stays. Returns what went and what
        stayed, and the log afterwards. Raises LogBusyError, LogReadError or LogWriteError.
        """
        tokens = split_tokens(ids)
        log = self.read()
        removal = log.select(tokens)
        if not removal.removed:  # nothing to write: works on a read-only checkout, too
            return removal, log

        def delete(data: bytes) -> Change[tuple[Removal, MemoryLog]]:
            changed, removal = self._parsed(data).delete(tokens)
            return Change(changed.to_bytes(), (removal, changed))

        return self._file.rewrite(delete)

    def bring_back(
        self,
        records: Sequence[Record],
        *,
        instead_of: str = "",
        since: MemoryLog | None = None,
        dry_run: bool = False,
    ) -> BroughtBack:
        """Put former versions of records back into the log, in one atomic write.

        Each becomes the newest version of its id: `updated` is now, so that neither a merge nor
        the `source_ids` of a principle hides it. Texts are redacted and checked as in a save.

        instead_of: token (`id@fp`) of a principle that goes in the same write; the records take
        its place. since: the log that the caller has looked at; a record that is another one now
        is not written over. dry_run: only say what would be written, without the lock.

        Raises ValueError as `upsert_log` does, OtherTextError and RecordChangedError among them,
        LogBusyError, LogReadError or LogWriteError; the file is unchanged then.
        """
        cleaned = [_cleaned(record, strict=self._strict) for record in records]
        versions = [record for record, _ in cleaned]

        def bring(data: bytes) -> Change[BroughtBack]:
            changed, brought, removal = self._parsed(data).bring_back(
                versions, instead_of, now=self._now(), since=since
            )
            redacted = tuple(kind for _, kinds in cleaned for kind in kinds)
            outcome = BroughtBack(records=brought, removal=removal, redacted=redacted, log=changed)
            return Change(changed.to_bytes(), outcome)

        return bring(self._file.read()).outcome if dry_run else self._file.rewrite(bring)

    def add_all(self, records: Sequence[Record], *, dry_run: bool = False) -> Added:
        """Add the records that the log does not have, all of them in one atomic write.

        For records that come from elsewhere: each keeps its dates and counts, is checked as in a
        save, and gets the id that its text has. As in `clean` secrets go from all of its fields,
        since a person asks for it and no model is told. A record that breaks a rule is refused
        alone; what is in the log is never written over. Only a principle that comes with the tokens
        of its originals hides records of the log that are among them, as after a merge: the
        outcome names them, and the next save removes their lines.

        dry_run: only say what would be written, without the lock.

        Raises LogBusyError, LogReadError or LogWriteError; the file is unchanged then.
        """
        cleaned = [_offered(record, strict=self._strict) for record in records]

        def add(data: bytes) -> Change[Added]:
            before = self._parsed(data)
            after, fates = before.add(it.record for it in cleaned if not it.error)
            left = iter(fates)
            offered = [it if it.error else replace(it, fate=next(left)) for it in cleaned]
            hidden = _hidden_by(before, after) if "added" in fates else ()
            return Change(after.to_bytes(), Added(offered=tuple(offered), hidden=hidden, log=after))

        known = add(self._file.read())
        if dry_run or not known.outcome.records:  # works on a read-only checkout, too
            return known.outcome
        return self._file.rewrite(add)

    def renew(self, changed: Mapping[str, Record], *, join: bool, dry_run: bool = False) -> Renewed:
        """Give records other texts, all of them in one atomic write, redacted as in a save.

        changed: by token (`id@fp`), a record that a reader sees with its new texts and paths. Its
        id follows from them; no merge brings the version before back. join: whether it becomes
        one record with another that is about the same gap; no text of the two is lost. dry_run:
        only say what would be written, without the lock.

        Raises ValueError as `upsert_log` does, RecordChangedError when a token names no record in
        its present version, SameGapError and JoinedTooLongError among them, LogBusyError,
        LogReadError or LogWriteError; the file is unchanged then.
        """
        from core.lessons.renewal import renew  # as below

        checked = {}
        for token, record in changed.items():
            try:
                checked[token] = _retexted(record, self._project, strict=self._strict)
            except SentinelError as error:
                if len(changed) > 1 and error.facts.get("field") != "topic":  # the same for all
                    error.record = token
                raise
        redacted = tuple(kind for _, kinds, _ in checked.values() for kind in kinds)
        suspicious = dict.fromkeys(name for _, _, names in checked.values() for name in names)
        records = {token: record for token, (record, _, _) in checked.items()}

        def rewrite(data: bytes) -> Change[Renewed]:
            log, renewals = renew(self._parsed(data), records, now=self._now(), join=join)
            outcome = Renewed(
                renewals=tuple(renewals),
                redacted=redacted,
                suspicious=tuple(suspicious),
                log=log,
            )
            return Change(log.to_bytes(), outcome)

        return rewrite(self._file.read()).outcome if dry_run else self._file.rewrite(rewrite)

    def repair(self, *, aside_name: str) -> bool:
        """Repair the log as `upkeep.repair` does, in one atomic write, and remove strays.

        aside_name: a new file beside the log that takes the lines which leave it. Whether there
        were any, so that it was made. Raises LogBusyError, LogReadError or LogWriteError.
        """
        # A server repairs nothing and starts faster without it.
        from core.lessons.upkeep.repair import repair

        def mend(data: bytes) -> Change[bool]:
            repaired = repair(data)
            return Change(repaired.data, bool(repaired.aside), repaired.aside)

        if self._file.strays():
            self._file.tidy()
        return self._file.rewrite(mend, aside_name=aside_name)

    def clean(self) -> "Cleaning":
        """Take the secrets out of every line, as `upkeep.cleaning` does, in one atomic write.

        A save leaves topic and question as they came, because a model is told and can correct
        them. Here a person asks for it, after the fact and for the whole file, so that all fields
        are cleaned, other keys and lines that are no records, too. A log without secrets is not
        written. Raises LogBusyError, LogReadError or LogWriteError.
        """
        from core.lessons.upkeep.cleaning import clean  # as above

        def scrub(data: bytes) -> "Change[Cleaning]":
            cleaning = clean(data, now=self._now())
            return Change(cleaning.data, cleaning)

        known = scrub(self._file.read())
        if not known.outcome.changes:  # nothing to write: works on a read-only checkout, too
            return known.outcome
        return self._file.rewrite(scrub)

    def read(self) -> MemoryLog:
        """One complete version of the log, without a lock. Raises LogReadError."""
        return self._parsed(self._file.read())

    def read_all(self, topic: str | None = None) -> list[Record]:
        """All records in the order of the file, or those of exactly this topic."""
        records = self.read().records
        if topic is None:
            return records
        wanted = normalise_topic(topic)
        return [record for record in records if record.topic == wanted]

    def count(self) -> int:
        """How many records a reader sees."""
        return self.read().count

    def tell_git(self) -> None:
        """Complete `.gitignore` and `.gitattributes` beside the log. Raises as `repair` does."""
        self._file.tell_git()

    def strays(self) -> list[Path]:
        """Temporary files beside the log; those of a writer at work are among them."""
        return self._file.strays()

    def read_bytes(self) -> bytes:
        """The file as it is, unreadable lines included."""
        return self._file.read()

    def _parsed(self, data: bytes) -> MemoryLog:
        """The log of this file's bytes, parsed once as long as they stay the same."""
        known, log = self._last
        if known != data:
            log = MemoryLog.parse(data)
            self._last = data, log
            if log.skipped:
                _log.warning("%s: %d unreadable lines skipped", self.path, log.skipped)
            if log.conflicts:
                _log.warning("%s: %d git conflicts not resolved", self.path, log.conflicts)
        return log


def _redacted(draft: Draft, *, strict: bool) -> tuple[Draft, tuple[str, ...], tuple[str, ...]]:
    """The draft as it may be stored, checked; the kinds of secrets that were replaced in it.

    Topic and question stay as they came: those of them that seem to hold a secret come third.
    """
    # Only a save needs the table of formats: a server that is first searched starts faster.
    from core.sanitizer import values_in

    texts = {name: getattr(draft, name) or "" for name in LIMITS_BYTES}
    _check_redactable(texts)
    texts["paths"] = "\n".join(draft.paths or ())
    known = values_in(texts.values())  # what one field calls a password, another may only use
    found = {name: _redaction(text, known) for name, text in texts.items()}
    if strict and (fields := [name for name, redaction in found.items() if redaction.kinds]):
        kinds = dict.fromkeys(kind for name in fields for kind in found[name].kinds)
        raise SecretRefusedError(fields=", ".join(fields), kinds=", ".join(kinds))
    missing_context, lesson = found["missing_context"], found["lesson"]
    clean = check(replace(draft, missing_context=missing_context.text, lesson=lesson.text))
    suspicious = tuple(name for name in ("topic", "ask_next_time", "paths") if found[name].kinds)
    return clean, missing_context.kinds + lesson.kinds, suspicious


def _check_redactable(texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        if len(text) > MOST_REDACTED_CHARS:  # no secret is so long that the rest could be stored
            used_bytes = len(text.encode("utf-8", "surrogatepass"))
            limit_bytes = LIMITS_BYTES[name]
            raise FieldTooLongError(field=name, used_bytes=used_bytes, limit_bytes=limit_bytes)


def _redaction(text: str, known: Mapping[str, str]) -> "Redaction":
    """The text without its secrets, those among them that hidden characters split.

    Such characters go with the secret that they stand in; all others stay as they came, and are
    marked. known: secrets of all fields, with their kinds.
    """
    from core.sanitizer import Redaction, redact

    if not may_hide(text):
        return redact(text, known)
    from core.lessons.upkeep.secrets import redacted

    clean, kinds = redacted(text, known)
    return Redaction(clean, tuple(kinds))


def _draft_of(record: Record) -> Draft:
    """The words of a record, its paths left out."""
    return Draft(
        topic=record.topic,
        missing_context=record.missing_context,
        lesson=record.lesson,
        ask_next_time=record.ask_next_time,
        type=record.type,
    )


def _cleaned(record: Record, *, strict: bool) -> tuple[Record, tuple[str, ...]]:
    """The record as a save would have stored it, and the kinds of secrets that were replaced."""
    draft, kinds, _ = _redacted(_draft_of(record), strict=strict)
    if not kinds:
        return record, ()
    changed = replace(
        record,
        id=record_id(draft),
        missing_context=draft.missing_context,
        lesson=draft.lesson,
    )
    return changed, kinds


def _retexted(
    record: Record, project: str, *, strict: bool
) -> tuple[Record, tuple[str, ...], tuple[str, ...]]:
    """The record as a save would store it; then as `_redacted`. project: its directory."""
    given = replace(_draft_of(record), paths=normalise_paths(record.paths, project))
    draft, kinds, suspicious = _redacted(given, strict=strict)
    changed = replace(
        record,
        topic=draft.topic,
        missing_context=draft.missing_context,
        lesson=draft.lesson,
        paths=tuple(draft.paths or ()),
    )
    return changed, kinds, suspicious


def _offered(record: Record, *, strict: bool) -> Offered:
    """The record without secrets in any field and with the id of its text, or why it is refused.

    "added" is provisional: whether the log has the record already, only the log can say.
    """
    from core.lessons.upkeep.secrets import clean_record

    kinds: tuple[str, ...] = ()
    try:
        _check_redactable(dict(zip(LIMITS_BYTES, record.texts, strict=True)))
        clean, found = clean_record(record)
        kinds = tuple(kind for _, kind in found)
        if strict and found:
            fields = ", ".join(dict.fromkeys(name for name, _ in found))
            raise SecretRefusedError(fields=fields, kinds=", ".join(dict.fromkeys(kinds)))
        clean, more = _cleaned(clean, strict=strict)
        paths = [path for given in clean.paths for path in normalise_paths([given])]
    except SentinelError as error:
        return Offered(record=record, fate="refused", redacted=kinds, error=error)
    clean = reidentified(replace(clean, paths=tuple(dict.fromkeys(paths))))
    if clean.gap != record.gap:  # no older version of it has this id
        clean = replace(clean, former=())
    return Offered(record=marked(clean, record), fate="added", redacted=kinds + more)


def _hidden_by(before: MemoryLog, after: MemoryLog) -> tuple[Record, ...]:
    """The records that a reader no longer sees."""
    seen = {record.token for record in after.records}
    return tuple(record for record in before.records if record.token not in seen)
