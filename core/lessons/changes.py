"""Changes the memory log: saves, deletes, brings back and adds records; other lines stay.

Pure: each change is a function from one version of the log to the next. It decides which line a
record gets, or raises and changes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.errors import RefusedError
from core.lessons.draft import Fate
from core.lessons.log import MemoryLog, following, follows, united
from core.lessons.record import (
    MOST_COUNTED,
    Draft,
    Record,
    id_in,
    ids_in,
    later,
    marked,
    new_record,
    record_id,
    reidentified,
    seconds_of,
)

RECURRENCE_S = 24 * 3600
NOTHING: Mapping[str, Any] = {}
_GIVEN_AGAIN = frozenset(("compacted_at", "source_count", "extra", "meta_extra"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a change did, or what version ids name in a log.

    before, log: the log before and after; the same object where nothing was written. records: as
    they are stored now, in the order of the change. earlier: for each of them the versions that it
    follows, the oldest first; () for a new one.
    removed: records that were deleted, or replaced by a principle. changed: version ids of records
    that stay, because they are no longer in this version (or were updated, and the id came without
    a version). absent: ids of no record. gone: ids of records that a principle has replaced before.
    hidden: records that nobody sees any more: of a line that another one hid, which went now, or
    that an added record hides.
    redacted: one rule name for each replaced secret, in order of place. suspicious: fields that
    look like a secret but are stored as they came.
    """

    before: MemoryLog
    log: MemoryLog
    records: tuple[Record, ...] = ()
    earlier: tuple[tuple[Record, ...], ...] = ()
    removed: tuple[Record, ...] = ()
    changed: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    hidden: tuple[Record, ...] = ()
    redacted: tuple[str, ...] = ()
    suspicious: tuple[str, ...] = ()

    @property
    def record(self) -> Record:
        """The record of a save."""
        return self.records[0]

    @property
    def is_written(self) -> bool:
        """Whether anything is another than before."""
        return self.log is not self.before

    @property
    def settled(self) -> int:
        """How many versions of the gap of a save have become one; 0 for one, or none."""
        versions = len(self.earlier[0])
        return versions if versions > 1 else 0


def upsert(
    log: MemoryLog,
    draft: Draft,
    tokens: Sequence[str] = (),
    *,
    now: str,
    given: Mapping[str, Any] = NOTHING,
) -> Outcome:
    """Save this checked draft, and replace its originals (`tokens`).

    A known id keeps its place and `created`; a new log goes to the end; a new principle takes the
    place of its first original. Versions of one gap that a merge has left side by side become one.
    The same words again within a day change nothing: that is no gap that came back. given: values
    for other fields of the record, from a program that has them. Raises RefusedError when the
    id belongs to another text.
    """
    own_id = record_id(draft)
    there = log.with_id(own_id)
    versions = _of_gap(there, draft)
    if not versions and any(reidentified(it).id == it.id for it in there.values()):
        raise RefusedError("id_collision", id=own_id)
    known = _as_one(versions.values()) if versions else None
    earlier = (tuple(versions.values()),)
    named = select(log, tokens, but=own_id)
    is_alone = len(versions) == 1 and not named.removed and not given
    if known and is_alone and _is_repeated(known, draft, now):
        return replace(named, records=(known,), earlier=earlier)
    record = _updated(known, draft, now) if known else new_record(draft, now=now)
    # An update keeps its own dates and counts.
    taken = {name: it for name, it in given.items() if not known or name in _GIVEN_AGAIN}
    record = replace(record, **taken)
    if named.removed:
        record = _replacing(named.removed, record, now, draft)
    if own_id in log.replaced and not known:  # the gap is back after its compaction
        record = replace(record, seen=record.seen + 1)
    record = _visible(marked(record, known), log)
    originals = _lines_of(named.removed, log)
    place = min(versions or originals, default=len(log.lines))
    after = log.rewritten(originals | versions.keys(), {place: [record]})
    return replace(named, log=after, records=(record,), earlier=earlier, hidden=_leftovers_of(log))


def delete(log: MemoryLog, tokens: Sequence[str]) -> Outcome:
    """Delete the records that these version ids name."""
    named = select(log, tokens)
    if not named.removed:
        return named
    after = log.rewritten(_lines_of(named.removed, log), {})
    return replace(named, log=after, hidden=_leftovers_of(log))


def select(log: MemoryLog, tokens: Sequence[str], *, but: str = "") -> Outcome:
    """Return which records these version ids name; never the one with the id `but`."""
    removed: dict[int, Record] = {}
    changed: list[str] = []
    absent: list[str] = []
    gone: list[str] = []
    for token in tokens:
        name, at_sign, fingerprint = token.partition("@")
        there = log.with_id(name)
        if name == but and there:
            continue
        if not there:
            replaced = log.replaced.get(name, ())
            is_gone = token in replaced or (replaced and token == name)
            (gone if is_gone else absent).append(token)
            continue
        named = {at: it for at, it in there.items() if it.fingerprint() == fingerprint}
        if not at_sign and len(there) == 1 and not any(it.updated for it in there.values()):
            named = there
        removed.update(named)
        if not named:
            changed.append(token)
    return Outcome(
        before=log,
        log=log,
        removed=tuple(removed.values()),
        changed=tuple(changed),
        absent=tuple(absent),
        gone=tuple(gone),
    )


def bring_back(
    log: MemoryLog,
    versions: Sequence[Record],
    token: str = "",
    *,
    now: str,
    since: MemoryLog | None = None,
) -> Outcome:
    """Make former versions of records the newest, and remove the record `token`.

    A record that is there keeps its place; the others take that of the removed one, or go to the
    end. Raises RefusedError when an id belongs to another text, when `token`
    names no record in its present version, or a record is not what it was in the log `since`.
    """
    named = select(log, [token] if token else [])
    if token and not named.removed:
        raise RefusedError("record_changed", id=id_in(token))
    removed = _lines_of(named.removed, log)
    end = min(removed, default=len(log.lines))
    brought: list[Record] = []
    earlier: list[tuple[Record, ...]] = []
    placed: dict[int, list[Record]] = {}
    for version in versions:
        there = log.with_id(version.id)
        before = there if since is None else since.with_id(version.id)
        if list(before.values()) != list(there.values()):
            raise RefusedError("record_changed", id=version.id)
        found = _of_gap(there, version)
        if there and not found:
            raise RefusedError("other_text", id=version.id)
        known = _as_one(found.values()) if found else None
        brought.append(_visible(_as_newest(version, known, now), log))
        earlier.append(tuple(found.values()))
        removed |= found.keys()
        placed.setdefault(min(found, default=end), []).append(brought[-1])
    after = log.rewritten(removed, placed)
    return replace(named, log=after, records=tuple(brought), earlier=tuple(earlier))


def add(log: MemoryLog, records: Iterable[Record]) -> tuple[Outcome, list[Fate]]:
    """Add at the end those of the records that the log does not have, each as it is.

    A gap that is there in other words then has two versions, as after a merge. The fates follow
    the order of the records: `added`; or, without a change, `known` (the same words are there in
    a version that this one does not follow, or a later version is), `replaced` (a principle took
    its place) or `collision` (the id belongs to another text).
    """
    added: list[Record] = []
    fates: list[Fate] = []
    there: dict[str, list[Record]] = {}
    for record in records:
        versions = there.setdefault(record.id, [*log.with_id(record.id).values()])
        fate = _fate_of(record, versions, log)
        fates.append(fate)
        if fate == "added":
            added.append(record)
            versions.append(record)
    after = log.rewritten((), {len(log.lines): added}) if added else log
    seen = {record.token for record in after.records} if added else set()
    hidden = tuple(it for it in log.records if added and it.token not in seen)
    nothing: tuple[tuple[Record, ...], ...] = ((),) * len(added)
    outcome = Outcome(before=log, log=after, records=tuple(added), earlier=nothing, hidden=hidden)
    return outcome, fates


def _fate_of(record: Record, versions: Sequence[Record], log: MemoryLog) -> Fate:
    """Return what becomes of a record from elsewhere. versions: those of its id that are there."""
    alike = [it for it in versions if it.gap == record.gap]
    same = [it for it in alike if it.texts == record.texts and not follows(record, it)]
    if same or any(record.fingerprint() in it.former for it in alike):
        return "known"
    if versions and not alike:
        return "collision"
    replaced = log.replaced.get(record.id, set())
    if record.token in replaced or (replaced and not alike):
        return "replaced"
    return "added"


def _leftovers_of(log: MemoryLog) -> tuple[Record, ...]:
    """Return the records whose lines another one hid, and which go with a change of this log."""
    return tuple(record for record, _ in log.hidden)


def _of_gap(lines: Mapping[int, Record], wanted: Draft | Record) -> dict[int, Record]:
    """Return those of these lines that are about the same gap: several, if none is settled."""
    return {at: it for at, it in lines.items() if it.gap == wanted.gap}


def _as_one(versions: Iterable[Record]) -> Record:
    """Return the newest of these versions as the one that all others led to."""
    *others, newest = sorted(versions, key=Record.version)
    if not others:
        return newest
    first = min((newest, *others), key=lambda it: seconds_of(it.created))
    newer = (newest, *others)
    return replace(
        united(newest, others),
        created=first.created,
        paths=all_once(it.paths for it in newer),
        when=all_once(it.when for it in newer),
    )


def _is_repeated(known: Record, draft: Draft, now: str) -> bool:
    """Return whether a draft only says once more, within a day, what the record says."""
    said = known.lesson, known.ask_next_time, known.paths, known.when
    asked = known.ask_next_time if draft.ask_next_time is None else draft.ask_next_time
    paths = known.paths if draft.paths is None else tuple(draft.paths)
    when = known.when if draft.when is None else tuple(draft.when)
    passed_s = seconds_of(now) - seconds_of(known.updated or known.created)
    return said == (draft.lesson, asked, paths, when) and abs(passed_s) < RECURRENCE_S


def _lines_of(records: Iterable[Record], log: MemoryLog) -> set[int]:
    """Return the places of exactly these records."""
    return {at for gone in records for at, record in log.with_id(gone.id).items() if record == gone}


def _updated(known: Record, draft: Draft, now: str) -> Record:
    """Return a record with the words of a draft about the same gap."""
    asked = known.ask_next_time if draft.ask_next_time is None else draft.ask_next_time
    record = replace(
        known,
        lesson=draft.lesson,
        missing_context=draft.missing_context or known.missing_context,
        ask_next_time=asked,
        paths=known.paths if draft.paths is None else tuple(draft.paths),
        when=known.when if draft.when is None else tuple(draft.when),
        updated=later(now, known.updated or known.created),
        seen=known.seen + 1,
    )
    return following(record, known)


def _replacing(originals: Sequence[Record], record: Record, now: str, draft: Draft) -> Record:
    """Return a principle as the one that replaces these records.

    It lists all their version ids, and those that they themselves replaced. It takes over their
    paths and their triggers unless it came with its own. Its date is no earlier than theirs.
    """
    for it in (*originals, record):
        for moment in (it.created, it.updated, it.compacted_at):
            now = later(now, moment)
    lineage = [token for it in originals for token in (*it.tokens(), *it.source_ids)]
    added = sum((it.source_count or 1) if it.type == "principle" else 1 for it in originals)
    paths = () if draft.paths is not None else (path for it in originals for path in it.paths)
    when = () if draft.when is not None else (piece for it in originals for piece in it.when)
    return replace(
        record,
        compacted_at=now,
        source_count=min((record.source_count or 0) + added, MOST_COUNTED),
        source_ids=tuple(dict.fromkeys((*record.source_ids, *lineage))),
        paths=tuple(dict.fromkeys((*record.paths, *paths))),
        when=tuple(dict.fromkeys((*record.when, *when))),
    )


def _as_newest(version: Record, known: Record | None, now: str) -> Record:
    """Return a former version as the newest; originals that a newer one replaced stay listed."""
    earlier = [it for it in (version, known) if it]
    for it in earlier:
        now = later(now, it.updated or it.created)
    listed = tuple(dict.fromkeys(token for it in earlier for token in it.source_ids))
    added = len(ids_in(listed) - ids_in(version.source_ids))
    record = replace(
        version,
        updated=now,
        seen=max(it.seen for it in earlier),
        source_ids=listed,
        source_count=(version.source_count or 0) + added if listed else version.source_count,
    )
    return marked(following(record, *earlier), version)


def _visible(record: Record, log: MemoryLog) -> Record:
    """Return the record in a version that no principle hides."""
    while record.token in log.replaced.get(record.id, ()):
        record = replace(record, seen=record.seen + 1)
    return replace(record, seen=MOST_COUNTED) if record.seen > MOST_COUNTED else record


def all_once(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return all entries of these lists, each once, in their order."""
    return tuple(dict.fromkeys(entry for entries in lists for entry in entries))
