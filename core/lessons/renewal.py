"""Gives records other texts so that no git merge brings their earlier versions back.

Pure. An id follows from the text, so that a changed text may get another one. While the id stays,
`former` lists the earlier version; under a new id `source_ids` does, as for a replaced original,
and a later compaction passes that on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.errors import RefusedError
from core.lessons.changes import Outcome, all_once
from core.lessons.log import MemoryLog, following
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


def renew(log: MemoryLog, changed: Mapping[str, Record], *, now: str, join: bool) -> Outcome:
    """Give records other texts, each in its place, all in one version of the log.

    changed: by the version id of a record that a reader sees, this record with its new texts. join:
    whether a record that gets the gap of another becomes one with it, in the place of the other.

    Raises RefusedError when a token names no record in its present version, when a new id belongs
    to another text, for the same gap without `join`, and when a joined text is above its limit.
    """
    base = log.rewritten()
    lines = []
    for at, record in base.all_records():
        wanted = changed.get(record.token)
        after = renewed(record, wanted, now, record.tokens()) if wanted else record
        lines.append(_Line(at=at, before=record, after=after, is_changed=bool(wanted)))
    found = {line.before.token for line in lines if line.is_changed}
    for token in changed:
        if token not in found:
            raise RefusedError("record_changed", id=id_in(token))
    hidden_tokens = {token for line in lines for token in line.after.source_ids}
    placed: dict[int, Record] = {}
    earlier: dict[int, tuple[Record, ...]] = {}
    dropped: set[int] = set()
    for members in _changed_groups(lines, join=join):
        kept = next((line for line in members if not line.is_changed), members[0])
        members.sort(key=lambda line: line.before.version())
        record = marked(_joined_line(members, now), members[-1].before)
        while record.token in hidden_tokens:
            record = replace(record, seen=record.seen + 1)
        placed[kept.at] = record
        earlier[kept.at] = tuple(line.before for line in members)
        dropped.update(line.at for line in members if line.at != kept.at)
    places = sorted(placed)
    return Outcome(
        before=log,
        log=base.rewritten(dropped, {at: [record] for at, record in placed.items()}),
        records=tuple(placed[at] for at in places),
        earlier=tuple(earlier[at] for at in places),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One line before and after. is_changed: whether its record gets other texts."""

    at: int
    before: Record
    after: Record
    is_changed: bool


def _changed_groups(lines: Sequence[_Line], *, join: bool) -> list[list[_Line]]:
    """Return changed lines, each with those about the same gap. Raises if one id gets two texts."""
    by_id: dict[str, list[_Line]] = {}
    for line in lines:
        by_id.setdefault(line.after.id, []).append(line)
    groups = []
    for id_, members in by_id.items():
        if not any(line.is_changed for line in members):
            continue
        if len({line.after.gap for line in members}) > 1:
            raise RefusedError("id_collision", id=id_)
        if len(members) > 1 and not join:
            other = next((line for line in members if not line.is_changed), members[0])
            raise RefusedError("same_gap", token=other.before.token)
        groups.append(members)
    return groups


def _joined_line(members: Sequence[_Line], now: str) -> Record:
    """Return the one record of these lines. Raises RefusedError."""
    if len(members) == 1:
        return members[0].after
    record = joined([line.after for line in members], now)
    record = following(record, *(line.after for line in members if not line.is_changed))
    for name, limit_bytes in LIMITS_BYTES.items():
        used_bytes = len(getattr(record, name).encode("utf-8", "surrogatepass"))
        if used_bytes > limit_bytes:
            one, other = (line.before.token for line in members[:2])
            raise RefusedError(
                "joined_too_long",
                field=name,
                one=one,
                other=other,
                used_bytes=used_bytes,
                limit_bytes=limit_bytes,
            )
    return record


def renewed(before: Record, changed: Record, now: str, tokens: Iterable[str]) -> Record:
    """Return the changed record as one that wins over every earlier version.

    tokens: the version ids of the earlier version and of those that it follows.
    """
    record = replace(reidentified(changed), updated=later(now, changed.updated or changed.created))
    if (record.id, record.gap) == (before.id, before.gap):
        return following(record, before)
    # The `former` of a principle lists the version in any case, which tells it from its originals.
    record = following(record, before) if record.type == "principle" else replace(record, former=())
    return replace(record, source_ids=tuple(dict.fromkeys((*record.source_ids, *tokens))))


def joined(records: Sequence[Record], now: str) -> Record:
    """Join several records about one gap into one, newest last, without losing a text or number."""
    newest, newer = records[-1], records[::-1]
    source_ids = all_once(it.source_ids for it in newer)
    count = newest.source_count
    if newest.type == "principle":
        count = (count or 0) + len(ids_in(source_ids) - ids_in(newest.source_ids))
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
        former=all_once(it.former for it in records),
        paths=all_once(it.paths for it in newer),
        when=all_once(it.when for it in newer),
        meta_extra={key: kept for it in records for key, kept in it.meta_extra.items()},
        extra={key: kept for it in records for key, kept in it.extra.items()},
    )


def _all_of(texts: Sequence[str]) -> str:
    """Return these texts one below the other, without those that another one contains."""
    kept: list[str] = []
    for text in texts:
        if text.strip() and not any(text in other for other in kept):
            kept = [other for other in kept if other not in text] + [text]
    return "\n".join(kept) if kept else texts[0]
