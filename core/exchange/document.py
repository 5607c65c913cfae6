"""Decides where a document may be written, and writes it there whole or not at all."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from core.disk.files import prepared, reason_of, rename, sync_directory
from core.errors import SentinelError
from core.project import CONTEXT_DIRECTORY

# What clients read as instructions: a document with texts of a memory is none.
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
        self.path = self._real(root / given)
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
                self._check_unmoved()
                self._check_replaceable()
                rename(temporary, self.path)
            sync_directory(self.path.parent)
        except SentinelError:
            raise
        except OSError as error:
            raise self._refused("output_write", reason=reason_of(error)) from error

    def _real(self, path: Path) -> Path:
        """Return a path without links, none of which may lead out of the root."""
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(self._root) or real == self._root:
            raise self._refused("output_outside")
        return real

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

    def _check_unmoved(self) -> None:
        if Path(os.path.realpath(self.path)) != self.path:  # somebody has put a link into its way
            raise self._refused("output_outside")
