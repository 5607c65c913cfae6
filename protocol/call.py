"""The frame of one call: its project and settings, and a sentence for whatever goes wrong."""

import argparse
import functools
import logging
import os
import sys
import traceback
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anyio.from_thread import check_cancelled
from anyio.from_thread import run as run_in_loop
from fastmcp.exceptions import FastMCPError, ToolError, ValidationError
from fastmcp.server.dependencies import get_context

from core import notices
from core.errors import SentinelError, placeless
from core.messages import say
from core.notices import LOGGER
from core.program import SERVER
from core.project import Project, find_project, no_project_kind
from core.settings import Settings, read_settings
from core.text.printable import one_line
from protocol.caller import caller

arguments = argparse.Namespace(project=None)  # of the command line of the server

_log = logging.getLogger(LOGGER)
_warned: set[str] = set()


class RequestError(SentinelError, ValueError):
    """A resource or prompt cannot be had as it was asked for; takes the key of its sentence."""

    table = "protocol"


def warn(warnings: Iterable[str]) -> None:
    """Print each warning once in the life of the process, on standard error."""
    for warning in dict.fromkeys(warnings):
        if warning not in _warned:
            _warned.add(warning)
            notices.warn("%s", warning)


def is_cancelled() -> bool:
    """Return whether the client cancelled the request of this thread; False outside of one."""
    try:
        check_cancelled()
    except (RuntimeError, AttributeError):  # the function was called directly
        return False
    except CancelledError:
        return True
    return False


def client_name() -> str:
    """Return what the client of this call calls itself, "" where nobody does."""
    who = caller()
    known = who.client if who else ""  # over HTTP a session of the library may know nothing
    try:
        params = get_context().session.client_params
    except RuntimeError:  # the function was called directly
        return known
    return params.client_info.name if params else known


def warn_if_cancelled(tool: str) -> None:
    """Say on standard error that a change was made although the client had cancelled its call."""
    if is_cancelled():
        print(f"{SERVER}: {say('protocol.stored_cancelled', tool=tool)}", file=sys.stderr)


def report_progress(done: int, of: int, message: str) -> None:
    """Tell the client of this call how far it is, where that asked to be told."""
    with suppress(RuntimeError):  # the function was called directly
        run_in_loop(get_context().report_progress, done, of, message)


def opened_settings() -> Settings:
    """Return the settings of one call that needs no project."""
    settings = read_settings(os.environ)
    warn(settings.warnings)
    return settings


def project_here() -> Project | None:
    """Return the project of this call, None in a home, root or system directory."""
    try:
        project = find_project(arguments.project, os.environ, Path.cwd())
    except OSError:  # the working directory is gone
        return None
    return None if no_project_kind(project.folder, os.environ) else project


def name_of(project: Project | None) -> str:
    """Return the name of the project's directory, "" for none.

    Where a server over HTTP was started says nothing of who calls: it has to be given a project.
    """
    if project is None or (caller() and not arguments.project):
        return ""
    return os.path.basename(project.folder)


@contextmanager
def opened_project(*, writes: bool = False) -> Iterator[tuple[Project, Settings]]:
    """Yield the project and the settings of one call, from `--project`, environment and directory.

    writes: the project must be one in which a memory may be kept. Raises SentinelError.
    """
    settings = read_settings(os.environ)
    project = find_project(arguments.project, os.environ, Path.cwd())
    warn((*settings.warnings, *project.warnings))
    if writes:
        project.check_writable(os.environ)
    else:
        project.check_readable()
    yield project, settings


def told(error: SentinelError) -> str:
    """Return the sentence of an error for the client of this call.

    Over HTTP it does not name where the memory is, which is the operator's: standard error does.
    """
    if caller() is None or not isinstance(error, OSError):
        return str(error)
    warn((str(error),))
    return placeless(error)


def with_sentences(function: Callable[..., str], failure: type[FastMCPError]) -> Callable[..., str]:
    """Return a function for the protocol: what the given one refuses or fails at is a sentence.

    It travels as `failure`, an error that the library passes on as it is. A ValueError of a
    resource or prompt becomes a ValidationError, which is "invalid params" there; the refusal of a
    tool is a result. Whoever calls the given function itself gets its own errors.
    """

    @functools.wraps(function)
    def spoken(*values: object, **named: object) -> str:
        try:
            return function(*values, **named)
        except SentinelError as error:
            is_argument = isinstance(error, ValueError) and failure is not ToolError
            raised = ValidationError if is_argument else failure
            raise raised(one_line(told(error)), log_level=logging.DEBUG) from error
        except Exception as error:
            where = "".join(traceback.format_tb(error.__traceback__, limit=-3))
            _log.error("unexpected %s\n%s", type(error).__name__, where)
            raise failure(say("protocol.unexpected"), log_level=logging.DEBUG) from error

    return spoken
