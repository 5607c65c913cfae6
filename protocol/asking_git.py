"""Asks git about a memory log for a call, and loads what asks it only then."""

from pathlib import Path

from core.store import MemoryStore


def has_uncommitted(store: MemoryStore) -> bool:
    """Return whether the log has changes that git has not committed; False if nobody can tell."""
    from core.git import is_uncommitted  # only a compaction needs it

    return is_uncommitted(store.path, store.read_bytes)


def check_missing(log_path: Path) -> None:
    """Raise LogMissingError where git has a log that is not there."""
    from core.git import check_missing  # a log that is there needs no git

    check_missing(log_path)


def check_triggers(when: str | list[str] | None, project: str) -> None:
    """Raise SentinelError where a trigger is none, or stands in too many of the tracked files.

    project: the path of its directory.
    """
    if when:
        from core.lessons.reach import checked_triggers  # not every save has triggers

        checked_triggers(when, Path(project))
