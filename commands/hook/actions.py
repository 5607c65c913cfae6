"""Records what a client has just done: a command, an edit, or a save that tells the session.

The event `after-action` of `cli.py hook`. It answers nothing, whatever happens, and imports SQLite,
which no other event needs.
"""

import contextlib
import signal
from collections.abc import Iterator, Mapping
from typing import Any

from commands.clients.events import MOST_PATH_CHARS, Moment, event_of, paths_inside, read_moment
from commands.clients.outcomes import Edit, Outcome, read_outcome
from commands.clients.table import RECORDING
from commands.hook.given import is_of_another, project_of
from core.config import CONTEXT_DIRECTORY, Project, read_settings, safe_file_name
from rooms.sessions.actions.recording import Caller, Deed, record, record_save

_MOST_NAME_CHARS = 80  # of a conversation, as the client names it


def record_action(
    client: str,
    payload: Mapping[str, Any],
    environment: Mapping[str, str],
    *,
    project: str | None = None,
) -> None:
    """Record one event of a client, in a project that has a memory.

    payload: the client's JSON. project: what `--project` names. Raises SentinelError when the
    project or its sessions cannot be used.
    """
    _stay()
    if is_of_another(client, payload, environment) or not event_of(client, RECORDING):
        return
    outcome = read_outcome(client, payload)
    if not outcome:
        return
    paths = tuple(edit.path for edit in outcome.edits)
    moment = read_moment(client, RECORDING, payload)._replace(paths=paths)
    if not moment.session:  # nobody could say whose it is
        return
    found = project_of(client, moment, environment, project)
    if found is None:
        return
    caller = Caller(client, safe_file_name(moment.session, _MOST_NAME_CHARS))
    if outcome.save:
        record_save(found.root, caller, outcome.save, environment)
        return
    deeds = list(_deeds(outcome, moment, found))
    if deeds:
        strict = read_settings(environment).strict
        record(found.root, deeds, caller, environment, strict=strict)


def _stay() -> None:
    """Finish, also when the client ends meanwhile: it asks what it has not waited for to end."""
    with contextlib.suppress(ValueError, OSError):  # ValueError: not the main thread
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _deeds(outcome: Outcome, moment: Moment, project: Project) -> Iterator[Deed]:
    if outcome.command:
        yield Deed("command", outcome.command, outcome.failed, outcome.output)
    for edit in outcome.edits:
        path = next(paths_inside(project.folder, moment._replace(paths=(edit.path,))), "")
        if path and len(path) <= MOST_PATH_CHARS and not path.startswith(f"{CONTEXT_DIRECTORY}/"):
            yield Deed("edit", _told(edit, path, outcome), outcome.failed, outcome.output, path)


def _told(edit: Edit, path: str, outcome: Outcome) -> str:
    """Return what was done to a file, such as `Edit src/a.py (+3 -1)`."""
    if outcome.failed or edit.added is None:
        return f"{edit.verb} {path}"
    return f"{edit.verb} {path} (+{edit.added} -{edit.removed})"
