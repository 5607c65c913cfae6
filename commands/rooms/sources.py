"""Finds the rooms that a file has something for: an export, a log, a text of others.

A statement becomes a principle, since a log would need an invented gap. Its id comes from its
words, so that a second import recognises it. A file of server-memory has one entity or relation on
a line, in JSON: `src/memory/index.ts` in github.com/modelcontextprotocol/servers.
"""

import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from commands.clients.text_file import check_inside
from core.disk import errors_as
from core.errors import RefusedError
from core.lessons import record
from core.lessons.log import BOM, UTF_16_BOMS, split_lines
from core.messages import say
from core.sanitizer import redact
from core.text.plain import SURROGATE, normal_form, utc_now
from rooms.room import LESSONS, Intake, Refusal, Row, room_names

FORMAT, VERSION = "sentinel-memory-export", 2
# Tells an import that a document lacks parts of what it shows.
MARKER = "<!-- sentinel-memory export: to import the memory again, use --format jsonl -->"
STDIN, SHOWN_STDIN = "-", "<stdin>"
MOST_BYTES = 512_000_000  # fits 100,000 fragments with their former versions several times
MOST_TEXT_BYTES = 5_000_000  # of a text by somebody else
GENERAL = "general"
MOST_NAME_CHARS = 500

_MOST_LOOKED_LINES = 1_000  # lines that decide what a file holds
_HEAD_BYTES = 65_536
_SQLITE = b"SQLite format 3\0"
_FRAGMENTS = re.compile(rb'CREATE TABLE (?:IF NOT EXISTS )?["`\[]?(?:memory_item|fragments)\b')
_SESSIONS = re.compile(rb'\A\s*[{\[].*?"(?:contexts|currentWork|startedAt)"\s*:', re.S)
_MARKS = re.compile(rb"^(?:<{7}|>{7})(?= |\r*$)", re.M)  # of a conflict
# Exports for people, of this and of older versions.
_DOCUMENTS = re.compile(b'<!-- sentinel-memory(?: export|-sessions|-fragments):|"data">{"items":')
_KEY_PAIRS = (("content", "topic"), ("from_id", "to_id"), ("fragment_id", "content"))
# Parts without lessons: the reason, the beginning, the end.
_SKIPPED_PARTS = (
    ("ours", r"<!-- sentinel-memory [a-z-]+: begin -->", r"<!-- sentinel-memory [a-z-]+: end -->"),
    ("comment", r"<!--", r"-->"),
    ("code", r"(?P<fence>```+|~~~+)", r"{fence}\s*+\Z"),
)
_HEADING = re.compile(r"#{1,6}[ \t]++(?:\d++[.)][ \t]++)?(.*+)")
_BULLET = re.compile(r"(?P<indent>\s*)(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(?P<text>.*)")
_ELSEWHERE = re.compile(r"\[[^\]]*\]\(#[^)]*\)|@\S+")  # in a table of contents, in another file
_WORD = re.compile(r"[^\W_]+")
# These titles name the kind of file, not the topic of its lessons.
_TITLES = frozenset("claude agents memory memories lessons rules instructions index md".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The contents of a file. form: its kind; by_room: for each room; refusals: for none."""

    path: str
    form: str
    by_room: dict[str, Intake]
    refusals: list[Refusal]

    @property
    def has_statements(self) -> bool:
        """Whether its lessons are made of statements."""
        return self.form in ("server_memory", "markdown")

    def with_topics(self, topic_for: Callable[[str], str]) -> "Source":
        """Return the source with other topics of its lessons."""

        def with_topic(row: Row) -> Row:
            data = row.data
            if not isinstance(data, dict) or not isinstance(data.get("meta"), dict):
                return row
            topic = topic_for(str(data.get("topic")))
            meta = {key: value for key, value in data["meta"].items() if key != "former"}
            return Row(row.number, {**data, "topic": topic, "meta": meta})

        intake = self.by_room[LESSONS]
        changed_intake = replace(intake, rows=[with_topic(row) for row in intake.rows])
        return replace(self, by_room={**self.by_room, LESSONS: changed_intake})


def read_source(name: str, root: Path, rooms: Sequence[str], agent: str) -> Source:
    """Read a file, or standard input for `-`; its content decides its form.

    root: of the project, whose links are not followed out of it. rooms: only these get something,
    and the first reads a file of others. agent: see `Intake`. Raises RefusedError, ExportError.
    """
    shown_name, path = SHOWN_STDIN if name == STDIN else name, Path(name)
    if name != STDIN:
        check_inside(path, root, is_named=True)
        if os.path.isdir(path):
            from rooms.sessions.source import holds_sessions

            if holds_sessions(path):
                return _source_for("sessions", Intake(path=shown_name, file=path))
    data = _read_bytes(name, shown_name)
    if data.startswith(_SQLITE):
        room = "fragments" if _FRAGMENTS.search(data[:_HEAD_BYTES]) else "sessions"
        return _source_for(room, Intake(path=shown_name, file=path, agent=agent))
    data = _check_text(shown_name, data)
    rows = list[Row]()  # of the lines that are not blank, None for invalid JSON
    for number, line in enumerate(split_lines(data), start=1):
        if line.strip():
            value = _decode(line)
            rows.append(Row(number, None if record.is_too_deep(line, value) else value))
    form = _form_of(rows, data)
    if form == "export":
        return _source_of_export(rows, shown_name, rooms, agent)
    for room in (*rooms, form):
        if room not in (LESSONS, "log") and room in room_names():
            return _source_for(room, Intake(path=shown_name, data=data, agent=agent))
    return _source_of_lessons(form, rows, data, shown_name)


def _source_for(room: str, intake: Intake) -> Source:
    return Source(path=intake.path, form=room, by_room={room: intake}, refusals=[])


def _read_bytes(name: str, shown_name: str) -> bytes:
    with errors_as(RefusedError, "import.unreadable", shown_name):
        if name == STDIN:
            if not sys.stdin:
                raise RefusedError("import.unreadable", path=shown_name, reason="closed")
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            if not stat.S_ISREG(os.stat(name).st_mode):  # opening a pipe blocks
                raise RefusedError("import.not_regular", path=shown_name)
            with open(name, "rb") as file:
                data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise RefusedError("import.too_large", path=shown_name, most=MOST_BYTES)
    return data


def _check_text(path: str, data: bytes) -> bytes:
    """Return a sound UTF-8 text; refuse an export for people. Raises RefusedError."""
    if data.startswith(UTF_16_BOMS):
        raise RefusedError("import.utf_16", path=path)
    if b"\0" in data:
        raise RefusedError("import.binary", path=path)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RefusedError("import.not_utf_8", path=path, line=line) from None
    data = data.removeprefix(BOM)
    start_line = 0
    for marker in _MARKS.finditer(data):
        if marker[0] == b"<<<<<<<":
            start_line = data.count(b"\n", 0, marker.start()) + 1
        elif start_line:
            raise RefusedError("import.conflict", path=path, line=start_line)
    if _DOCUMENTS.search(data):
        raise RefusedError("import.exported_document", path=path)
    return data


def _form_of(rows: Sequence[Row], data: bytes) -> str:
    counts = Counter(_form_of_line(row.data) for row in rows[:_MOST_LOOKED_LINES])
    form, count = counts.most_common(1)[0] if counts else ("", 0)
    if form and 2 * count >= len(rows[:_MOST_LOOKED_LINES]):
        return form
    if _SESSIONS.search(data[:_HEAD_BYTES]):
        return "sessions"
    is_json = _decode(data) is not None or (rows and all(row.data is not None for row in rows))
    is_page = data.lstrip()[:9].lower().startswith((b"<!doctype", b"<html"))
    return "document" if is_json or is_page else "markdown"


def _form_of_line(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    if value.get("format") == FORMAT or ("row" in value and "room" in value):
        return "export"
    if record.record_of(value):
        return "log"
    if value.get("type") in ("entity", "relation"):
        return "server_memory"
    is_row = any(all(key in value for key in pair) for pair in _KEY_PAIRS) and "lesson" not in value
    return "fragments" if is_row or value.get("format") == "sentinel-memory-fragments" else ""


def _source_of_export(rows: Sequence[Row], path: str, rooms: Sequence[str], agent: str) -> Source:
    rows_by_room, refusals, names = dict[str, list[Row]](), list[Refusal](), room_names()
    for number, value in rows:
        line = value if isinstance(value, dict) else {}
        room = line.get("room")
        if line.get("format") == FORMAT:
            if line.get("version") != VERSION:
                version = str(line.get("version"))[:20]
                raise RefusedError("import.newer", path=path, version=version)
        elif room in names and "row" in line:
            rows_by_room.setdefault(room, []).append(Row(number, line["row"]))
        else:
            refusals.append(Refusal(str(number), say("import.passed_no_room")))
    by_room = {
        room: Intake(path=path, rows=rows_by_room[room], agent=agent)
        for room in names
        if room in rows_by_room and room in (rooms or names)
    }
    return Source(path=path, form="export", by_room=by_room, refusals=refusals)


def _source_of_lessons(form: str, rows: Sequence[Row], data: bytes, path: str) -> Source:
    refusals = list[Refusal]()
    if form == "document":
        document = _decode(data)
        is_former = isinstance(document, dict) and document.get("format") == FORMAT
        records = document.get("records") if is_former else None
        if not isinstance(records, list):
            raise RefusedError("import.unknown_format", path=path)
        rows = [Row(number, value) for number, value in enumerate(records, 1)]
    elif form != "log":
        if len(data) > MOST_TEXT_BYTES:
            raise RefusedError("import.text_too_large", path=path, most=MOST_TEXT_BYTES)
        if form == "server_memory":
            rows, refusals = lessons_in_server_memory(rows, utc_now())
        else:
            rows, refusals = lessons_in_markdown(data.decode("utf-8"), utc_now())
    by_room = {LESSONS: Intake(path=path, rows=rows)}
    return Source(path=path, form=form, by_room=by_room, refusals=refusals)


def _decode(data: bytes) -> Any:
    """Decode JSON; None for any other text."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return record.DECODER.decode(data.decode("utf-8").strip())
    except (ValueError, RecursionError):
        return None


# statements


class _Bullet(NamedTuple):
    line: int
    topic: str
    lines: list[str]


def lessons_in_markdown(text: str, now: str) -> tuple[list[Row], list[Refusal]]:
    """Return a lesson for each bullet at the left edge, and the lines passed over.

    The heading above a bullet gives the topic.
    """
    bullets, refusals, topic = list[_Bullet](), list[Refusal](), GENERAL
    bullet_lines, end = list[str](), ""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    for number, line in enumerate(text.split("\n"), 1):
        bare_line, rest = line.strip(), line
        for reason, opening, closing in () if end else _SKIPPED_PARTS:
            if match := re.match(opening, bare_line):
                end, rest = closing.format(**match.groupdict()), bare_line[match.end() :]
                refusals.append(Refusal(str(number), say(f"import.passed_{reason}")))
                bullet_lines = []
                break
        if end:
            end = "" if re.search(end, rest) else end
        elif heading := _HEADING.match(line):
            words = {*_WORD.findall(heading[1].lower())}
            topic = GENERAL if words <= _TITLES else topic_of(heading[1])
            bullet_lines = []
        elif (bullet := _BULLET.match(line)) and not bullet["indent"]:
            bullet_lines = [bullet["text"].strip()]
            bullets.append(_Bullet(number, topic, bullet_lines))
        elif bullet:
            refusals.append(Refusal(str(number), say("import.passed_nested")))
            bullet_lines = []
        elif not _WORD.search(bare_line):
            bullet_lines = []
        elif bullet_lines:
            bullet_lines.append(bare_line)
        else:
            refusals.append(Refusal(str(number), say("import.passed_prose")))
    rows = list[Row]()
    for item in bullets:
        statement = " ".join(item.lines).strip()
        if not _WORD.search(statement) or _ELSEWHERE.fullmatch(statement):
            refusals.append(Refusal(str(item.line), say("import.passed_no_lesson")))
            continue
        rows.append(_principle_row(item.topic, statement, item.line, now))
    return rows, refusals


def lessons_in_server_memory(values: Iterable[Row], now: str) -> tuple[list[Row], list[Refusal]]:
    """Return observations as lessons on their entity, and the lines passed over."""
    rows, refusals = list[Row](), list[Refusal]()
    for number, value in values:
        is_entity = isinstance(value, dict) and isinstance(value.get("name"), str)
        observations = value.get("observations") if is_entity else None
        texts = observations if isinstance(observations, list) else []
        for text in texts:
            if isinstance(text, str) and text.strip() and not SURROGATE.search(text):
                rows.append(_principle_row(topic_of(value["name"]), text.strip(), number, now))
            else:
                refusals.append(Refusal(str(number), say("import.passed_no_text")))
        if not texts:
            key = "import.passed_no_observations" if value else "import_fragments.passed_not_json"
            refusals.append(Refusal(str(number), say(key)))
    return rows, refusals


def topic_of(name: str) -> str:
    """Return a topic for a name, cut between words at the limit.

    >>> topic_of("DB Migration")
    'db-migration'

    The name is redacted first: nobody would recognise a part of a secret.
    """
    name = normal_form("NFC", redact(name[:MOST_NAME_CHARS]).text)
    words, limit, topic = _WORD.findall(name.lower()), record.LIMITS_BYTES["topic"], ""
    for word in words:
        longer_topic = f"{topic}-{word}" if topic else word
        if len(longer_topic.encode("utf-8", "replace")) > limit:
            break
        topic = longer_topic
    if words and not topic:
        topic = words[0].encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")
    return topic or GENERAL


def _principle_row(topic: str, lesson: str, line: int, now: str) -> Row:
    draft = record.Draft(topic=record.normalise_topic(topic), lesson=lesson, type="principle")
    return Row(line, record.new_record(draft, now=now).as_json())
