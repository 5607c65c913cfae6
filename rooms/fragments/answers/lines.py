"""Writes a fragment as one line: its id, the day, its kind and topic, what to know of it, its text.

No text of a fragment can pass for another line or for a word of ours: it stands last in its line,
behind a colon, without line ends and hidden characters.
"""

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from core.guard.injection import orders_in
from core.lessons.record_text import day_of, topic_text
from core.messages import say
from core.text.plain import flat, one_line
from rooms.fragments.config import Config
from rooms.fragments.fragment import DEFAULT_TOPIC, Fragment
from rooms.fragments.upkeep.life import is_doubtful

SOURCE_CHARS = 40
_MOST_IDS = 10
_PLAIN_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")  # an imported one may be any text


class Scene(NamedTuple):
    """What the lines of one answer are written for.

    now: this moment. project: the name of the project, whose fragments need no source.
    """

    now: str
    config: Config
    project: str = ""

    def line(self, fragment: Fragment) -> str:
        """Return the line of a fragment; `!` stands for one that is pinned."""
        kind = f"{fragment.kind}{'!' if fragment.is_anchor else ''}"
        if fragment.topic != DEFAULT_TOPIC:
            kind += f"/{topic_text(fragment.topic)}"
        words = [id_text(fragment.id), day_of(fragment.created_at), kind]
        if notes := self._notes(fragment):
            words.append(f"({'; '.join(notes)})")
        return f"{' '.join(words)}: {flat(fragment.content)}"

    def _notes(self, fragment: Fragment) -> list[str]:
        noted = {
            "in_bin": bool(fragment.deleted_at),
            "promoted": bool(fragment.promoted),
            "superseded": bool(fragment.superseded_at) and not fragment.promoted,
            "doubtful": is_doubtful(fragment, self.now, self.config),
            "of_session": bool(fragment.session),
            "from": fragment.source not in ("", self.project),
            "order": is_order(fragment),
        }
        source = flat(fragment.source)
        source = source if len(source) <= SOURCE_CHARS else f"{source[:SOURCE_CHARS]}…"
        return [
            say(f"fragments.answers.{key}", source=source) for key, holds in noted.items() if holds
        ]


def id_text(fragment_id: str) -> str:
    """Return an id for a line of ours, quoted where it could pass for something else."""
    if _PLAIN_ID.fullmatch(fragment_id):
        return fragment_id
    return json_text(fragment_id)


def json_text(text: str) -> str:
    """Return a text for a ready call, quoted."""
    return json.dumps(one_line(text), ensure_ascii=False)


def ids_text(fragments: Sequence[Fragment]) -> str:
    """Return the ids of fragments, the first few where there are many."""
    more = ["…"] if len(fragments) > _MOST_IDS else []
    return ", ".join([*(id_text(it.id) for it in fragments[:_MOST_IDS]), *more])


def is_order(fragment: Fragment) -> bool:
    """Return whether the texts of a fragment read like orders to a model."""
    texts = (fragment.content, fragment.topic, fragment.source, *fragment.keywords)
    return bool(orders_in((), texts))
