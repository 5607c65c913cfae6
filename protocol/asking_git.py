"""Asks git about a memory log for a call, and loads what asks it only then."""

from dataclasses import replace
from pathlib import Path

from core.lessons.record import Draft
from core.store import MemoryStore


def has_uncommitted(store: MemoryStore) -> bool:
    """Return whether the log has changes that git has not committed; False if nobody can tell."""
    from core.git import is_uncommitted  # only a compaction needs it

    return is_uncommitted(store.path, store.read_bytes)


def check_missing(log_path: Path) -> None:
    """Raise LogMissingError where git has a log that is not there."""
    from core.git import check_missing  # a log that is there needs no git

    check_missing(log_path)


def within_reach(draft: Draft, project: str) -> tuple[Draft, list[str]]:
    """Return a draft without triggers that are too common, and what to say of its anchors.

    Where all are, the record keeps those that it has. project: the path of its directory. Raises
    SentinelError where a path or a trigger is none.
    """
    if not (draft.paths or draft.when):
        return draft, []
    from core.lessons.reach import reach_of  # not every save has anchors

    reach = reach_of(draft.paths or (), draft.when or (), Path(project))
    if reach.common:
        draft = replace(draft, when=reach.triggers or None)
    return draft, reach.notes
