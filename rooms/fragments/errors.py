"""Every refusal of the fragments, with its facts; their sentences stand in `words.py`."""

from core.errors import SentinelError
from core.messages import say
from core.sanitizer import redact
from core.text.printable import one_line

_MOST_SHOWN, _MOST_READ = 40, 400  # characters of an id that is none


class FragmentsError(SentinelError, ValueError):
    """A call on the fragments cannot be carried out; takes the key of its sentence, its facts."""

    table = "fragments.room"


class NoSuchFragmentError(FragmentsError):
    """No fragment has this id, or it is in the bin. Facts: id."""

    key = "no_such_fragment"

    def __init__(self, *, id: str) -> None:
        """id: what was given as one, of any length."""
        told, _ = redact(id[:_MOST_READ])  # whatever somebody took for an id
        super().__init__(id=one_line(told[:_MOST_SHOWN]) or '""')


class ConfigError(FragmentsError):
    """A value of the settings cannot be used. Facts: path, name (its key), expected."""

    key = "bad_config"

    def sentence(self) -> str:
        """Say what the key must hold, in the reader's language."""
        facts = dict(self.facts)
        if "expected" in facts:
            facts["expected"] = say(f"{self.table}.{facts['expected']}")
        return say(f"{self.table}.{self.key}", **facts)
