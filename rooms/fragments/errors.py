"""Every refusal of the fragments, with its facts."""

import sys

from core.errors import RefusedError
from core.sanitizer import redact
from core.text.plain import one_line

_MOST_SHOWN, _MOST_READ = 40, 400  # characters of an id that is none
# What another try may mend soon, and what may be about these texts alone.
_PASSING = frozenset(("unreachable", "timeout", "broken_off", "overloaded", "failed"))
_OF_THESE = frozenset(("bad_answer", "refused", "too_large"))


class FragmentsError(RefusedError):
    """A call on the fragments cannot be carried out; takes the key of its sentence, its facts."""

    table = "fragments.room"


class NoSuchFragmentError(FragmentsError):
    """No fragment has this id, or it is in the bin. Facts: id."""

    key = "no_such_fragment"

    def __init__(self, *, id: str) -> None:
        """id: what was given as one, of any length."""
        told, _ = redact(id[:_MOST_READ])  # whatever somebody took for an id
        super().__init__(id=one_line(told[:_MOST_SHOWN]) or '""')


class ExchangeError(FragmentsError):
    """A document cannot be written or read as asked; takes the key of its sentence."""

    table = "fragments.exchange"


class SavingError(FragmentsError):
    """A fragment cannot be saved, corrected, linked or removed; takes the key of its sentence."""

    table = "fragments.saving"


class UpkeepError(FragmentsError):
    """The upkeep cannot be done now; takes the key of its sentence. Facts: those it names."""

    table = "fragments.upkeep"


class UpkeepBusyError(UpkeepError, TimeoutError):
    """Another process is at it. Facts: path."""

    key = "busy"


class ServiceError(FragmentsError):
    """A service or a model gave no usable answer, or the settings name none that can be asked.

    retry_after_s: how long the service wants to be left alone; 0 where it says nothing.
    """

    table = "fragments.services"

    def __init__(self, key: str, /, *, retry_after_s: float = 0, **facts: str | int) -> None:
        super().__init__(key, **facts)
        self.retry_after_s = retry_after_s

    def again(self) -> "ServiceError":
        """Return the same failure, to be raised by another call."""
        return ServiceError(self.key, retry_after_s=self.retry_after_s, **self.facts)

    @property
    def is_passing(self) -> bool:
        """Whether another try, later, may succeed without anybody changing anything."""
        return self.key in _PASSING

    @property
    def may_be_of_these(self) -> bool:
        """Whether other texts may be answered: one of those sent may be the reason."""
        return self.key in _OF_THESE


def no_package(variable: str, package: str, *packages: str) -> ServiceError:
    """Return the refusal for a package that is not installed. packages: all that are needed."""
    install = " ".join((sys.executable, "-m pip install", *(packages or (package,))))
    return ServiceError("no_package", variable=variable, package=package, install=install)
