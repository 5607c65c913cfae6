"""Defines every refusal of the fragments; each takes the key of its sentence, and its facts."""

import sys

from core.errors import RefusedError
from core.sanitizer import redact
from core.text.plain import one_line

_MOST_SHOWN, _MOST_READ = 40, 400  # characters of a bad id
_OF_THESE = ("bad_answer", "refused", "too_large")  # failures that single texts may cause


class FragmentsError(RefusedError):
    """A call on the fragments is refused."""

    table = "fragments.room"


class NoSuchFragmentError(FragmentsError):
    """No fragment has this id, or it is in the bin. Facts: id."""

    key = "no_such_fragment"

    def __init__(self, *, id: str) -> None:
        """id: as the caller wrote it, of any length, secrets included."""
        told, _ = redact(id[:_MOST_READ])  # it may be anything
        super().__init__(id=one_line(told[:_MOST_SHOWN]) or '""')


class UpkeepError(FragmentsError):
    table = "fragments.upkeep"


class UpkeepBusyError(UpkeepError, TimeoutError):
    """Another process runs the upkeep. Facts: path."""

    key = "busy"


class ServiceError(FragmentsError):
    """A model gave no usable answer, or the settings name none."""

    table = "fragments.services"

    def __init__(self, key: str, /, *, retry_after_s: float = 0, **facts: str | int) -> None:
        super().__init__(key, **facts)
        self.retry_after_s = retry_after_s  # the service wants no call for so long, 0: unsaid

    def again(self) -> "ServiceError":
        """Return a copy, for another call to raise."""
        return ServiceError(self.key, retry_after_s=self.retry_after_s, **self.facts)

    @property
    def may_be_of_these(self) -> bool:
        """Whether one text may be the cause, so that others may succeed."""
        return self.key in _OF_THESE


def no_package(variable: str, package: str, *packages: str) -> ServiceError:
    """Return the refusal for a missing package. packages: all to install."""
    install = " ".join((sys.executable, "-m pip install", *(packages or (package,))))
    return ServiceError("no_package", variable=variable, package=package, install=install)
