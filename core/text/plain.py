"""Brings any text into a plain form: one line, nothing hidden, one spelling; counts its tokens.

Pure, in linear time. Escaping for Markdown spares code between single backticks: no text becomes a
heading, a list or a tag, or names a file that a client would read (`@./.env`, `#file:.env`, a
link).
"""

import importlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, lru_cache
from typing import Any, Literal

from core.guard.characters import BLANKS, HIDDEN_CLASS, RARE, is_plain, reveal_hidden

# Other signs that some reader takes for the end of a line are spelled out as hidden ones.
LINE_ENDS = re.compile("\r\n|[\n\r\u2028\u2029]")
SURROGATE = re.compile("[\ud800-\udfff]")
EMPTY_SIGN = "—"
# Other expressions are compiled where a text needs them: a hook reads no Markdown.
_UNPRINTABLE = f"{RARE}[{HIDDEN_CLASS}{BLANKS}\ud800-\udfff]"
_PATH_CHARS = 200

# A run of marks behind one letter is sorted by exchanging neighbours: its time grows with the
# square of its length. No language writes a run of so many characters beyond ASCII.
_AT_ONCE_CHARS, _MOST_RUN = 1_024, 512
_RUN = rf"[\0-\x7f]?[^\0-\x7f]{{1,{_MOST_RUN}}}"
CACHED_DATES = 1_024
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_DAY_CHARS, _MOMENT_CHARS = len("2026-11-22"), len("2026-11-22T10:30:00")

# Hundredths of a token for one character of a kind.
_LOWER = b"abcdefghijklmnopqrstuvwxyz"
_ASCII_KINDS = ((_LOWER, 15), (b" \t\r\n", 34), (_LOWER.upper(), 20), (b"0123456789", 78))
_PER_SIGN, _PER_WIDE, _PER_JAMO, _PER_ASTRAL, _PER_OTHER = 69, 66, 280, 200, 69
# First bytes of the UTF-16 units that no kana, Han character or Hangul syllable has.
_NARROW = bytes(set(range(0x100)) - {*range(0x2E, 0xA5), *range(0xAC, 0xD8), 0xF9, 0xFA, 0xFF})
_JAMO = b"\x11"

Change = Callable[[str], str]

_SPAN = r"(?<!`)`([^`]+)`(?!`)"
# VS Code sees a link in `\[a\](b)`, too. The classes in front let `re` skip quickly.
_ACTIVE = r"[\\`*\[\]|~(_](?:(?<=[^(_])|(?<=\]\()|(?<=_)(?:(?<![^\W_]_)|(?![^\W_])))"
# CommonMark takes `\<`, but older Markdown still sees a tag, and `\@` may still be a file's name.
# The @ of an address, behind a letter, is none.
_TAG = r"[<&@#](?:(?<=<)|(?<=&)(?=#|\w+;)|(?<=@)(?<![^\W_]@)(?!\s)|(?<=#)(?=\w+:))"
_AS_ENTITY = {"<": "&lt;", "&": "&amp;", "@": "&#64;", "#": "&#35;"}


def one_line(text: str) -> str:
    """Return a text with blanks for line ends, and hidden characters spelled out."""
    return printable_text(LINE_ENDS.sub(" ", text))


def flat_line(text: str) -> str:
    """Return `one_line` of a text with single blanks."""
    return " ".join(one_line(text).split())


def fold_text(text: str) -> str:
    """Return a text without case, and with single blanks, to compare it."""
    return " ".join(text.casefold().split())


def printable_text(text: str) -> str:
    """Return a text with hidden characters spelled out, and lone surrogates as U+FFFD.

    A byte order mark is spelled out, too: it is harmless only where a whole text begins.
    """
    if is_plain(text) or not re.search(_UNPRINTABLE, text):
        return text
    return SURROGATE.sub("\ufffd", reveal_hidden(f" {text}")[1:])


def printable_path(path: object) -> str:
    """Return a stranger's path as one line, cut behind 200 characters."""
    line = one_line(str(path))
    return line if len(line) <= _PATH_CHARS else f"{line[:_PATH_CHARS]}…"


def normal_form(form: Literal["NFC", "NFKC"], text: str) -> str:
    """Return a text in this form; a run beyond ASCII of more than 512 characters in pieces."""
    if text.isascii():
        return text
    if len(text) <= _AT_ONCE_CHARS:
        return unicodedata.normalize(form, text)
    return re.sub(_RUN, lambda match: unicodedata.normalize(form, match[0]), text)


def map_texts(value: Any, change: Change) -> Any:
    """Return a value of ours, or of JSON, with each text and name changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(map_texts(item, change) for item in value)
    if isinstance(value, list):
        return [map_texts(item, change) for item in value]
    if isinstance(value, dict):
        return members_from((change(name), map_texts(item, change)) for name, item in value.items())
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value)]
        return replace(value, **{name: map_texts(getattr(value, name), change) for name in names})
    return value


def members_from(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return all members, though two names may have become one."""
    members: dict[str, Any] = {}
    for name, value in pairs:
        while name in members:
            name += "_"
        members[name] = value
    return members


def digest(text: str) -> str:
    """Return SHA-256 in hexadecimal digits."""
    return str(_sha256()(text.encode("utf-8", "surrogatepass")).hexdigest())


@cache
def _sha256() -> Callable[[bytes], Any]:
    """Return Python's own SHA-256: `hashlib` loads OpenSSL, which a short command can feel."""
    for name in ("_sha2", "_sha256", "hashlib"):  # since Python 3.12, before, and anywhere
        with suppress(ImportError):
            return importlib.import_module(name).sha256  # type: ignore[no-any-return]
    raise ImportError("sha256")


# Moments


def utc_now() -> str:
    """Return this moment in ISO 8601, UTC, whole seconds."""
    from datetime import UTC, datetime  # a hook at an action reads no date

    return datetime.now(UTC).isoformat(timespec="seconds")


@lru_cache(maxsize=CACHED_DATES)
def seconds_of(moment: str) -> float:
    """Return seconds since 1970 of an ISO 8601 text, -inf for an unreadable one."""
    from datetime import UTC, datetime  # as above

    try:
        parsed = datetime.fromisoformat(moment)
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return float("-inf")


def day_of(moment: str) -> str:
    """Return the date of a moment, `????-??-??` where a hand wrote something else."""
    return moment[:10] if _DAY.match(moment) else "????-??-??"


def minute_of(moment: str) -> str:
    """Return a moment as `2026-03-02 10:30`."""
    return moment[:16].replace("T", " ")


def moment_of(text: str) -> str:
    """Return a date in UTC, also one without a zone; "" for anything else.

    >>> moment_of("2026-03-01T10:30+09:00")
    '2026-03-01T01:30:00+00:00'
    """
    from datetime import UTC, datetime  # as above

    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return ""


def bound_of(text: str) -> str:
    """Return a day as a day, a moment in UTC without its zone, "" for neither."""
    text = text.strip()
    moment = moment_of(text)[:_MOMENT_CHARS]
    return moment[:_DAY_CHARS] if len(text) <= _DAY_CHARS else moment


def end_of(bound: str) -> str:
    """Return a text that sorts behind every moment of a day or second; "" for ""."""
    return bound and f"{bound}~"


# for Markdown


def as_heading(text: str) -> str:
    """Return a text escaped for the line of a heading, EMPTY_SIGN for a blank one."""
    return re.sub("(?<!&)#", r"\#", escape_inline(one_line(text).strip())) or EMPTY_SIGN


def as_lines(text: str) -> list[str]:
    """Return the lines that are not blank, each fit for a paragraph."""
    return [escape_start(escape_inline(line)) for line in printable_lines(text)]


def printable_lines(text: str) -> list[str]:
    """Return the lines that are not blank, hidden characters spelled out."""
    lines = (printable_text(line).strip() for line in LINE_ENDS.split(text))
    return [line for line in lines if line]


def as_item(start: str, lines: Sequence[str]) -> list[str]:
    """Return lines as one item: a backslash keeps each break, further lines are indented.

    start: stands before the first line, with its own indentation.
    """
    first, *rest = lines or [EMPTY_SIGN]
    indent = " " * (len(start) - len(start.lstrip()) + 2)
    item_lines = [start + first, *(indent + line for line in rest)]
    return [*(f"{line}\\" for line in item_lines[:-1]), item_lines[-1]]


def escape_start(line: str) -> str:
    """Escape a sign that would begin a block of Markdown."""
    return re.sub(r"\A(?:(?=[#>=+-])|(\d{1,9})(?=[.)]))", r"\1\\", line)


def escape_inline(text: str) -> str:
    """Escape one line, all but its code."""
    result, rest_start = "", 0
    for span in re.finditer(_SPAN, text):
        # A marker is found as plain text, and clients run a command behind `!`.
        if "<!--" in span[0] or "-->" in span[0] or text[: span.start()].endswith("!"):
            continue
        result += _escape_signs(text[rest_start : span.start()]) + span[0]
        rest_start = span.end()
    return result + _escape_signs(text[rest_start:])


def as_code(text: str) -> str:
    """Return a name as code, or escaped for its backtick."""
    return escape_inline(text if "`" in text else f"`{text}`")


def _escape_signs(text: str) -> str:
    text = re.sub(_TAG, lambda match: _AS_ENTITY[match[0]], text)
    return re.sub(_ACTIVE, r"\\\g<0>", text)


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of any text by the kinds of its characters; rounded up.

    Prose, code and records in English and Korean are mostly within 15 % of `o200k_base`
    (`benchmarks/tokens.py`). Random letters and rare Hangul cost up to three times as much, Greek
    and Cyrillic half.
    """
    ascii_text = text.encode("ascii", "ignore")
    hundredths, rest = 0, ascii_text
    for kind, weight in _ASCII_KINDS:
        other_bytes = rest.translate(None, kind)
        hundredths += weight * (len(rest) - len(other_bytes))
        rest = other_bytes
    hundredths += _PER_SIGN * len(rest)
    if len(ascii_text) < len(text):
        high_bytes = text.encode("utf-16-le", "surrogatepass")[1::2]
        wide = len(high_bytes.translate(None, _NARROW))
        jamo = high_bytes.count(_JAMO)
        astral = len(high_bytes) - len(text)
        further = len(text) - len(ascii_text) - wide - jamo - astral
        hundredths += _PER_WIDE * wide + _PER_JAMO * jamo
        hundredths += _PER_ASTRAL * astral + _PER_OTHER * further
    return -(-hundredths // 100)


@dataclass(slots=True)
class Budget:
    """Tokens, by estimate, and characters that are left; each text also costs its line end."""

    tokens: float
    chars: int

    def take(self, text: str, text_tokens: float | None = None) -> bool:
        """Spend a text if it fits; else spend nothing and return False."""
        tokens = estimate_tokens(text) if text_tokens is None else text_tokens
        if tokens + 1 > self.tokens or len(text) + 1 > self.chars:
            return False
        self.spend(text, tokens)
        return True

    def spend(self, text: str, text_tokens: float | None = None) -> None:
        self.tokens -= (estimate_tokens(text) if text_tokens is None else text_tokens) + 1
        self.chars -= len(text) + 1

    @property
    def is_spent(self) -> bool:
        """Not even the shortest text of use would fit."""
        return self.tokens < 10 or self.chars < 30

    def split_off(self, share: float) -> "Budget":
        """Move this share into a budget of its own."""
        part = Budget(self.tokens * share, int(self.chars * share))
        self.tokens -= part.tokens
        self.chars -= part.chars
        return part

    def add(self, other: "Budget") -> None:
        self.tokens += other.tokens
        self.chars += other.chars
