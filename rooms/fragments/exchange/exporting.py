"""Gives fragments out as one document: JSONL to be imported again, Markdown or HTML for people."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from core.exchange.cleaning import without_secrets
from core.exchange.document import Target
from core.messages import Language
from core.text.printable import shown_path
from rooms.fragments.engine import Entry, Reading, Wanted, pages_of
from rooms.fragments.exchange.document import Form, Head, Joint, Whole
from rooms.fragments.exchange.errors import ExchangeError
from rooms.fragments.exchange.html_form import HTML
from rooms.fragments.exchange.jsonl_form import JSONL
from rooms.fragments.exchange.lines import Row
from rooms.fragments.exchange.markdown_form import MARKDOWN
from rooms.fragments.fragment import (
    Activity,
    Suspicion,
    TaskFeedback,
    ToolFeedback,
    Version,
    plain_keyword,
)
from rooms.fragments.room import Room

FormName = Literal["jsonl", "markdown", "html"]
FORMS: Mapping[FormName, Form] = {"jsonl": JSONL, "markdown": MARKDOWN, "html": HTML}

# Beside fragments, links and versions, and only in an export of the whole room.
_NOTES: tuple[type[Entry], ...] = (ToolFeedback, TaskFeedback, Activity)
_PLAIN = re.compile(r"[0-9TZ:+. -]*|[a-z_]{1,16}|[a-hj-km-np-z2-9]{8}")  # dates, words, our ids
_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What goes into a document. topics: () for all. only_public: what may be shared as it is."""

    topics: tuple[str, ...] = ()
    only_public: bool = False


@dataclass(frozen=True, slots=True)
class Exported:
    """A document that was written. private: how many of its fragments are private."""

    path: Path
    count: int
    private: int


@contextmanager
def document(
    room: Room, form: FormName, choice: Choice, lang: Language
) -> Iterator[tuple[Head, Iterator[str]]]:
    """Yield the head of a document and its pieces, as of one moment, without secrets.

    JSONL has everything, the bin too; the others what can be recalled. Raises DatabaseError.
    """
    with room.engine.reading() as reading:
        source = _Source(reading, choice, whole=FORMS[form].rows is not None)
        count, private = source.counts()
        head = Head(count, private, room.clock(), lang)
        chosen = FORMS[form]
        if chosen.rows:
            yield head, chosen.rows(head, source.rows())
        elif chosen.wholes:
            yield head, chosen.wholes(head, source.wholes())


def export(
    room: Room, form: FormName, output: str, choice: Choice, lang: Language = "en"
) -> Exported:
    """Write a document to a file, in the place of an earlier one only.

    Raises ExchangeError, DatabaseError.
    """
    target = _target_of(output, FORMS[form], form)
    with document(room, form, choice, lang) as (head, pieces):
        is_private, path = form == "jsonl", room.config.path
        like = path if is_private and not room.config.server and path.exists() else None
        target.write(pieces, like=like, is_private=is_private)
    return Exported(target.path, head.count, head.private)


def _target_of(output: str, form: Form, name: str) -> Target:
    def refused(key: str, **facts: str) -> ExchangeError:
        suffix, suffixes = form.suffixes[0].lstrip("."), ", ".join(form.suffixes)
        about = {"path": shown_path(output), "form": name, "suffix": suffix, "suffixes": suffixes}
        return ExchangeError(key, **about, **facts)

    given = Path(output)
    return Target(
        given.absolute().parent,
        given.name,
        suffixes=form.suffixes,
        begins=form.begins,
        refused=refused,
    )


class _Source:
    """What a choice reads of the room. whole: everything, the bin too."""

    def __init__(self, reading: Reading, choice: Choice, *, whole: bool) -> None:
        self._reading, self._choice = reading, choice
        self._wanted = Wanted(topics=choice.topics, state="all" if whole else "live")

    def counts(self) -> tuple[int, int]:
        """Return how many fragments there are, and how many of these are private."""
        by_scope = self._reading.count(self._wanted, "privacy")
        if self._choice.only_public:
            return by_scope.get("public", 0), 0
        return sum(by_scope.values()), by_scope.get("private", 0)

    def rows(self) -> Iterator[Row]:
        """Yield everything: fragments, then links, versions and what was noted."""
        ids = set[str]()
        for page in self._pages(self._wanted):
            ids.update(it.id for it in page)
            yield from map(_clean, page)
        is_part = bool(self._choice.topics or self._choice.only_public)
        for some in _batches(sorted(ids)):
            links, here = self._reading.links(some), {*some}
            yield from (it for it in links if it.from_id in here and it.to_id in ids)
        for some in _batches(sorted(ids)):
            for id_ in some:
                yield from map(_clean, self._reading.entries(Version, of=id_))
        for kind in () if is_part else _NOTES:
            yield from map(_clean, self._reading.entries(kind))
        suspicions: list[Suspicion] = self._reading.entries(Suspicion)
        yield from (it for it in suspicions if {it.first_id, it.second_id} <= ids)

    def wholes(self) -> Iterator[Whole]:
        """Yield the fragments for people: by topic, and in a topic the most important first."""
        topics = sorted(self._reading.count(self._wanted, "topic"))
        for topic in {plain_keyword(it): it for it in topics}.values():  # which are one for all
            wanted, offset = replace(self._wanted, topics=(topic,)), 0
            while page := self._reading.find(wanted, order="worth", limit=_AT_ONCE, offset=offset):
                offset += len(page)
                chosen = [it for it in page if self._is_chosen(it)]
                joints = self._joints({it.id for it in chosen})
                for fragment in chosen:
                    versions = self._reading.entries(Version, of=fragment.id)
                    beside = joints.get(fragment.id, ())
                    yield Whole(_clean(fragment), beside, [*map(_clean, versions)])

    def _joints(self, ids: set[str]) -> dict[str, list[Joint]]:
        links = self._reading.links(sorted(ids))
        ends = dict.fromkeys(end for it in links for end in (it.from_id, it.to_id))
        others = {it.id: _clean(it) for it in self._reading.by_ids(ends) if self._is_other(it)}
        found = dict[str, list[Joint]]()
        for link in links:
            if link.from_id in ids and link.to_id in others:
                joint = Joint(link.relation, others[link.to_id])
                found.setdefault(link.from_id, []).append(joint)
            if link.to_id in ids and link.from_id in others:
                joint = Joint(f"{link.relation}_back", others[link.from_id])
                found.setdefault(link.to_id, []).append(joint)
        return found

    def _is_other(self, fragment: Any) -> bool:
        topics = self._choice.topics
        is_there = fragment.is_live and (not topics or fragment.topic in topics)
        return is_there and self._is_chosen(fragment)

    def _is_chosen(self, fragment: Any) -> bool:
        return fragment.privacy == "public" or not self._choice.only_public

    def _pages(self, wanted: Wanted) -> Iterator[list[Any]]:
        for page in pages_of(self._reading, wanted, _AT_ONCE):
            yield [it for it in page if self._is_chosen(it)]


def _batches(ids: list[str]) -> Iterator[list[str]]:
    for at in range(0, len(ids), _AT_ONCE):
        yield ids[at : at + _AT_ONCE]


def _clean(value: Any) -> Any:
    done, _ = without_secrets(value, _PLAIN)
    return done
