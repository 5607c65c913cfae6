"""Answers an event of a client with what its model should know of the memory, or with nothing.

`cli.py hook EVENT --client CLIENT` reads the client's JSON on standard input and writes the
client's JSON. It never holds up work: it takes no lock, writes nothing into the project, and always
exits with 0, since other codes stop a tool call in some clients. A failure is one line on standard
error, and what takes too long is given up. Every event starts a process, so this file imports
little, and some of it late.
"""

import contextlib
import errno
import os
import sys
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from commands.clients.events import (
    COMPLAINT,
    EVENTS,
    HOOKS,
    MOST_TEXT_CHARS,
    MOST_WRITTEN_CHARS,
    Moment,
    answer,
    event_of,
    inside,
    paths_inside,
    read_moment,
)
from commands.clients.table import RECORDING
from commands.hook.given import (
    OddInputError,
    arguments_in,
    is_of_another,
    named_project,
    payload_here,
)
from commands.hook.journal import Session, forget_old, open_session, version_of
from core.config import CONTEXT_DIRECTORY, LOG_NAME, Settings, read_settings, state_directory
from core.errors import LogMissingError, SentinelError
from core.lessons.briefing import Briefing, action_briefing, prompt_briefing
from core.lessons.file import LogFile
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from core.lessons.record_text import is_usable
from core.messages import Facts, has_sentence, language_of, say, speaking
from core.text.plain import estimate_tokens, one_line

if TYPE_CHECKING:
    import argparse

MOST_S = 5  # a terminal, or a pipe that nobody closes, would be read for ever
# What a hook may work, in seconds of the processor, whatever the log holds; on a slow or busy
# machine as many times its start, of which 10,000 records take three to four. No step holds the
# interpreter for long: what each of them reads is bounded.
MOST_WORK_S, MOST_STARTS = 0.19, 5.0
_LOOK_S = 0.01
MOST_LOG_BYTES = 8_000_000  # a log has some 16,000 records then
MOST_WITH_GIT = 5_000  # records of a log for which there is still time to ask git and to rank
AT_ONCE_S = 3  # two configurations that a client reads may both start the hook


class Scene(NamedTuple):
    """One event of a client in one project, with all that decides the answer."""

    client: str
    event: str
    moment: Moment
    root: str
    settings: Settings
    state: str
    data: bytes
    session: Session
    directory: str

    def note(self, briefing: Briefing = Briefing(), **facts: Any) -> Session | None:  # noqa: B008 - frozen
        """Remember this event; the session as it was just before, None when that is impossible."""
        if self.session.log_at_start is None or self.event == "session-start":
            facts["log"] = self.state
        facts["shown"] = [version_of(record) for record in briefing.records]
        facts["tokens"] = estimate_tokens(briefing.text)
        known = {"client": self.client, "agent": self.moment.agent, "source": self.moment.source}
        try:
            return self.session.note(self.event, **known, **facts)
        except OSError as error:
            _complain(error)
            return None


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    """Add the options of `cli.py hook`, for its help; `main` reads them itself."""
    from commands.terminal.ask import add_examples, explain
    from core.parser import add_project

    parser.add_argument("event", choices=EVENTS, metavar="EVENT", help=explain("hook_event"))
    parser.add_argument("--client", required=True, choices=HOOKS, help=explain("hook_client"))
    add_project(parser)
    parser.add_argument("--lang", choices=("en", "ko"), help=explain("hook_lang"))
    add_examples(parser, "hook session-start --client claude-code < event.json")


def main(words: Sequence[str]) -> int:
    """Answer one event; always 0. words: what stands behind `hook` on the command line."""
    done = threading.Event()
    try:
        threading.Thread(target=_watch, args=(done, words), daemon=True).start()
        event, client, project, variables = arguments_in(words)
        environment = {**os.environ, **variables}
        if event == RECORDING:
            from commands.hook.actions import record_action  # brings SQLite

            record_action(client, payload_here(), environment, project=project)
            done.set()
            return 0
        with speaking(language_of(environment)):
            text, scene = respond(event, client, payload_here(), environment, project=project)
        if text:
            _write(sys.stdout, text)
        done.set()
        if scene and event in ("session-start", "before-action"):
            from commands.hook.surroundings import look_around

            look_around(scene.directory, scene.root, scene.data, scene.state)
    except Exception as error:  # whatever it is, the work of the client goes on
        _complain(error)
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
    _complain(error)
    os._exit(0)


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
        scene = _scene(client, event, moment, environment, project)
    except LogMissingError as error:
        if event != "session-start":  # which has said it
            return "", None
        text = one_line(str(error))
        return answer(client, event, moment, text), None
    if scene is None:
        return "", None
    briefing = _BRIEFINGS[event](scene)
    return (answer(client, event, moment, briefing.text) if briefing.text else ""), scene


def _scene(
    client: str, event: str, moment: Moment, environment: Mapping[str, str], argument: str | None
) -> Scene | None:
    """Return the scene; None in a project without a memory, which hooks of a user meet as well.

    Raises LogMissingError at a start and at a stop; what stands between them shows nothing anyway,
    and is too frequent to ask git.
    """
    project = named_project(client, moment, environment, argument)
    root = project.folder
    if not os.path.lexists(os.path.join(root, CONTEXT_DIRECTORY)):
        if event == "session-start":
            from core.git import check_missing  # where there is a memory, it is not asked

            check_missing(project.log_path)
        return None
    log_path = os.path.join(root, CONTEXT_DIRECTORY, LOG_NAME)
    if os.path.isfile(log_path) and os.path.getsize(log_path) > MOST_LOG_BYTES:
        raise OddInputError("too_large")
    asks_git = event in ("session-start", "stop")
    data = LogFile(project.log_path, lock_timeout_s=0, asks_git=asks_git).read()
    directory = state_directory(root, environment)
    return Scene(
        client=client,
        event=event,
        moment=moment._replace(paths=tuple(dict.fromkeys(paths_inside(root, moment)))),
        root=root,
        settings=read_settings(environment),
        state=f"{len(data)}-{zlib.crc32(data):08x}",
        data=data,
        session=open_session(directory, moment.session),
        directory=directory,
    )


def _at_start(scene: Scene) -> Briefing:
    """Say what the memory holds, when a session or sub-agent starts, and after compaction."""
    if _has_just_started(scene, scene.session) or _is_known(scene):
        return Briefing()
    from core.lessons.briefing import session_briefing

    log = MemoryLog.parse(scene.data)
    if unusable := sum(not is_usable(record) for record in log.records):
        _complain(OddInputError("unusable", {"count": unusable}))
    briefing = session_briefing(
        log,
        project=scene.root,
        settings=scene.settings,
        near=partial(_near_the_work, scene, log),
    )
    if os.path.lexists(os.path.join(scene.root, CONTEXT_DIRECTORY, "sessions")):
        from commands.hook.sessions_at_start import with_sessions  # brings SQLite

        briefing = with_sessions(briefing, scene.root, scene.settings, _complain)
    before = scene.note(briefing)
    forget_old(scene.directory)
    return Briefing() if before and _has_just_started(scene, before) else briefing


def _near_the_work(scene: Scene, log: MemoryLog) -> list[Record]:
    """Return the records that are near to the work in the client's folder, as git shows it."""
    if log.count > MOST_WITH_GIT:
        return []
    from pathlib import Path

    from commands.hook.work_at_hand import work_at_hand  # starts git, for long memories only
    from core.lessons.task import by_work

    cwd = scene.moment.cwd
    is_elsewhere = cwd and cwd != scene.root and not inside(scene.root, cwd)  # another work tree
    return by_work(log.records, work_at_hand(Path(cwd if is_elsewhere else scene.root)))


def _is_known(scene: Scene) -> bool:
    """Return whether the context of a resumed session still holds what its start has shown."""
    starts = [event for event in scene.session.events if event["event"] == scene.event]
    return scene.moment.source == "resume" and bool(starts) and starts[-1].get("log") == scene.state


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
    from core.lessons.recall import choose  # these compile what no other event needs

    moment = scene.moment
    text = _brought(scene)
    action = Action(paths=moment.paths, command=moment.command, text=text, removed=moment.removed)
    known, at_hand = load(scene.directory), log_at_hand(action, scene.data)
    choice = choose(action, *at_hand, surroundings=known.around)
    save(scene.directory, known.with_action(choice.words))
    seen = scene.session.shown(moment.agent)
    due = [record for record in choice.records if version_of(record) not in seen]
    briefing = action_briefing(due)
    changes = bool(moment.paths) and not scene.session.has("changed")
    before = scene.note(briefing, changed=changes) if briefing.records or changes else None
    return _not_yet_shown(scene, before, briefing, action_briefing)


def _not_yet_shown(
    scene: Scene,
    before: Session | None,
    briefing: Briefing,
    write: Callable[[Sequence[Record]], Briefing],
) -> Briefing:
    """Return a briefing without what other hooks have shown since this one began.

    before: the session as it was when this briefing was noted; None where nothing was.
    """
    if before is None or before.events == scene.session.events:
        return briefing
    seen = before.shown(scene.moment.agent)
    left = [record for record in briefing.records if version_of(record) not in seen]
    return write(left)


def _brought(scene: Scene) -> str:
    """Return what an action writes; of a whole file the lines that it does not have yet."""
    text = scene.moment.text
    if scene.moment.is_whole and scene.moment.paths:
        from pathlib import Path

        from commands.clients.events import new_lines
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


def _complain(error: Exception) -> None:
    """Print one line, without a word of what was read: a client may keep it."""
    with speaking(language_of(os.environ, for_person=True)):
        reason = one_line(_reason_of(error))
    with contextlib.suppress(OSError):
        _write(sys.stderr, f"{COMPLAINT}{reason}\n")


def _reason_of(error: Exception) -> str:
    """Return what a person reads of an error; of one of the system, only the words of that."""
    if isinstance(error, SentinelError):
        return str(error)
    if not error.args or not has_sentence(f"hook.{error.args[0]}"):
        return getattr(error, "strerror", None) or type(error).__name__
    facts: Facts = error.args[1] if len(error.args) > 1 else {}
    return say(f"hook.{error.args[0]}", **facts)


def _write(stream: TextIO | None, text: str) -> None:
    """Write past the buffer: what stays in one fails a second time when the process ends."""
    if stream is None:  # its number may be that of another file by now
        raise OSError(errno.EBADF, "the stream for the answer is closed")
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(stream.fileno(), data) :]
