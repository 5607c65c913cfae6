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
    check_draft,
    normalise_topic,
    record_id,
    record_of,
    too_long_fields_in,
    with_marks,
)
from core.text.plain import map_texts, members_from

OfferStatus = Literal["added", "known", "replaced", "collision", "refused"]

MOST_REDACTED_CHARS = 32_768  # no secret is so long that the rest could be stored

# Fields that a program may set beside the words, and fields that are redacted beside them.
_FIELDS = "created updated compacted_at source_count source_ids former extra meta_extra".split()
_META_TEXTS = "id created updated compacted_at source_ids former marks paths when".split()
# An id, a version id, a fingerprint or a date as a program writes them holds no secret.
_HARMLESS = re.compile(r"[0-9a-f]{16}(?:@[0-9a-f]{6})?|[0-9a-f]{6}|[0-9]{4}-[0-9T:.+Z-]{6,30}|")


class Offer(NamedTuple):
    """One record from elsewhere, as it is stored or would be, and its fate."""

    record: Record
    status: OfferStatus
    secret_kinds: tuple[str, ...] = ()  # a rule name for each secret
    error: SentinelError | None = None  # why it is refused


def draft_from(line: Mapping[str, Any]) -> Draft:
    """Return the draft of a record in the form of the file. Raises RefusedError for other forms."""
    members = {"type": "log", "topic": "", "missing_context": "", "lesson": "", **line, "id": "-"}
    meta = members.get("meta") or {}
    if isinstance(meta, dict):
        members["meta"] = {"created": "", **meta}
    if members["type"] not in ("log", "principle"):
        raise RefusedError("unknown_type")
    record = record_of(members)
    if not record:
        names = [name for name in LIMITS_BYTES if not isinstance(members.get(name, ""), str | None)]
        raise RefusedError("record_form", field=", ".join(names) or "meta")
    return replace(
        _draft_of(record),
        ask_next_time=line.get("ask_next_time"),
        paths=record.paths if "paths" in meta else None,
        when=record.when if "when" in meta else None,
        other_fields={name: value for name in _FIELDS if (value := getattr(record, name))},
    )


def redact_draft(
    draft: Draft, *, project: str = "", strict: bool, is_edit: bool = False
) -> tuple[Draft, tuple[str, ...], tuple[str, ...]]:
    """Return the draft to store, the kinds of replaced secrets, and suspicious fields.

    Topic, question and paths stay as they came. A trigger with a secret is refused: redacted, it
    stands nowhere. project: its directory, cut off from paths. is_edit: more anchors may stand.
    """
    # Only a save needs the table of formats; a server that is first searched starts faster.
    from core.sanitizer import redact_together

    paths, when = draft.paths, draft.when
    if paths is not None:
        paths = normalise_paths(paths, project, most=None if is_edit else MOST_PATHS)
    if when is not None:
        when = normalise_triggers(when, most=None if is_edit else MOST_TRIGGERS)
    for name, used_bytes in too_long_fields_in(draft).items():
        if len(getattr(draft, name)) > MOST_REDACTED_CHARS:
            raise field_too_long(name, used_bytes, LIMITS_BYTES[name])
    texts = {name: getattr(draft, name) or "" for name in LIMITS_BYTES}
    texts |= {"paths": "\n".join(paths or ()), "when": "\n".join(when or ())}
    redactions = dict(zip(texts, redact_together([*texts.values()]), strict=True))
    secrets = [(name, kind) for name, redaction in redactions.items() for kind in redaction.kinds]
    if refused_secrets := [(name, kind) for name, kind in secrets if strict or name == "when"]:
        raise _secret_refused(refused_secrets)
    missing_context, lesson = redactions["missing_context"], redactions["lesson"]
    clean_draft = replace(
        draft, missing_context=missing_context.text, lesson=lesson.text, paths=paths, when=when
    )
    fields = tuple(name for name in ("topic", "ask_next_time", "paths") if redactions[name].kinds)
    return check_draft(clean_draft), missing_context.kinds + lesson.kinds, fields


def redact_record(
    record: Record, *, project: str = "", strict: bool, is_edit: bool = False
) -> tuple[Record, tuple[str, ...], tuple[str, ...]]:
    """Return the record to store, the kinds of secrets, and suspicious fields.

    Anchors stay unless a person has just changed them (`is_edit`); a trigger with a secret goes.
    """
    draft = _draft_of(record)
    if is_edit:
        draft = replace(draft, paths=record.paths, when=record.when)
    elif record.when:
        record = replace(record, when=redact_fields(record)[0].when)
    draft, kinds, fields = redact_draft(draft, project=project, strict=strict, is_edit=is_edit)
    changed_record = replace(
        record,
        id=record_id(draft) if kinds else record.id,
        topic=draft.topic,
        missing_context=draft.missing_context,
        lesson=draft.lesson,
        paths=record.paths if draft.paths is None else tuple(draft.paths),
        when=record.when if draft.when is None else tuple(draft.when),
    )
    return changed_record, kinds, fields


def redact_offer(record: Record, *, strict: bool) -> Offer:
    """Return the record, redacted in all fields, as "added" until the log is asked, or refused."""
    kinds: tuple[str, ...] = ()
    try:
        for name, used_bytes in too_long_fields_in(record).items():
            if len(getattr(record, name)) > MOST_REDACTED_CHARS:
                raise field_too_long(name, used_bytes, LIMITS_BYTES[name])
        clean_copy, secrets = redact_fields(record)
        kinds = tuple(kind for _, kind in secrets)
        if secrets and strict:
            raise _secret_refused(secrets)
        check_draft(_draft_of(clean_copy))
        paths = normalise_paths(clean_copy.paths, most=None)
        when = normalise_triggers(clean_copy.when, most=None)
    except SentinelError as error:
        return Offer(record=record, status="refused", secret_kinds=kinds, error=error)
    former = clean_copy.former if clean_copy.gap == record.gap else ()  # none has another id
    clean_copy = replace(
        clean_copy, id=record_id(clean_copy), paths=paths, when=when, former=former
    )
    return Offer(record=with_marks(clean_copy, record), status="added", secret_kinds=kinds)


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


def redact_fields(record: Record) -> tuple[Record, list[tuple[str, str]]]:
    """Return the record without secrets in any field, and each secret's field and kind.

    A trigger with a secret goes whole: with a marker it would stand nowhere.
    """
    from core.sanitizer import look_at, redact, secret_values_in

    meta = {name: getattr(record, name) for name in _META_TEXTS}
    pieces = {name: (value,) if isinstance(value, str) else value for name, value in meta.items()}
    doubts = [text for texts in pieces.values() for text in texts if not _HARMLESS.fullmatch(text)]
    look = look_at((*record.texts, *doubts))
    if not (record.extra or record.meta_extra or look.may_hold):
        topic = normalise_topic(record.topic)
        return record if topic == record.topic else replace(record, topic=topic), []
    values, secrets = dict[str, Any](), list[tuple[str, str]]()
    passwords = secret_values_in(record.texts, look)  # one field names it, another may only use it
    for name in LIMITS_BYTES if passwords else ():
        values[name], kinds = redact(getattr(record, name), passwords, look)
        secrets += [(name, kind) for kind in kinds]
    values["topic"] = normalise_topic(values.get("topic", record.topic))
    for name, texts in pieces.items():
        kept_texts = list[str]()
        for piece in texts:
            is_plain = _HARMLESS.fullmatch(piece)
            text, kinds = (piece, ()) if is_plain else redact(piece, passwords, look)
            secrets += [("meta", kind) for kind in kinds]
            if name != "when" or text == piece:
                kept_texts.append(text)
        values[name] = kept_texts[0] if isinstance(meta[name], str) else tuple(kept_texts)
    for name, field in (("meta_extra", "meta"), ("extra", "other_keys")):
        values[name], member_kinds = _redact_members(getattr(record, name))
        secrets += [(field, kind) for kind in member_kinds]
    return replace(record, **values), secrets


def _redact_members(members: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Clean unknown keys, each as text and then, with its name, as JSON.

    A value whose JSON breaks (a number that is a password) goes whole.
    """
    from core.sanitizer import MARKER, redact

    pairs, secret_kinds = list[tuple[str, Any]](), list[str]()

    def redact_text(text: str) -> str:
        text, kinds = redact(text)
        secret_kinds.extend(kinds)
        return text

    for name, value in members.items():
        member = map_texts({name: value}, redact_text)
        text, kinds = redact(json.dumps(member, ensure_ascii=False))
        if kinds:
            secret_kinds += kinds
            try:
                member = json.loads(text)
            except ValueError:
                member = dict.fromkeys(member, MARKER)
        pairs += member.items()
    return members_from(pairs), secret_kinds
