"""Changes the memory log: saves, deletes, brings back, adds and renews records; other lines stay.

Pure: each change is a function from one version of the log to the next, or raises and changes
nothing. What leaves the log becomes lines of `memory_log.replaced.jsonl`, the oldest first.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from core.errors import RefusedError
from core.lessons.draft import Offer, OfferStatus, redact_fields
from core.lessons.log import MemoryLog, follows, split_lines, unite_versions, with_former
from core.lessons.record import (
    LIMITS_BYTES,
    MOST_COUNTED,
    Draft,
    Record,
    id_in,
    ids_in,
    new_record,
    parse_line,
    too_long_fields_in,
    with_marks,
    with_own_id,
)
from core.text.plain import seconds_of

RECURRENCE_S = 24 * 3600
REPLACED_KEY = "replaced"  # of a line of the side file, beside the keys of its record
_SAVED_FIELDS = ("compacted_at", "source_count", "extra", "meta_extra")
_values_of = attrgetter("lesson", "ask_next_time", "paths", "when")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a change, or of a look-up of version ids."""

    before: MemoryLog
    log: MemoryLog  # afterwards; the same object where nothing was written
    records: tuple[Record, ...] = ()  # as they are stored now, in the order of the change
    earlier_versions: tuple[tuple[Record, ...], ...] = ()  # for each the versions that it follows
    removed_records: tuple[Record, ...] = ()  # deleted, or replaced by a principle
    removed_lines: frozenset[int] = frozenset()  # where they stood, from 0
    changed_ids: tuple[str, ...] = ()  # of records that stay: they are another version now
    absent_ids: tuple[str, ...] = ()  # of no record
    gone_ids: tuple[str, ...] = ()  # of records that a principle has replaced before
    secret_kinds: tuple[str, ...] = ()  # one rule name for each replaced secret, in order of place
    suspicious_fields: tuple[str, ...] = ()  # that look like a secret but are stored as they came

    @property
    def record(self) -> Record:
        return self.records[0]

    @property
    def is_written(self) -> bool:
        return self.log is not self.before

    @property
    def hidden_records(self) -> list[Record]:
        """The records that a reader saw before and does not see now."""
        ids = {record.id for record in self.before.records}
        visible_ids = {record.version_id for record in self.log.records if record.id in ids}
        return [record for record in self.before.records if record.version_id not in visible_ids]


def upsert(log: MemoryLog, draft: Draft, source_ids: Sequence[str] = (), *, now: str) -> Outcome:
    """Save this checked draft, and replace its originals (`source_ids`).

    A known id keeps place and `created`; a new principle takes the first original's place. Same
    words within RECURRENCE_S change nothing.
    """
    record, fields = new_record(draft, now=now), draft.other_fields
    record_id, records = record.id, log.find_by_id(record.id)
    versions = {at: other for at, other in records.items() if other.gap == record.gap}
    if not versions and any(with_own_id(other).id == other.id for other in records.values()):
        raise RefusedError("id_collision", id=record_id)
    stored_record = _join_versions(versions.values()) if versions else None
    selection = select_records(log, source_ids, kept_id=record_id)
    selection = replace(selection, earlier_versions=(tuple(versions.values()),))
    if stored_record:
        question = draft.ask_next_time
        record = replace(  # a colleague's clock may be ahead of ours
            stored_record,
            missing_context=draft.missing_context or stored_record.missing_context,
            lesson=draft.lesson,
            ask_next_time=stored_record.ask_next_time if question is None else question,
            paths=stored_record.paths if draft.paths is None else tuple(draft.paths),
            when=stored_record.when if draft.when is None else tuple(draft.when),
            updated=max(now, stored_record.updated or stored_record.created, key=seconds_of),
            seen=stored_record.seen + 1,
        )
        passed_s = abs(seconds_of(now) - seconds_of(stored_record.updated or stored_record.created))
        is_plain = len(versions) == 1 and not selection.removed_records and not fields
        if is_plain and _values_of(record) == _values_of(stored_record) and passed_s < RECURRENCE_S:
            return replace(selection, records=(stored_record,))
        record = with_former(record, stored_record)
        # It keeps its own dates and counts.
        fields = {name: value for name, value in fields.items() if name in _SAVED_FIELDS}
    record = replace(record, **fields)
    if originals := selection.removed_records:  # whose anchors go over unless the draft has its own
        moments = [moment for source in (*originals, record) for moment in source.moments]
        lineages = [(*original.version_ids(), *original.source_ids) for original in originals]
        counts = [source.source_count or 1 for source in originals if source.type == "principle"]
        added_count = sum(counts) + len(originals) - len(counts)
        paths = [] if draft.paths is not None else [original.paths for original in originals]
        when = [] if draft.when is not None else [original.when for original in originals]
        record = replace(
            record,
            compacted_at=max(now, *moments, key=seconds_of),
            source_count=min((record.source_count or 0) + added_count, MOST_COUNTED),
            source_ids=_merge_lists([record.source_ids, *lineages]),
            paths=_merge_lists([record.paths, *paths]),
            when=_merge_lists([record.when, *when]),
        )
    if record_id in log.replaced_ids and not stored_record:  # the gap is back after its compaction
        record = replace(record, seen=record.seen + 1)
    record = _make_visible(with_marks(record, stored_record), log.replaced_ids.get(record_id, ()))
    place = min(versions or selection.removed_lines, default=len(log.lines))
    next_log = log.rewrite(selection.removed_lines | versions.keys(), {place: [record]})
    return replace(selection, log=next_log, records=(record,))


def delete(log: MemoryLog, version_ids: Sequence[str]) -> Outcome:
    selection = select_records(log, version_ids)
    if not selection.removed_records:
        return selection
    return replace(selection, log=log.rewrite(selection.removed_lines))


def select_records(log: MemoryLog, version_ids: Sequence[str], *, kept_id: str = "") -> Outcome:
    """Return which records these version ids name; never the record with the id `kept_id`."""
    removed_records: dict[int, Record] = {}
    changed_ids, absent_ids, gone_ids = list[str](), list[str](), list[str]()
    for version_id in version_ids:
        head, at_sign, fingerprint = version_id.rpartition("@")  # an id may hold an @
        records = log.find_by_id(record_id := head or version_id)
        if not records:
            replaced_ids = log.replaced_ids.get(record_id, ())
            is_gone = version_id in replaced_ids or (replaced_ids and version_id == record_id)
            (gone_ids if is_gone else absent_ids).append(version_id)
            continue
        if record_id == kept_id:
            continue
        hits = {at: record for at, record in records.items() if record.fingerprint() == fingerprint}
        if not at_sign and len(records) == 1 and not next(iter(records.values())).updated:
            hits = records
        removed_records.update(hits)
        if not hits:
            changed_ids.append(version_id)
    return Outcome(
        before=log,
        log=log,
        removed_records=tuple(removed_records.values()),
        removed_lines=frozenset(removed_records),
        changed_ids=tuple(changed_ids),
        absent_ids=tuple(absent_ids),
        gone_ids=tuple(gone_ids),
    )


def bring_back(
    log: MemoryLog,
    versions: Sequence[Record],
    version_id: str = "",
    *,
    now: str,
    since: MemoryLog | None = None,
) -> Outcome:
    """Make former versions the newest, in the place of the record `version_id` or at the end."""
    selection = select_records(log, [version_id] if version_id else [])
    if version_id and not selection.removed_records:
        raise RefusedError("record_changed", id=id_in(version_id))
    end = min(selection.removed_lines, default=len(log.lines))
    dropped_lines = set(selection.removed_lines)
    records, groups = list[Record](), list[tuple[Record, ...]]()
    placed_records: dict[int, list[Record]] = {}
    for version in versions:
        namesakes = log.find_by_id(version.id)
        if since and list(since.find_by_id(version.id).values()) != list(namesakes.values()):
            raise RefusedError("record_changed", id=version.id)
        twins = {at: record for at, record in namesakes.items() if record.gap == version.gap}
        if namesakes and not twins:
            raise RefusedError("other_text", id=version.id)
        predecessors = [_join_versions(twins.values())] if twins else []
        lineage = (version, *predecessors)
        moments = [entry.updated or entry.created for entry in lineage]
        newest = replace(
            unite_versions(version, predecessors),  # the originals of a newer version stay listed
            former=with_former(version, *lineage).former,
            updated=max(now, *moments, key=seconds_of),
            seen=max(record.seen for record in lineage),
        )
        newest = _make_visible(with_marks(newest, version), log.replaced_ids.get(version.id, ()))
        records.append(newest)
        groups.append(tuple(twins.values()))
        dropped_lines |= twins.keys()
        placed_records.setdefault(min(twins, default=end), []).append(newest)
    next_log = log.rewrite(dropped_lines, placed_records)
    return replace(selection, log=next_log, records=tuple(records), earlier_versions=tuple(groups))


def add(log: MemoryLog, offers: Iterable[Offer]) -> tuple[Outcome, list[Offer]]:
    """Add records at the end, as they are, unless the log has them; also return their fates.

    `added`: also a known gap in other words, a second version as after a merge. `known`: in the
    same words, or older. `replaced`: by a principle. `collision`: the id of another text.
    """
    additions, all_offers = list[Record](), list[Offer]()
    records: dict[str, list[Record]] = {}
    for offer in offers:
        if not offer.error:
            record = offer.record
            versions = records.setdefault(record.id, [*log.find_by_id(record.id).values()])
            twins = [version for version in versions if version.gap == record.gap]
            known_texts = [version.texts for version in twins if not follows(record, version)]
            replaced_ids = log.replaced_ids.get(record.id, ())
            status: OfferStatus = "added"
            is_former = any(record.fingerprint() in version.former for version in twins)
            if record.texts in known_texts or is_former:
                status = "known"
            elif versions and not twins:
                status = "collision"
            elif replaced_ids and (record.version_id in replaced_ids or not twins):
                status = "replaced"
            else:
                additions.append(record)
                versions.append(record)
            offer = offer._replace(status=status)
        all_offers.append(offer)
    after = log.rewrite(placed={len(log.lines): additions}) if additions else log
    no_versions: tuple[tuple[Record, ...], ...] = ((),) * len(additions)
    outcome = Outcome(before=log, log=after, records=(*additions,), earlier_versions=no_versions)
    return outcome, all_offers


def renew(log: MemoryLog, new_records: Mapping[str, Record], *, now: str, join: bool) -> Outcome:
    """Give records other texts, each in its place, in one version of the log.

    new_records: by present version id. join: records that get one gap become one.
    """
    base = log.rewrite()
    before = dict(base.all_records())
    ids = ids_in(new_records)
    ids_by_line = {at: record.version_id for at, record in before.items() if record.id in ids}
    changes = {at: name for at, name in ids_by_line.items() if name in new_records}
    for version_id in new_records.keys() - changes.values():
        raise RefusedError("record_changed", id=id_in(version_id))
    after = dict(before)
    for at, version_id in changes.items():
        old_record = before[at]
        record = renew_record(old_record, new_records[version_id], now, old_record.version_ids())
        after[at] = with_marks(record, old_record)
    gaps: dict[str, set[object]] = {}
    for record in after.values():
        gaps.setdefault(record.id, set()).add(record.gap)
    placed_records, dropped_lines = dict[int, list[Record]](), set[int]()
    earlier_versions: dict[int, tuple[Record, ...]] = {}
    for lines, record in join_by_gap(before, after, now):
        place = min(set(lines) - changes.keys() or lines)  # of a record that was there, its own
        if len(gaps[record.id]) > 1:
            raise RefusedError("id_collision", id=record.id)
        if len(lines) > 1 and not join:
            raise RefusedError("same_gap", token=before[place].version_id)
        for name, used_bytes in too_long_fields_in(record).items() if len(lines) > 1 else ():
            facts = {"used_bytes": used_bytes, "limit_bytes": LIMITS_BYTES[name]}
            pair = [before[at].version_id for at in lines[:2]]
            raise RefusedError("joined_too_long", field=name, one=pair[0], other=pair[1], **facts)
        placed_records[place] = [record]
        earlier_versions[place] = tuple(before[at] for at in lines)
        dropped_lines.update(lines)
    return Outcome(
        before=log,
        log=base.rewrite(dropped_lines, placed_records),
        records=tuple(placed_records[at][0] for at in sorted(placed_records)),
        earlier_versions=tuple(earlier_versions[at] for at in sorted(placed_records)),
    )


def join_by_gap(
    before: Mapping[int, Record], after: Mapping[int, Record], now: str
) -> Iterator[tuple[list[int], Record]]:
    """Yield the lines of each gap with a new record (another object), and its one record."""
    changed_lines = {at for at, record in after.items() if record is not before[at]}
    ids = {after[at].id for at in changed_lines}
    listed_ids = {source_id for record in after.values() for source_id in record.source_ids}
    gaps: dict[object, list[int]] = {}
    for at, record in after.items():
        if record.id in ids:
            gaps.setdefault((record.id, record.gap), []).append(at)
    for members in gaps.values():
        if changed_lines.isdisjoint(members):
            continue
        lines = sorted(members, key=lambda at: before[at].version_key())
        record = newest = after[lines[-1]]
        if len(lines) > 1:
            untouched_records = [after[at] for at in lines if at not in changed_lines]
            record = join_records([after[at] for at in lines], now, untouched_records)
        yield lines, _make_visible(with_marks(record, newest), listed_ids)


# A record in its next version.


def renew_record(before: Record, after: Record, now: str, version_ids: Iterable[str]) -> Record:
    """Return the changed record as the winner over every earlier version.

    `former` lists the earlier version; under a new id `source_ids` lists `version_ids`.
    """
    updated = max(now, after.updated or after.created, key=seconds_of)
    record = replace(with_own_id(after), updated=updated)
    if (record.id, record.gap) == (before.id, before.gap):
        return with_former(record, before)
    # The `former` of a principle lists the version in any case, which tells it from its originals.
    former = with_former(record, before).former if record.type == "principle" else ()
    return replace(record, former=former, source_ids=_merge_lists([record.source_ids, version_ids]))


def join_records(records: Sequence[Record], now: str, log_records: Iterable[Record] = ()) -> Record:
    """Join records about one gap, the newest last. log_records: those that the log has as is."""
    newest, newest_first = records[-1], records[::-1]
    source_ids = _merge_lists(version.source_ids for version in newest_first)
    count = newest.source_count
    if newest.type == "principle":
        count = (count or 0) + len(ids_in(source_ids) - ids_in(newest.source_ids))
    record = replace(
        newest,
        missing_context=_join_texts([version.missing_context for version in newest_first]),
        lesson=_join_texts([version.lesson for version in newest_first]),
        ask_next_time=_join_texts([version.ask_next_time for version in newest_first]),
        created=min((version.created for version in records), key=seconds_of),
        updated=max(now, newest.updated or newest.created, key=seconds_of),
        seen=min(sum(max(version.seen, 1) for version in records), MOST_COUNTED),
        source_ids=source_ids,
        source_count=None if count is None else min(count, MOST_COUNTED),
        former=_merge_lists(version.former for version in records),
        paths=_merge_lists(version.paths for version in newest_first),
        when=_merge_lists(version.when for version in newest_first),
        meta_extra={key: value for version in records for key, value in version.meta_extra.items()},
        extra={key: value for version in records for key, value in version.extra.items()},
    )
    return with_former(record, *log_records)


def _join_versions(versions: Collection[Record]) -> Record:
    """Return the newest version as the successor of all others."""
    *others, newest = sorted(versions, key=Record.version_key) if len(versions) > 1 else versions
    if not others:
        return newest
    members = (newest, *others)
    return replace(
        unite_versions(newest, others),
        created=min((version.created for version in members), key=seconds_of),
        paths=_merge_lists(version.paths for version in members),
        when=_merge_lists(version.when for version in members),
    )


def _make_visible(record: Record, listed_ids: Collection[str]) -> Record:
    """Return a version of the record that no list names, since that would hide it."""
    while record.version_id in listed_ids:
        record = replace(record, seen=record.seen + 1)
    return replace(record, seen=MOST_COUNTED) if record.seen > MOST_COUNTED else record


def _join_texts(texts: Sequence[str]) -> str:
    """Return the texts, one below the other, without texts that another contains."""
    kept_texts: list[str] = []
    for text in texts:
        if text.strip() and not any(text in other for other in kept_texts):
            kept_texts = [other for other in kept_texts if other not in text] + [text]
    return "\n".join(kept_texts) if kept_texts else texts[0]


def _merge_lists(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
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

        facts = {"at": self.at}
        if self.by and not find_secrets(self.by):
            facts["by"] = self.by
        if self.version_id != self.record.version_id and id_in(self.version_id) == self.record.id:
            facts["version"] = self.version_id
        return replace(self.record, extra={**self.record.extra, REPLACED_KEY: facts}).to_line()


def find_replaced_records(
    before: MemoryLog, after: MemoryLog, now: Callable[[], str]
) -> list[ReplacedRecord]:
    """Return the records whose words the next version of the log lacks, redacted.

    now: asked only where a line changed.
    """
    kept_ids = set(map(id, after.entries))
    gone_records = [record for record in before.entries if record and id(record) not in kept_ids]
    if not gone_records:
        return []
    moment = now()
    old_ids, gaps = set(map(id, before.entries)), {record.gap for record in gone_records}
    records = [record for record in after.entries if record]
    contents = {_content_of(record) for record in records if record.gap in gaps}
    followers = {name: record.version_id for record in records for name in record.source_ids}
    followers |= {record.id: record.version_id for record in records if id(record) not in old_ids}
    entries: dict[str, ReplacedRecord] = {}
    for record in gone_records:
        if _content_of(record) in contents:
            continue
        clean_copy, _ = redact_fields(record)
        if _content_of(clean_copy) not in contents:
            name = record.version_id
            by = followers.get(record.id) or followers.get(name, "")
            entries[name] = ReplacedRecord(record=clean_copy, version_id=name, at=moment, by=by)
    return list(entries.values())


def _content_of(record: Record) -> tuple[object, ...]:
    unknown_keys = repr((record.extra, record.meta_extra))
    return record.type, record.texts, record.paths, record.when, unknown_keys


def replaced_records_in(data: bytes) -> Iterator[ReplacedRecord]:
    """Yield the records of the side file, the newest first, each version once.

    A repeated save has left lines twice, a killed writer a torn one.
    """
    from core.sanitizer import MARKER  # as above

    version_ids: set[str] = set()
    for line in reversed(split_lines(data)):
        record = parse_line(line)
        if not record:
            continue
        extra = dict(record.extra)
        facts: Any = extra.pop(REPLACED_KEY, {})
        pairs = facts.items() if isinstance(facts, dict) else ()
        texts = {key: text for key, text in pairs if isinstance(text, str)}
        record = replace(record, extra=extra)
        version_id = texts.get("version", "")
        if id_in(version_id) != record.id or MARKER.encode() not in line:
            version_id = record.version_id
        if version_id not in version_ids:
            version_ids.add(version_id)
            at, by = texts.get("at", ""), texts.get("by", "")
            yield ReplacedRecord(record=record, version_id=version_id, at=at, by=by)


def redact_side_file(data: bytes) -> bytes:
    """Return the side file with no secret in any record; lines without a record go."""
    lines = [replace(old, record=redact_fields(old.record)[0]) for old in replaced_records_in(data)]
    return b"".join(line.to_line() for line in reversed(lines))
