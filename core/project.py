"""Which project a process speaks of, where its memory log is, and where none may be written."""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.errors import ProjectMissingError, ProjectRefusedError

CONTEXT_DIRECTORY = ".context"
LOG_NAME = "memory_log.jsonl"
VARIABLES = ("SENTINEL_MEMORY_PROJECT", "CLAUDE_PROJECT_DIR")

# A client that starts servers in one of these has not named a project.
_SYSTEM_TREES = ("/bin", "/boot", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys")
_SYSTEM_DIRECTORIES = (
    *("/dev", "/home", "/opt", "/run", "/srv", "/usr", "/usr/bin", "/usr/lib", "/usr/local"),
    *("/usr/local/bin", "/usr/sbin", "/var", "/Applications", "/Library", "/System", "/Users"),
)
_WINDOWS_TREES = ("SYSTEMROOT", "PROGRAMFILES", "PROGRAMFILES(X86)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project directory and where its name came from.

    source: `--project`, the name of a variable, or `working directory`.
    warnings: what was passed over on the way, in words.
    """

    root: Path
    source: str
    warnings: tuple[str, ...] = ()

    @property
    def log_path(self) -> Path:
        """Where the memory log of this project is or will be."""
        return self.root / CONTEXT_DIRECTORY / LOG_NAME

    def check_readable(self) -> None:
        """Raise ProjectMissingError (an OSError) when the directory is not there."""
        if not os.path.isdir(self.root):  # False, not an error, for a name that no system takes
            raise ProjectMissingError(path=str(self.root), source=self.source)

    def check_writable(self, environment: Mapping[str, str]) -> None:
        """Raise ProjectRefusedError (an OSError) in a home, root or system directory."""
        self.check_readable()
        kind = _no_project_kind(self.root, environment)
        if kind:
            raise ProjectRefusedError(path=str(self.root), kind=kind, source=self.source)


def find_project(argument: str | None, environment: Mapping[str, str], cwd: Path) -> Project:
    """The project of `--project`, else of a variable, else of the working directory `cwd`.

    From the directory named, the nearest one with a `.context` directory, up to the root of its
    git repository, is the project; without such a one the directory itself.
    """
    warnings = []
    named = [("--project", argument or "")]
    named += [(variable, environment.get(variable, "")) for variable in VARIABLES]
    for source, value in named:
        value = value.strip()
        if "${" in value:
            warnings.append(f"{source} holds an unexpanded variable and is treated as unset")
        elif value:
            start = Path(os.path.abspath(cwd / os.path.expanduser(value)))
            return Project(root=_nearest(start), source=source, warnings=tuple(warnings))
    start = Path(os.path.abspath(cwd))
    return Project(root=_nearest(start), source="working directory", warnings=tuple(warnings))


def _nearest(start: Path) -> Path:
    candidates = [start, *start.parents]
    git_root = next((at for at, path in enumerate(candidates) if os.path.exists(path / ".git")), 0)
    for path in candidates[: git_root + 1]:
        if os.path.isdir(path / CONTEXT_DIRECTORY):
            return path
    return start


def _no_project_kind(root: Path, environment: Mapping[str, str]) -> str:
    """`home`, `root` or `system` for a directory that is no project, else ""."""
    root = Path(os.path.realpath(root))
    homes = [environment.get("HOME"), environment.get("USERPROFILE"), os.path.expanduser("~")]
    if any(home and _same(root, Path(home)) for home in homes):
        return "home"
    if root.parent == root:
        return "root"
    if _same(root, Path(tempfile.gettempdir())):
        return "system"
    trees = [Path(tree) for tree in _SYSTEM_TREES]
    trees += [Path(environment[name]) for name in _WINDOWS_TREES if environment.get(name)]
    if any(_same(root, tree) or _within(root, tree) for tree in trees):
        return "system"
    return "system" if any(_same(root, Path(path)) for path in _SYSTEM_DIRECTORIES) else ""


def _same(one: Path, other: Path) -> bool:
    return os.path.normcase(one) == os.path.normcase(os.path.realpath(other))


def _within(path: Path, tree: Path) -> bool:
    tree_text = os.path.normcase(os.path.realpath(tree))
    return any(os.path.normcase(parent) == tree_text for parent in path.parents)
