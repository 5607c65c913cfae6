"""Shows fragments to a model: each as a line, or as an object with the specification's names.

No text passes for another line or for our words: it ends its line, behind a colon, without line
ends and hidden characters.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from core.guard.injection import orders_in
from core.lessons.record_text import as_json, day_of, topic_text
from core.messages import say
from core.text.plain import flat, one_line
from rooms.fragments.fragment import DEFAULT_TOPIC, SOURCE_CHARS, Fragment, Link, Version, column_of
from rooms.fragments.room import Room
from rooms.fragments.upkeep.life import is_doubtful

SHOWN_SOURCE_CHARS = 40
_MOST_IDS = 10
_PLAIN_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")  # an imported id may be any text

# The fields of an object, in order. An empty rare field is left out.
_USUAL = (
    *("id", "content", "topic", "keywords", "kind", "lifetime", "importance", "source", "agent"),
    *("tier", "is_anchor", "privacy", "access_count", "accessed_at", "created_at", "verified_at"),
)
_RARE = ("session", "expires_at", "superseded_at", "promoted", "deleted_at")
_OF_VERSION = "content topic keywords kind importance amended_at amended_by".split()


class Call(NamedTuple):
    """One call of a tool: the room as its caller has it, and the form of the answer.

    project: of the caller, whose fragments need no source. core_only: only core tools are offered.
    """

    room: Room
    now: str
    session: str = ""
    project: str = ""
    core_only: bool = False

    @property
    def as_json(self) -> bool:
        return self.room.settings.answers == "json"

    @property
    def source(self) -> str:
        return self.project[:SOURCE_CHARS]

    def tokens(self, wanted: int, frame: int) -> int:
        """Return the tokens for fragments, within the settings.

        wanted: for the whole answer. frame: for the rest of it.
        """
        return max(min(wanted, self.room.settings.budget_tokens) - frame, 1)

    def text_of(self, fragment: Fragment) -> str:
        """Return a fragment in the form of the answer, to count tokens."""
        return as_json(object_of(fragment)) if self.as_json else self.line(fragment)

    def relation_text(self, link: Link) -> str:
        """Return a link in the form of the answer."""
        if self.as_json:
            return as_json(link_object(link))
        return f"  {link.relation} {id_text(link.to_id)}"

    def line(self, fragment: Fragment) -> str:
        """Return the line of a fragment: id, day, kind (`!` if pinned), topic, notes, text.

        9f2c4b7a 2026-03-01 error!/redis (from bakery): Redis answers NOAUTH
        """
        kind = f"{fragment.kind}{'!' if fragment.is_anchor else ''}"
        if fragment.topic != DEFAULT_TOPIC:
            kind += f"/{topic_text(fragment.topic)}"
        words = [id_text(fragment.id), day_of(fragment.created_at), kind]
        notes = {
            "in_bin": bool(fragment.deleted_at),
            "promoted": bool(fragment.promoted),
            "superseded": bool(fragment.superseded_at) and not fragment.promoted,
            "doubtful": is_doubtful(fragment, self.now, self.room.config),
            "of_session": bool(fragment.session),
            "from": fragment.source not in ("", self.project),
            "order": is_order(fragment),
        }
        if any(notes.values()):
            source = flat(fragment.source)
            if len(source) > SHOWN_SOURCE_CHARS:
                source = f"{source[:SHOWN_SOURCE_CHARS]}…"
            keys = [f"fragments.answers.{key}" for key, holds in notes.items() if holds]
            words.append(f"({'; '.join(say(key, source=source) for key in keys)})")
        return f"{' '.join(words)}: {flat(fragment.content)}"


def id_text(fragment_id: str) -> str:
    """Return an id, quoted if it could pass for something else."""
    return fragment_id if _PLAIN_ID.fullmatch(fragment_id) else quoted(fragment_id)


def quoted(text: str) -> str:
    """Return a text as a JSON string, for a call in an answer."""
    return json.dumps(one_line(text), ensure_ascii=False)


def ids_text(fragments: Sequence[Fragment]) -> str:
    """Return the first ten ids, between commas."""
    more = ["…"] if len(fragments) > _MOST_IDS else []
    return ", ".join([*(id_text(it.id) for it in fragments[:_MOST_IDS]), *more])


def is_order(fragment: Fragment) -> bool:
    """Return whether a text reads like an order to a model."""
    texts = (fragment.content, fragment.topic, fragment.source, *fragment.keywords)
    return bool(orders_in((), texts))


def object_of(fragment: Fragment) -> dict[str, Any]:
    """Return a fragment with the specification's names, without empty rare fields."""
    usual, rare = _fields_of(fragment, _USUAL), _fields_of(fragment, _RARE)
    usual["importance"] = round(fragment.importance, 4)
    rare |= {"promoted": fragment.record_id, "reads_like_order": is_order(fragment)}
    return usual | {name: value for name, value in rare.items() if value}


def link_object(link: Link) -> dict[str, Any]:
    ends = {"from_id": link.from_id, "to_id": link.to_id}
    return {**ends, "relation_type": link.relation, "created_at": link.created_at}


def version_object(version: Version) -> dict[str, Any]:
    return _fields_of(version, _OF_VERSION)


def _fields_of(row: Fragment | Version, names: Sequence[str]) -> dict[str, Any]:
    return {column_of(name): getattr(row, name) for name in names}
