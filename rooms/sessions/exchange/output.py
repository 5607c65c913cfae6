"""Decides where a document may be written, and writes it there whole or not at all."""

import os
from collections.abc import Iterable
from pathlib import Path

from core.disk.atomic import prepared, reason_of, rename, sync_directory
from core.errors import SentinelError
from core.project import CONTEXT_DIRECTORY
from rooms.sessions.config import CONFIG_NAME
from rooms.sessions.exchange.document import Form
from rooms.sessions.exchange.errors import ExchangeError, shown_path
from rooms.sessions.projection import NAME as PROJECTION_NAME

_OWN = frozenset((CONFIG_NAME, PROJECTION_NAME))
# What clients read as instructions: a document with texts of sessions is none.
_RULES = frozenset(
    (
        "agents.md",
        "claude.md",
        "claude.local.md",
        "gemini.md",
        "skill.md",
        "copilot-instructions.md",
    )
)
_ASCII_SPACE = ". "  # which Windows drops at the end of a name


class Target:
    """A file inside a project that an export may become. Raises ExchangeError."""

    def __init__(self, root: Path, output: str, form: Form, name: str) -> None:
        """Check the name. root: of the project. name: of the form, for a sentence."""
        self.shown, self._form = shown_path(output), form
        self._suffix = form.suffixes[0].lstrip(".")
        given = Path(output)
        if ".." in given.parts or "\0" in output:
            raise self._error("output_outside", suffix=self._suffix)
        if given.suffix.lower() not in form.suffixes or not output.isprintable():
            suffixes = ", ".join(form.suffixes)
            raise self._error("output_name", form=name, suffixes=suffixes)
        self._root = Path(os.path.realpath(root))
        self.path = self._real(root / given)
        self._check_place(self.path.relative_to(self._root))
        self._check_replaceable()

    @property
    def relative(self) -> str:
        """The path from the root of the project, with slashes."""
        return self.path.relative_to(self._root).as_posix()

    def write(self, pieces: Iterable[str]) -> None:
        """Write the document; a reader sees the whole of it or what was there before."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            data = (piece.encode("utf-8", "replace") for piece in pieces)
            with prepared(self.path, data) as temporary:
                self._check_unmoved()
                self._check_replaceable()
                rename(temporary, self.path)
            sync_directory(self.path.parent)
        except SentinelError:
            raise
        except OSError as error:
            raise self._error("output_write", reason=reason_of(error)) from error

    def _real(self, path: Path) -> Path:
        """Return a path without links, none of which may lead out of the project."""
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(self._root) or real == self._root:
            raise self._error("output_outside", suffix=self._suffix)
        return real

    def _check_place(self, below: Path) -> None:
        """Refuse the places in which programs look for files of their own."""
        parts = [part.casefold().rstrip(_ASCII_SPACE) for part in below.parts]
        hidden = [part for part in parts if part.startswith((".", "git~")) or not part]
        is_ours = parts[0] == CONTEXT_DIRECTORY and parts[-1] not in _OWN
        if parts[-1] in _RULES or hidden != ([CONTEXT_DIRECTORY] if is_ours else []):
            raise self._error("output_reserved", suffix=self._suffix)

    def _check_replaceable(self) -> None:
        """Refuse a file that is there and is no export of sessions."""
        begins = self._form.begins.encode("ascii")
        try:
            with open(self.path, "rb") as file:
                is_ours = file.read(len(begins)) == begins
        except FileNotFoundError:
            return
        except OSError:  # a directory, or nobody's to read
            is_ours = False
        if not is_ours:
            raise self._error("output_exists")

    def _check_unmoved(self) -> None:
        if Path(os.path.realpath(self.path)) != self.path:  # somebody has put a link into its way
            raise self._error("output_outside", suffix=self._suffix)

    def _error(self, key: str, **facts: str) -> ExchangeError:
        return ExchangeError(key, path=self.shown, **facts)
