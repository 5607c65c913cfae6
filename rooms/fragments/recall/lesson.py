"""Finds the lesson of the memory log that says what a fragment says, so that it is kept once.

Nothing is written to the log. One that cannot be read has nothing to say.
"""

import os
from functools import lru_cache

from core.errors import SentinelError
from core.lessons.answers.fitting import is_harmless, is_usable
from core.lessons.recall.for_task import PromptIndex
from core.lessons.record import Record
from core.project import Project
from core.settings import Settings
from core.store import open_store
from rooms.fragments.fragment import Fragment

KINDS = frozenset(("error", "decision", "procedure"))  # what a rule can be made of
MOST_READ = 2_000  # records, the later ones


def lesson_on(fragment: Fragment, log: Project | None, settings: Settings) -> Record | None:
    """Return the lesson that a fragment is about, None where the log has none.

    log: the project whose log is meant, None where its tools are not offered.
    """
    if log is None or fragment.kind not in KINDS:
        return None
    try:
        found = _index_of(log, settings).first(fragment.content)
    except (SentinelError, OSError):
        return None
    return found if found and is_harmless(found) else None


def _index_of(project: Project, settings: Settings) -> PromptIndex:
    """Return the lessons of a log, read anew once its file is another one."""
    try:
        known = os.stat(project.log_path)
    except FileNotFoundError:
        return PromptIndex(())
    return _index(project, settings, (known.st_mtime_ns, known.st_size, known.st_ino))


@lru_cache(maxsize=4)
def _index(project: Project, settings: Settings, _state: tuple[int, int, int]) -> PromptIndex:
    records = open_store(project, settings).read_records().records[-MOST_READ:]
    return PromptIndex([it for it in records if is_usable(it)])
