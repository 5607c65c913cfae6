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
from commands.hook.scene import HookArguments, Scene, complain, payload_of, write
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
    is_answered = threading.Event()
    try:
        threading.Thread(target=_watch, args=(is_answered, words), daemon=True).start()
        arguments = HookArguments.parse(words)
        if arguments.event == RECORDING:
            from commands.hook.after_action import record_action  # brings SQLite

            record_action(arguments)
            return 0
        with use_language(language_of(arguments.environment)):
            text, scene = _respond(arguments)
        if text:
            write(sys.stdout, text)
        is_answered.set()
        if scene and arguments.event in ("session-start", "before-action"):
            from commands.hook.surroundings import refresh_survey

            refresh_survey(scene.directory, scene.root, scene.data, scene.state)
    except Exception as error:  # whatever it is, the work of the client goes on
        complain(error)
    finally:
        is_answered.set()
    return 0


def _watch(is_answered: threading.Event, words: Sequence[str]) -> None:
    """End the process, without an answer, when it takes too long."""
    started_s, last_s = time.process_time(), time.monotonic() + MOST_S
    most_s = started_s + max(MOST_WORK_S, MOST_STARTS * started_s)
    error = None
    while not error and not is_answered.wait(_LOOK_S):
        if time.monotonic() > last_s:
            error = SentinelError("hook.no_answer", seconds=MOST_S)
        elif time.process_time() > most_s:
            error = SentinelError("hook.slow_record" if RECORDING in words else "hook.slow")
    if error:
        complain(error)
        os._exit(0)


def _respond(arguments: HookArguments) -> tuple[str, Scene | None]:
    """Return the answer's JSON, "" for none, and the scene. Raises SentinelError."""
    payload, event, client = payload_of(arguments), arguments.event, arguments.client
    if payload is None:
        return "", None
    moment = events.read_moment(client, event, payload)
    if event in ("before-action", "prompt") and not moment.says_something:
        return "", None
    scene = None
    try:
        scene = Scene.read(arguments, moment)
        text = _BRIEFINGS[event](scene).text if scene else ""
    except LogMissingError as error:
        text = one_line(str(error)) if event == "session-start" else ""  # the start says it once
    return (events.render_answer(client, event, moment, text) if text else ""), scene


def _brief_start(scene: Scene) -> Briefing:
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
    old_session = scene.note(briefing)
    forget_old_sessions(scene.directory)
    return Briefing() if old_session and _has_just_started(scene, old_session) else briefing


def _has_just_started(scene: Scene, session: Session) -> bool:
    """Return whether another hook has answered the same start."""
    now_s, moment = int(time.time()), scene.moment
    start = [scene.event, moment.agent, moment.source]
    return not moment.is_nameless and any(
        now_s - event["at"] in range(AT_ONCE_S)
        and [event.get(key, "") for key in ("event", "agent", "source")] == start
        for event in session.events
    )


def _brief_action(scene: Scene) -> Briefing:
    """Show the records for this action that its agent has not seen."""
    from commands.hook.surroundings import load_survey, save_survey
    from core.lessons.action import Action, choose_shortlist
    from core.lessons.recall import MOST_RECORDS, choose_records  # compiled for no other event

    moment, text = scene.moment, scene.moment.text
    if moment.new_content and moment.paths:  # of a new content the lines that the file lacks
        from pathlib import Path

        from core.disk import open_regular_file

        with contextlib.suppress(OSError, ValueError):
            with open_regular_file(Path(scene.root, moment.paths[0])) as file:
                content = file.read(events.MOST_WRITTEN_CHARS).decode("utf-8", "replace")
            # Clients that tell of a file once it is written leave nothing to compare with.
            text = "\n".join(events.new_lines(text, content)) or text
    edit = Action(paths=moment.paths, text=text[: events.MOST_TEXT_CHARS], removed=moment.removed)
    actions = [edit]
    if moment.command.strip():
        if not moment.paths:
            from commands.hook.shell import edits_of

            cwd = os.path.join(moment.cwd or scene.root, moment.workdir)
            paths, text = edits_of(moment.command, cwd, scene.root)
            own_paths = events.paths_inside(scene.root, moment._replace(paths=paths))
            edit = Action(paths=tuple(dict.fromkeys(own_paths)), text=text)
        actions = [*([edit] if edit.paths else []), Action(command=moment.command)]
    edit, command = actions[0], actions[-1].command
    action = Action(paths=edit.paths, command=command, text=edit.text, removed=edit.removed)
    survey, at_hand = load_survey(scene.directory), choose_shortlist(action, scene.data)
    choices = [choose_records(action, *at_hand, surroundings=survey.counts) for action in actions]
    words = {word for choice in choices for word in choice.words}
    save_survey(scene.directory, survey.with_action(words))
    records = {record.id: record for choice in choices for record in choice.records}
    is_edit = bool(edit.paths) and not scene.session.has_noted("changed")
    return _brief_new(scene, [*records.values()][:MOST_RECORDS], action_briefing, is_edit=is_edit)


def _brief_prompt(scene: Scene) -> Briefing:
    from core.lessons.action import Action, choose_shortlist
    from core.lessons.task import choose_for_prompt

    text = scene.moment.text
    records = choose_for_prompt(text, *choose_shortlist(Action(text=text), scene.data))
    return _brief_new(scene, records, prompt_briefing)


def _brief_new(
    scene: Scene,
    records: Iterable[Record],
    brief: Callable[[Sequence[Record]], Briefing],
    *,
    is_edit: bool = False,
) -> Briefing:
    """Return and note the briefing on unseen records. is_edit: note that files change."""
    session, agent = scene.session, scene.moment.agent
    seen = session.shown_versions(agent)
    briefing = brief([record for record in records if version_of(record) not in seen])
    if not (briefing.records or is_edit):
        return briefing
    old_session = scene.note(briefing, changed=is_edit)
    if old_session is None or old_session.events == session.events:
        return briefing
    seen = old_session.shown_versions(agent)  # by other hooks since this one began
    return brief([record for record in briefing.records if version_of(record) not in seen])


def _brief_stop(scene: Scene) -> Briefing:
    """Return one reminder in a session in which files changed and the memory did not."""
    session = scene.session
    if scene.moment.is_final or session.has_noted("reminded") or not session.has_noted("changed"):
        return Briefing()
    if scene.state != session.log_at_start:
        return Briefing()
    reminder = Briefing(say("answers.reminder"))
    old_session = scene.note(reminder, reminded=True)
    if old_session is None or old_session.has_noted("reminded"):  # a second would look the same
        return Briefing()
    return reminder


_BRIEFINGS = {
    "session-start": _brief_start,
    "before-action": _brief_action,
    "prompt": _brief_prompt,
    "stop": _brief_stop,
}
