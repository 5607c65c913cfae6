"""Reads anchors: the files that a record is about, and the pieces of code that call it up.

Pure. A path is a pattern as in `.gitignore`, without `!` and escapes, case ignored. Brackets also
stand for themselves: frameworks have folders as `[id]`. A trigger is literal; below four characters
(Hangul, Han, kana: two) it would stand everywhere.
"""

import json
import re
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import lru_cache
from math import prod

from core.errors import RefusedError, field_too_long
from core.text.plain import SURROGATE, normal_form

MOST_PATHS, PATH_BYTES = 16, 128
MOST_TRIGGERS, TRIGGER_BYTES, LEAST_TRIGGER_CHARS = 5, 128, 4
# Of all that comes in at once: as it is stored, a path below a long directory, and repeated.
MOST_INPUT_CHARS = 65_536
# Limits when records are recalled: a principle has the anchors of all its originals, and a hand may
# write more. A pattern may be four times as long as a save allows.
MOST_ANCHORS, MOST_PATTERN_CHARS = 400, 512
MOST_RECALLED_TRIGGERS = 100

_ABSOLUTE_PATH = re.compile(r"[/~]|[A-Za-z]:")
_PLAIN_PART = re.compile(r"[^*?/]+")
_BRACES = re.compile(r"\{([^{},\n]*+,[^{}\n]*+)\}")
_LINE_END = re.compile("\n")
_OUTSIDE_BRACES = re.compile(r"\n|,(?![^{}\n]{0,512}+\})")
# How a terminal, a compiler or a web page names a line of a file.
_LINE = re.compile(
    r"(?:\(\d{1,7}(?:,\d{1,7})?\)|(?::\d{1,7}){1,2}(?:-\d{1,7})?:?|#L\d{1,7}(?:-L?\d{1,7})?)\Z"
)
_LINE_BREAKERS = re.compile("[\0-\x08\n-\x1f\x7f-\x9f\u2028\u2029]")
_FIRST_WIDE_CHAR = "\u1100"


def normalise_paths(
    paths: str | Sequence[str], root: str = "", *, most: int | None = MOST_PATHS
) -> tuple[str, ...]:
    """Return patterns as the log stores them, each once: NFC, `/` between names, project-relative.

    paths: a list, or text with commas, line ends or JSON. root: the project, cut off. most: None
    for any number. Raises RefusedError for too long, too many, absolute and outside paths, and `!`.

        normalise_paths("src/{a,b}.py, ./docs/x.md:42")  # src/a.py, src/b.py, docs/x.md
    """
    texts = _split_anchors("paths", paths, most and most * PATH_BYTES, _OUTSIDE_BRACES)
    patterns = list[str]()
    for text in texts:
        queue = [text]  # the alternatives of its braces, in their order
        while queue:
            text = queue.pop(0)
            if braces := _BRACES.search(text):
                count = len(queue) + prod(group.count(",") + 1 for group in _BRACES.findall(text))
                if count > MOST_PATHS:
                    raise RefusedError("too_many_paths", count=count, most=MOST_PATHS)
                head, tail = text[: braces.start()], text[braces.end() :]
                queue[:0] = [f"{head}{middle}{tail}" for middle in braces[1].split(",")]
            elif pattern := _normalise_path(text, root):
                patterns.append(pattern)
    return _check_anchors("paths", patterns, PATH_BYTES, most)


def normalise_triggers(
    triggers: str | Sequence[str], *, most: int | None = MOST_TRIGGERS
) -> tuple[str, ...]:
    """Return triggers as the log stores them, each once: NFC, no blanks around them.

    triggers: a list, or lines, or JSON. most: None for any number. Raises RefusedError for triggers
    that are too short, too long, too many or of several lines.
    """
    texts = _split_anchors("when", triggers, most and most * TRIGGER_BYTES, _LINE_END)
    pieces = [normal_form("NFC", text).strip() for text in texts]
    for piece in pieces:
        if _LINE_BREAKERS.search(piece):
            raise RefusedError("trigger_lines")
        wide = [char for char in piece if char >= _FIRST_WIDE_CHAR and char.isalpha()]
        if len(piece) + len(wide) < LEAST_TRIGGER_CHARS:
            raise RefusedError("trigger_too_short", least=LEAST_TRIGGER_CHARS)
    return _check_anchors("when", pieces, TRIGGER_BYTES, most)


def _split_anchors(
    field: str, anchors: str | Sequence[str], limit_bytes: int | None, separator: re.Pattern[str]
) -> Sequence[str]:
    """Return the items of a list, of JSON, or of text; too much is refused before it is read."""
    chars = len(anchors) if isinstance(anchors, str) else sum(map(len, anchors))
    if limit_bytes is not None and chars > MOST_INPUT_CHARS:
        raise field_too_long(field, chars, limit_bytes)
    if isinstance(anchors, str):
        try:
            value = json.loads(anchors)
        except (ValueError, RecursionError):
            value = None
        is_list = isinstance(value, list) and all(isinstance(text, str) for text in value)
        anchors = value if is_list else [text for text in separator.split(anchors) if text.strip()]
    if any(map(SURROGATE.search, anchors)):
        raise RefusedError("lone_surrogate", field=field)
    return anchors


def _check_anchors(
    field: str, anchors: Iterable[str], limit_bytes: int, most: int | None
) -> tuple[str, ...]:
    unique_anchors = tuple(dict.fromkeys(anchors))
    for anchor in unique_anchors:
        used_bytes = len(anchor.encode("utf-8"))
        if used_bytes > limit_bytes:
            raise field_too_long(field, used_bytes, limit_bytes)
    if most is not None and len(unique_anchors) > most:
        key = "too_many_paths" if field == "paths" else "too_many_triggers"
        raise RefusedError(key, count=len(unique_anchors), most=most)
    return unique_anchors


def _normalise_path(text: str, root: str) -> str:
    r"""Return a path without quotes, line number, `\` before brackets and root; "" for the root."""
    text = text.strip()
    if len(text) > 2 and text[0] in "`'\"" and text[0] == text[-1]:
        text = text[1:-1].strip()
    text = _LINE.sub("", text)
    if "/" in text or r"\]" in text:  # else each parts two names, as on Windows
        text = text.replace(r"\[", "[").replace(r"\]", "]")
    path, root_path = _with_slashes(text), _with_slashes(root).rstrip("/")
    if root_path and (path == root_path or path.casefold().startswith(f"{root_path}/".casefold())):
        path = path[len(root_path) + 1 :]
    while path.startswith("./"):
        path = path[2:]
    if path.startswith("!"):
        raise RefusedError("path_negated")
    if _ABSOLUTE_PATH.match(path) or ".." in path.split("/"):
        raise RefusedError("path_outside")
    return "" if path == "." else path


def _with_slashes(text: str) -> str:
    text = normal_form("NFC", text).strip().replace("\\", "/")
    return re.sub(r"(?<=.)/{2,}", "/", text)


def matches(pattern: str, path: str) -> bool:
    """Return whether a pattern stands for a file: its project-relative path with `/`.

    matches("*.py", "core/a.py"), matches("core/", "core/a/b.py")  # True, True
    """
    if not could_match(pattern, path):
        return False
    names = path.casefold().split("/")
    places = {0}  # names before which the parts so far may end
    for part in _parse_pattern(pattern):
        if part is None:  # at the end it stands for what is below: a name is left in any case
            places = set(range(min(places), len(names)))
        elif isinstance(part, str):
            places = {at + 1 for at in places if names[at : at + 1] == [part]}
        else:
            places = {at + 1 for at in places if at < len(names) and part.match(names[at])}
        if not places:
            return False
    return True


def could_match(pattern: str, path: str) -> bool:
    """Return False only where `matches` does; cheap. path: also many in one text."""
    text = path.casefold()
    pieces = _PLAIN_PART.findall(pattern[:MOST_PATTERN_CHARS].casefold().partition("[")[0])
    return len(pattern) <= MOST_PATTERN_CHARS and all(piece in text for piece in pieces)


def has_directory(pattern: str) -> bool:
    """Return whether a pattern names one directory, as `src/*.py`; `*.py` does not."""
    return "/" in pattern.rstrip("/")


@lru_cache(maxsize=1_024)
def _parse_pattern(pattern: str) -> list[str | re.Pattern[str] | None]:
    """None stands for any number of names."""
    parts = list[str | re.Pattern[str] | None]([] if has_directory(pattern) else [None])
    for name in pattern.casefold().rstrip("/").split("/"):
        if name == "**":
            parts.append(None)
        elif re.search(r"[*?\[]", name):
            readings = dict.fromkeys((name.replace("[^", "[!"), name.replace("[", "[[]")))
            parts.append(re.compile("|".join(map(translate, readings))))
        else:
            parts.append(name)
    return parts
