"""Takes what a session has brought apart into fragments: each thing that was learnt by itself."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rooms.fragments import activity
from rooms.fragments.draft import Draft, Remembered, prepared, stored
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import (
    CONTENT_BYTES,
    DEFAULT_TOPIC,
    SUGGESTION_CHARS,
    Link,
    TaskFeedback,
)
from rooms.fragments.room import Room, named, writer
from rooms.fragments.storage.rows import Rows
from rooms.fragments.texts import Given, cleaned, keywords_of

ITEM_BYTES = 8_192
MOST_ITEMS = 50
QUESTION_KEYWORD = "open question"
_ENDS = re.compile(r"(?<=[.!?。！？…])[\"'”’)\]]*\s+|\n+")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """What a session has brought. summary: of all of it, needed; the others one thing each.

    topic: of all the fragments, "" for the default. source: where they come from. effectiveness:
    how the work went, None where nothing is said of it.
    """

    summary: str
    decisions: tuple[str, ...] = ()
    errors_resolved: tuple[str, ...] = ()
    new_procedures: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    topic: str = ""
    source: str = ""
    effectiveness: TaskFeedback | None = None


class Reflected(NamedTuple):
    """What was remembered, in the order of the reflection; some of it may have been there.

    parted: how many items were too long for one fragment, and became several. redacted: the kinds
    of secrets that were taken out.
    """

    saved: list[Remembered]
    parted: int = 0
    redacted: tuple[str, ...] = ()

    @property
    def new(self) -> int:
        """How many fragments are new."""
        return sum(it.is_new for it in self.saved)


class _Item(NamedTuple):
    """One thing that was learnt: the field that it was given in, and the type that it gets."""

    field: str
    type: str
    text: str


class _Ready(NamedTuple):
    """A reflection that may be stored: its items, without secrets; how the work went."""

    items: list[_Item]
    feedback: TaskFeedback | None
    redacted: tuple[str, ...]


def reflect(room: Room, reflection: Reflection, *, agent: str = "", session: str = "") -> Reflected:
    """Store each decision, error, procedure and open question by itself, and the summary.

    A text above the limit of a fragment becomes several, parted where sentences end and linked
    with the first. The session counts as reflected. All of it is stored or nothing. Raises
    FragmentsError, DatabaseError.
    """
    session = named("sessionId", session)
    ready = _prepared(reflection, strict=room.settings.strict)
    writer(room, agent)
    drafts = [
        [prepared(_draft(reflection, item, part)) for part in parts_of(item.text)]
        for item in ready.items
    ]
    saved = list[Remembered]()
    with room.engine.writing() as writing:
        for parts in drafts:
            done = [stored(writing, room, it, agent=agent, session="") for it in parts]
            _join(writing, done, room.clock())
            saved += done
        if ready.feedback:
            given = replace(ready.feedback, session_id=session, agent=writer(room, agent))
            writing.note([replace(given, created_at=room.clock())])
        wrote = sum(it.is_new for it in saved)
        activity.note(writing, room, session, agent, wrote=wrote)
        activity.note_reflection(writing, room, session)
    parted = sum(len(parts) > 1 for parts in drafts)
    return Reflected(saved, parted, ready.redacted)


def parts_of(text: str, most: int = CONTENT_BYTES) -> list[str]:
    """Return a text in pieces of at most so many bytes, parted where a sentence ends.

    A sentence that is longer is parted at a blank, a word that is longer anywhere: nothing but
    blanks is lost.
    """
    parts = list[str]()
    for sentence in _pieces(text.strip(), most):
        joined = f"{parts[-1]} {sentence}" if parts else ""
        if joined and len(joined.encode()) <= most:
            parts[-1] = joined
        else:
            parts.append(sentence)
    return parts


def _pieces(text: str, most: int) -> Iterator[str]:
    """Yield sentences, and pieces of those that are too long."""
    if len(text.encode()) <= most:
        yield text
        return
    for sentence in filter(None, _split(_ENDS, text)):
        if len(sentence.encode()) <= most:
            yield sentence
            continue
        for word in filter(None, _split(_BLANKS, sentence)):
            yield from _chars(word, most)


def _split(ends: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield what stands between blanks; a sign that closes a sentence stays with it."""
    start = 0
    for found in ends.finditer(text):
        yield text[start : found.end()].strip()
        start = found.end()
    yield text[start:].strip()


def _chars(word: str, most: int) -> Iterator[str]:
    """Yield a word in pieces of at most so many bytes, no character parted."""
    piece, size = "", 0
    for char in word:
        width = len(char.encode())
        if size + width > most:
            yield piece
            piece, size = "", 0
        piece, size = piece + char, size + width
    yield piece


def _prepared(reflection: Reflection, *, strict: bool) -> _Ready:
    """Return a reflection as it may be stored. Raises FragmentsError."""
    items, given = _items(reflection), reflection.effectiveness
    told = [*given.tool_highlights, *given.tool_pain_points] if given else []
    if len(told) > MOST_ITEMS:
        raise _too_many("task_effectiveness", len(told))
    texts = [Given(it.field, it.text, ITEM_BYTES, in_bytes=True) for it in items]
    texts += [Given("task_effectiveness", it, SUGGESTION_CHARS) for it in told]
    done = cleaned(texts, strict=strict)
    kept = [it._replace(text=text) for it, text in zip(items, done.texts, strict=False) if text]
    words, middle = done.texts[len(items) :], len(given.tool_highlights) if given else 0
    feedback = given and replace(
        given,
        tool_highlights=tuple(filter(None, words[:middle])),
        tool_pain_points=tuple(filter(None, words[middle:])),
    )
    return _Ready(kept, feedback, done.redacted)


def _items(reflection: Reflection) -> list[_Item]:
    if not reflection.summary.strip():
        raise FragmentsError("blank", field="summary")
    fields: dict[str, tuple[str, Sequence[str]]] = {
        "summary": ("episodic", [reflection.summary]),
        "decisions": ("decision", reflection.decisions),
        "errors_resolved": ("error", reflection.errors_resolved),
        "new_procedures": ("procedure", reflection.new_procedures),
        "open_questions": ("fact", reflection.open_questions),
    }
    for field, (_, texts) in fields.items():
        if len(texts) > MOST_ITEMS:
            raise _too_many(field, len(texts))
    return [_Item(field, type_, text) for field, (type_, texts) in fields.items() for text in texts]


def _draft(reflection: Reflection, item: _Item, text: str) -> Draft:
    keywords = keywords_of(text)
    if item.field == "open_questions":
        keywords = (QUESTION_KEYWORD, *keywords)
    return Draft(
        content=text,
        type=item.type,
        topic=reflection.topic or DEFAULT_TOPIC,
        keywords=keywords,
        source=reflection.source,
    )


def _join(writing: Rows, parts: Sequence[Remembered], now: str) -> None:
    """Link the parts of one text with the first of them."""
    first = parts[0].fragment.id
    others = dict.fromkeys(it.fragment.id for it in parts[1:])
    writing.put_links(
        Link(from_id=it, to_id=first, relation="part_of", created_at=now)
        for it in others
        if it != first
    )


def _too_many(field: str, count: int) -> FragmentsError:
    return FragmentsError("too_many", field=field, count=count, most=MOST_ITEMS)
