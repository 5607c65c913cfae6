"""Reads a hook's arguments, the client's JSON, and the project with its memory."""

import contextlib
import errno
import json
import os
import sys
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TextIO

from commands.clients.table import COMPLAINT, EVENTS, HOOKS
from commands.hook.events import Moment, event_of, path_inside, paths_inside
from commands.hook.journal import Session, open_session, version_of
from core import config
from core.errors import RefusedError, SentinelError
from core.lessons.briefing import Briefing
from core.lessons.file import LogFile
from core.messages import language_of, use_language
from core.text.plain import estimate_tokens, one_line

MOST_INPUT_BYTES = 32_000_000
MOST_LOG_BYTES = 8_000_000  # a log has some 16,000 records then
_OF_A_SHELL = ("||", ":")  # how setup ends a line; a client may start it without a shell


class HookArguments(NamedTuple):
    """The arguments of a hook. project: that of `--project`."""

    event: str
    client: str
    project: str | None
    environment: Mapping[str, str]

    @classmethod
    def parse(cls, words: Sequence[str]) -> "HookArguments":
        """Read the arguments. Raises RefusedError.

        No argument parser: it would end with 2, which vetoes the action.
        """
        values, words_left = dict[str, str](), list(words)
        while words_left:
            name, equals, value = words_left.pop(0).partition("=")
            if name.startswith("-p"):
                argument = name[2:] + equals + value
                words_left[:0], name, equals = [argument] if argument else [], "--project", ""
            if name.startswith("--"):
                values[name] = value if equals else words_left.pop(0) if words_left else ""
            elif name not in _OF_A_SHELL:
                values["EVENT"] = name
        event, client = values.pop("EVENT", ""), values.pop("--client", "")
        project, lang = values.pop("--project", None), values.pop("--lang", "")
        if values or event not in EVENTS or client not in HOOKS:
            raise RefusedError("hook.usage")
        environment = {**os.environ, **({"SENTINEL_MEMORY_LANG": lang} if lang else {})}
        return cls(event, client, project, environment)


class Scene(NamedTuple):
    """One event of a client in one project. state: names the content of the log."""

    client: str
    event: str
    moment: Moment
    root: str
    settings: config.Settings
    state: str
    data: bytes
    session: Session
    directory: str

    def note(self, briefing: Briefing = Briefing(), **facts: Any) -> Session | None:  # noqa: B008 - frozen
        """Note this event; return the session just before, None when that is impossible."""
        if self.session.log_at_start is None or self.event == "session-start":
            facts["log"] = self.state
        facts["shown"] = [version_of(record) for record in briefing.records]
        facts["tokens"] = estimate_tokens(briefing.text)
        origin = {"client": self.client, "agent": self.moment.agent, "source": self.moment.source}
        try:
            return self.session.note(self.event, **origin, **facts)
        except OSError as error:
            complain(error)
            return None

    @classmethod
    def read(cls, arguments: HookArguments, moment: Moment) -> "Scene | None":
        """Return the scene, None without a memory. Raises RefusedError for a large log.

        Raises LogMissingError at a start and a stop only: events between are too frequent to ask
        git.
        """
        project = project_of(arguments, moment)
        root = project.folder
        if not has_memory(project):
            if arguments.event == "session-start":
                from core.git import check_missing  # where there is a memory, it is not asked

                check_missing(project.log_path)
            return None
        log_path = os.path.join(root, config.CONTEXT_DIRECTORY, config.LOG_NAME)
        if os.path.isfile(log_path) and os.path.getsize(log_path) > MOST_LOG_BYTES:
            raise RefusedError("hook.too_large")
        asks_git = arguments.event in ("session-start", "stop")
        data = LogFile(project.log_path, lock_timeout_s=0, asks_git=asks_git).read()
        directory = config.state_directory(root, arguments.environment)
        return cls(
            client=arguments.client,
            event=arguments.event,
            moment=moment._replace(paths=tuple(dict.fromkeys(paths_inside(root, moment)))),
            root=root,
            settings=config.read_settings(arguments.environment),
            state=f"{len(data)}-{zlib.crc32(data):08x}",
            data=data,
            session=open_session(directory, moment.session),
            directory=directory,
        )


def payload_of(arguments: HookArguments) -> dict[str, Any] | None:
    """Return the JSON object on standard input. Raises RefusedError.

    None for an event that the client lacks, and where another client runs this hook, as Cursor and
    Copilot do Claude Code's.
    """
    if sys.stdin is None:
        raise RefusedError("hook.closed")
    text = sys.stdin.buffer.read(MOST_INPUT_BYTES).decode("utf-8-sig", "replace")
    try:
        payload = json.loads(text, strict=False)  # some clients write a tab or a line end as it is
    except (ValueError, RecursionError) as error:
        raise RefusedError("hook.no_json") from error
    if not isinstance(payload, dict):
        raise RefusedError("hook.no_object")
    signs = {"cursor_version", "timestamp"} & payload.keys()
    if HOOKS[arguments.client].shared and (signs or "CURSOR_VERSION" in arguments.environment):
        return None
    return payload if event_of(arguments.client, arguments.event) else None


def project_of(arguments: HookArguments, moment: Moment) -> config.Project:
    """Return the project, with or without a memory. Raises DiskError."""
    environment = arguments.environment
    if not HOOKS[arguments.client].gives_project:
        # Cursor sets it for the first of several open folders, others inherit it from Claude Code.
        environment = {**environment, "CLAUDE_PROJECT_DIR": ""}
    # The innermost open folder in which this happens.
    place = moment.paths[0] if moment.paths else moment.cwd
    folders = [folder for folder in moment.folders if folder == place or path_inside(folder, place)]
    first_folder = moment.folders[0] if moment.folders else moment.cwd
    folder = max(folders, key=len, default=first_folder)
    project = config.find_project(arguments.project, environment, folder)
    project.check(environment)
    return project


def has_memory(project: config.Project) -> bool:
    """Return whether a project has a memory; a user's hooks also meet other projects."""
    context = os.path.join(project.folder, config.CONTEXT_DIRECTORY)
    return os.path.lexists(context) and config.may_hold_memory(context)


def complain(error: BaseException) -> None:
    """Print one line without a word of the input: a client may keep it."""
    try:
        with use_language(language_of(os.environ, for_person=True)):
            reason = getattr(error, "strerror", None) or type(error).__name__
            reason = one_line(str(error) if isinstance(error, SentinelError) else reason)
    except Exception:  # the sentences themselves may be what is broken
        reason = type(error).__name__
    with contextlib.suppress(OSError, ValueError):
        write(sys.stderr, f"{COMPLAINT}{reason}\n")


def write(stream: TextIO | None, text: str) -> None:
    """Write past the buffer, whose rest would fail a second time at exit. Raises OSError."""
    if stream is None:  # its number may be that of another file by now
        raise OSError(errno.EBADF, "the stream for the answer is closed")
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(stream.fileno(), data) :]
