"""Answers an event of a client with what its model should know of the memory, or with nothing.

`cli.py hook EVENT --client CLIENT` reads the client's JSON on standard input and writes the
client's JSON. It never holds up work: it takes no lock, writes nothing into the project but actions
of sessions, and always exits with 0, since other codes stop a tool call in some clients. A failure
is one line on standard error, and what takes too long is given up. Every event starts a process, so
this file imports little, and some of it late.
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from commands.clients.table import RECORDING
from commands.hook.events import (
    MOST_TEXT_CHARS,
    MOST_WRITTEN_CHARS,
    answer,
    event_of,
    new_lines,
    paths_inside,
    read_call,
    read_moment,
)
from commands.hook.journal import Session, forget_old, version_of
from commands.hook.scene import (
    OddInputError,
    Scene,
    arguments_of,
    complain,
    has_memory,
    is_of_another,
    payload_here,
    project_of,
    scene_of,
    write,
)
from core.errors import LogMissingError
from core.lessons.briefing import Briefing, action_briefing, prompt_briefing
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from core.lessons.record_text import is_usable
from core.messages import language_of, say, speaking
from core.text.plain import one_line

if TYPE_CHECKING:
    from core.lessons.action import Action

MOST_S = 5  # a terminal, or a pipe that nobody closes, would be read for ever
# What a hook may work, in seconds of the processor, whatever the log holds; on a slow or busy
# machine as many times its start, of which 10,000 records take three to four. No step holds the
# interpreter for long: what each of them reads is bounded.
MOST_WORK_S, MOST_STARTS = 0.19, 5.0
_LOOK_S = 0.01
AT_ONCE_S = 3  # two configurations that a client reads may both start the hook


def main(words: Sequence[str]) -> int:
    """Answer one event; always 0. words: what stands behind `hook` on the command line."""
    done = threading.Event()
    try:
        threading.Thread(target=_watch, args=(done, words), daemon=True).start()
        event, client, named, variables = arguments_of(words)
        environment = {**os.environ, **variables}
        if event == RECORDING:
            _record(client, environment, named)
            return 0
        with speaking(language_of(environment)):
            text, scene = respond(event, client, payload_here(), environment, project=named)
        if text:
            write(sys.stdout, text)
        done.set()
        if scene and event in ("session-start", "before-action"):
            from commands.hook.surroundings import look_around

            look_around(scene.directory, scene.root, scene.data, scene.state)
    except Exception as error:  # whatever it is, the work of the client goes on
        complain(error)
    finally:
        done.set()
    return 0


def _watch(done: threading.Event, words: Sequence[str]) -> None:
    """End the process when it takes too long: the work of the client goes on without an answer."""
    slow = "slow_record" if RECORDING in words else "slow"
    started_s, last_s = time.process_time(), time.monotonic() + MOST_S
    most_s = started_s + max(MOST_WORK_S, MOST_STARTS * started_s)
    while not done.wait(_LOOK_S):
        if time.monotonic() > last_s:
            _give_up(OddInputError("no_answer", {"seconds": MOST_S}))
        if time.process_time() > most_s:
            _give_up(OddInputError(slow))


def _give_up(error: OddInputError) -> None:
    complain(error)
    os._exit(0)


def _record(client: str, environment: Mapping[str, str], named: str | None) -> None:
    from commands.hook.actions import finish, record_action  # brings SQLite

    finish()
    payload = payload_here()
    if is_of_another(client, payload, environment) or not event_of(client, RECORDING):
        return
    moment = read_moment(client, RECORDING, payload)._replace(paths=read_call(payload).paths)
    if not moment.session:  # nobody could say whose it is
        return
    project = project_of(client, moment, environment, named)
    if has_memory(project):
        record_action(client, moment, payload, project, environment)


# What a hook answers.


def respond(
    event: str,
    client: str,
    payload: Mapping[str, Any],
    environment: Mapping[str, str],
    *,
    project: str | None = None,
) -> tuple[str, Scene | None]:
    """Return the JSON that answers one event of a client, "" when there is nothing to say.

    Beside it stands the scene, None where there is no memory or nothing to say. payload: the
    client's JSON. project: what `--project` names. Raises SentinelError when the project or its
    memory cannot be read; the session is noted in the state directory.
    """
    if is_of_another(client, payload, environment) or not event_of(client, event):
        return "", None
    moment = read_moment(client, event, payload)
    if event in ("before-action", "prompt") and not moment.says_something:
        return "", None
    try:
        scene = scene_of(client, event, moment, environment, project)
    except LogMissingError as error:
        if event != "session-start":  # which has said it
            return "", None
        return answer(client, event, moment, one_line(str(error))), None
    if scene is None:
        return "", None
    briefing = _BRIEFINGS[event](scene)
    return (answer(client, event, moment, briefing.text) if briefing.text else ""), scene


def _at_start(scene: Scene) -> Briefing:
    """Say what the memory holds, when a session or sub-agent starts, and after compaction."""
    starts = [event for event in scene.session.events if event["event"] == scene.event]
    # The context of a resumed session still holds what its start has shown.
    is_known = scene.moment.source == "resume" and starts and starts[-1].get("log") == scene.state
    if is_known or _has_just_started(scene, scene.session):
        return Briefing()
    from commands.hook.start import briefing_of

    log = MemoryLog.parse(scene.data)
    if unusable := sum(not is_usable(record) for record in log.records):
        complain(OddInputError("unusable", {"count": unusable}))
    briefing = briefing_of(scene, log)
    before = scene.note(briefing)
    forget_old(scene.directory)
    return Briefing() if before and _has_just_started(scene, before) else briefing


def _has_just_started(scene: Scene, session: Session) -> bool:
    """Return whether another hook has answered the same start."""
    now_s, moment = int(time.time()), scene.moment
    if moment.is_nameless:
        return False
    this = [scene.event, moment.agent, moment.source]
    return any(
        now_s - event["at"] in range(AT_ONCE_S)
        and [event.get(key, "") for key in ("event", "agent", "source")] == this
        for event in session.events
    )


def _at_action(scene: Scene) -> Briefing:
    """Show the records that this action needs and that its agent has not seen at an earlier one."""
    from commands.hook.surroundings import load, save
    from core.lessons.action import Action, log_at_hand
    from core.lessons.recall import MOST_RECORDS, choose  # these compile what no other event needs

    actions, agent = _actions(scene), scene.moment.agent
    edit, run = actions[0], actions[-1]
    whole = Action(paths=edit.paths, command=run.command, text=edit.text, removed=edit.removed)
    known, at_hand = load(scene.directory), log_at_hand(whole, scene.data)
    choices = [choose(it, *at_hand, surroundings=known.around) for it in actions]
    save(scene.directory, known.with_action({word for it in choices for word in it.words}))
    chosen = {record.id: record for choice in choices for record in choice.records}
    seen = scene.session.shown(agent)
    due = [it for it in [*chosen.values()][:MOST_RECORDS] if version_of(it) not in seen]
    briefing = action_briefing(due)
    changes = bool(edit.paths) and not scene.session.has("changed")
    before = scene.note(briefing, changed=changes) if briefing.records or changes else None
    return _not_yet_shown(scene, before, briefing, action_briefing)


def _actions(scene: Scene) -> "list[Action]":
    """Return what is about to happen: an edit, a command, or both, since a command may edit."""
    from core.lessons.action import Action

    moment = scene.moment
    edit = Action(paths=moment.paths, text=_brought(scene), removed=moment.removed)
    if not moment.command.strip():
        return [edit]
    if not moment.paths:
        from commands.hook.shell import edits_of

        cwd = os.path.join(moment.cwd or scene.root, moment.workdir)
        edits = edits_of(moment.command, cwd, scene.root)
        inside = paths_inside(scene.root, moment._replace(paths=edits.paths))
        edit = Action(paths=tuple(dict.fromkeys(inside)), text=edits.text)
    command = Action(command=moment.command)
    return [edit, command] if edit.paths else [command]


def _not_yet_shown(
    scene: Scene,
    before: Session | None,
    briefing: Briefing,
    brief: Callable[[Sequence[Record]], Briefing],
) -> Briefing:
    """Return a briefing without what other hooks have shown since this one began.

    before: the session as it was when this briefing was noted; None where nothing was.
    """
    if before is None or before.events == scene.session.events:
        return briefing
    seen = before.shown(scene.moment.agent)
    return brief([record for record in briefing.records if version_of(record) not in seen])


def _brought(scene: Scene) -> str:
    """Return what an action writes; of a whole file the lines that it does not have yet."""
    text = scene.moment.text
    if scene.moment.is_whole and scene.moment.paths:
        from pathlib import Path

        from core.disk import open_regular

        with contextlib.suppress(OSError, ValueError):
            path = Path(scene.root, scene.moment.paths[0])
            with open_regular(path) as file:
                before = file.read(MOST_WRITTEN_CHARS).decode("utf-8", "replace")
            # Clients that tell of a file once it is written leave nothing to compare with.
            text = "\n".join(new_lines(text, before)) or text
    return text[:MOST_TEXT_CHARS]


def _at_prompt(scene: Scene) -> Briefing:
    """Show the records that a prompt is about and that its agent has not seen since the start."""
    from core.lessons.action import Action, log_at_hand
    from core.lessons.task import for_prompt

    text, agent = scene.moment.text, scene.moment.agent
    known = scene.session.shown(agent)
    records = for_prompt(text, *log_at_hand(Action(text=text), scene.data))
    briefing = prompt_briefing(it for it in records if version_of(it) not in known)
    before = scene.note(briefing) if briefing.records else None
    return _not_yet_shown(scene, before, briefing, prompt_briefing)


def _at_stop(scene: Scene) -> Briefing:
    """Return one reminder in a session in which files changed and the memory did not."""
    session = scene.session
    if scene.moment.over or session.has("reminded") or not session.has("changed"):
        return Briefing()
    if scene.state != session.log_at_start:
        return Briefing()
    reminder = Briefing(say("answers.reminder"))
    before = scene.note(reminder, reminded=True)
    if before is None or before.has("reminded"):  # a second one could not be told from the first
        return Briefing()
    return reminder


_BRIEFINGS = {
    "session-start": _at_start,
    "before-action": _at_action,
    "prompt": _at_prompt,
    "stop": _at_stop,
}
