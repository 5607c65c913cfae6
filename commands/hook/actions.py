"""Records what a client has just done: a command, an edit, or a save that tells the session.

The event `after-action` of `cli.py hook`. It answers nothing, whatever happens, and imports SQLite,
which no other event needs.
"""

import contextlib
import signal
from collections.abc import Iterator, Mapping
from typing import Any

from commands.hook.events import MOST_PATH_CHARS, Moment, paths_inside
from commands.hook.outcomes import Edit, Outcome, read_outcome
from core.config import CONTEXT_DIRECTORY, Project, read_settings, safe_file_name
from rooms.sessions.actions import Caller, Deed, record, record_save

_MOST_NAME_CHARS = 80  # of a conversation, as the client names it


def finish() -> None:
    """Go on, also when the client ends meanwhile: it asks what it has not waited for to end."""
    with contextlib.suppress(ValueError, OSError):  # ValueError: not the main thread
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def record_action(
    client: str,
    moment: Moment,
    payload: Mapping[str, Any],
    project: Project,
    environment: Mapping[str, str],
) -> None:
    """Record one event of a client. Raises SentinelError when the sessions cannot be used."""
    outcome = read_outcome(client, payload)
    caller = Caller(client, safe_file_name(moment.session, _MOST_NAME_CHARS))
    if outcome.save:
        record_save(project.root, caller, outcome.save, environment)
        return
    deeds = list(_deeds(outcome, moment, project))
    if deeds:
        strict = read_settings(environment).strict
        record(project.root, deeds, caller, environment, strict=strict)


def _deeds(outcome: Outcome, moment: Moment, project: Project) -> Iterator[Deed]:
    if outcome.command.strip():
        yield Deed("command", outcome.command, outcome.failed, outcome.output)
    for edit in outcome.edits:
        path = next(paths_inside(project.folder, moment._replace(paths=(edit.path,))), "")
        if path and len(path) <= MOST_PATH_CHARS and not path.startswith(f"{CONTEXT_DIRECTORY}/"):
            yield Deed("edit", _line(edit, path, outcome), outcome.failed, outcome.output, path)


def _line(edit: Edit, path: str, outcome: Outcome) -> str:
    """Return what was done to a file, such as `Edit src/a.py (+3 -1)`."""
    if outcome.failed or edit.added is None:
        return f"{edit.verb} {path}"
    return f"{edit.verb} {path} (+{edit.added} -{edit.removed})"
