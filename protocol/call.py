"""The frame of one call: its project and settings, and a sentence for whatever goes wrong."""

import argparse
import logging
import os
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fastmcp.exceptions import FastMCPError, ToolError

from core.errors import SentinelError
from core.messages import Language
from core.project import Project, find_project
from core.settings import Settings, read_settings
from core.text.printable import one_line
from protocol.words import say

arguments = argparse.Namespace(project=None)  # of the command line of the server

_log = logging.getLogger("sentinel_memory")
_warned: set[str] = set()


def language() -> Language:
    """Return the language of the sentences of this call."""
    return read_settings(os.environ).lang


def warn(warnings: Iterable[str]) -> None:
    """Print each warning once in the life of the process, on standard error."""
    for warning in dict.fromkeys(warnings):
        if warning not in _warned:
            _warned.add(warning)
            _log.warning("%s", warning)


@contextmanager
def opened_project(
    *, writes: bool = False, failure: type[FastMCPError] = ToolError
) -> Iterator[tuple[Project, Settings]]:
    """Yield the project and the settings of one call, from `--project`, environment and directory.

    writes: the project must be one in which a memory may be kept. What is refused or fails becomes
    a sentence that travels as `failure`, the error that the library passes on as it is.
    """
    settings = Settings()
    try:
        settings = read_settings(os.environ)
        project = find_project(arguments.project, os.environ, Path.cwd())
        warn((*settings.warnings, *project.warnings))
        if writes:
            project.check_writable(os.environ)
        else:
            project.check_readable()
        yield project, settings
    except SentinelError as error:
        raise failure(one_line(error.text(settings.lang)), log_level=logging.DEBUG) from error
    except FastMCPError:
        raise
    except Exception as error:
        where = "".join(traceback.format_tb(error.__traceback__, limit=-3))
        _log.error("unexpected %s\n%s", type(error).__name__, where)
        raise failure(say(settings.lang, "unexpected"), log_level=logging.DEBUG) from error
