"""Makes topics from headings and names.

Pure. A topic is short, in lower case, its words joined by hyphens, as the rules for agents ask. A
name is redacted first, since nobody would recognise a part of a secret in a topic.
"""

import re
from collections.abc import Sequence

from core.lessons.record import LIMITS_BYTES
from core.sanitizer import redact
from core.text.plain import normal_form

GENERAL = "general"
MOST_NAME_CHARS = 500

_LINK = re.compile(r"!?\[([^\[\]]*+)\]\([^()]*+\)")
_NUMBERING = re.compile(r"\A(?:\d++[.)])++\d*+\s++")
_MARKUP = re.compile(r"[*`]|[ \t]#+\s*\Z")
_WORD = re.compile(r"[^\W_]+")
# These titles name the kind of file, not what its lessons are about.
_TITLES = frozenset("claude agents memory memories lessons rules instructions index md".split())


def topic_of(name: str) -> str:
    """Return the topic for a name, cut between words at the limit."""
    name = normal_form("NFC", redact(name[:MOST_NAME_CHARS]).text)
    words, limit, topic = _WORD.findall(name.lower()), LIMITS_BYTES["topic"], ""
    for word in words:
        longer = f"{topic}-{word}" if topic else word
        if len(longer.encode("utf-8")) > limit:
            break
        topic = longer
    if words and not topic:
        topic = words[0].encode("utf-8")[:limit].decode("utf-8", "ignore")
    return topic or GENERAL


def heading_text(text: str) -> str:
    """Return the text of a heading without markup and number."""
    text = _LINK.sub(r"\1", text[:MOST_NAME_CHARS])
    text = _NUMBERING.sub("", _MARKUP.sub("", text).strip(), count=1)
    return redact(" ".join(text.split()).rstrip(":")).text


def about(headings: Sequence[str], title: str) -> tuple[str, str]:
    """Return the topic and the context of a lesson below these headings, the highest first.

    title: the only heading of its level, if there is one; it is not in `headings`. The highest
    heading gives the topic. The deeper ones would split topics into a few lessons each, so they
    become the context.
    """
    if headings:
        return topic_of(headings[0]), " / ".join(headings[1:])
    words = set(_WORD.findall(title.lower()))
    return (GENERAL if words <= _TITLES else topic_of(title)), ""


def has_words(text: str) -> bool:
    """Return whether a text holds a word."""
    return bool(_WORD.search(text))
