"""Gives records other texts so that no git merge brings their earlier versions back.

Pure. An id follows from the text, so that a changed text may get another one. While the id stays,
`former` lists the earlier version; under a new id `source_ids` does, as for a replaced original,
and a later compaction passes that on. The `former` of a principle lists it in any case, which tells
it from the originals.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.errors import IdCollisionError, JoinedTooLongError, RecordChangedError, SameGapError
from core.lessons.log import MemoryLog, following
from core.lessons.outcomes import Renewal
from core.lessons.record import (
    LIMITS_BYTES,
    MOST_COUNTED,
    Record,
    id_in,
    ids_in,
    later,
    marked,
    reidentified,
    seconds_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One line before and after. is_changed: whether its record gets other texts."""

    at: int
    before: Record
    after: Record
    is_changed: bool


def renewed(before: Record, changed: Record, now: str, tokens: Iterable[str]) -> Record:
    """Return the changed record as one that wins over every earlier version.

    tokens: the version ids of the earlier version and of those that it follows.
    """
    record = replace(reidentified(changed), updated=later(now, changed.updated or changed.created))
    if (record.id, record.gap) == (before.id, before.gap):
        return following(record, before)
    record = following(record, before) if record.type == "principle" else replace(record, former=())
    return replace(record, source_ids=tuple(dict.fromkeys((*record.source_ids, *tokens))))


def joined(records: Sequence[Record], now: str) -> Record:
    """Join several records about one gap into one, newest last, without losing a text or number."""
    newest = records[-1]
    source_ids = tuple(dict.fromkeys(token for it in reversed(records) for token in it.source_ids))
    count = newest.source_count
    if newest.type == "principle":
        count = (count or 0) + len(ids_in(source_ids) - ids_in(newest.source_ids))
    newer = records[::-1]
    return replace(
        newest,
        missing_context=_all_of([it.missing_context for it in newer]),
        lesson=_all_of([it.lesson for it in newer]),
        ask_next_time=_all_of([it.ask_next_time for it in newer]),
        created=min((it.created for it in records), key=seconds_of),
        updated=later(now, newest.updated or newest.created),
        seen=min(sum(max(it.seen, 1) for it in records), MOST_COUNTED),
        source_ids=source_ids,
        source_count=None if count is None else min(count, MOST_COUNTED),
        former=tuple(dict.fromkeys(known for it in records for known in it.former)),
        paths=tuple(dict.fromkeys(path for it in newer for path in it.paths)),
        when=tuple(dict.fromkeys(piece for it in newer for piece in it.when)),
        meta_extra={key: kept for it in records for key, kept in it.meta_extra.items()},
        extra={key: kept for it in records for key, kept in it.extra.items()},
    )


def renew(
    log: MemoryLog, changed: Mapping[str, Record], *, now: str, join: bool
) -> tuple[MemoryLog, list[Renewal]]:
    """Return the log with records under changed texts, each in its place, all in one version.

    changed: by the version id of a record that a reader sees, this record with its new texts. join:
    whether a record that gets the gap of another becomes one with it, in the place of the other.

    Raises RecordChangedError when a token names no record in its present version, IdCollisionError
    when a new id belongs to another text, SameGapError for the same gap without `join`, and
    JoinedTooLongError when a joined text would be above its limit.
    """
    base = log.without_leftovers()
    lines = [_line(at, record, changed, now) for at, record in base.all_records()]
    found = {line.before.token for line in lines if line.is_changed}
    for token in changed:
        if token not in found:
            raise RecordChangedError(id=id_in(token))
    placed: dict[int, Record] = {}
    dropped: set[int] = set()
    renewals: dict[int, tuple[Record, ...]] = {}
    for members in _groups(lines, join=join):
        kept = next((line for line in members if not line.is_changed), members[0])
        members.sort(key=lambda line: line.before.version())
        placed[kept.at] = _one_of(members, now)
        renewals[kept.at] = tuple(line.before for line in members)
        dropped.update(line.at for line in members if line.at != kept.at)
    hidden = {token for line in lines for token in line.after.source_ids}
    for at, record in placed.items():
        visible = marked(record, renewals[at][-1])
        while visible.token in hidden:
            visible = replace(visible, seen=visible.seen + 1)
        placed[at] = visible
    done = [Renewal(before=before, after=placed[at]) for at, before in sorted(renewals.items())]
    return base.rewritten(dropped, {at: [record] for at, record in placed.items()}), done


def _line(at: int, record: Record, changed: Mapping[str, Record], now: str) -> _Line:
    wanted = changed.get(record.token) if changed else None
    if wanted is None:
        return _Line(at=at, before=record, after=record, is_changed=False)
    after = renewed(record, wanted, now, record.tokens())
    return _Line(at=at, before=record, after=after, is_changed=True)


def _groups(lines: Sequence[_Line], *, join: bool) -> list[list[_Line]]:
    """Return changed lines, each with those about the same gap. Raises if one id gets two texts."""
    by_id: dict[str, list[_Line]] = {}
    for line in lines:
        by_id.setdefault(line.after.id, []).append(line)
    groups = []
    for id_, members in by_id.items():
        if not any(line.is_changed for line in members):
            continue
        if len({line.after.gap for line in members}) > 1:
            raise IdCollisionError(id=id_)
        if len(members) > 1 and not join:
            other = next((line for line in members if not line.is_changed), members[0])
            raise SameGapError(token=other.before.token)
        groups.append(members)
    return groups


def _one_of(members: Sequence[_Line], now: str) -> Record:
    if len(members) == 1:
        return members[0].after
    record = joined([line.after for line in members], now)
    record = following(record, *(line.after for line in members if not line.is_changed))
    for name in LIMITS_BYTES:
        used_bytes = len(getattr(record, name).encode("utf-8", "surrogatepass"))
        if used_bytes > LIMITS_BYTES[name]:
            one, other = (line.before.token for line in members[:2])
            limit_bytes = LIMITS_BYTES[name]
            raise JoinedTooLongError(
                field=name, one=one, other=other, used_bytes=used_bytes, limit_bytes=limit_bytes
            )
    return record


def _all_of(texts: Sequence[str]) -> str:
    """Return these texts one below the other, without those that another one contains."""
    kept: list[str] = []
    for text in texts:
        if text.strip() and not any(text in other for other in kept):
            kept = [other for other in kept if other not in text] + [text]
    return "\n".join(kept) if kept else texts[0]
