"""Changes the memory log: saves, deletes, brings back, adds and renews records; other lines stay.

Pure: each change is a function from one version of the log to the next, or raises and changes
nothing. What leaves the log becomes lines of `memory_log.replaced.jsonl`, the oldest first.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from core.errors import RefusedError
from core.lessons.draft import Offer, OfferStatus, clean_record
from core.lessons.log import MemoryLog, follows, split_lines, united, with_former
from core.lessons.record import (
    LIMITS_BYTES,
    MOST_COUNTED,
    Draft,
    Record,
    above_limit,
    id_in,
    ids_in,
    new_record,
    parse_line,
    seconds_of,
    with_marks,
    with_own_id,
)

RECURRENCE_S = 24 * 3600
KEY = "replaced"  # of a line of the side file, beside the keys of its record
_OF_EVERY_SAVE = ("compacted_at", "source_count", "extra", "meta_extra")
_words = attrgetter("lesson", "ask_next_time", "paths", "when")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a change, or of a look-up of version ids."""

    before: MemoryLog
    log: MemoryLog  # afterwards; the same object where nothing was written
    records: tuple[Record, ...] = ()  # as they are stored now, in the order of the change
    earlier: tuple[tuple[Record, ...], ...] = ()  # for each the versions that it follows
    removed: tuple[Record, ...] = ()  # deleted, or replaced by a principle
    lines: frozenset[int] = frozenset()  # theirs before, from 0
    changed: tuple[str, ...] = ()  # version ids of records that stay: they are another version now
    absent: tuple[str, ...] = ()  # ids of no record
    gone: tuple[str, ...] = ()  # ids of records that a principle has replaced before
    redacted: tuple[str, ...] = ()  # one rule name for each replaced secret, in order of place
    suspicious: tuple[str, ...] = ()  # fields that look like a secret but are stored as they came

    @property
    def record(self) -> Record:
        return self.records[0]

    @property
    def is_written(self) -> bool:
        return self.log is not self.before

    @property
    def hidden(self) -> list[Record]:
        """The records that a reader saw before and does not see now."""
        ids = {record.id for record in self.before.records}
        seen = {record.version_id for record in self.log.records if record.id in ids}
        return [record for record in self.before.records if record.version_id not in seen]


def upsert(log: MemoryLog, draft: Draft, tokens: Sequence[str] = (), *, now: str) -> Outcome:
    """Save this checked draft, and replace its originals (`version_ids`).

    A known id keeps place and `created`; a new principle takes the first original's place. Same
    words within RECURRENCE_S change nothing.
    """
    fresh = new_record(draft, now=now)
    there = log.with_id(fresh.id)
    versions = {at: it for at, it in there.items() if it.gap == fresh.gap}
    if not versions and any(with_own_id(it).id == it.id for it in there.values()):
        raise RefusedError("id_collision", id=fresh.id)
    known = _as_one(versions.values()) if versions else None
    named = replace(select(log, tokens, but=fresh.id), earlier=(tuple(versions.values()),))
    record, given = fresh, draft.given
    if known:
        ask = draft.ask_next_time
        record = replace(  # a colleague's clock may be ahead of ours
            known,
            missing_context=draft.missing_context or known.missing_context,
            lesson=draft.lesson,
            ask_next_time=known.ask_next_time if ask is None else ask,
            paths=known.paths if draft.paths is None else tuple(draft.paths),
            when=known.when if draft.when is None else tuple(draft.when),
            updated=max(now, known.updated or known.created, key=seconds_of),
            seen=known.seen + 1,
        )
        passed_s = abs(seconds_of(now) - seconds_of(known.updated or known.created))
        is_plain = len(versions) == 1 and not named.removed and not given
        if is_plain and _words(record) == _words(known) and passed_s < RECURRENCE_S:
            return replace(named, records=(known,))
        record = with_former(record, known)
        # It keeps its own dates and counts.
        given = {name: it for name, it in given.items() if name in _OF_EVERY_SAVE}
    record = replace(record, **given)
    if originals := named.removed:  # whose paths and triggers go over unless the draft has its own
        moments = [
            at for it in (*originals, record) for at in (it.created, it.updated, it.compacted_at)
        ]
        lineage = [(*it.version_ids(), *it.source_ids) for it in originals]
        added = sum((it.source_count or 1) if it.type == "principle" else 1 for it in originals)
        paths = [] if draft.paths is not None else [it.paths for it in originals]
        when = [] if draft.when is not None else [it.when for it in originals]
        record = replace(
            record,
            compacted_at=max(now, *moments, key=seconds_of),
            source_count=min((record.source_count or 0) + added, MOST_COUNTED),
            source_ids=_all_once([record.source_ids, *lineage]),
            paths=_all_once([record.paths, *paths]),
            when=_all_once([record.when, *when]),
        )
    if fresh.id in log.replaced and not known:  # the gap is back after its compaction
        record = replace(record, seen=record.seen + 1)
    record = _visible(with_marks(record, known), log.replaced.get(fresh.id, ()))
    place = min(versions or named.lines, default=len(log.lines))
    after = log.rewrite(named.lines | versions.keys(), {place: [record]})
    return replace(named, log=after, records=(record,))


def delete(log: MemoryLog, tokens: Sequence[str]) -> Outcome:
    named = select(log, tokens)
    return replace(named, log=log.rewrite(named.lines)) if named.removed else named


def select(log: MemoryLog, tokens: Sequence[str], *, but: str = "") -> Outcome:
    """Return which records these version ids name; never the record with the id `but`."""
    removed: dict[int, Record] = {}
    changed: list[str] = []
    absent: list[str] = []
    gone: list[str] = []
    for token in tokens:
        name, at_sign, fingerprint = token.partition("@")
        there = log.with_id(name)
        if not there:
            replaced = log.replaced.get(name, ())
            is_gone = token in replaced or (replaced and token == name)
            (gone if is_gone else absent).append(token)
            continue
        if name == but:
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
        lines=frozenset(removed),
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
    """Make former versions the newest, in the place of the record `version_id` or at the end."""
    named = select(log, [token] if token else [])
    if token and not named.removed:
        raise RefusedError("record_changed", id=id_in(token))
    end = min(named.lines, default=len(log.lines))
    dropped = set(named.lines)
    brought: list[Record] = []
    earlier: list[tuple[Record, ...]] = []
    placed: dict[int, list[Record]] = {}
    for version in versions:
        there = log.with_id(version.id)
        if since and list(since.with_id(version.id).values()) != list(there.values()):
            raise RefusedError("record_changed", id=version.id)
        found = {at: it for at, it in there.items() if it.gap == version.gap}
        if there and not found:
            raise RefusedError("other_text", id=version.id)
        known = [_as_one(found.values())] if found else []
        newest = replace(
            united(version, known),  # the originals of a newer version stay listed
            former=with_former(version, version, *known).former,
            updated=max(
                now, *(it.updated or it.created for it in (version, *known)), key=seconds_of
            ),
            seen=max(it.seen for it in (version, *known)),
        )
        newest = _visible(with_marks(newest, version), log.replaced.get(version.id, ()))
        brought.append(newest)
        earlier.append(tuple(found.values()))
        dropped |= found.keys()
        placed.setdefault(min(found, default=end), []).append(newest)
    after = log.rewrite(dropped, placed)
    return replace(named, log=after, records=tuple(brought), earlier=tuple(earlier))


def add(log: MemoryLog, offers: Iterable[Offer]) -> tuple[Outcome, list[Offer]]:
    """Add records at the end, as they are, unless the log has them; also return their fates.

    `added`: also a known gap in other words, a second version as after a merge. `known`: in the
    same words, or older. `replaced`: by a principle. `collision`: the id of another text.
    """
    added: list[Record] = []
    told: list[Offer] = []
    there: dict[str, list[Record]] = {}
    for offer in offers:
        if not offer.error:
            record = offer.record
            versions = there.setdefault(record.id, [*log.with_id(record.id).values()])
            alike = [it for it in versions if it.gap == record.gap]
            same = [it for it in alike if it.texts == record.texts and not follows(record, it)]
            replaced = log.replaced.get(record.id, ())
            status: OfferStatus = "added"
            if same or any(record.fingerprint() in it.former for it in alike):
                status = "known"
            elif versions and not alike:
                status = "collision"
            elif replaced and (record.version_id in replaced or not alike):
                status = "replaced"
            else:
                added.append(record)
                versions.append(record)
            offer = offer._replace(status=status)
        told.append(offer)
    after = log.rewrite(placed={len(log.lines): added}) if added else log
    new: tuple[tuple[Record, ...], ...] = ((),) * len(added)
    return Outcome(before=log, log=after, records=tuple(added), earlier=new), told


def renew(log: MemoryLog, changed: Mapping[str, Record], *, now: str, join: bool) -> Outcome:
    """Give records other texts, each in its place, in one version of the log.

    changed: new records by present version id. join: records that get one gap become one.
    """
    base = log.rewrite()
    before = dict(base.all_records())
    ids = ids_in(changed)
    found = {
        at: it.version_id for at, it in before.items() if it.id in ids and it.version_id in changed
    }
    for token in changed.keys() - found.values():
        raise RefusedError("record_changed", id=id_in(token))
    after = before | {
        at: with_marks(
            renewed(before[at], changed[token], now, before[at].version_ids()), before[at]
        )
        for at, token in found.items()
    }
    gaps: dict[str, set[object]] = {}
    for record in after.values():
        gaps.setdefault(record.id, set()).add(record.gap)
    placed: dict[int, list[Record]] = {}
    earlier: dict[int, tuple[Record, ...]] = {}
    dropped = set[int]()
    for lines, record in as_one_each(before, after, now):
        place = min(set(lines) - found.keys() or lines)  # of a record that was there, its own
        if len(gaps[record.id]) > 1:
            raise RefusedError("id_collision", id=record.id)
        if len(lines) > 1 and not join:
            raise RefusedError("same_gap", token=before[place].version_id)
        for name, used_bytes in above_limit(record).items() if len(lines) > 1 else ():
            facts = {"used_bytes": used_bytes, "limit_bytes": LIMITS_BYTES[name]}
            one, other = (before[at].version_id for at in lines[:2])
            raise RefusedError("joined_too_long", field=name, one=one, other=other, **facts)
        placed[place] = [record]
        earlier[place] = tuple(before[at] for at in lines)
        dropped.update(lines)
    return Outcome(
        before=log,
        log=base.rewrite(dropped, placed),
        records=tuple(placed[at][0] for at in sorted(placed)),
        earlier=tuple(earlier[at] for at in sorted(placed)),
    )


def as_one_each(
    before: Mapping[int, Record], after: Mapping[int, Record], now: str
) -> Iterator[tuple[list[int], Record]]:
    """Yield the lines of each gap with a new record (another object), and its one record."""
    changed = {at for at, record in after.items() if record is not before[at]}
    ids = {after[at].id for at in changed}
    listed = {token for record in after.values() for token in record.source_ids}
    gaps: dict[object, list[int]] = {}
    for at, record in after.items():
        if record.id in ids:
            gaps.setdefault((record.id, record.gap), []).append(at)
    for members in gaps.values():
        if changed.isdisjoint(members):
            continue
        lines = sorted(members, key=lambda at: before[at].version())
        record = newest = after[lines[-1]]
        if len(lines) > 1:
            untouched = [after[at] for at in lines if at not in changed]
            record = joined([after[at] for at in lines], now, untouched)
        yield lines, _visible(with_marks(record, newest), listed)


# A record in its next version.


def renewed(before: Record, changed: Record, now: str, tokens: Iterable[str]) -> Record:
    """Return the changed record as the winner over every earlier version.

    `former` lists the earlier version; under a new id `source_ids` lists `version_ids`, for later
    compactions.
    """
    updated = max(now, changed.updated or changed.created, key=seconds_of)
    record = replace(with_own_id(changed), updated=updated)
    if (record.id, record.gap) == (before.id, before.gap):
        return with_former(record, before)
    # The `former` of a principle lists the version in any case, which tells it from its originals.
    record = (
        with_former(record, before) if record.type == "principle" else replace(record, former=())
    )
    return replace(record, source_ids=_all_once([record.source_ids, tokens]))


def joined(records: Sequence[Record], now: str, untouched: Iterable[Record] = ()) -> Record:
    """Join records about one gap, the newest last. untouched: those that stand in the log as is."""
    newest, newer = records[-1], records[::-1]
    source_ids = _all_once(it.source_ids for it in newer)
    count = newest.source_count
    if newest.type == "principle":
        count = (count or 0) + len(ids_in(source_ids) - ids_in(newest.source_ids))
    record = replace(
        newest,
        missing_context=_all_of([it.missing_context for it in newer]),
        lesson=_all_of([it.lesson for it in newer]),
        ask_next_time=_all_of([it.ask_next_time for it in newer]),
        created=min((it.created for it in records), key=seconds_of),
        updated=max(now, newest.updated or newest.created, key=seconds_of),
        seen=min(sum(max(it.seen, 1) for it in records), MOST_COUNTED),
        source_ids=source_ids,
        source_count=None if count is None else min(count, MOST_COUNTED),
        former=_all_once(it.former for it in records),
        paths=_all_once(it.paths for it in newer),
        when=_all_once(it.when for it in newer),
        meta_extra={key: kept for it in records for key, kept in it.meta_extra.items()},
        extra={key: kept for it in records for key, kept in it.extra.items()},
    )
    return with_former(record, *untouched)


def _as_one(versions: Collection[Record]) -> Record:
    """Return the newest version as the successor of all others."""
    *others, newest = sorted(versions, key=Record.version) if len(versions) > 1 else versions
    if not others:
        return newest
    newer = (newest, *others)
    return replace(
        united(newest, others),
        created=min((it.created for it in newer), key=seconds_of),
        paths=_all_once(it.paths for it in newer),
        when=_all_once(it.when for it in newer),
    )


def _visible(record: Record, listed: Collection[str]) -> Record:
    """Return a version of the record that `listed` does not name, since that would hide it."""
    while record.version_id in listed:
        record = replace(record, seen=record.seen + 1)
    return replace(record, seen=MOST_COUNTED) if record.seen > MOST_COUNTED else record


def _all_of(texts: Sequence[str]) -> str:
    """Return the texts, one below the other, without texts that another contains."""
    kept: list[str] = []
    for text in texts:
        if text.strip() and not any(text in other for other in kept):
            kept = [other for other in kept if other not in text] + [text]
    return "\n".join(kept) if kept else texts[0]


def _all_once(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entry for entries in lists for entry in entries))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedRecord:
    """A record that left the log, redacted."""

    record: Record
    version_id: str  # its version id before
    at: str  # when, ISO 8601
    by: str = ""  # version id of its successor

    def to_line(self) -> bytes:
        """Return the record's line with a key `replaced`: `at`, and `by` and `version` if known."""
        from core.sanitizer import find_secrets  # a server starts faster without it

        left = {"at": self.at}
        if self.by and not find_secrets(self.by):
            left["by"] = self.by
        if self.version_id != self.record.version_id and id_in(self.version_id) == self.record.id:
            left["version"] = self.version_id
        return replace(self.record, extra={**self.record.extra, KEY: left}).to_line()


def find_replaced_records(
    before: MemoryLog, after: MemoryLog, now: Callable[[], str]
) -> list[ReplacedRecord]:
    """Return the records whose words the next version of the log lacks, redacted.

    now: asked only where a line changed.
    """
    kept = set(map(id, after.entries))
    gone = [record for record in before.entries if record and id(record) not in kept]
    if not gone:
        return []
    at = now()
    known, gaps = set(map(id, before.entries)), {record.gap for record in gone}
    records = [record for record in after.entries if record]
    there = {_said_by(record) for record in records if record.gap in gaps}
    followers = {token: record.version_id for record in records for token in record.source_ids}
    followers |= {record.id: record.version_id for record in records if id(record) not in known}
    replaced: dict[str, ReplacedRecord] = {}
    for record in gone:
        if _said_by(record) in there:
            continue
        clean, _ = clean_record(record)
        if _said_by(clean) not in there:
            by = followers.get(record.id) or followers.get(record.version_id, "")
            replaced[record.version_id] = ReplacedRecord(
                record=clean, version_id=record.version_id, at=at, by=by
            )
    return list(replaced.values())


def _said_by(record: Record) -> tuple[object, ...]:
    return record.type, record.texts, record.paths, record.when, repr(record.extra)


def replaced_records_in(data: bytes) -> Iterator[ReplacedRecord]:
    """Yield the records of the side file, the newest first, each version once.

    A repeated save has left lines twice, a killed writer a torn one.
    """
    from core.sanitizer import MARKER  # as above

    tokens: set[str] = set()
    for line in reversed(split_lines(data)):
        record = parse_line(line)
        if not record:
            continue
        extra = dict(record.extra)
        facts: Any = extra.pop(KEY, {})
        pairs = facts.items() if isinstance(facts, dict) else ()
        texts = {key: text for key, text in pairs if isinstance(text, str)}
        record = replace(record, extra=extra)
        token = texts.get("version", "")
        if id_in(token) != record.id or MARKER.encode() not in line:
            token = record.version_id
        if token not in tokens:
            tokens.add(token)
            at, by = texts.get("at", ""), texts.get("by", "")
            yield ReplacedRecord(record=record, version_id=token, at=at, by=by)


def clean_side_file(data: bytes) -> bytes:
    """Return the side file with no secret in any record; lines without a record go."""
    clean = [replace(it, record=clean_record(it.record)[0]) for it in replaced_records_in(data)]
    return b"".join(it.to_line() for it in reversed(clean))
