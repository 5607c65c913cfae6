"""Tells which lessons a hook has shown at their trigger, and whether the file still has it.

A lesson reaches most models with the result of the edit at which it is shown: that edit has made
the mistake, and only a later one can undo it. So a lesson counts as followed once an edit leaves
its file without any of the triggers, and as shown as long as one stands there, whoever wrote it.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from commands.clients.events import MOST_WRITTEN_CHARS, Moment
from commands.hook.journal import open_session
from core.disk.plain import read_plain
from core.errors import SentinelError
from core.project import Project
from rooms.sessions.actions.kinds import FOLLOWED, LESSON, SHOWN
from rooms.sessions.actions.recording import Deed

if TYPE_CHECKING:
    from core.lessons.record import Record


def lessons_at(path: str, moment: Moment, project: Project, state: str) -> Iterator[Deed]:
    """Yield what an edit of a file did about the lessons that were shown there; mostly nothing.

    path: from the project's root. state: the directory in which hooks note what they showed. Of a
    log that cannot be read nothing is told.
    """
    versions = open_session(state, moment.session).shown_at_trigger(moment.agent, path)
    text = _text(Path(project.folder, path)) if versions else None
    if text is None:  # it is gone, or too long to say what is not in it
        return
    from commands.hook.trial import has_trigger  # few edits are at a lesson
    from core.lessons.answers.fitting import is_harmless
    from core.lessons.answers.rendering import topic_text

    for record in _records(project, versions):
        if record.when and is_harmless(record):
            result = SHOWN if has_trigger(record, text) else FOLLOWED
            name = f"{record.id} [{topic_text(record.topic)}]"
            yield Deed(LESSON, name, output=result, file_path=path)


def _text(path: Path) -> str | None:
    from core.disk.atomic import open_regular

    with contextlib.suppress(OSError), open_regular(path) as file:
        data = file.read(MOST_WRITTEN_CHARS + 1)
        return data.decode("utf-8", "replace") if len(data) <= MOST_WRITTEN_CHARS else None
    return None


def _records(project: Project, versions: list[str]) -> Iterator["Record"]:
    """Yield the records of these versions as the log has them now, without reading the others."""
    from core.lessons.record import id_in, parse_line

    data = read_plain(os.fspath(project.log_path))
    if data is None:
        from core.lessons.log_file import LogFile  # follows links

        with contextlib.suppress(SentinelError):  # what was done is recorded all the same
            data = LogFile(project.log_path, lock_timeout_s=0).read()
    ids = {id_in(version) for version in versions}
    keys = [f'"{id_}"'.encode() for id_ in ids]
    lines = (line for line in (data or b"").splitlines() if any(key in line for key in keys))
    found = {record.id: record for record in map(parse_line, lines) if record}
    yield from (found[id_] for id_ in ids & found.keys())
