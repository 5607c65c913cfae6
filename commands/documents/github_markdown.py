"""Texts of records as Markdown that does nothing where GitHub or GitLab render it.

Pure. Both look for names after the Markdown was rendered, so that no escape stops them: `@name`
notifies people, `#12`, `GH-1`, `owner/repo#1`, `!3`, `&4` and the id of a commit become links and
leave a mark at the other end, a bare address becomes a link, `:name:` an emoji, `$x$` a formula.
Only inside of code do they look for nothing. Code for whole texts would be hard to read, and a
list of what is dangerous would miss the next idea of theirs. So it goes by what is harmless:
a word of letters, or a number, stays as it is with the marks before and behind it; every other
word becomes code, which is what most of them are (a name, a path, an option). The code of a text
itself stays. Nothing can be hidden in it: what a reader would not see is spelled out.
"""

import re

from commands.documents.markdown import EMPTY, shown_lines, started
from core.text.printable import one_line

_SPAN = re.compile(r"(?<!`)`[^`]+`(?!`)")
# What stands between blanks; the code of a text may hold some.
_WORD = re.compile(rf"(?:{_SPAN.pattern}|\S)+")
_BEFORE = re.compile("[(\"'\u0080-\U0010ffff]*")
_BEHIND = frozenset("\"').,;:!?")
_SIGNS = frozenset("-+=/&%")
_FOREIGN = re.compile("[\u0080-\U0010ffff]+")
_PROSE = re.compile(
    r"[A-Za-z]+(?:['-][A-Za-z]+)*"  # don't, re-enable
    r"|[A-Za-z](?:\.[A-Za-z])+"  # e.g, i.e
    r"|[0-9]+(?:[.,][0-9]+)*%?"
    r"|"
)
_COMMIT = re.compile("(?<![0-9A-Za-z])[0-9a-fA-F]{7,}(?![0-9A-Za-z])")
_TICKS = re.compile("`+")


def inert_lines(text: str) -> list[str]:
    """The lines of a text that are not blank, each as it may stand in a paragraph or an item."""
    return [started(_inert(line)) for line in shown_lines(text)]


def inert(text: str) -> str:
    """A text in one line, for the middle of a line of ours or for a heading."""
    return _inert(one_line(text).strip()) or EMPTY


def code(text: str) -> str:
    """A name in one line as code, whatever it holds."""
    return _code(one_line(text).strip() or EMPTY)


def _inert(line: str) -> str:
    return _WORD.sub(lambda found: _word(found[0]), line)


def _word(word: str) -> str:
    if word in _SIGNS:
        return word
    if _SPAN.search(word):
        return word if all(_is_prose(_split(it)[1]) for it in _SPAN.split(word)) else _code(word)
    before, core, behind = _split(word)
    return word if _is_prose(core) else before + _code(core) + behind


def _split(word: str) -> tuple[str, str, str]:
    """What may stand beside a word as it is, and the word between."""
    begin = re.match(_BEFORE, word)
    start, end = begin.end() if begin else 0, len(word)
    closed = word.count(")", start) - word.count("(", start)
    while end > start and (word[end - 1] in _BEHIND or word[end - 1] > "\x7f"):
        if word[end - 1] == ")":
            if closed <= 0:  # it belongs to the word, as in `f(x)`
                break
            closed -= 1
        end -= 1
    return word[:start], word[start:end], word[end:]


def _is_prose(core: str) -> bool:
    parts = _FOREIGN.split(core)
    return all(_PROSE.fullmatch(part) and not _COMMIT.search(part) for part in parts)


def _code(text: str) -> str:
    longest = max(map(len, _TICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest and "`" in (text[0], text[-1]) else ""
    return f"{fence}{pad}{text}{pad}{fence}"
