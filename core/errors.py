"""Every refusal and failure, as a key and facts, and the sentence that a reader gets.

A sentence says what happened, what state the data is in, what to do next; it never repeats a
record's text or the value of an environment variable.
"""

from typing import ClassVar

from core.messages import language, say
from core.program import printable_fact

_PATH_CHARS = 300
_WITHHELD = {"en": "the server's log says why", "ko": "이유는 서버 로그에 있습니다"}


class SentinelError(Exception):
    """The root of all errors of this project.

        raise RefusedError("too_many_paths", count=80, most=64)

    `str()` gives the sentence. place_keys: facts that may say where the memory is.
    """

    table: ClassVar[str] = "errors"  # of sentences; a key with a dot names its own
    key = ""  # of the sentence; a class that is caught by itself may set it
    version_id = ""  # of the record that it is about, where several were given
    place_keys: ClassVar[tuple[str, ...]] = ("path", "rm", "link", "target", "mkdir")

    def __init__(self, key: str = "", /, **facts: str | int) -> None:
        super().__init__()
        self.key, self.facts = key or self.key, facts

    def __str__(self) -> str:
        return f"{self.version_id}: {self.sentence()}" if self.version_id else self.sentence()

    def sentence(self) -> str:
        """Return the sentence alone; override it where facts are keys themselves."""
        key = self.key if "." in self.key else f"{self.table}.{self.key}"
        return say(key, **self.facts)


class RefusedError(SentinelError, ValueError):
    """The arguments cannot be used, and nothing was changed."""


class BusyError(SentinelError, TimeoutError):
    """Another process held a lock for too long, and nothing was changed."""


class DiskError(SentinelError, OSError):
    """The system failed, or something is in the way; earlier data is intact."""


class WaitEndedError(BusyError):
    """The wait for the lock ended early: the caller cancelled, or the process ends. Facts: path.

    Background work ends with it; a busy database is only another try.
    """

    key = "wait_ended"


class LogReadError(DiskError):
    """The memory log cannot be read. Facts: path, reason.

    Only `doctor` and `report` go on without the log.
    """

    key = "log_read"


class LogMissingError(LogReadError):
    """git has the memory log, and the file is not there. Facts: path, log, command.

    path: the top of the work tree, in which `command` brings the file back. log: the file from
    there. A hook names it at the start of a session.
    """


class ProjectRefusedError(DiskError, ValueError):
    """The directory is no place for a project's memory. Facts: path, kind, source.

    `doctor` goes on here, but not without the directory.
    """

    key = "project_refused"


def field_too_long(field: str, used_bytes: int, limit_bytes: int) -> RefusedError:
    over_bytes = used_bytes - limit_bytes
    syllables = -(-over_bytes // 3)  # of Korean, three bytes each
    split = say("errors.split") if field in ("missing_context", "lesson") else ""
    sizes = {"used_bytes": used_bytes, "limit_bytes": limit_bytes, "over_bytes": over_bytes}
    return RefusedError("field_too_long", field=field, syllables=syllables, split=split, **sizes)


def link_error(key: str, *, path: object, link: object, target: object) -> LogReadError:
    """Return the error for a symbolic link to anything but a memory log."""
    import shlex  # a hook never needs it

    link, target = (
        path if len(path) <= _PATH_CHARS else f"{path[:_PATH_CHARS]}…"
        for path in (printable_fact(link), printable_fact(target))
    )
    rm, mkdir = shlex.join(["rm", link]), shlex.join(["mkdir", "-p", target])
    return LogReadError(key, path=str(path), link=link, target=target, rm=rm, mkdir=mkdir)


def sentence_without_place(error: SentinelError) -> str:
    """Return the sentence of an error without the place of the memory."""
    facts, sentence = error.facts, _WITHHELD[language()]
    words = {"path": "memory", "link": "memory", "target": "…"}
    error.facts = {**facts, **{name: words.get(name, sentence) for name in error.place_keys}}
    try:
        return str(error)
    finally:
        error.facts = facts
