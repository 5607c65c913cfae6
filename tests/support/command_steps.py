"""Carries out the steps of a table of tests/data on files, links and folders of a project."""

import os
import shutil
from pathlib import Path
from typing import Any

from tests.support.memory_steps import MemorySteps


class CommandSteps(MemorySteps):
    """Changes a project and its files; a name of a file begins at the project."""

    def unchanged(self, *step: Any) -> None:
        """A step that leaves every file and folder as it is."""
        before = tree_of(self._project)
        self.live(*step)
        assert tree_of(self._project) == before

    def holds(self, name: str, text: str) -> None:
        """A file that is no more than this text."""
        assert (self._project / name).read_bytes().decode() == text

    def lie(self, pattern: str, count: int) -> None:
        """So many files have a name like this."""
        assert len(list(self._project.glob(pattern))) == count

    def link(self, name: str, target: str) -> None:
        self._make_room(name).symlink_to(target)

    def hard_link(self, name: str, other: str) -> None:
        os.link(self._project / other, self._project / name)

    def removed(self, name: str) -> None:
        """A file, a link, or a folder with what is in it."""
        path = self._project / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()

    def mode(self, name: str, octal: str) -> None:
        (self._project / name).chmod(int(octal, 8))


def tree_of(folder: Path) -> dict[str, tuple[int, int, object]]:
    """Mode, time of change and content of everything in the folder, .git included."""
    found = dict[str, tuple[int, int, object]]()
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        content: object = None
        if path.is_symlink():
            content = os.readlink(path)
        elif path.is_file():
            content = path.read_bytes()
        found[path.relative_to(folder).as_posix()] = status.st_mode, status.st_mtime_ns, content
    return found


def with_variables(words: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    """The words of a command, and the variables that stand before them."""
    left, variables = list(words), dict[str, str]()
    while left and left[0].partition("=")[0].isupper():
        name, _, value = left.pop(0).partition("=")
        variables[name] = value
    return left, variables
