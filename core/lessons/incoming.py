"""Takes the secrets out of drafts and records, and checks them, before anything is stored."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from core.errors import RefusedError, SentinelError, field_too_long
from core.lessons.anchors import normalise_paths, normalise_triggers
from core.lessons.changes import Fate
from core.lessons.record import (
    LIMITS_BYTES,
    Draft,
    Record,
    check,
    marked,
    record_id,
    record_of,
    reidentified,
)

MOST_REDACTED_CHARS = 32_768
MOST_KEPT_CHARS = 8_192
_META_FIELDS = (
    "created updated compacted_at source_count source_ids former extra meta_extra".split()
)


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
    given = whole.get("meta") or {}
    if whole["type"] not in ("log", "principle"):
        raise RefusedError("unknown_type")
    if not isinstance(given, dict):
        raise RefusedError("record_form", field="meta")
    whole["meta"] = {"created": "", **given}
    record = record_of(whole)
    if not record:
        wrong = [name for name in LIMITS_BYTES if not isinstance(whole.get(name, ""), str | None)]
        raise RefusedError("record_form", field=", ".join(wrong) or "meta")
    fields = {name: getattr(record, name) for name in _META_FIELDS}
    draft = replace(
        _draft_of(record),
        ask_next_time=line.get("ask_next_time"),
        paths=record.paths if "paths" in given else None,
        when=record.when if "when" in given else None,
    )
    return draft, {name: value for name, value in fields.items() if value}


def redacted_draft(
    draft: Draft, *, project: str = "", strict: bool
) -> tuple[Draft, tuple[str, ...], tuple[str, ...]]:
    """Return the draft as it may be stored, the kinds of replaced secrets, and suspicious fields.

    Topic, question and paths stay as they came, suspicious or not. project: its directory, which
    paths lose. Raises what `check`, `normalise_paths` and `normalise_triggers` raise, and
    RefusedError for a secret in a trigger, or in any field when strict.
    """
    paths, when = draft.paths, draft.when
    paths = None if paths is None else normalise_paths(paths, project)
    when = None if when is None else normalise_triggers(when)
    return _redacted(replace(draft, paths=paths, when=when), strict=strict)


def _redacted(draft: Draft, *, strict: bool) -> tuple[Draft, tuple[str, ...], tuple[str, ...]]:
    """Return what `redacted_draft` does of a draft with normalised paths and triggers.

    A secret in a trigger is always refused: redacted it would stand nowhere, and its words say
    nothing that would be lost.
    """
    # Only a save needs the table of formats; a server that is first searched starts faster.
    from core.sanitizer import redact_together

    texts = {name: getattr(draft, name) or "" for name in LIMITS_BYTES}
    _check_redactable(texts)
    texts["paths"], texts["when"] = "\n".join(draft.paths or ()), "\n".join(draft.when or ())
    found = dict(zip(texts, redact_together([*texts.values()]), strict=True))
    with_secrets = [name for name, redaction in found.items() if redaction.kinds]
    if fields := [name for name in with_secrets if strict or name == "when"]:
        kinds = dict.fromkeys(kind for name in fields for kind in found[name].kinds)
        raise RefusedError("secret_refused", fields=", ".join(fields), kinds=", ".join(kinds))
    missing_context, lesson = found["missing_context"], found["lesson"]
    clean = check(replace(draft, missing_context=missing_context.text, lesson=lesson.text))
    suspicious = tuple(name for name in ("topic", "ask_next_time", "paths") if found[name].kinds)
    return clean, missing_context.kinds + lesson.kinds, suspicious


def redacted_record(record: Record, *, strict: bool) -> tuple[Record, tuple[str, ...]]:
    """Return the record as a save stores it, and the kinds of replaced secrets."""
    draft, kinds, _ = redacted_draft(_draft_of(record), strict=strict)
    if not kinds:
        return record, ()
    changed = replace(
        record, id=record_id(draft), missing_context=draft.missing_context, lesson=draft.lesson
    )
    return changed, kinds


def redacted_renewals(
    changed: Mapping[str, Record], *, project: str, strict: bool
) -> tuple[dict[str, Record], tuple[str, ...], tuple[str, ...]]:
    """Return records under new texts, by version id, as saves store them; then as `redacted_draft`.

    The error of one among several names its record; a topic is the same for all.
    """
    records: dict[str, Record] = {}
    kinds: list[str] = []
    suspicious: list[str] = []
    for token, record in changed.items():
        try:  # a principle may have more paths and triggers than one save takes
            paths = normalise_paths(record.paths, project, most=None)
            when = normalise_triggers(record.when, most=None)
            given = replace(_draft_of(record), paths=paths, when=when)
            draft, replaced, fields = _redacted(given, strict=strict)
        except SentinelError as error:
            if len(changed) > 1 and error.facts.get("field") != "topic":
                error.record = token
            raise
        records[token] = replace(
            record,
            topic=draft.topic,
            missing_context=draft.missing_context,
            lesson=draft.lesson,
            paths=paths,
            when=when,
        )
        kinds += replaced
        suspicious += fields
    return records, tuple(kinds), tuple(dict.fromkeys(suspicious))


def redacted_offer(record: Record, *, strict: bool) -> Offer:
    """Return the record, no secret in any field, with the id of its text, or why it is refused.

    "added" is provisional: only the log can say whether it has the record already.
    """
    from core.lessons.clean_record import clean_record

    kinds: tuple[str, ...] = ()
    try:
        _check_redactable(dict(zip(LIMITS_BYTES, record.texts, strict=True)))
        clean, found = clean_record(record)
        kinds = tuple(kind for _, kind in found)
        if strict and found:
            fields = ", ".join(dict.fromkeys(name for name, _ in found))
            raise RefusedError(
                "secret_refused", fields=fields, kinds=", ".join(dict.fromkeys(kinds))
            )
        clean, more = redacted_record(clean, strict=strict)
        paths = normalise_paths(clean.paths, most=None)
        when = normalise_triggers(clean.when, most=None)
    except SentinelError as error:
        return Offer(record=record, fate="refused", redacted=kinds, error=error)
    clean = reidentified(replace(clean, paths=paths, when=when))
    if clean.gap != record.gap:  # no older version of it has this id
        clean = replace(clean, former=())
    return Offer(record=marked(clean, record), fate="added", redacted=kinds + more)


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
