"""Reads anchors: the files that a record is about, and the pieces of code that call it up.

Pure. A path is a pattern as in `.gitignore` (git-scm.com/docs/gitignore) without `!` and escapes:
relative to the project, `/` between names, `*` and `?` within a name, `**` over any number of them.
A pattern with no slash but at its end stands for a name in any directory; one that names a
directory stands for all below it. Case makes no difference, as in many file systems.

A trigger is taken as it is written, case and all; only blanks around it go. A short one stands
everywhere, so that it has at least four characters. A letter of Hangul, Han or kana counts as two:
a word such as `환불` is as rare as an English one of six letters.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache

from core.errors import RefusedError, field_too_long
from core.text.plain import SURROGATE, normal_form

MOST_PATHS, PATH_BYTES = 16, 128
MOST_TRIGGERS, TRIGGER_BYTES, LEAST_TRIGGER_CHARS = 5, 128, 4
# Of all that comes in at once: as it is stored, a path below a long directory, and repeated.
MOST_GIVEN_CHARS = 65_536
# What is looked at when records are recalled: a principle has the anchors of all its originals, and
# a hand may write more. A pattern may be four times as long as one that is saved.
MOST_ANCHORS, MOST_PATTERN_CHARS = 400, 512
MOST_RECALLED_TRIGGERS = 100

_ABSOLUTE = re.compile(r"[/~]|[A-Za-z]:")
_PIECE = re.compile(r"\*++|\?|\[[!^]?\]?[^\]]{0,128}+\]|[^*?\[]++|\[")
_PLAIN = re.compile(r"[^*?/]+")
_BRACES = re.compile(r"\{([^{},\n]*+,[^{}\n]*+)\}")
_LINE_END = re.compile("\n")
_OUTSIDE_BRACES = re.compile(r"\n|,(?![^{}\n]{0,512}+\})")
# How a terminal, a compiler or a web page names a line of a file.
_LINE = re.compile(
    r"(?:\(\d{1,7}(?:,\d{1,7})?\)|(?::\d{1,7}){1,2}(?:-\d{1,7})?:?|#L\d{1,7}(?:-L?\d{1,7})?)\Z"
)
_ANYWHERE, _BELOW = "(?:[^/]+/)*?", "(?:/.*)?"
_NO_LINE = re.compile("[\0-\x08\n-\x1f\x7f-\x9f\u2028\u2029]")
_FIRST_WIDE = "\u1100"


def normalise_paths(
    paths: str | Sequence[str], root: str = "", *, most: int | None = MOST_PATHS
) -> tuple[str, ...]:
    """Return patterns as the log stores them, each once: NFC, `/` between names, project-relative.

    paths: a list, or one text with commas, line ends or as JSON. `{a,b}`, which models write and
    git does not know, becomes two patterns. root: the directory of the project, which paths lose.
    most: how many there may be, None for any number.

    Raises RefusedError for a path that is absolute, leads out of the project, begins with `!` or
    is too long, and for too many of them.
    """
    pieces = _listed(paths, "paths", most and most * PATH_BYTES, _OUTSIDE_BRACES)
    patterns = [_normal_path(it, root) for text in pieces for it in _alternatives(text)]
    patterns = list(dict.fromkeys(filter(None, patterns)))
    if most is not None and len(patterns) > most:
        raise RefusedError("too_many_paths", count=len(patterns), most=most)
    return tuple(patterns)


def normalise_triggers(
    triggers: str | Sequence[str], *, most: int | None = MOST_TRIGGERS
) -> tuple[str, ...]:
    """Return triggers as the log stores them, each once: NFC, without blanks around them.

    triggers: a list, or one text with a piece in each line or as JSON; a comma parts none. most:
    how many there may be, None for any number.

    Raises RefusedError for one that is blank, too short, too long or not within one line, and for
    too many of them.
    """
    pieces = _listed(triggers, "when", most and most * TRIGGER_BYTES, _LINE_END)
    found = tuple(dict.fromkeys(map(_normal_trigger, pieces)))
    if most is not None and len(found) > most:
        raise RefusedError("too_many_triggers", count=len(found), most=most)
    return found


def _listed(
    anchors: str | Sequence[str], field: str, limit_bytes: int | None, between: re.Pattern[str]
) -> Sequence[str]:
    """Return the items of a list, of one in JSON, or of a text that `between` parts.

    Raises RefusedError for far more than the `limit_bytes` of `field`, before it is looked at;
    None: there is no limit.
    """
    chars = len(anchors) if isinstance(anchors, str) else sum(map(len, anchors))
    if limit_bytes is not None and chars > MOST_GIVEN_CHARS:
        raise field_too_long(field=field, used_bytes=chars, limit_bytes=limit_bytes)
    if not isinstance(anchors, str):
        return anchors
    with suppress(ValueError, RecursionError):
        parsed = json.loads(anchors)
        if isinstance(parsed, list) and all(isinstance(text, str) for text in parsed):
            return parsed
    return [piece for piece in between.split(anchors) if piece.strip()]


def _alternatives(text: str) -> list[str]:
    """Return the patterns that one with `{a,b}` stands for; stop when there are too many."""
    found = _BRACES.search(text)
    if not found:
        return [text]
    if text.count("{") > MOST_PATHS:
        raise RefusedError("too_many_paths", count=text.count("{"), most=MOST_PATHS)
    made: list[str] = []
    for middle in found[1].split(","):
        made += _alternatives(f"{text[: found.start()]}{middle}{text[found.end() :]}")
        if len(made) > MOST_PATHS:
            raise RefusedError("too_many_paths", count=len(made), most=MOST_PATHS)
    return made


def _normal_path(text: str, root: str) -> str:
    """Return a path without quotes, the line behind it, `\\` before a bracket and the root."""
    if SURROGATE.search(text):
        raise RefusedError("lone_surrogate", field="paths")
    text = text.strip()
    if len(text) > 2 and text[0] in "`'\"" and text[0] == text[-1]:
        text = text[1:-1].strip()
    text = _LINE.sub("", text)
    if "/" in text or r"\]" in text:  # else each parts two names, as on Windows
        text = text.replace(r"\[", "[").replace(r"\]", "]")
    path, top = _slashed(text), _slashed(root).rstrip("/")
    if top and (path == top or path.casefold().startswith(f"{top}/".casefold())):
        path = path[len(top) + 1 :]
    while path.startswith("./"):
        path = path[2:]
    if path in ("", "."):
        return ""
    if path.startswith("!"):
        raise RefusedError("path_negated")
    if _ABSOLUTE.match(path) or ".." in path.split("/"):
        raise RefusedError("path_outside")
    _check_bytes("paths", path, PATH_BYTES)
    return path


def _slashed(text: str) -> str:
    text = normal_form("NFC", text).strip().replace("\\", "/")
    return re.sub(r"(?<=.)/{2,}", "/", text)


def _normal_trigger(text: str) -> str:
    if SURROGATE.search(text):
        raise RefusedError("lone_surrogate", field="when")
    piece = normal_form("NFC", text).strip()
    if _NO_LINE.search(piece):
        raise RefusedError("trigger_lines")
    _check_bytes("when", piece, TRIGGER_BYTES)
    wide = sum(char >= _FIRST_WIDE and char.isalpha() for char in piece)
    if len(piece) + wide < LEAST_TRIGGER_CHARS:
        raise RefusedError("trigger_too_short", least=LEAST_TRIGGER_CHARS)
    return piece


def _check_bytes(field: str, text: str, limit_bytes: int) -> None:
    used_bytes = len(text.encode("utf-8"))
    if used_bytes > limit_bytes:
        raise field_too_long(field=field, used_bytes=used_bytes, limit_bytes=limit_bytes)


def matches(pattern: str, path: str) -> bool:
    """Say whether a pattern stands for a file; path: relative to the project, `/` between names.

    One far longer than any that can be saved stands for none.
    """
    if not could_match(pattern, path):
        return False
    return bool(_expression(pattern).fullmatch(path.casefold()))


def could_match(pattern: str, path: str) -> bool:
    """Return False only where `matches` does; paths may be many in one text. Compiles nothing."""
    name = path.casefold()
    plain = _PLAIN.findall(pattern[:MOST_PATTERN_CHARS].casefold().partition("[")[0])
    return len(pattern) <= MOST_PATTERN_CHARS and all(piece in name for piece in plain)


def is_exact(pattern: str) -> bool:
    """Return whether a pattern names something in one directory, not a kind of file anywhere."""
    return "/" in pattern.rstrip("/")


@lru_cache(maxsize=1_024)
def _expression(pattern: str) -> re.Pattern[str]:
    """Return the expression of a pattern; its time grows with the length of a path and no faster.

    An atomic group takes the first place of what stands between two stars: a later one is never
    better.
    """
    runs: list[list[str]] = [[]] if is_exact(pattern) else [[], []]
    for part in pattern.casefold().rstrip("/").split("/"):
        if part == "**":
            runs.append([])
        else:
            runs[-1].append(_name(part))
    first, *others = runs
    if not others:
        return re.compile("/".join(first) + _BELOW, re.DOTALL)
    text = "".join(f"{name}/" for name in first)
    text += "".join(f"(?>{_ANYWHERE}{''.join(f'{it}/' for it in run)})" for run in others[:-1])
    text += _ANYWHERE + "/".join(others[-1]) if others[-1] else ".+"
    return re.compile(text + _BELOW, re.DOTALL)


def _name(name: str) -> str:
    """Return the expression of one name in a pattern."""
    parts = [""]
    for piece in _PIECE.findall(name):
        if piece[0] == "*":
            parts.append("")
        elif piece == "?":
            parts[-1] += "[^/]"
        elif piece[0] == "[" and len(piece) > 2:
            parts[-1] += _one_of(piece)
        else:
            parts[-1] += re.escape(piece)
    first, *others = parts
    between = "".join(f"(?>[^/]*?{part})" for part in others[:-1])
    return first + between + (f"[^/]*{others[-1]}" if others else "")


def _one_of(piece: str) -> str:
    """Return the expression of a class such as `[a-z]`; an invalid one stands for its letters.

    It stands for its own letters as well: `[id]` is a folder of some frameworks.
    """
    inner = piece[1:-1]
    negated, inner = inner[:1] in ("!", "^"), inner.removeprefix("!").removeprefix("^")
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner).replace("--", r"-\-")
    try:
        expression = f"[^/{escaped}]" if negated else f"(?!/)[{escaped}]"
        re.compile(expression)
    except re.error:  # a range that runs backwards
        return re.escape(piece)
    return f"(?:{re.escape(piece)}|{expression})"
