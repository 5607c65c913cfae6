"""Checks texts from outside and takes their secrets out before they are stored."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from core.errors import RefusedError, SentinelError, field_too_long
from core.lessons.anchors import MOST_PATHS, MOST_TRIGGERS, normalise_paths, normalise_triggers
from core.lessons.record import (
    LIMITS_BYTES,
    Draft,
    Record,
    above_limit,
    check_draft,
    normalise_topic,
    record_id,
    record_of,
    with_marks,
)
from core.text.plain import map_texts, members_from

OfferStatus = Literal["added", "known", "replaced", "collision", "refused"]

MOST_REDACTED_CHARS = 32_768  # no secret is so long that the rest could be stored

# Fields that a program may set beside the words, and fields that a cleaning reads beside them.
_GIVEN = "created updated compacted_at source_count source_ids former extra meta_extra".split()
_META_TEXTS = "id created updated compacted_at source_ids former marks paths when".split()
# An id, a version id, a fingerprint or a date as a program writes them holds no secret.
_HARMLESS = re.compile(r"[0-9a-f]{16}(?:@[0-9a-f]{6})?|[0-9a-f]{6}|[0-9]{4}-[0-9T:.+Z-]{6,30}|")


class Offer(NamedTuple):
    """One record from elsewhere, as it is stored or would be, and its fate."""

    record: Record
    status: OfferStatus
    redacted: tuple[str, ...] = ()  # a rule name for each secret
    error: SentinelError | None = None  # why it is refused


def draft_from(line: Mapping[str, Any]) -> Draft:
    """Return the draft of a record in the form of the file. Raises RefusedError for other forms."""
    whole = {"type": "log", "topic": "", "missing_context": "", "lesson": "", **line, "id": "-"}
    meta = whole.get("meta") or {}
    if isinstance(meta, dict):
        whole["meta"] = {"created": "", **meta}
    if whole["type"] not in ("log", "principle"):
        raise RefusedError("unknown_type")
    record = record_of(whole)
    if not record:
        wrong = [name for name in LIMITS_BYTES if not isinstance(whole.get(name, ""), str | None)]
        raise RefusedError("record_form", field=", ".join(wrong) or "meta")
    return replace(
        _draft_of(record),
        ask_next_time=line.get("ask_next_time"),
        paths=record.paths if "paths" in meta else None,
        when=record.when if "when" in meta else None,
        given={name: value for name in _GIVEN if (value := getattr(record, name))},
    )


def redact_draft(
    draft: Draft, *, project: str = "", strict: bool, is_edit: bool = False
) -> tuple[Draft, tuple[str, ...], tuple[str, ...]]:
    """Return the draft to store, the kinds of replaced secrets, and suspicious fields.

    Topic, question and paths stay as they came. A trigger with a secret is refused: redacted, it
    stands nowhere. project: its directory, cut off from paths. is_edit: of a stored record, which
    may have more anchors.
    """
    # Only a save needs the table of formats; a server that is first searched starts faster.
    from core.sanitizer import redact_together

    paths, when = draft.paths, draft.when
    if paths is not None:
        paths = normalise_paths(paths, project, most=None if is_edit else MOST_PATHS)
    if when is not None:
        when = normalise_triggers(when, most=None if is_edit else MOST_TRIGGERS)
    for name, used_bytes in above_limit(draft).items():
        if len(getattr(draft, name)) > MOST_REDACTED_CHARS:
            raise field_too_long(name, used_bytes, LIMITS_BYTES[name])
    texts = {name: getattr(draft, name) or "" for name in LIMITS_BYTES}
    texts |= {"paths": "\n".join(paths or ()), "when": "\n".join(when or ())}
    found = dict(zip(texts, redact_together([*texts.values()]), strict=True))
    secrets = [(name, kind) for name, redaction in found.items() for kind in redaction.kinds]
    if refused := [(name, kind) for name, kind in secrets if strict or name == "when"]:
        raise _secret_refused(refused)
    missing_context, lesson = found["missing_context"], found["lesson"]
    clean = replace(
        draft, missing_context=missing_context.text, lesson=lesson.text, paths=paths, when=when
    )
    suspicious = tuple(name for name in ("topic", "ask_next_time", "paths") if found[name].kinds)
    return check_draft(clean), missing_context.kinds + lesson.kinds, suspicious


def redact_record(
    record: Record, *, project: str = "", strict: bool, is_edit: bool = False
) -> tuple[Record, tuple[str, ...], tuple[str, ...]]:
    """Return the record to store, the kinds of secrets, and suspicious fields.

    Anchors stay unless a person has just changed them (`is_edit`); a trigger with a secret, written
    by hand, goes.
    """
    draft = _draft_of(record)
    if is_edit:
        draft = replace(draft, paths=record.paths, when=record.when)
    elif record.when:
        record = replace(record, when=clean_record(record)[0].when)
    draft, kinds, suspicious = redact_draft(draft, project=project, strict=strict, is_edit=is_edit)
    changed = replace(
        record,
        id=record_id(draft) if kinds else record.id,
        topic=draft.topic,
        missing_context=draft.missing_context,
        lesson=draft.lesson,
        paths=record.paths if draft.paths is None else tuple(draft.paths),
        when=record.when if draft.when is None else tuple(draft.when),
    )
    return changed, kinds, suspicious


def redact_offer(record: Record, *, strict: bool) -> Offer:
    """Return the record, redacted in all fields, as "added" until the log is asked, or refused."""
    kinds: tuple[str, ...] = ()
    try:
        for name, used_bytes in above_limit(record).items():
            if len(getattr(record, name)) > MOST_REDACTED_CHARS:
                raise field_too_long(name, used_bytes, LIMITS_BYTES[name])
        clean, found = clean_record(record)
        kinds = tuple(kind for _, kind in found)
        if found and strict:
            raise _secret_refused(found)
        check_draft(_draft_of(clean))
        paths = normalise_paths(clean.paths, most=None)
        when = normalise_triggers(clean.when, most=None)
    except SentinelError as error:
        return Offer(record=record, status="refused", redacted=kinds, error=error)
    stored = (record_id(clean), paths, when)
    if stored != (clean.id, clean.paths, clean.when):  # nearly never
        clean = replace(clean, id=stored[0], paths=paths, when=when)
    if clean.gap != record.gap:  # no older version of it has this id
        clean = replace(clean, former=())
    return Offer(record=with_marks(clean, record), status="added", redacted=kinds)


def _secret_refused(secrets: list[tuple[str, str]]) -> RefusedError:
    fields = ", ".join(dict.fromkeys(name for name, _ in secrets))
    kinds = ", ".join(dict.fromkeys(kind for _, kind in secrets))
    return RefusedError("secret_refused", fields=fields, kinds=kinds)


def _draft_of(record: Record) -> Draft:
    """Return the words of a record, without paths and triggers."""
    return Draft(
        topic=record.topic,
        missing_context=record.missing_context,
        lesson=record.lesson,
        ask_next_time=record.ask_next_time,
        type=record.type,
    )


# Every field, as a person asks for it after the fact, and as a text shown outside needs it.


def clean_record(record: Record) -> tuple[Record, list[tuple[str, str]]]:
    """Return the record without secrets in any field, and each secret's field and kind.

    A trigger with a secret goes whole: with a marker it would stand nowhere.
    """
    from core.sanitizer import look_at, redact, values_in

    meta = {name: getattr(record, name) for name in _META_TEXTS}
    pieces = {name: (it,) if isinstance(it, str) else it for name, it in meta.items()}
    doubtful = [it for texts in pieces.values() for it in texts if not _HARMLESS.fullmatch(it)]
    look = look_at((*record.texts, *doubtful))
    if not (record.extra or record.meta_extra or look.may_hold):
        topic = normalise_topic(record.topic)
        return record if topic == record.topic else replace(record, topic=topic), []
    clean: dict[str, Any] = {}
    found: list[tuple[str, str]] = []
    known = values_in(record.texts, look)  # what one field calls a password, another may only use
    for name in LIMITS_BYTES if known else ():
        clean[name], kinds = redact(getattr(record, name), known, look)
        found += [(name, kind) for kind in kinds]
    clean["topic"] = normalise_topic(clean.get("topic", record.topic))
    for name, texts in pieces.items():
        kept = list[str]()
        for piece in texts:
            is_plain = _HARMLESS.fullmatch(piece)
            text, kinds = (piece, ()) if is_plain else redact(piece, known, look)
            found += [("meta", kind) for kind in kinds]
            if name != "when" or text == piece:
                kept.append(text)
        clean[name] = kept[0] if isinstance(meta[name], str) else tuple(kept)
    for name, field in (("meta_extra", "meta"), ("extra", "other_keys")):
        clean[name], members_kinds = _clean_members(getattr(record, name))
        found += [(field, kind) for kind in members_kinds]
    return replace(record, **clean), found


def _clean_members(members: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Clean unknown keys, each as text and then, with its name, as JSON.

    A value whose JSON breaks (a number that is a password) goes whole.
    """
    from core.sanitizer import MARKER, redact

    pairs: list[tuple[str, Any]] = []
    found: list[str] = []

    def clean(text: str) -> str:
        text, kinds = redact(text)
        found.extend(kinds)
        return text

    for name, value in members.items():
        member = map_texts({name: value}, clean)
        text, kinds = redact(json.dumps(member, ensure_ascii=False))
        if kinds:
            found += kinds
            try:
                member = json.loads(text)
            except ValueError:
                member = dict.fromkeys(member, MARKER)
        pairs += member.items()
    return members_from(pairs), found
