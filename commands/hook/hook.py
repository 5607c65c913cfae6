"""Answers an event of a client with the records that its model needs, or with nothing.

It never holds up work: it takes no lock, gives up after a time, writes only actions of sessions
into the project, and exits with 0, since other codes veto a tool call in some clients. A failure
is one line on standard error. Every event starts a process: imports are few, or late.
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from commands.clients.table import RECORDING
from commands.hook import events
from commands.hook.journal import Session, forget_old_sessions, version_of
from commands.hook.scene import Asked, Scene, complain, payload_of, write
from core.errors import LogMissingError, SentinelError
from core.lessons.briefing import Briefing, action_briefing, prompt_briefing
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from core.lessons.record_text import is_usable
from core.messages import language_of, say, use_language
from core.text.plain import one_line

MOST_S = 5  # a terminal, or a pipe that nobody closes, would be read for ever
# Limits of work in seconds of the processor, or in multiples of the start on a slow machine;
# 10,000 records take three to four starts. No step holds the interpreter for long: each reads a
# bounded amount.
MOST_WORK_S, MOST_STARTS = 0.19, 5.0
_LOOK_S = 0.01
AT_ONCE_S = 3  # two configurations that a client reads may both start the hook


def main(words: Sequence[str]) -> int:
    """Answer one event; always 0. words: the arguments behind `hook`."""
    done = threading.Event()
    try:
        threading.Thread(target=_watch, args=(done, words), daemon=True).start()
        asked = Asked.of(words)
        if asked.event == RECORDING:
            from commands.hook.after_action import record_action  # brings SQLite

            record_action(asked)
            return 0
        with use_language(language_of(asked.environment)):
            text, scene = _respond(asked)
        if text:
            write(sys.stdout, text)
        done.set()
        if scene and asked.event in ("session-start", "before-action"):
            from commands.hook.surroundings import look_around

            look_around(scene.directory, scene.root, scene.data, scene.state)
    except Exception as error:  # whatever it is, the work of the client goes on
        complain(error)
    finally:
        done.set()
    return 0


def _watch(done: threading.Event, words: Sequence[str]) -> None:
    """End the process, without an answer, when it takes too long."""
    started_s, last_s = time.process_time(), time.monotonic() + MOST_S
    most_s = started_s + max(MOST_WORK_S, MOST_STARTS * started_s)
    late = None
    while not late and not done.wait(_LOOK_S):
        if time.monotonic() > last_s:
            late = SentinelError("hook.no_answer", seconds=MOST_S)
        elif time.process_time() > most_s:
            late = SentinelError("hook.slow_record" if RECORDING in words else "hook.slow")
    if late:
        complain(late)
        os._exit(0)


def _respond(asked: Asked) -> tuple[str, Scene | None]:
    """Return the answer's JSON, "" for none, and the scene. Raises SentinelError."""
    payload, event, client = payload_of(asked), asked.event, asked.client
    if payload is None:
        return "", None
    moment = events.read_moment(client, event, payload)
    if event in ("before-action", "prompt") and not moment.says_something:
        return "", None
    scene = None
    try:
        scene = Scene.of(asked, moment)
        text = _BRIEFINGS[event](scene).text if scene else ""
    except LogMissingError as error:
        text = one_line(str(error)) if event == "session-start" else ""  # which says it once
    return (events.render_answer(client, event, moment, text) if text else ""), scene


def _at_start(scene: Scene) -> Briefing:
    """Brief a session or sub-agent at its start and after compaction."""
    starts = [event for event in scene.session.events if event["event"] == scene.event]
    # The context of a resumed session still holds what its start has shown.
    is_known = scene.moment.source == "resume" and starts and starts[-1].get("log") == scene.state
    if is_known or _has_just_started(scene, scene.session):
        return Briefing()
    from commands.hook.start import briefing_of

    log = MemoryLog.parse(scene.data)
    if unusable := sum(not is_usable(record) for record in log.records):
        complain(SentinelError("hook.unusable", count=unusable))
    briefing = briefing_of(scene, log)
    before = scene.note(briefing)
    forget_old_sessions(scene.directory)
    return Briefing() if before and _has_just_started(scene, before) else briefing


def _has_just_started(scene: Scene, session: Session) -> bool:
    """Return whether another hook has answered the same start."""
    now_s, moment = int(time.time()), scene.moment
    this = [scene.event, moment.agent, moment.source]
    return not moment.is_nameless and any(
        now_s - event["at"] in range(AT_ONCE_S)
        and [event.get(key, "") for key in ("event", "agent", "source")] == this
        for event in session.events
    )


def _at_action(scene: Scene) -> Briefing:
    """Show the records for this action that its agent has not seen."""
    from commands.hook.surroundings import load_survey, save_survey
    from core.lessons.action import Action, choose_shortlist
    from core.lessons.recall import (  # these compile what no other event needs
        MOST_RECORDS,
        choose_records,
    )

    moment, text = scene.moment, scene.moment.text
    if moment.new_content and moment.paths:  # of a whole file the lines that it does not have yet
        from pathlib import Path

        from core.disk import open_regular_file

        with contextlib.suppress(OSError, ValueError):
            with open_regular_file(Path(scene.root, moment.paths[0])) as file:
                before = file.read(events.MOST_WRITTEN_CHARS).decode("utf-8", "replace")
            # Clients that tell of a file once it is written leave nothing to compare with.
            text = "\n".join(events.new_lines(text, before)) or text
    edit = Action(paths=moment.paths, text=text[: events.MOST_TEXT_CHARS], removed=moment.removed)
    actions = [edit]
    if moment.command.strip():
        if not moment.paths:
            from commands.hook.shell import edits_of

            cwd = os.path.join(moment.cwd or scene.root, moment.workdir)
            paths, text = edits_of(moment.command, cwd, scene.root)
            inside = events.paths_inside(scene.root, moment._replace(paths=paths))
            edit = Action(paths=tuple(dict.fromkeys(inside)), text=text)
        actions = [*([edit] if edit.paths else []), Action(command=moment.command)]
    edit, run = actions[0], actions[-1]
    whole = Action(paths=edit.paths, command=run.command, text=edit.text, removed=edit.removed)
    known, at_hand = load_survey(scene.directory), choose_shortlist(whole, scene.data)
    choices = [choose_records(it, *at_hand, surroundings=known.counts) for it in actions]
    save_survey(scene.directory, known.with_action({word for it in choices for word in it.words}))
    chosen = {record.id: record for choice in choices for record in choice.records}
    changes = bool(edit.paths) and not scene.session.has("changed")
    return _show(scene, [*chosen.values()][:MOST_RECORDS], action_briefing, changed=changes)


def _at_prompt(scene: Scene) -> Briefing:
    from core.lessons.action import Action, choose_shortlist
    from core.lessons.task import choose_for_prompt

    text = scene.moment.text
    records = choose_for_prompt(text, *choose_shortlist(Action(text=text), scene.data))
    return _show(scene, records, prompt_briefing)


def _show(
    scene: Scene,
    records: Iterable[Record],
    brief: Callable[[Sequence[Record]], Briefing],
    *,
    changed: bool = False,
) -> Briefing:
    """Return and note the briefing on unseen records. changed: note that files change."""
    session, agent = scene.session, scene.moment.agent
    seen = session.shown(agent)
    briefing = brief([it for it in records if version_of(it) not in seen])
    if not (briefing.records or changed):
        return briefing
    before = scene.note(briefing, changed=changed)
    if before is None or before.events == session.events:
        return briefing
    seen = before.shown(agent)  # by other hooks since this one began
    return brief([it for it in briefing.records if version_of(it) not in seen])


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
