"""Writes Markdown that notifies nobody and links nothing where GitHub or GitLab render it.

Pure. Both look for names in rendered text, so that no escape helps: `@name` notifies people; `#12`,
`GH-1`, `owner/repo#1`, `!3`, `&4` and the id of a commit become links and leave a mark at the other
end; a bare address becomes a link, `:name:` an emoji, `$x$` a formula. They leave code alone. A
list of what is dangerous would miss their next idea, and a text all in code is hard to read. So
this module keeps what is harmless, words of letters and numbers with the marks around them, and
turns every other word into code: most of these are names, paths or options anyway. Code in a text
stays code, and hidden characters are spelled out.
"""

import re

from core.text.plain import EMPTY, one_line, shown_lines, started

_SPAN = re.compile(r"(?<!`)`[^`]+`(?!`)")
# What stands between blanks; code may hold blanks itself.
_WORD = re.compile(rf"(?:{_SPAN.pattern}|\S)++")
_BEFORE = re.compile("[(\"'\u0080-\U0010ffff]*")
_BEHIND = frozenset("\"').,;:!?")
_SIGNS = frozenset("-+=/&%")
_JOINTS = frozenset("-_/.")
_LETTERS = r"[^\W\d_A-Za-z]+"
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
    """Return the lines of a text that are not blank, for a paragraph or an item."""
    return [started(_inert(line)) for line in shown_lines(text)]


def inert(text: str) -> str:
    """Return a text as one line, for a heading or the middle of a sentence."""
    return _inert(one_line(text).strip()) or EMPTY


def code(text: str) -> str:
    """Return a name as one line of code, whatever it holds."""
    return _code(one_line(text).strip() or EMPTY)


def _inert(line: str) -> str:
    return _WORD.sub(lambda found: _word(found[0]), line)


def _word(word: str) -> str:
    if word in _SIGNS:
        return word
    if _SPAN.search(word):
        return word if all(_is_prose(_split(it)[1]) for it in _SPAN.split(word)) else _code(word)
    before, core, behind = _split(word)
    if _is_prose(core):
        return word
    if core[0] in _JOINTS and (joined := re.search(f"{_LETTERS}$", before)):
        before, core = before[: joined.start()], joined[0] + core
    if core[-1] in _JOINTS and (joined := re.match(_LETTERS, behind)):
        core, behind = core + joined[0], behind[joined.end() :]
    return before + _code(core) + behind


def _split(word: str) -> tuple[str, str, str]:
    """Split a word into the marks before it, the word itself, and the marks behind it."""
    begin = re.match(_BEFORE, word)
    start, end = begin.end() if begin else 0, len(word)
    closed = word.count(")", start) - word.count("(", start)
    while end > start and (word[end - 1] in _BEHIND or word[end - 1] > "\x7f"):
        if word[end - 1] == ")":
            if closed <= 0:  # part of the word, as in `f(x)`
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
