"""Finds what stands on the page beside the lessons: the project's sessions, the user's fragments.

Where there is none of a kind, nothing of its room is loaded.
"""

import os
from typing import NamedTuple

from commands.terminal.rooms_here import has_fragments, has_sessions
from commands.terminal.safe_text import plain, warn
from commands.view.part import Part
from core.errors import SentinelError
from core.messages import say
from rooms.room import Opened

SCOPES = ("all", "public", "none")  # of fragments


class Beside(NamedTuple):
    """What is added to the page, and the kinds of the secrets that were replaced there."""

    parts: tuple[Part, ...] = ()
    redacted: tuple[str, ...] = ()


def beside(opened: Opened, *, scope: str, is_own: bool) -> Beside:
    """Return what stands on the page beside the lessons.

    scope: which fragments. is_own: whether the page is written where only the user may read it.
    """
    sessions = _sessions(opened)
    fragments = Beside() if scope == "none" else _fragments(opened, scope, is_own=is_own)
    return Beside(sessions.parts + fragments.parts, sessions.redacted + fragments.redacted)


def _sessions(opened: Opened) -> Beside:
    root = opened.project.root
    if not has_sessions(root):
        return Beside()
    from commands.view.sessions.collection import collection_of
    from commands.view.sessions.reading import read_sessions
    from commands.view.sessions.section import part_of

    try:
        found = read_sessions(root, opened.settings)
    except SentinelError as error:
        warn(say("view_sessions.unread", reason=plain(str(error))))
        return Beside()
    if not found:
        return Beside()
    collection = collection_of(found)
    return Beside((part_of(collection),), collection.redacted)


def _fragments(opened: Opened, scope: str, *, is_own: bool) -> Beside:
    if not has_fragments(os.environ):
        return Beside()
    from commands.view.fragments.collection import collection_of
    from commands.view.fragments.reading import read_fragments
    from commands.view.fragments.section import part_of

    try:
        found = read_fragments(opened.settings, os.environ, is_public=scope == "public")
    except SentinelError as error:
        warn(say("view_fragments.unread", reason=plain(str(error))))
        return Beside()
    if not found:
        return Beside()
    about = "public" if scope == "public" else "own" if is_own else "all"
    collection = collection_of(found)
    part = part_of(collection, about=f"about_{about}")
    return Beside((part,), collection.redacted)
