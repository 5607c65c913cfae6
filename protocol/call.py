"""Knows of one call its caller, cancellation, project, settings and errors."""

import argparse
import functools
import logging
import os
import sys
import time
import traceback
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime

from anyio.from_thread import check_cancelled
from anyio.from_thread import run as run_in_loop
from fastmcp.exceptions import FastMCPError, ToolError, ValidationError
from fastmcp.server.dependencies import get_context

from core import program
from core.config import Project, Settings, find_project, no_project_kind, read_settings
from core.errors import RefusedError, SentinelError, sentence_without_place
from core.messages import language_of, say, use_language
from core.program import LOGGER, SERVER
from core.text.plain import one_line

PROCESS = os.urandom(8).hex()  # over stdio a session is a process

options = argparse.Namespace(project=None)  # of the command line of the server

_log = logging.getLogger(LOGGER)
_past_warnings: set[str] = set()
_QUIET_S = 60.0  # between two lines about one kind of failure: strangers cause them, too
_quiet_until = dict[str, float]()  # by the key of the sentence


class RequestError(RefusedError):
    """A resource or prompt is refused; takes the key of its sentence."""

    table = "protocol"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    agent: str  # of the credential
    session: str = ""  # opened for a client of the older protocol, "" for one that names none
    client: str = ""  # the client's name for itself, if it gave one


_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


def current_caller() -> Caller | None:
    """Return the caller over HTTP; None over stdio."""
    return _caller.get()


@contextmanager
def set_caller(caller: Caller) -> Iterator[None]:
    """Make `caller` the caller of the calls inside the block."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def session_of(name: str | None = None) -> str:
    """Return the session of this call. name: as the caller calls it.

    Over HTTP the server's session comes first, since most tools take no name; without any it is
    client and day: `cursor 2026-11-29`. A stateless call of the protocol has a new one.
    """
    name, caller = (name or "").strip(), current_caller()
    if caller is None:
        return name or PROCESS
    return caller.session or name or f"{caller.client} {datetime.now(UTC):%Y-%m-%d}".strip()


def process_name() -> str:
    """Return a name that no two callers share: the session, over HTTP with the agent if need be."""
    caller = current_caller()
    return session_of() if caller is None or caller.session else f"{caller.agent} {session_of()}"


def client_name() -> str:
    """Return the client's name for itself, "" without one."""
    caller = current_caller()
    name = caller.client if caller else ""  # over HTTP a session of the library may know nothing
    try:
        params = get_context().session.client_params
    except RuntimeError:  # the function was called directly
        return name
    return params.client_info.name if params else name


def is_cancelled() -> bool:
    """Return whether the client cancelled the request of this thread; False outside of one."""
    try:
        with suppress(RuntimeError, AttributeError):  # the function was called directly
            check_cancelled()
    except CancelledError:
        return True
    return False


def warn_if_cancelled(tool: str) -> None:
    """Say on standard error that a cancelled call has changed the memory."""
    if is_cancelled():
        print(f"{SERVER}: {say('protocol.stored_cancelled', tool=tool)}", file=sys.stderr)


def report_progress(done: int, total: int, message: str) -> None:
    """Send the progress of this call to a client that asked for it."""
    with suppress(RuntimeError):  # the function was called directly
        run_in_loop(get_context().report_progress, done, total, message)


def warn(warnings: Iterable[str]) -> None:
    """Print each warning on standard error, once in a process."""
    for warning in dict.fromkeys(warnings):
        if warning not in _past_warnings:
            _past_warnings.add(warning)
            program.warn("%s", warning)


def tell_operator(error: SentinelError) -> None:
    """Log a failure of which the caller learns less, at times, in the operator's language."""
    kind, now = f"{error.table}.{error.key}", time.monotonic()
    if now >= _quiet_until.get(kind, 0.0):
        _quiet_until[kind] = now + _QUIET_S
        with use_language(language_of(os.environ, for_person=True)):
            program.warn("%s", error)


def load_settings() -> Settings:
    """Return the settings of this call, and print their warnings."""
    settings = read_settings(os.environ)
    warn(settings.warnings)
    return settings


def open_project(*, writes: bool = False) -> tuple[Project, Settings]:
    """Return project and settings; it must hold a memory if it `writes`. Raises SentinelError."""
    settings = read_settings(os.environ)
    project = find_project(options.project, os.environ)
    warn(settings.warnings + project.warnings)
    project.check(os.environ, writes=writes)
    return project, settings


def project_name() -> str:
    """Return the name of the project's directory, "" for a home, root or system directory."""
    if current_caller() and not options.project:  # the directory is the server's
        return ""
    try:
        folder = find_project(options.project, os.environ).folder
    except OSError:  # the working directory is gone
        return ""
    return "" if no_project_kind(folder, os.environ) else os.path.basename(folder)


def with_sentences(function: Callable[..., str], failure: type[FastMCPError]) -> Callable[..., str]:
    """Return a function whose every error is one sentence, raised as `failure`.

    A ValueError of a resource or prompt becomes ValidationError, "invalid params" there.
    """

    @functools.wraps(function)
    def wrapper(*args: object, **kwargs: object) -> str:
        try:
            return function(*args, **kwargs)
        except SentinelError as error:
            sentence = str(error)
            if current_caller() and isinstance(error, OSError):  # places are the operator's
                tell_operator(error)
                sentence = sentence_without_place(error)
            is_argument = isinstance(error, ValueError) and failure is not ToolError
            error_class = ValidationError if is_argument else failure
            raise error_class(one_line(sentence), log_level=logging.DEBUG) from error
        except Exception as error:
            frames = "".join(traceback.format_tb(error.__traceback__, limit=-3))
            _log.error("unexpected %s\n%s", type(error).__name__, frames)
            is_gone = isinstance(error, ImportError) or not os.path.exists(__file__)
            sentence = say("protocol.program_gone" if is_gone else "protocol.unexpected")
            if getattr(error, "name", "") == "_sqlite3":  # a Python can be built without it
                sentence = say("disk.no_sqlite")
            # The library logs other errors with a traceback, and so with the values of the call.
            raise failure(sentence, log_level=logging.DEBUG) from error

    # In a docstring the library looks for sections on parameters. Ours have none, and the parser
    # is a large package that nothing else needs.
    wrapper.__doc__ = None
    return wrapper
