"""Reads path anchors: patterns of the files that a record is about, written as in `.gitignore`.

Pure. The form is that of git (git-scm.com/docs/gitignore) without `!` and escapes: relative to the
project, `/` between names, `*` and `?` within a name, `**` over any number of them. A pattern with
no slash but at its end stands for a name in any directory; one that names a directory stands for
all below it. Case makes no difference, as in many file systems.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from core.errors import (
    FieldTooLongError,
    LoneSurrogateError,
    NegatedPathError,
    PathOutsideError,
    TooManyPathsError,
)
from core.text.normal_form import normal_form

MOST_PATHS = 16
PATH_BYTES = 128
_MOST_PATTERN_CHARS = 1_024  # of a line that another program wrote

_SURROGATE = re.compile("[\ud800-\udfff]")
_ABSOLUTE = re.compile(r"[/~]|[A-Za-z]:")
_PIECE = re.compile(r"\*++|\?|\[[!^]?\]?[^\]]{0,128}+\]|[^*?\[]++|\[")
_PLAIN = re.compile(r"[^*?/]+")
_BRACES = re.compile(r"\{([^{},\n]*+,[^{}\n]*+)\}")
_SEPARATORS = re.compile(r"[,{}\n]")
_HERE = re.compile(r"(?:\./)*+")
_ANYWHERE, _BELOW = "(?:[^/]+/)*?", "(?:/.*)?"


def normalise_paths(
    given: str | Sequence[str], root: str = "", *, most: int | None = MOST_PATHS
) -> tuple[str, ...]:
    """Return patterns as the log stores them, each once: NFC, `/` between names, project-relative.

    given: a list, or one text with commas, line ends or as JSON. `{a,b}`, which models write and
    git does not know, becomes two patterns. root: the directory of the project, which paths lose.
    most: how many there may be, None for any number.

    Raises PathOutsideError for a path that leads out of the project, NegatedPathError for one that
    begins with `!`, FieldTooLongError, LoneSurrogateError and TooManyPathsError, all of them
    ValueError.
    """
    from core.lessons.anchors.given import listed  # a hook only matches

    pieces = listed(given, "paths", most and most * PATH_BYTES, _split)
    patterns = [_normal(it, root) for text in pieces for it in _alternatives(text)]
    patterns = list(dict.fromkeys(filter(None, patterns)))
    if most is not None and len(patterns) > most:
        raise TooManyPathsError(count=len(patterns), most=most)
    return tuple(patterns)


def matches(pattern: str, path: str) -> bool:
    """Say whether a pattern stands for a file; path: relative to the project, `/` between names.

    One far longer than any that can be saved stands for none.
    """
    if len(pattern) > _MOST_PATTERN_CHARS or not could_match(pattern, path):
        return False
    return bool(_expression(pattern).fullmatch(path.casefold()))


def could_match(pattern: str, path: str) -> bool:
    """Return False only where `matches` does; paths may be many in one text. Compiles nothing."""
    name = path.casefold()
    return all(piece in name for piece in _PLAIN.findall(pattern.casefold().partition("[")[0]))


def is_exact(pattern: str) -> bool:
    """Return whether a pattern names something in one directory, not a kind of file anywhere."""
    return "/" in pattern.rstrip("/")


def _split(text: str) -> list[str]:
    """Return the parts between commas and line ends; a comma in braces parts none."""
    cuts, following = list[int](), ""
    for found in reversed(list(_SEPARATORS.finditer(text))):
        if found[0] in ",\n" and following != "}":
            cuts.append(found.start())
        following = following if found[0] == "," else found[0]
    starts = [0, *(at + 1 for at in reversed(cuts))]
    return [text[start:end] for start, end in zip(starts, [*reversed(cuts), None], strict=True)]


def _alternatives(text: str) -> list[str]:
    """Return the patterns that one with `{a,b}` stands for; stop when there are too many."""
    found = _BRACES.search(text)
    if not found:
        return [text]
    if text.count("{") > MOST_PATHS:
        raise TooManyPathsError(count=text.count("{"), most=MOST_PATHS)
    before, after = text[: found.start()], text[found.end() :]
    made: list[str] = []
    for middle in found[1].split(","):
        made += _alternatives(f"{before}{middle}{after}")
        if len(made) > MOST_PATHS:
            raise TooManyPathsError(count=len(made), most=MOST_PATHS)
    return made


def _normal(text: str, root: str) -> str:
    if _SURROGATE.search(text):
        raise LoneSurrogateError(field="paths")
    path = _slashed(text)
    top = _slashed(root).rstrip("/")
    if top and (path == top or path.casefold().startswith(f"{top}/".casefold())):
        path = path[len(top) + 1 :]
    path = path[_HERE.match(path).end() :]  # type: ignore[union-attr]
    if path in ("", "."):
        return ""
    if path.startswith("!"):
        raise NegatedPathError
    if _ABSOLUTE.match(path) or ".." in path.split("/"):
        raise PathOutsideError
    used_bytes = len(path.encode("utf-8"))
    if used_bytes > PATH_BYTES:
        raise FieldTooLongError(field="paths", used_bytes=used_bytes, limit_bytes=PATH_BYTES)
    return path


def _slashed(text: str) -> str:
    text = normal_form("NFC", text).strip().replace("\\", "/")
    return re.sub(r"(?<=.)/{2,}", "/", text)


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
    """Return the expression of a class such as `[a-z]`; an invalid one stands for its letters."""
    inner = piece[1:-1]
    negated, inner = inner[:1] in ("!", "^"), inner.removeprefix("!").removeprefix("^")
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner).replace("--", r"-\-")
    try:
        expression = f"[^/{escaped}]" if negated else f"(?!/)[{escaped}]"
        re.compile(expression)
    except re.error:  # a range that runs backwards
        return re.escape(piece)
    return expression
