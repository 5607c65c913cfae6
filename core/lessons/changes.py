"""Changes the memory log: saves, deletes, brings back and adds records; other lines stay.

Pure: each change decides which line a record gets and gives the next version of the log, or raises
and changes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.errors import IdCollisionError, OtherTextError, RecordChangedError
from core.lessons.log import MemoryLog, following, follows, united
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
    reidentified,
    seconds_of,
)

RECURRENCE_S = 24 * 3600
NOTHING: Mapping[str, Any] = {}
_GIVEN_AGAIN = frozenset(("compacted_at", "source_count", "extra", "meta_extra"))


def upsert(
    log: MemoryLog,
    draft: Draft,
    tokens: Sequence[str] = (),
    *,
    now: str,
    given: Mapping[str, Any] = NOTHING,
) -> tuple[MemoryLog, Record, Removal]:
    """Return the log with this checked draft saved and its originals (`tokens`) replaced.

    A known id keeps its place and `created`; a new log goes to the end; a new principle takes the
    place of its first original. Versions of one gap that a merge has left side by side become one.
    The same words again within a day change nothing: that is no gap that came back. given: values
    for other fields of the record, from a program that has them. Raises IdCollisionError when the
    id belongs to another text.
    """
    own_id = record_id(draft)
    there = log.with_id(own_id)
    versions = _of_gap(there, draft)
    if not versions and any(reidentified(it).id == it.id for it in there.values()):
        raise IdCollisionError(id=own_id)
    known = _one_of(versions.values()) if versions else None
    removal = select(log, tokens, but=own_id)
    is_alone = len(versions) == 1 and not removal.removed and not given
    if known and is_alone and _is_repeated(known, draft, now):
        return log, known, removal
    record = _updated(known, draft, now) if known else new_record(draft, now=now)
    record = replace(record, **_given(given, is_new=not known))
    if removal.removed:
        record = _replacing(removal.removed, record, now, draft)
    if own_id in log.replaced and not known:  # the gap is back after its compaction
        record = replace(record, seen=record.seen + 1)
    record = _visible(marked(record, known), log)
    originals = _lines_of(removal, log)
    place = min(versions or originals, default=len(log.lines))
    after = log.rewritten(originals | versions.keys(), {place: [record]})
    return after, record, _with_hidden(removal, log)


def delete(log: MemoryLog, tokens: Sequence[str]) -> tuple[MemoryLog, Removal]:
    """Return the log without the records that these version ids name."""
    removal = select(log, tokens)
    if not removal.removed:
        return log, removal
    return log.rewritten(_lines_of(removal, log), {}), _with_hidden(removal, log)


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
        known = _one_of(found.values()) if found else None
        brought.append(_visible(_as_newest(version, known, now), log))
        removed |= found.keys()
        placed.setdefault(min(found, default=end), []).append(brought[-1])
    return log.rewritten(removed, placed), tuple(brought), removal


def add(log: MemoryLog, records: Iterable[Record]) -> tuple[MemoryLog, list[Fate]]:
    """Return the log with those of the records at its end that it does not have, each as it is.

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
        alike = [it for it in versions if it.gap == record.gap]
        replaced = log.replaced.get(record.id, set())
        same = [it for it in alike if it.texts == record.texts and not follows(record, it)]
        if same or any(record.fingerprint() in it.former for it in alike):
            fates.append("known")
        elif versions and not alike:
            fates.append("collision")
        elif record.token in replaced or (replaced and not alike):
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


def _with_hidden(removal: Removal, log: MemoryLog) -> Removal:
    """Return what went with a change of this log, the lines that another one hid among it."""
    return replace(removal, hidden=tuple(record for record, _ in log.hidden))


def _given(given: Mapping[str, Any], *, is_new: bool) -> dict[str, Any]:
    """Return what a program gave beside the texts; an update keeps its own dates and counts."""
    kept = given.keys() if is_new else _GIVEN_AGAIN & given.keys()
    return {name: given[name] for name in kept}


def _of_gap(lines: Mapping[int, Record], wanted: Draft | Record) -> dict[int, Record]:
    """Return those of these lines that are about the same gap: several, if none is settled."""
    return {at: it for at, it in lines.items() if it.gap == wanted.gap}


def _one_of(versions: Iterable[Record]) -> Record:
    """Return the newest of these versions as the one that all others led to."""
    *others, newest = sorted(versions, key=Record.version)
    if not others:
        return newest
    first = min((newest, *others), key=lambda it: seconds_of(it.created))
    newer = (newest, *others)
    return replace(
        united(newest, others),
        created=first.created,
        paths=tuple(dict.fromkeys(path for it in newer for path in it.paths)),
        when=tuple(dict.fromkeys(piece for it in newer for piece in it.when)),
    )


def _is_repeated(known: Record, draft: Draft, now: str) -> bool:
    """Return whether a draft only says once more, within a day, what the record says."""
    said = known.lesson, known.ask_next_time, known.paths, known.when
    asked = known.ask_next_time if draft.ask_next_time is None else draft.ask_next_time
    paths = known.paths if draft.paths is None else tuple(draft.paths)
    when = known.when if draft.when is None else tuple(draft.when)
    passed_s = seconds_of(now) - seconds_of(known.updated or known.created)
    return said == (draft.lesson, asked, paths, when) and abs(passed_s) < RECURRENCE_S


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
