"""Every refusal and failure, as a key and facts, and the sentence that a reader gets.

A sentence has three parts: what happened, what state the data is in, what to do next. It is built
from the facts, in the language of the call; it never repeats a record's text or the value of
an environment variable.
"""

from typing import ClassVar

from core.messages import language, say
from core.program import shown

_PATH_CHARS = 300
_WITHHELD = {"en": "the server's log says why", "ko": "이유는 서버 로그에 있습니다"}


class SentinelError(Exception):
    """The root of all errors of this project; `str()` says it in the language of the call.

    raise RefusedError("too_many_paths", count=80, most=64)
    """

    table: ClassVar[str] = "errors"  # of sentences: that of the room that raises the error
    key = ""  # of the sentence in it; a class that is caught by itself may set it
    record = ""  # the version id of the record that it is about, where several were given
    placed: ClassVar[tuple[str, ...]] = ("path", "rm")  # facts that may say where the memory is

    def __init__(self, key: str = "", /, **facts: str | int) -> None:
        super().__init__()
        self.key, self.facts = key or self.key, facts

    def __str__(self) -> str:
        """Say what happened, what state the data is in, and what to do next."""
        return f"{self.record}: {self.sentence()}" if self.record else self.sentence()

    def sentence(self) -> str:
        """Return the sentence alone; a class with facts that are keys themselves says these."""
        return say(f"{self.table}.{self.key}", **self.facts)


class RefusedError(SentinelError, ValueError):
    """What was given cannot be used, and nothing was changed."""


class BusyError(SentinelError, TimeoutError):
    """Another process held what this one needs for too long, and nothing was changed."""


class DiskError(SentinelError, OSError):
    """The system refused or failed, or something is in the way; what was there is intact."""


class WaitEndedError(BusyError):
    """The wait for the lock ended early: the caller cancelled, or the process ends. Facts: path.

    Background work ends with it, where a busy database is only another try.
    """

    key = "wait_ended"


class LogReadError(DiskError):
    """The memory log is there but cannot be read. Facts: path, reason.

    `doctor` and `report` go on without the log where its reading fails, and nowhere else.
    """

    key = "log_read"


class LogMissingError(LogReadError):
    """git has the memory log, and the file is not there. Facts: path, log, command.

    The key says why. path: the top of the work tree, in which `command` brings the file back. log:
    the file from there. A hook names it at the start of a session, and fails at other errors.
    """


class ProjectRefusedError(DiskError, ValueError):
    """The directory is no place for a project's memory. Facts: path, kind, source.

    `doctor` goes on where a directory is refused, but not where there is none.
    """

    key = "project_refused"


def field_too_long(*, field: str, used_bytes: int, limit_bytes: int) -> RefusedError:
    """Return the error for a field above its limit, with what has to go."""
    over_bytes = used_bytes - limit_bytes
    syllables = -(-over_bytes // 3)  # of Korean, three bytes each
    sizes = {"used_bytes": used_bytes, "limit_bytes": limit_bytes, "over_bytes": over_bytes}
    return RefusedError("field_too_long", field=field, syllables=syllables, **sizes)


def link_error(key: str, *, path: str, link: str, target: str) -> LogReadError:
    """Return the error for a symbolic link that leads to what is no memory log."""
    import shlex  # a hook never needs it

    link, target = _printable(link), _printable(target)
    rm, mkdir = shlex.join(["rm", link]), shlex.join(["mkdir", "-p", target])
    return LogReadError(key, path=path, link=link, target=target, rm=rm, mkdir=mkdir)


def placeless(error: SentinelError) -> str:
    """Return the sentence of an error for who is not to know where the memory is."""
    facts, withheld = error.facts, _WITHHELD[language()]
    hidden = {name: "memory" if name == "path" else withheld for name in error.placed}
    error.facts = {**facts, **hidden}
    try:
        return str(error)
    finally:
        error.facts = facts


def _printable(path: str) -> str:
    """Return a path that a stranger may have written, as one line of moderate length."""
    text = shown(path)
    return text if len(text) <= _PATH_CHARS else f"{text[:_PATH_CHARS]}…"
