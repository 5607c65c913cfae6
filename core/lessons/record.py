"""One memory: its fields and limits, its id, and the line of JSON that holds it.

Pure; the time comes in as text. `docs/format.md` describes the line for other programs.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import isfinite
from typing import Any, Literal

from core.errors import RefusedError, field_too_long
from core.guard.injection import MARKS, marks_of
from core.text.plain import CACHED_DATES, SURROGATE, digest, normal_form, seconds_of

RecordType = Literal["log", "principle"]

LIMITS_BYTES = {"topic": 64, "missing_context": 1024, "lesson": 1024, "ask_next_time": 512}
MOST_LINE_BYTES = 1_048_576  # no tool of ours writes a longer one; format.md names it
MOST_COUNTED = 999_999_999
MOST_NESTED = 100  # levels of one value
MOST_FORMER = 16
ID_DIGITS = 16
FINGERPRINT_DIGITS = 6
CACHED_LINES = 2_048
CACHED_TOPICS = 1_024

# The keys of `meta` beside `created`, by the kind of their values. A key more also goes into Draft,
# Record and `new_record`; `log_memory` of server.py; `redact_draft`, `redact_record`,
# `redact_offer`, `draft_from` and _META_TEXTS of draft.py; `_values_of`, `upsert`,
# `_join_versions`, `join_records`, `_content_of` of changes.py; `record_block` of record_text.py,
# if a model reads it; `item_of` of rooms/lessons.py and FIELDS of commands/rooms/lesson.py, for
# people; docs/format.md.
_META_KINDS = {  # in the order of the line
    "updated": "text",
    "seen": "count",
    "compacted_at": "text",
    "source_count": "count",
    **dict.fromkeys(("source_ids", "former", "marks", "paths", "when"), "texts"),
}
_META_KEYS = frozenset(("created", *_META_KINDS))
_KEYS = frozenset("id type topic missing_context lesson ask_next_time meta".split())
_OMITTED_VALUES: tuple[object, ...] = ("", (), None)  # values that a line leaves out
_JSON_BLANKS = " \t\r\n"
_LEAST_LINE_BYTES = 64  # the required keys alone are more


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory before it is saved: the words of a model, without id and dates.

    None for `ask_next_time`, `paths` or `when` keeps the stored value; "" or () removes it.
    """

    topic: str
    lesson: str
    missing_context: str = ""
    ask_next_time: str | None = None
    type: str = "log"
    paths: str | Sequence[str] | None = None
    when: str | Sequence[str] | None = None
    other_fields: Mapping[str, Any] = field(default_factory=dict)  # that a program may set


@dataclass(slots=True, kw_only=True)  # a frozen one takes a quarter longer to read a long log
class Record:
    """One memory as it stands in the log, never changed: versions of a log share it."""

    id: str
    type: RecordType
    topic: str
    missing_context: str
    lesson: str
    ask_next_time: str = ""
    created: str  # this and other dates: ISO 8601 in UTC
    updated: str = ""
    seen: int = 1  # how often the same gap was logged
    compacted_at: str = ""
    source_count: int | None = None  # how many originals a principle replaced; None: not known
    source_ids: tuple[str, ...] = ()  # their version ids: a merge cannot bring them back beside it
    former: tuple[str, ...] = ()  # fingerprints of the versions that it follows, the oldest first
    marks: tuple[str, ...] = ()  # kinds of text that read like an order to a model
    paths: tuple[str, ...] = ()  # the files that it is about, see `core.lessons.anchors`
    when: tuple[str, ...] = ()  # its triggers, described there as well
    # Keys that this version of the program does not know: they survive every rewrite.
    meta_extra: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def gap(self) -> tuple[str, str, str]:
        """Type, topic and key text, the same in all versions; the last two decide the id."""
        key_text = self.missing_context if self.type == "log" else self.lesson
        return self.type, self.topic, key_text

    @property
    def key_text(self) -> str:
        return self.gap[2]

    @property
    def texts(self) -> tuple[str, str, str, str]:
        """The words that a model reads."""
        return self.topic, self.missing_context, self.lesson, self.ask_next_time

    @property
    def moments(self) -> tuple[str, str, str]:
        return self.created, self.updated, self.compacted_at

    @property
    def version_id(self) -> str:
        """The version id (`id@fp`)."""
        return f"{self.id}@{self.fingerprint()}"

    def fingerprint(self) -> str:
        """Return hex digits over all stored values, whatever the spacing, key order, line ends."""
        canonical = json.dumps(self.as_json(), sort_keys=True, separators=(",", ":"))
        return digest(canonical)[:FINGERPRINT_DIGITS]

    def as_json(self) -> dict[str, Any]:
        """Return the object of the line, keys in order."""
        meta: dict[str, Any] = {"created": self.created}
        for name in _META_KINDS:
            value = getattr(self, name)
            if value not in _OMITTED_VALUES and (name != "seen" or value > 1):
                meta[name] = list(value) if isinstance(value, tuple) else value
        line: dict[str, Any] = {
            "id": self.id,
            "type": self.type,
            "topic": self.topic,
            "missing_context": self.missing_context,
            "lesson": self.lesson,
        }
        if self.ask_next_time:
            line["ask_next_time"] = self.ask_next_time
        meta.update(self.meta_extra)
        line["meta"] = meta
        line.update(self.extra)
        return line

    def to_line(self) -> bytes:
        r"""Return the line with its `\n`; UTF-8, other scripts unescaped."""
        text = _ENCODER.encode(self.as_json())
        if SURROGATE.search(text):  # another program's record: only escapes can carry it
            text = json.dumps(self.as_json())
        return text.encode("utf-8") + b"\n"

    def version_ids(self) -> tuple[str, ...]:
        """Return the version ids of this version and its predecessors."""
        return (self.version_id, *(f"{self.id}@{fingerprint}" for fingerprint in self.former))

    def version_key(self) -> tuple[float, int, bytes]:
        """Return a sort key for versions of one id, the same in every clone."""
        return (seconds_of(self.updated or self.created), self.seen, self.to_line())


def _finite_number(text: str) -> float:
    number = float(text)
    if not isfinite(number):  # 1e999 would be written back as Infinity, which is no JSON
        raise ValueError(text)
    return number


_ENCODER = json.JSONEncoder(ensure_ascii=False)
DECODER = json.JSONDecoder(parse_float=_finite_number, parse_constant=_finite_number)


def parse_line(line: bytes) -> Record | None:
    """Return the record of one line, None where the line holds no complete record."""
    if not _LEAST_LINE_BYTES <= len(line) <= MOST_LINE_BYTES:  # reading more takes too long
        return None
    try:
        text = line.decode("utf-8").strip(_JSON_BLANKS)
        value, end = DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if end < len(text) or not isinstance(value, dict) or is_too_deep(line, value):
        return None
    return record_of(value)


# A server reads the same lines at every call. A file longer than the cache would push its own lines
# out before they are read again.
cached_parse_line = lru_cache(maxsize=CACHED_LINES)(parse_line)


def is_too_deep(line: bytes, value: object) -> bool:
    if line.count(b"[") + line.count(b"{") <= MOST_NESTED:
        return False
    level = [value]
    for _ in range(MOST_NESTED):
        boxes = [item for item in level if isinstance(item, dict | list)]
        level = [item for box in boxes for item in (box.values() if isinstance(box, dict) else box)]
    return bool(level)


def record_of(members: dict[str, Any]) -> Record | None:
    """Return the record of a JSON object, None where `find_wrong_key` names a key."""
    if find_wrong_key(members):
        return None
    meta = members["meta"]
    fields: dict[str, Any] = {
        key: tuple(item) if isinstance(item, list) else item
        for key, item in meta.items()
        if key in _META_KINDS
    }
    return Record(
        id=members["id"],
        type="log" if members["type"] == "log" else "principle",  # one text for all records
        topic=normalise_topic(members["topic"]),  # a filter must find what a person typed
        missing_context=members["missing_context"],
        lesson=members["lesson"],
        ask_next_time=members.get("ask_next_time") or "",
        created=_shared_text(meta["created"]),
        **fields,
        meta_extra=_unknown_members(meta, _META_KEYS),
        extra=_unknown_members(members, _KEYS),
    )


_shared_text = lru_cache(maxsize=CACHED_DATES)(str)  # one text for the records of one moment
_NO_MEMBERS: Mapping[str, Any] = {}  # one for all records: there may be many


def _unknown_members(members: Mapping[str, Any], known_keys: frozenset[str]) -> Mapping[str, Any]:
    if members.keys() <= known_keys:
        return _NO_MEMBERS
    return {key: item for key, item in members.items() if key not in known_keys}


def find_wrong_key(members: Mapping[str, Any]) -> str:
    """Return the first missing or unfit key, as `meta.created`; "" for none."""
    if not isinstance(members.get("id"), str) or not members["id"].strip():
        return "id"
    if members.get("type") not in ("log", "principle"):
        return "type"
    for key in ("topic", "missing_context", "lesson"):
        if not isinstance(members.get(key), str):
            return key
    if not isinstance(members.get("ask_next_time", ""), str | None):
        return "ask_next_time"
    meta = members.get("meta")
    if not isinstance(meta, dict):
        return "meta"
    if not isinstance(meta.get("created"), str):
        return "meta.created"
    for key, item in meta.items():
        kind = _META_KINDS.get(key)
        if kind == "texts":
            fits = isinstance(item, list) and all(isinstance(text, str) for text in item)
        elif kind == "count":
            fits = type(item) is int and 0 <= item <= MOST_COUNTED  # True is an int as well
        else:
            fits = kind is None or isinstance(item, str)
        if not fits:
            return f"meta.{key}"
    return ""


def has_surrogate(record: Record) -> bool:
    """Return whether a text holds half of a character, which UTF-8 cannot carry."""
    return bool(SURROGATE.search(_ENCODER.encode(record.as_json())))


def too_long_fields_in(record: "Draft | Record") -> dict[str, int]:
    """Return the bytes of each text above its limit."""
    texts = {name: getattr(record, name) or "" for name in LIMITS_BYTES}
    sizes = {name: len(text.encode("utf-8", "surrogatepass")) for name, text in texts.items()}
    return {name: size for name, size in sizes.items() if size > LIMITS_BYTES[name]}


def id_in(version_id: str) -> str:
    """Return the id in `id@fp`."""
    return version_id.rpartition("@")[0]


def ids_in(version_ids: Iterable[str]) -> set[str]:
    return set(map(id_in, version_ids))


def is_version_id(text: str) -> bool:
    """Return whether a text is a version id (`id@fp`)."""
    return re.fullmatch(r".+@[0-9a-f]{6}", text, re.S) is not None


@lru_cache(maxsize=CACHED_TOPICS)  # few topics, many records
def normalise_topic(topic: str) -> str:
    """Return the topic as it is hashed, stored and filtered: trimmed, NFC; case is kept."""
    return normal_form("NFC", topic).strip()


def check_draft(draft: Draft) -> Draft:
    """Return the draft, its topic normalised. Raises RefusedError for a breach of the format.

    Redact and normalise paths before: limits hold for stored text.
    """
    if draft.type not in ("log", "principle"):
        raise RefusedError("unknown_type")
    if (topic := normalise_topic(draft.topic)) != draft.topic:
        draft = replace(draft, topic=topic)
    required_texts = {"topic": draft.topic, "lesson": draft.lesson}
    if draft.type == "log":
        required_texts["missing_context"] = draft.missing_context
    for name, text in required_texts.items():
        if not text.strip():
            raise RefusedError("blank_field", field=name)
    for name in LIMITS_BYTES:
        if SURROGATE.search(getattr(draft, name) or ""):
            raise RefusedError("lone_surrogate", field=name)
    for name, used_bytes in too_long_fields_in(draft).items():
        raise field_too_long(name, used_bytes, LIMITS_BYTES[name])
    return draft


def record_id(draft: "Draft | Record") -> str:
    """Return SHA-256's first 16 hex digits over topic + missing_context (log) or topic + lesson."""
    key_text = draft.missing_context if draft.type == "log" else draft.lesson
    return digest(f"{draft.topic}{key_text}")[:ID_DIGITS]


def with_own_id(record: Record) -> Record:
    """Return the record with the id of its text, which a hand may have changed."""
    return record if has_surrogate(record) else replace(record, id=record_id(record))


def new_record(draft: Draft, *, now: str) -> Record:
    is_principle = draft.type == "principle"
    return Record(
        id=record_id(draft),
        type="principle" if is_principle else "log",
        topic=draft.topic,
        missing_context=draft.missing_context,
        lesson=draft.lesson,
        ask_next_time=draft.ask_next_time or "",
        created=now,
        compacted_at=now if is_principle else "",
        paths=tuple(draft.paths or ()),
        when=tuple(draft.when or ()),
    )


def with_marks(record: Record, earlier_version: Record | None = None) -> Record:
    """Return the record with the marks of its texts.

    Marks of a later program stay while the texts equal those of `earlier_version`.
    """
    marks = marks_of(*record.texts)
    if earlier_version and earlier_version.marks and earlier_version.texts == record.texts:
        marks += tuple(name for name in earlier_version.marks if name not in MARKS)
    return record if marks == record.marks else replace(record, marks=marks)


def split_version_ids(version_ids: str | Sequence[str]) -> tuple[str, ...]:
    """Split version ids in a list, or in a text with commas, blanks or JSON."""
    texts = [version_ids] if isinstance(version_ids, str) else version_ids
    parts = [part for text in texts for part in re.split(r"[\s,;\[\]\"'`]+", text)]
    return tuple(dict.fromkeys(part for part in parts if part))
