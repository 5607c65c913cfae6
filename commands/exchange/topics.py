"""Topics for lessons that came below a heading, or under the name of something.

Pure. A topic is short, in lower case, its words joined by hyphens, as the rules of this program ask
for it. Secrets go from a name before it becomes one: nobody would know a part of one again.
"""

import re
import unicodedata
from collections.abc import Sequence

from core.lessons.record import LIMITS_BYTES
from core.sanitizer import redact

GENERAL = "general"
MOST_NAME_CHARS = 500

_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_NUMBERING = re.compile(r"\A(?:\d+[.)])+\d*\s+")
_MARKUP = re.compile(r"[*`]|[ \t]#+\s*\Z")
_WORD = re.compile(r"[^\W_]+")
# A title that names the kind of file says nothing of what the lessons are about.
_TITLES = frozenset("claude agents memory memories lessons rules instructions index md".split())


def topic_of(name: str) -> str:
    """The topic for a name, cut between words at the limit of a topic."""
    name = unicodedata.normalize("NFC", redact(name[:MOST_NAME_CHARS]).text)
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
    """What a heading says, without its markup and number."""
    text = _LINK.sub(r"\1", text[:MOST_NAME_CHARS])
    text = _NUMBERING.sub("", _MARKUP.sub("", text).strip(), count=1)
    return redact(" ".join(text.split()).rstrip(":")).text


def about(headings: Sequence[str], title: str) -> tuple[str, str]:
    """The topic and the context of a lesson below these headings, the highest first.

    title: the only one of its level, when a document has such a one; it is none of the headings.
    The highest heading gives the topic. The deeper ones would make a topic for every few lessons,
    and say too much to be left out: they are the context.
    """
    if headings:
        return topic_of(headings[0]), " / ".join(headings[1:])
    words = set(_WORD.findall(title.lower()))
    return (GENERAL if words <= _TITLES else topic_of(title)), ""


def has_words(text: str) -> bool:
    """Whether a text says anything at all."""
    return bool(_WORD.search(text))
