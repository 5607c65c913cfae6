"""Documents that leave a room and databases that come into it: where an export may be written, the
page of HTML that it may be, and how a database of somebody else is read.

A page has no script and loads nothing, and its policy allows only its own style. Texts stay texts
in it, and hidden characters are spelled out. A database of somebody else is not trusted, and stays
as it is.
"""

import base64
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from core.config import CONTEXT_DIRECTORY
from core.disk import prepared, reason_of, rename, sync_directory
from core.errors import SentinelError
from core.messages import language
from core.text.plain import LINE_ENDS, one_line, printable

# What clients read as instructions: a document with texts of a memory is none.
_RULES = frozenset(
    "agents.md claude.md claude.local.md gemini.md skill.md copilot-instructions.md".split()
)
_ASCII_SPACE = ". "  # which Windows drops at the end of a name
_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")
END = "</main>\n</body>\n</html>\n"
SQLITE = b"SQLite format 3\0"  # with which each database begins

_MOST_S = 60
_MOST_VALUE_BYTES = 10_000_000
_STEPS = 100_000  # of the database between two looks at the clock
_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table'"  # a view may never end


class Target:
    """A file inside a directory that a document may become, in the place of an earlier one.

    Raises what `refused` makes of the key of a sentence: `output_outside`, `output_name`,
    `output_reserved`, `output_exists`, and `output_write` with its reason.
    """

    def __init__(
        self,
        root: Path,
        output: str,
        *,
        suffixes: tuple[str, ...],
        begins: str,
        refused: Callable[..., SentinelError],
        own: frozenset[str] = frozenset(),
    ) -> None:
        """Check the name. begins: with what every such document begins. own: reserved names."""
        self._begins, self._refused, self._own = begins, refused, own
        given = Path(output)
        if ".." in given.parts or "\0" in output:
            raise refused("output_outside")
        if given.suffix.lower() not in suffixes or not output.isprintable():
            raise refused("output_name")
        self._root = Path(os.path.realpath(root))
        self.path = Path(os.path.realpath(root / given))  # no link may lead out of the root
        if not self.path.is_relative_to(self._root) or self.path == self._root:
            raise refused("output_outside")
        self._check_place(self.path.relative_to(self._root))
        self._check_replaceable()

    @property
    def relative(self) -> str:
        """The path from the root, with slashes."""
        return self.path.relative_to(self._root).as_posix()

    def write(
        self, pieces: Iterable[str], *, like: Path | None = None, is_private: bool = False
    ) -> None:
        """Write the document; a reader sees the whole of it or what was there before.

        like: the file whose mode and owner a new one gets. is_private: a new one is for its owner
        alone, where there is no such file.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            data = (piece.encode("utf-8", "replace") for piece in pieces)
            mode = 0o600 if is_private else 0o666
            with prepared(self.path, data, like=like, mode=mode) as temporary:
                if Path(os.path.realpath(self.path)) != self.path:  # by a link in its way now
                    raise self._refused("output_outside")
                self._check_replaceable()
                rename(temporary, self.path)
            sync_directory(self.path.parent)
        except SentinelError:
            raise
        except OSError as error:
            raise self._refused("output_write", reason=reason_of(error)) from error

    def _check_place(self, below: Path) -> None:
        """Refuse the places in which programs look for files of their own."""
        parts = [part.casefold().rstrip(_ASCII_SPACE) for part in below.parts]
        hidden = [part for part in parts if part.startswith((".", "git~")) or not part]
        is_ours = parts[0] == CONTEXT_DIRECTORY and parts[-1] not in self._own
        if parts[-1] in _RULES or hidden != ([CONTEXT_DIRECTORY] if is_ours else []):
            raise self._refused("output_reserved")

    def _check_replaceable(self) -> None:
        """Refuse a file that is there and is no earlier document of this kind."""
        begins = self._begins.encode("ascii")
        try:
            with open(self.path, "rb") as file:
                is_ours = file.read(len(begins)) == begins
        except FileNotFoundError:
            return
        except OSError:  # a directory, or nobody's to read
            is_ours = False
        if not is_ours:
            raise self._refused("output_exists")


# a page of HTML


@cache
def _style() -> str:
    return files("core.room").joinpath("page.css").read_text(encoding="utf-8")


def begins_with(mark: str) -> str:
    """Return with what a page begins, by which a later export knows it. mark: of the room."""
    return f"<!doctype html>\n<!-- {mark}:"


def head_of(mark: str, title: str, intro: str) -> str:
    """Return the page up to its content. title, intro: unescaped, in this language."""
    title, style = escape(one_line(title)), _style()
    allowed = f"sha256-{base64.b64encode(sha256(style.encode('utf-8')).digest()).decode('ascii')}"
    policy = f"default-src 'none'; style-src '{allowed}'; base-uri 'none'; form-action 'none'"
    lines = [
        f"{begins_with(mark)} the next export may replace this file -->",
        f'<html lang="{language()}">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{title}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        f"<header><h1>{title}</h1>",
        f"<p>{escape(intro)}</p></header>",
        "<main>",
    ]
    return "\n".join([*lines, ""])


def text_element(tag: str, text: str) -> str:
    """Return an element with a text of somebody, all of its lines."""
    return f'<{tag} class="text" {spoken(text)}>{block(text)}</{tag}>'


def line(text: str) -> str:
    """Return a text as one line."""
    return escape(one_line(text))


def block(text: str) -> str:
    """Return a text with its line ends, a lone carriage return among them."""
    return escape("\n".join(map(printable, LINE_ENDS.split(text.strip("\r\n")))))


def spoken(text: str) -> str:
    """Return the attributes for direction and language of an element with this text."""
    own = "ko" if _HANGUL.search(text) else "en"
    return 'dir="auto"' if own == language() else f'dir="auto" lang="{own}"'


# a database of somebody else


def open_foreign(path: Path) -> sqlite3.Connection:
    """Open a database to read it for a minute at most. Raises sqlite3.Error, OSError."""
    wal = Path(f"{path}-wal")
    is_settled = not wal.exists() or not wal.stat().st_size
    name = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_settled else ''}"
    connection = sqlite3.connect(name, uri=True, isolation_level=None)
    deadline = time.monotonic() + _MOST_S
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_VALUE_BYTES)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def tables_of(connection: sqlite3.Connection) -> set[str]:
    """Return the names of the tables. Raises sqlite3.Error."""
    return {name for (name,) in connection.execute(_TABLES)}


def rows_of(connection: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table by the names of its columns. Raises sqlite3.Error."""
    cursor = connection.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))
