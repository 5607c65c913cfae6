"""Every refusal and failure of the core, with its facts and the sentence that a reader gets.

A sentence has three parts: what happened, what state the data is in, what to do next. It is built
from the facts, in the language of the call; it never repeats a record's text or the value of
an environment variable.
"""

from typing import ClassVar

from core.messages import language, say

_PATH_CHARS = 300
_WITHHELD = {"en": "the server's log says why", "ko": "이유는 서버 로그에 있습니다"}


class SentinelError(Exception):
    """The root of all errors of this project; `str()` says it in the language of the call.

    key: names the sentence in `table`, that of the room that raises the error. A class for one
    situation sets it; a class for a whole room takes it as its first argument.
    record: the version id of the record that it is about, where several were given.
    placed: the facts that may say where the memory is.
    """

    table: ClassVar[str] = "errors"
    key = ""
    record = ""
    placed: ClassVar[tuple[str, ...]] = ("path",)

    def __init__(self, key: str = "", /, **facts: str | int) -> None:
        super().__init__()
        self.key, self.facts = key or self.key, facts

    def __str__(self) -> str:
        """Say what happened, what state the data is in, and what to do next."""
        return f"{self.record}: {self.sentence()}" if self.record else self.sentence()

    def sentence(self) -> str:
        """Return the sentence alone; a class with facts that are keys themselves says these."""
        return say(f"{self.table}.{self.key}", **self.facts)


def placeless(error: SentinelError) -> str:
    """Return the sentence of an error for who is not to know where the memory is."""
    facts, withheld = error.facts, _WITHHELD[language()]
    hidden = {name: "memory" if name == "path" else withheld for name in error.placed}
    error.facts = {**facts, **hidden}
    try:
        return str(error)
    finally:
        error.facts = facts


class BlankFieldError(SentinelError, ValueError):
    """A required field is empty or only white space. Facts: field."""

    key = "blank_field"


class RecordTooLargeError(SentinelError, ValueError):
    """The line of a record would be longer than a reader takes for one. Facts: limit_bytes."""

    key = "record_too_large"


class FieldTooLongError(SentinelError, ValueError):
    """A field is above its limit. Facts: field, used_bytes, limit_bytes, over_bytes, syllables."""

    key = "field_too_long"

    def __init__(self, *, field: str, used_bytes: int, limit_bytes: int) -> None:
        over_bytes = used_bytes - limit_bytes
        super().__init__(
            field=field,
            used_bytes=used_bytes,
            limit_bytes=limit_bytes,
            over_bytes=over_bytes,
            syllables=-(-over_bytes // 3),
        )


class LoneSurrogateError(SentinelError, ValueError):
    """A text cannot be written as UTF-8. Facts: field."""

    key = "lone_surrogate"


class SecretRefusedError(SentinelError, ValueError):
    """A field looks like it holds a secret, and the store is strict. Facts: fields, kinds."""

    key = "secret_refused"


class PathOutsideError(SentinelError, ValueError):
    """A path anchor is absolute, or leads out of the project."""

    key = "path_outside"


class NegatedPathError(SentinelError, ValueError):
    """A path anchor begins with `!`, which would take files out again."""

    key = "path_negated"


class TooManyPathsError(SentinelError, ValueError):
    """A record has more path anchors than it may. Facts: count, most."""

    key = "too_many_paths"


class TriggerTooShortError(SentinelError, ValueError):
    """A trigger is blank, or so short that it stands everywhere. Facts: least."""

    key = "trigger_too_short"


class TriggerLinesError(SentinelError, ValueError):
    """A trigger holds a line end or another control character."""

    key = "trigger_lines"


class TooManyTriggersError(SentinelError, ValueError):
    """A record has more triggers than it may. Facts: count, most."""

    key = "too_many_triggers"


class UnknownTypeError(SentinelError, ValueError):
    """`type` is neither log nor principle."""

    key = "unknown_type"


class RecordFormError(SentinelError, ValueError):
    """A record that a program gives has a value of another kind than the file. Facts: field."""

    key = "record_form"


class ThresholdError(SentinelError, ValueError):
    """`compact_threshold` is below 1."""

    key = "threshold"


class SourceIdsOfLogError(SentinelError, ValueError):
    """`source_ids` came with a log; only a principle has originals."""

    key = "source_ids_of_log"


class IdCollisionError(SentinelError, ValueError):
    """Another record holds the id that this text hashes to. Facts: id."""

    key = "id_collision"


class OtherTextError(SentinelError, ValueError):
    """The line with the id of a former version holds another text now. Facts: id."""

    key = "other_text"


class SameGapError(SentinelError, ValueError):
    """A changed record would be about the same gap as another one. Facts: token."""

    key = "same_gap"


class JoinedTooLongError(SentinelError, ValueError):
    """Two records of one gap do not fit into one. Facts: one, other, field, used_, limit_bytes."""

    key = "joined_too_long"


class RecordChangedError(SentinelError, ValueError):
    """A record is no longer the version that was named, or is gone. Facts: id."""

    key = "record_changed"


class SettingError(SentinelError, ValueError):
    """A variable holds what no setting can be. Facts: variable, least, default."""

    key = "bad_setting"


class RoomsError(SentinelError, ValueError):
    """A list of rooms names one that does not exist, or one twice. Facts: source, known."""

    key = "bad_rooms"


class LogReadError(SentinelError, OSError):
    """The memory log is there but cannot be read. Facts: path, reason."""

    key = "log_read"


class LogLinkError(LogReadError):
    """A symbolic link leads to what is no memory log. Facts: path, link, target.

    The key says whether it is a link to a file or to a directory, and whether something is there.
    """

    def __init__(self, key: str, *, path: str, link: str, target: str) -> None:
        import shlex  # a hook never needs it

        seen, aim = _seen(link), _seen(target)
        rm, mkdir = shlex.join(["rm", seen]), shlex.join(["mkdir", "-p", aim])
        super().__init__(key, path=path, link=seen, target=aim, rm=rm, mkdir=mkdir)


class LogMissingError(LogReadError):
    """git has the memory log, and the file is not there. Facts: path, log, command.

    The key says why. path: the top of the work tree, in which `command` brings the file back. log:
    the file from there.
    """


class LogWriteError(SentinelError, OSError):
    """The memory log could not be replaced; the old file is intact. Facts: path, reason."""

    key = "log_write"


class LockFileError(LogWriteError):
    """The lock file is there, and this user may not open it. Facts: path (of the lock file)."""

    key = "lock_file"
    placed = ("path", "rm")

    def __init__(self, *, path: str) -> None:
        import shlex  # a hook never needs it

        super().__init__(path=path, rm=shlex.join(["rm", "-f", path]))


class LogEncodingError(SentinelError, OSError):
    """The memory log begins like UTF-16, so that nothing can be saved into it. Facts: path."""

    key = "log_encoding"


class LogUnsettledError(SentinelError, OSError):
    """Somebody who takes no lock replaces the memory log all the time. Facts: path."""

    key = "log_unsettled"


class OutputError(SentinelError, OSError):
    """What a command prints cannot be written, for instance to a full disk. Facts: reason."""

    key = "output"


class LogBusyError(SentinelError, TimeoutError):
    """Another process held the lock for too long. Facts: path, waited_s."""

    key = "log_busy"


class WaitEndedError(SentinelError, TimeoutError):
    """The wait for the lock ended early: the caller cancelled, or the process ends. Facts: path."""

    key = "wait_ended"


class ProjectMissingError(SentinelError, OSError):
    """The project directory does not exist. Facts: path, source."""

    key = "project_missing"


class ProjectRefusedError(SentinelError, OSError, ValueError):
    """The directory is no place for a project's memory. Facts: path, kind, source."""

    key = "project_refused"


def _seen(path: str) -> str:
    """Return a path that a stranger may have written, as one line of moderate length."""
    text = "".join(char if char.isprintable() else "\ufffd" for char in path)
    return text if len(text) <= _PATH_CHARS else f"{text[:_PATH_CHARS]}…"
