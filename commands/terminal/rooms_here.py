"""Tells which rooms a person has beside the log, without loading anything of them."""

import os
from collections.abc import Mapping
from pathlib import Path

from core.config import CONTEXT_DIRECTORY, FRAGMENTS_PLACE, data_directory, find_project

FILE_NAME = "memory.db"  # as in rooms.fragments.config
FOLDER = "sessions"  # of their settings, wherever their database is


def has_sessions(root: Path) -> bool:
    """Return whether a project may have sessions: their directory is there."""
    return os.path.isdir(root / CONTEXT_DIRECTORY / FOLDER)


def has_fragments(environment: Mapping[str, str]) -> bool:
    """Return whether there is a file of fragments, or a setting of its place that is no path."""
    given = os.path.expanduser(environment.get(FRAGMENTS_PLACE, "").strip())
    if given and not os.path.isabs(given):
        return True  # the room says what is wrong with it
    place = given or data_directory(environment)
    if not given or os.path.isdir(place):
        place = place and os.path.join(place, FILE_NAME)
    return bool(place) and os.path.lexists(place)


def rooms_beside(root: Path) -> list[str]:
    """Return the rooms beside the log that may hold something in a project, or of its user."""
    there = {"sessions": has_sessions(root), "fragments": has_fragments(os.environ)}
    return [room for room, is_there in there.items() if is_there]


def rooms_with(room: str) -> str:
    """Return what `setup --rooms` takes to switch a room on here, and none off that has something.

    Here is the project of the working directory, in which the user would type it.
    """
    there = rooms_beside(find_project(None, os.environ, Path.cwd()).root)
    return ",".join(["lessons", *(it for it in ("sessions", "fragments") if it in (room, *there))])
