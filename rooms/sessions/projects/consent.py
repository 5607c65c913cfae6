"""Knows which projects of this machine let the user's other projects find their sessions.

The consent is a file in the user's state directory, outside of the project: nothing that a
repository carries can give it.
"""

import os
from collections.abc import Mapping

from core.config import state_directory

_CONSENT = "sessions-are-shared"
_GLOBAL = "global.db"


def is_shared(root: str | os.PathLike[str], environment: Mapping[str, str]) -> bool:
    """Return whether the user of this machine lets other projects find this one's sessions."""
    path = consent_path(root, environment)
    if not path:
        return False
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read() == name_of(root)
    except OSError:
        return False


def consent_path(root: str | os.PathLike[str], environment: Mapping[str, str]) -> str:
    """Return the file that stands for the consent, "" for an account without a home directory."""
    directory = state_directory(os.fspath(root), environment)
    return directory and os.path.join(directory, _CONSENT)


def global_path(root: str | os.PathLike[str], environment: Mapping[str, str]) -> str:
    """Return the database with the hints of all projects that share, "" where none can be."""
    directory = state_directory(os.fspath(root), environment)
    return directory and os.path.join(os.path.dirname(directory), _GLOBAL)


def name_of(root: str | os.PathLike[str]) -> str:
    """Return the one name of a directory by which its project is known to the others."""
    return os.path.realpath(root)
