"""Writes what the server says to people, a line each, without a secret or a text of anybody's.

Foreign packages put into their messages what was sent to them; of theirs a line names the place in
the code and the kind of error, and no more.
"""

import logging
import os
import sys
import time
from logging.handlers import TimedRotatingFileHandler
from pathlib import Path
from typing import TextIO

from core.disk import reason_of
from core.program import LOGGER, shown
from http_server.serving.options import ServingError

KEPT_DAYS = 14
_FOREIGN = ("fastmcp", "mcp", "uvicorn", "uvicorn.error")
_QUIET = ("uvicorn.access", "httpx", "httpx2", "asyncio", "sse_starlette")


class _Line(logging.Formatter):
    converter = time.gmtime  # type: ignore[assignment]  # as the library's documents say

    def format(self, record: logging.LogRecord) -> str:
        """Return one line for a record, and one for each frame of an error of ours."""
        at = f"{self.formatTime(record, '%Y-%m-%dT%H:%M:%S')}Z {record.levelname.lower()}"
        if record.name == LOGGER:
            lines = record.getMessage().splitlines() or [""]
            return "\n".join(f"{at} {shown(line)}" for line in lines)
        kind = record.exc_info[0] if record.exc_info else None
        suffix = f" {kind.__name__}" if kind else ""
        return f"{at} {record.name} {os.path.basename(record.pathname)}:{record.lineno}{suffix}"


class _DailyFile(TimedRotatingFileHandler):
    """A new file each day, which only its user may read."""

    def _open(self) -> TextIO:  # type: ignore[override]
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="replace")


def say_in_lines(directory: str, port: int) -> None:
    """Have all that is logged written to standard error, and to a file of this directory.

    directory: "" for none. port: which processes on one machine differ by. Raises ServingError.
    """
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if directory:
        handlers.append(_file(directory, port))
    root = logging.getLogger()
    for name in (None, *_FOREIGN, LOGGER):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
        logger.setLevel(logging.NOTSET)  # else a stranger's wrong key is a line of a library's
    for handler in handlers:
        handler.setFormatter(_Line())
        root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger(LOGGER).setLevel(logging.INFO)
    logging.getLogger("fastmcp").setLevel(logging.WARNING)  # else a line for every stranger
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    for name in _FOREIGN:  # else strangers could fill the disk: a line for each request
        logging.getLogger(name).setLevel(logging.ERROR)


def _file(directory: str, port: int) -> logging.Handler:
    path = Path(directory).expanduser() / f"sentinel-memory-{port}.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _DailyFile(path, when="midnight", utc=True, backupCount=KEPT_DAYS, encoding="utf-8")
    except OSError as error:
        facts = {"path": shown(path), "reason": reason_of(error)}
        raise ServingError("bad_log_dir", **facts) from error
