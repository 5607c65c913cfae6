"""Changes the memory log: saves, deletes, brings back and adds records; other lines stay.

Pure: each change decides which line a record gets and gives the next version of the log, or raises
and changes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from core.errors import IdCollisionError, OtherTextError, RecordChangedError
from core.lessons.log import MemoryLog
from core.lessons.merging import following
from core.lessons.outcomes import Fate, Removal
from core.lessons.record import (
    MOST_COUNTED,
    Draft,
    Record,
    ids_in,
    later,
    marked,
    new_record,
    record_id,
)


def upsert(
    log: MemoryLog, draft: Draft, tokens: Sequence[str] = (), *, now: str
) -> tuple[MemoryLog, Record, Removal]:
    """Return the log with this checked draft saved and its originals (`tokens`) replaced.

    A known id keeps its place and `created`; a new log goes to the end; a new principle takes the
    place of its first original. Raises IdCollisionError when the id belongs to another text.
    """
    own_id = record_id(draft)
    there = log.with_id(own_id)
    found = _of_gap(there, draft)
    if there and not found:
        raise IdCollisionError(id=own_id)
    known = found[1] if found else None
    removal = select(log, tokens, but=own_id)
    record = _updated(known, draft, now) if known else new_record(draft, now=now)
    if removal.removed:
        record = _replacing(removal.removed, record, now, keeps_paths=draft.paths is not None)
    if own_id in log.replaced and not known:  # the gap is back after its compaction
        record = replace(record, seen=record.seen + 1)
    record = _visible(marked(record, known), log)
    originals = _lines_of(removal, log)
    place = found[0] if found else min(originals, default=len(log.lines))
    return log.rewritten(originals, {place: [record]}), record, removal


def delete(log: MemoryLog, tokens: Sequence[str]) -> tuple[MemoryLog, Removal]:
    """Return the log without the records that these version ids name."""
    removal = select(log, tokens)
    if not removal.removed:
        return log, removal
    return log.rewritten(_lines_of(removal, log), {}), removal


def select(log: MemoryLog, tokens: Sequence[str], *, but: str = "") -> Removal:
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
            (gone if token in replaced or (replaced and token == name) else absent).append(token)
            continue
        named = {at: it for at, it in there.items() if it.fingerprint() == fingerprint}
        if not at_sign and len(there) == 1 and not any(it.updated for it in there.values()):
            named = there
        removed.update(named)
        if not named:
            changed.append(token)
    return Removal(
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
) -> tuple[MemoryLog, tuple[Record, ...], Removal]:
    """Return the log with former versions of records as the newest, without the record `token`.

    A record that is there keeps its place; the others take that of the removed one, or go to the
    end. Raises OtherTextError when an id belongs to another text, RecordChangedError when `token`
    names no record in its present version, or a record is not what it was in the log `since`.
    """
    removal = select(log, [token] if token else [])
    if token and not removal.removed:
        raise RecordChangedError(id=token.partition("@")[0])
    removed = _lines_of(removal, log)
    end = min(removed, default=len(log.lines))
    brought: list[Record] = []
    placed: dict[int, list[Record]] = {}
    for version in versions:
        there = log.with_id(version.id)
        before = there if since is None else since.with_id(version.id)
        if list(before.values()) != list(there.values()):
            raise RecordChangedError(id=version.id)
        found = _of_gap(there, version)
        if there and not found:
            raise OtherTextError(id=version.id)
        brought.append(_visible(_as_newest(version, found[1] if found else None, now), log))
        placed.setdefault(found[0] if found else end, []).append(brought[-1])
    return log.rewritten(removed, placed), tuple(brought), removal


def add(log: MemoryLog, records: Iterable[Record]) -> tuple[MemoryLog, list[Fate]]:
    """Return the log with those of the records at its end that it does not have, each as it is.

    The fates follow the order of the records: `added`; or, without a change, `known` (the same
    words are there), `other` (the same gap is there in other words), `replaced` (a principle took
    its place) or `collision` (the id belongs to another text).
    """
    added: list[Record] = []
    fates: list[Fate] = []
    there: dict[str, list[Record]] = {}
    for record in records:
        versions = there.setdefault(record.id, [*log.with_id(record.id).values()])
        known = next((it for it in versions if it.gap == record.gap), None)
        if known:
            fates.append("known" if known.texts == record.texts else "other")
        elif versions:
            fates.append("collision")
        elif record.id in log.replaced:
            fates.append("replaced")
        else:
            fates.append("added")
            added.append(record)
            versions.append(record)
    return log.rewritten((), {len(log.lines): added}) if added else log, fates


def hidden_by(before: MemoryLog, after: MemoryLog) -> tuple[Record, ...]:
    """Return the records of one version of the log that a reader of the next no longer sees."""
    seen = {record.token for record in after.records}
    return tuple(record for record in before.records if record.token not in seen)


def _of_gap(lines: Mapping[int, Record], wanted: Draft | Record) -> tuple[int, Record] | None:
    """Return the record of these that is about the same gap, with its line."""
    return next(((at, it) for at, it in lines.items() if it.gap == wanted.gap), None)


def _lines_of(removal: Removal, log: MemoryLog) -> set[int]:
    return {
        at
        for gone in removal.removed
        for at, record in log.with_id(gone.id).items()
        if record == gone
    }


def _updated(known: Record, draft: Draft, now: str) -> Record:
    """Return a record with the words of a draft about the same gap."""
    asked = known.ask_next_time if draft.ask_next_time is None else draft.ask_next_time
    record = replace(
        known,
        lesson=draft.lesson,
        missing_context=draft.missing_context or known.missing_context,
        ask_next_time=asked,
        paths=known.paths if draft.paths is None else tuple(draft.paths),
        updated=later(now, known.updated or known.created),
        seen=known.seen + 1,
    )
    return following(record, known)


def _replacing(
    originals: Sequence[Record], record: Record, now: str, *, keeps_paths: bool
) -> Record:
    """Return a principle as the one that replaces these records.

    It lists all their version ids, and those that they themselves replaced. It takes over their
    paths unless it came with its own.
    """
    lineage = [token for it in originals for token in (*it.tokens(), *it.source_ids)]
    added = sum((it.source_count or 1) if it.type == "principle" else 1 for it in originals)
    paths = [] if keeps_paths else [path for it in originals for path in it.paths]
    return replace(
        record,
        compacted_at=now,
        source_count=min((record.source_count or 0) + added, MOST_COUNTED),
        source_ids=tuple(dict.fromkeys((*record.source_ids, *lineage))),
        paths=tuple(dict.fromkeys((*record.paths, *paths))),
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
