"""What may be stored of a text from outside: checked, and without the secrets in it."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from core.errors import RefusedError, SentinelError, field_too_long
from core.lessons.anchors import MOST_PATHS, MOST_TRIGGERS, normalise_paths, normalise_triggers
from core.lessons.record import (
    DECODER,
    LIMITS_BYTES,
    Draft,
    Record,
    check,
    marked,
    normalise_topic,
    record_id,
    record_of,
    reidentified,
    too_deep,
)

Fate = Literal["added", "known", "replaced", "collision", "refused"]

META, OTHERS = "meta", "other_keys"
MOST_REDACTED_CHARS = 32_768
MOST_KEPT_CHARS = 8_192

# What a program may give for a record beside its words, and what a cleaning reads beside them.
_GIVEN = "created updated compacted_at source_count source_ids former extra meta_extra".split()
_META_TEXTS = "id created updated compacted_at source_ids former marks paths when".split()
# An id, a version id, a fingerprint or a date as a program writes them holds no secret.
_HARMLESS = re.compile(r"[0-9a-f]{16}(?:@[0-9a-f]{6})?|[0-9a-f]{6}|[0-9]{4}-[0-9T:.+Z-]{6,30}|")


class Offer(NamedTuple):
    """One record from elsewhere: as it is stored, or would be, and its fate.

    redacted: one rule name for each replaced secret, for all fields. error: why it is refused.
    """

    record: Record
    fate: Fate
    redacted: tuple[str, ...] = ()
    error: SentinelError | None = None


def given_draft(line: Mapping[str, Any]) -> tuple[Draft, dict[str, Any]]:
    """Return the draft of a record in the form of the file, and what else a program gives of it.

    Its id follows from its texts, whatever the line says.
    Raises RefusedError where a value is of another kind than in the file.
    """
    needed = {"type": "log", "topic": "", "missing_context": "", "lesson": ""}
    whole = {**needed, **line, "id": "-"}
    meta = whole.get("meta") or {}
    if whole["type"] not in ("log", "principle"):
        raise RefusedError("unknown_type")
    if not isinstance(meta, dict):
        raise RefusedError("record_form", field="meta")
    whole["meta"] = {"created": "", **meta}
    record = record_of(whole)
    if not record:
        wrong = [name for name in LIMITS_BYTES if not isinstance(whole.get(name, ""), str | None)]
        raise RefusedError("record_form", field=", ".join(wrong) or "meta")
    draft = replace(
        _draft_of(record),
        ask_next_time=line.get("ask_next_time"),
        paths=record.paths if "paths" in meta else None,
        when=record.when if "when" in meta else None,
    )
    fields = {name: getattr(record, name) for name in _GIVEN}
    return draft, {name: value for name, value in fields.items() if value}


def redacted_draft(
    draft: Draft, *, project: str = "", strict: bool, is_edit: bool = False
) -> tuple[Draft, tuple[str, ...], tuple[str, ...]]:
    """Return the draft as it may be stored, the kinds of replaced secrets, and suspicious fields.

    Topic, question and paths stay as they came, suspicious or not. A secret in a trigger is always
    refused: redacted it would stand nowhere, and its words say nothing that would be lost.
    project: its directory, which paths lose. is_edit: of a record that is stored, which may have
    more paths and triggers than one save takes.

    Raises what `check`, `normalise_paths` and `normalise_triggers` raise, and RefusedError for a
    secret in a trigger, or in any field when strict.
    """
    # Only a save needs the table of formats; a server that is first searched starts faster.
    from core.sanitizer import redact_together

    paths, when = draft.paths, draft.when
    if paths is not None:
        paths = normalise_paths(paths, project, most=None if is_edit else MOST_PATHS)
    if when is not None:
        when = normalise_triggers(when, most=None if is_edit else MOST_TRIGGERS)
    texts = {name: getattr(draft, name) or "" for name in LIMITS_BYTES}
    _check_redactable(texts)
    texts["paths"], texts["when"] = "\n".join(paths or ()), "\n".join(when or ())
    found = dict(zip(texts, redact_together([*texts.values()]), strict=True))
    with_secrets = [name for name, redaction in found.items() if redaction.kinds]
    if fields := [name for name in with_secrets if strict or name == "when"]:
        kinds = dict.fromkeys(kind for name in fields for kind in found[name].kinds)
        raise RefusedError("secret_refused", fields=", ".join(fields), kinds=", ".join(kinds))
    missing_context, lesson = found["missing_context"], found["lesson"]
    clean = replace(
        draft, missing_context=missing_context.text, lesson=lesson.text, paths=paths, when=when
    )
    suspicious = tuple(name for name in ("topic", "ask_next_time", "paths") if found[name].kinds)
    return check(clean), missing_context.kinds + lesson.kinds, suspicious


def redacted_record(
    record: Record, *, project: str = "", strict: bool, is_edit: bool = False
) -> tuple[Record, tuple[str, ...], tuple[str, ...]]:
    """Return the record as a save stores it, and then as `redacted_draft`.

    Paths and triggers stay as they are, unless a person has just changed them (`is_edit`).
    """
    draft = _draft_of(record)
    if is_edit:
        draft = replace(draft, paths=record.paths, when=record.when)
    draft, kinds, suspicious = redacted_draft(
        draft, project=project, strict=strict, is_edit=is_edit
    )
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


def redacted_offer(record: Record, *, strict: bool) -> Offer:
    """Return the record, no secret in any field, with the id of its text, or why it is refused.

    "added" is provisional: only the log can say whether it has the record already.
    """
    kinds: tuple[str, ...] = ()
    try:
        _check_redactable(dict(zip(LIMITS_BYTES, record.texts, strict=True)))
        clean, found = clean_record(record)
        kinds = tuple(kind for _, kind in found)
        if strict and found:
            fields = ", ".join(dict.fromkeys(name for name, _ in found))
            named = ", ".join(dict.fromkeys(kinds))
            raise RefusedError("secret_refused", fields=fields, kinds=named)
        check(_draft_of(clean))
        paths = normalise_paths(clean.paths, most=None)
        when = normalise_triggers(clean.when, most=None)
    except SentinelError as error:
        return Offer(record=record, fate="refused", redacted=kinds, error=error)
    clean = reidentified(replace(clean, paths=paths, when=when))
    if clean.gap != record.gap:  # no older version of it has this id
        clean = replace(clean, former=())
    return Offer(record=marked(clean, record), fate="added", redacted=kinds)


def _check_redactable(texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        # No secret is so long that the rest could be stored; of these two none is taken out.
        kept = name in ("topic", "ask_next_time")
        if len(text) > (MOST_KEPT_CHARS if kept else MOST_REDACTED_CHARS):
            used_bytes = len(text.encode("utf-8", "surrogatepass"))
            limit_bytes = LIMITS_BYTES[name]
            raise field_too_long(field=name, used_bytes=used_bytes, limit_bytes=limit_bytes)


def _draft_of(record: Record) -> Draft:
    """Return the words of a record, its paths and triggers left out."""
    return Draft(
        topic=record.topic,
        missing_context=record.missing_context,
        lesson=record.lesson,
        ask_next_time=record.ask_next_time,
        type=record.type,
    )


# Every field, as a person asks for it after the fact, and as what is shown outside needs it.


def clean_record(record: Record) -> tuple[Record, list[tuple[str, str]]]:
    """Return the record without secrets in any field, and the field and kind of each one.

    A trigger with a secret goes as a whole: with a marker in it, it would stand nowhere.
    """
    from core.sanitizer import redact, values_in

    clean: dict[str, Any] = {}
    found: list[tuple[str, str]] = []
    known = values_in(record.texts)  # what one field calls a password, another may only use
    for name in LIMITS_BYTES if known else ():
        clean[name], kinds = redact(getattr(record, name), known)
        found += [(name, kind) for kind in kinds]
    clean["topic"] = normalise_topic(clean.get("topic", record.topic))
    for name in _META_TEXTS:
        value = getattr(record, name)
        pieces = list[str]()
        for piece in [value] if isinstance(value, str) else value:
            if _HARMLESS.fullmatch(piece):
                pieces.append(piece)
                continue
            text, kinds = redact(piece, known)
            found += [(META, kind) for kind in kinds]
            if name != "when" or text == piece:
                pieces.append(text)
        clean[name] = pieces[0] if isinstance(value, str) else tuple(pieces)
    meta_extra, meta_kinds = clean_members(record.meta_extra)
    extra, kinds_of_others = clean_members(record.extra)
    found += [(META, kind) for kind in meta_kinds] + [(OTHERS, kind) for kind in kinds_of_others]
    return replace(record, **clean, meta_extra=meta_extra, extra=extra), found


def clean_members(members: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Clean keys that we do not know, each as text and then, with its name, as JSON.

    Where the JSON would not be any more (a number that is a password), the whole value goes.
    """
    from core.sanitizer import MARKER, redact

    out: dict[str, Any] = {}
    found: list[str] = []
    for name, value in members.items():
        member, kinds = clean_value({name: value})
        text, more = redact(json.dumps(member, ensure_ascii=False))
        if more:
            parsed = json_value_in(text.encode("utf-8", "surrogatepass"))
            member = parsed if isinstance(parsed, dict) else dict.fromkeys(member, MARKER)
        for key, kept in member.items():
            out[_free(key, out)] = kept
        found += [*kinds, *more]
    return out, found


def clean_value(value: Any) -> tuple[Any, list[str]]:
    """Return a JSON value without the secrets in its texts and names of members."""
    from core.sanitizer import redact

    found: list[str] = []
    if isinstance(value, str):
        text, kinds = redact(value)
        return text, [*kinds]
    if isinstance(value, list):
        cleaned = [clean_value(item) for item in value]
        return [item for item, _ in cleaned], [kind for _, kinds in cleaned for kind in kinds]
    if isinstance(value, dict):
        out: dict[str, Any] = {}
        for name, item in value.items():
            (name, kinds), (item, more) = redact(name), clean_value(item)
            out[_free(name, out)] = item
            found += [*kinds, *more]
        return out, found
    return value, found


def _free(name: str, taken: Mapping[str, Any]) -> str:
    while name in taken:
        name += "_"
    return name


def json_value_in(content: bytes) -> Any:
    """Return the JSON object or list of a line, None for any other line."""
    if content.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        value = DECODER.decode(content.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return None if too_deep(content, value) else value
