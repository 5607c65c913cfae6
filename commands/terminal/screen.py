"""Knows the terminal, fits text into its columns, and makes untrusted text safe to print.

A Hangul syllable takes two cells, a combining mark or colour none. Code in backticks and a command
of this program or git stay in one line, to be copied. Safe text has no escape codes,
invisible characters or CI commands: GitHub Actions and Azure Pipelines obey `##[` and `##vso[`
anywhere in a line, GitHub also `::` at its start.
"""

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache, partial
from typing import Literal, TextIO

from core.guard.characters import hidden_runs
from core.messages import language
from core.program import CLI, NAME
from core.text.plain import day_of

LEAST_WIDTH, USUAL_WIDTH, MOST_TEXT_WIDTH = 20, 80, 100

# To a reader: red an error, yellow a warning, green that all is well, dim a path.
Style = Literal["bold", "dim", "red", "green", "yellow"]
Sign = Literal["ok", "error", "warning", "note"]
_STYLE_CODES: dict[Style, int] = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}
# What is added, removed, changed; where.
SIGN_STYLES: dict[str, Style] = {"+": "green", "-": "red", "~": "yellow", "@": "dim"}
_INLINE = re.compile(
    r"(?<!`)(`+)(?!`)(?P<code>.+?)(?<!`)\1(?!`)|\*\*(?P<strong>[^*`]+)\*\*"  # of Markdown
)
RUNNERS = re.compile(r"(##(?:vso)?)\[", re.IGNORECASE)
_HIDDEN_KINDS = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_RUNNER = re.compile(r"\A((?:\s|\x1b\[[0-9]*m)*)::")
_FORCING_VARIABLES = ("FORCE_COLOR", "CLICOLOR_FORCE")
_SIGNS: dict[Sign, tuple[str, str, Style]] = {
    "ok": ("✓", "ok", "green"),
    "error": ("✗", "x", "red"),
    "warning": ("!", "!", "yellow"),
    "note": ("-", "-", "dim"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """The terminal. is_terminal: a person reads it, and no program or file.

    width: in cells. ascii_signs: other signs may be missing.
    """

    width: int
    colours: bool = False
    is_terminal: bool = False
    ascii_signs: bool = False

    @property
    def text_width(self) -> int:
        """How wide sentences are: longer lines are hard to read."""
        return min(self.width, MOST_TEXT_WIDTH)

    def paint(self, text: str, style: Style) -> str:
        return f"\x1b[{_STYLE_CODES[style]}m{text}\x1b[0m" if self.colours and text else text

    def sign(self, name: Sign) -> str:
        sign, ascii_sign, style = _SIGNS[name]
        return self.paint(ascii_sign if self.ascii_signs else sign, style)


def screen_here(stream: TextIO | None = None) -> Screen:
    """Return the terminal of a stream (standard output), 80 cells for none."""
    output = stream or sys.stdout
    if output is None:  # the caller closed it
        return Screen(width=USUAL_WIDTH)
    is_terminal, columns = output.isatty(), USUAL_WIDTH
    if "COLUMNS" in os.environ:
        columns = shutil.get_terminal_size((USUAL_WIDTH, 24)).columns
    else:
        with suppress(OSError, ValueError):  # a pipe, a file, a closed stream
            columns = os.get_terminal_size(output.fileno()).columns or USUAL_WIDTH
    ascii_signs = os.environ.get("TERM") in ("dumb", "linux")
    try:
        "".join(sign for sign, _, _ in _SIGNS.values()).encode(output.encoding or "utf-8")
    except (LookupError, UnicodeEncodeError):
        ascii_signs = True
    return Screen(
        width=max(columns, LEAST_WIDTH),
        colours=has_colours(os.environ, is_terminal=is_terminal),
        is_terminal=is_terminal,
        ascii_signs=ascii_signs,
    )


def has_colours(environ: Mapping[str, str], *, is_terminal: bool, system: str = os.name) -> bool:
    """Return whether to write colours: to a terminal with colours, unless NO_COLOR is set.

    FORCE_COLOR or CLICOLOR_FORCE, other than 0, write them anywhere.
    """
    if environ.get("NO_COLOR"):
        return False
    if any(environ.get(name, "0") not in ("", "0") for name in _FORCING_VARIABLES):
        return True
    if not is_terminal or environ.get("TERM") == "dumb":
        return False
    return system != "nt" or bool({"WT_SESSION", "TERM", "ANSICON"} & set(environ))


INDENT = "  "

_CODE = "\x1b\\[[0-9]*m"
_CODES = re.compile(_CODE)
_CHARS = re.compile(f"{_CODE}|.", re.DOTALL)
_ACTION = "(?:(?:setup|help|keys|sessions|fragments|topics)(?: [a-z-]++)++|[a-z]++)"
_ARGUMENT = r"(?:-\S++|[A-Z]++(?![a-z])\S*+|\.[a-z]\S*+|(?=\S*[0-9@/])\S++)"
_PLACE = r"""(?:(?:-C|--project) (?:'[^'\n]*+'|"[^"\n]*+"|[^\s'"])++ )"""
_COMMAND = rf"(?:{re.escape(CLI)}|{NAME}|git) {_PLACE}?{_ACTION}(?: {_ARGUMENT})*+\S*+"
_PIECE = re.compile(rf"(?<!\S)(?:[^\s`]*+`[^`\n]++`\S*+|[^\s`]?{_COMMAND})|\s++|\S++")
_JOINED_JAMO = (("\u1160", "\u11ff"), ("\ud7b0", "\ud7ff"))  # vowels and finals of a syllable


def cells(text: str) -> int:
    """Return how many cells a text takes: `한` takes two."""
    text = without_colours(text)
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def without_colours(text: str) -> str:
    return _CODES.sub("", text) if "\x1b" in text else text


def shorten(text: str, most_cells: int) -> str:
    """Cut a text to `most_cells`; `…` marks the cut."""
    if cells(text) <= most_cells:
        return text
    head, room = "", most_cells - 1
    for char in text:
        room -= _cells_of(char)
        if room < 0:
            break
        head += char
    return head.rstrip() + "…"


def wrap_text(text: str, width: int = 0, indent: str = INDENT) -> list[str]:
    """Break a sentence at blanks into indented lines; a longer word or command stays one line."""
    words = " ".join(filter(str.strip, _PIECE.findall(text)))
    most_cells = (width or screen_here().text_width) - cells(indent)
    lines = break_text(words, most_cells, inside_words=False) if words else []
    return [indent + line for line in lines]


def wrap_line(line: str, width: int) -> list[str]:
    """Break a line, its further lines indented below it."""
    text = line.lstrip(" ")
    first = line[: len(line) - len(text)]
    indent = first + INDENT if first else ""
    pieces = break_text(text, max(width - len(indent), 2))
    return [(indent if index else first) + piece for index, piece in enumerate(pieces)]


def break_text(text: str, most_cells: int, *, inside_words: bool = True) -> list[str]:
    """Break a text into pieces of `most_cells`, inside a word if it must, inside no command."""
    lines, line, room = list[str](), "", most_cells
    for piece in _PIECE.findall(text):
        is_whole = not inside_words or " " in piece.strip()
        if cells(piece) > room and line.strip() and (is_whole or cells(piece) <= most_cells):
            lines.append(line.rstrip())
            line, room = "", most_cells
            piece = piece.lstrip()
        for char in [piece] if is_whole else _CHARS.findall(piece):
            width = cells(char)
            if width > room and line and not is_whole:
                lines.append(line.rstrip())
                line, room = "", most_cells
                if char.isspace():
                    continue
            line, room = line + char, room - width
    return [*lines, line.rstrip()]


def render_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], screen: Screen | None = None
) -> list[str]:
    """Align numbers right, text left; the last column takes the rest. The head is bold."""
    screen = screen or screen_here()
    columns = list(zip(head, *rows, strict=True))[:-1]
    widths = [max(map(cells, column)) for column in columns]
    are_numbers = [all(cell.replace(",", "").isdecimal() for cell in cs[1:]) for cs in columns]
    lines = list[str]()
    for row in (head, *rows):
        line = ""
        for text, width, is_number in zip(row, widths, are_numbers, strict=False):
            blank = " " * (width - cells(text))
            line += INDENT + (blank + text if is_number else text + blank)
        lines.append(line + INDENT + shorten(row[-1], screen.width - cells(line) - len(INDENT)))
    return [screen.paint(lines[0], "bold"), *lines[1:]]


def named_lines(texts: Mapping[str, str], names: Iterable[str] = (), width: int = 0) -> list[str]:
    """Return names and their texts, a column behind the longest of these or other `names`."""
    lines, indent = list[str](), " " * (max(map(cells, (*texts, *names)), default=0) + 4)
    for name, text in texts.items():
        first, *others = wrap_text(text, width, indent)
        lines += [INDENT + name + first[cells(name) + len(INDENT) :], *others]
    return lines


@lru_cache(maxsize=4_096)  # a long text has few different characters
def _cells_of(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    if any(first <= char <= last for first, last in _JOINED_JAMO):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def sentence_lines(text: str, first: str = "") -> list[str]:
    """Return a sentence behind `first`, a sign and a blank; a terminal gets lines below it."""
    if not screen_here().is_terminal:
        return [first + text]
    indent = INDENT if first else ""
    top, *others = wrap_text(text, indent=indent) or [indent]
    return [first + top[len(indent) :], *others]


def paint_diff(lines: Iterable[str], screen: Screen) -> list[str]:
    painted_lines = list[str]()
    for line in lines:
        style = "dim" if line.startswith(("+++ ", "--- ")) else SIGN_STYLES.get(line[:1])
        painted_lines.append(screen.paint(line, style) if style else line)
    return painted_lines


def markdown_lines(text: str, screen: Screen) -> list[str]:
    """Lay out the Markdown of `report` for a terminal, without signs."""

    def paint_bold(words: str) -> str:  # each by itself, since a line may end behind any
        return " ".join(screen.paint(word, "bold") for word in words.split())

    def render_match(match: re.Match[str]) -> str:
        if match["strong"]:
            return paint_bold(match["strong"])
        code = match["code"]
        return code[1:-1] if len(code) > 2 and code[0] == code[-1] == " " else code

    lines, rows = list[str](), list[list[str]]()
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            if line.strip("|:- "):
                rows.append([cell.strip() for cell in line.strip("|").split("|")])
            continue
        if rows:
            lines += render_table(rows[0], rows[1:], screen)
            rows = []
        content = line.removesuffix("\\").lstrip(" ")
        if content.startswith("#"):
            lines += wrap_text(paint_bold(content.lstrip("# ")), screen.text_width, "")
            continue
        sign = "- " if content.startswith("- ") else ""
        indent = " " * (len(line.removesuffix("\\")) - len(content))
        content = _INLINE.sub(render_match, content.removeprefix(sign))
        first, *rest = wrap_text(content, screen.text_width, indent + " " * len(sign)) or [""]
        lines += [indent + sign + first.lstrip(" "), *rest]
    return lines[: -1 if len(lines) > 1 and not lines[-1] else None]


def print_lines(lines: Sequence[str], *, in_pipes: bool = False) -> None:
    """Print lines; on a terminal, or in pipes too, break long ones and indent the rest."""
    screen = screen_here()
    width = screen.width if in_pipes else screen.text_width
    for line in lines:
        fits = cells(line) <= width or not (screen.is_terminal or in_pipes)
        print("\n".join(map(disarm, [line] if fits else wrap_line(line, width))))


def disarm(line: str) -> str:
    """Return a line that does not begin with `::`, a command to GitHub's runner."""
    return _RUNNER.sub("\\1\ufffd:", line)


# Safe text.


def complain(text: str, style: Style = "red", block: Sequence[str] = ()) -> None:
    """Print an error safely on standard error, its first sentence in `style`.

    Only a terminal gets it wrapped. block: safe lines to copy, as they are.
    """
    screen, safe_text = screen_here(sys.stderr), plain(text)
    lines = wrap_text(safe_text, screen.text_width, "") if screen.is_terminal else [safe_text]
    bold_words = len(safe_text.partition(". ")[0].split(" "))
    for line in lines:
        words = line.split(" ")
        first = " ".join(words[:bold_words])
        parts = [*([screen.paint(first, style)] if first else ()), *words[bold_words:]]
        print(disarm(" ".join(parts)), file=sys.stderr)
        bold_words = max(0, bold_words - len(words))
    for line in block:
        print(line, file=sys.stderr)


warn = partial(complain, style="yellow")
print_within = partial(print_lines, in_pipes=True)


def plain(text: str) -> str:
    """Return one safe line: a line end or tab as a blank, an unsafe character as U+FFFD."""
    return _without_unsafe(" ".join(text.splitlines()).replace("\t", " "))


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text, an unsafe character as U+FFFD."""
    return [disarm(_without_unsafe(line.replace("\t", "    "))) for line in text.splitlines()]


def plain_json(value: object) -> str:
    r"""Return JSON with only unsafe characters escaped (`\u`)."""
    text = RUNNERS.sub(r"\1\\u005b", json.dumps(value, ensure_ascii=False, indent=2))
    if text.isascii() and "\x7f" not in text:  # JSON escapes the other controls
        return text
    return _replace_hidden(text, lambda char: char if char == "\n" else json.dumps(char)[1:-1])


def _without_unsafe(text: str) -> str:
    text = RUNNERS.sub("\\1\ufffd", text)
    is_plain = text.isascii() and text.isprintable()
    return text if is_plain else _replace_hidden(text, lambda _: "\ufffd")


def _replace_hidden(text: str, replace: Callable[[str], str]) -> str:
    hidden = {index for run in hidden_runs(text) for index in range(*run)}
    return "".join(
        replace(char) if index in hidden or unicodedata.category(char) in _HIDDEN_KINDS else char
        for index, char in enumerate(text)
    )


_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def day_text(moment: str, today: date | None = None) -> str:
    """Return the day of a moment (UTC), `12 Mar` or `12 Mar 2024`; `?` for none."""
    try:
        day = date.fromisoformat(day_of(moment))
    except ValueError:
        return "?"
    is_this_year = day.year == (today or datetime.now(UTC).date()).year
    if language() == "ko":
        text = f"{day.month}월 {day.day}일"
        return text if is_this_year else f"{day:%Y. }{day.month}. {day.day}."
    text = f"{day.day:2} {_MONTHS[day.month - 1]}"
    return text if is_this_year else f"{text} {day.year}"
