"""Names the refusals of the upkeep; their sentences stand in `words.py`."""

from rooms.fragments.errors import FragmentsError


class UpkeepError(FragmentsError):
    """The upkeep cannot be done now; takes the key of its sentence. Facts: those it names."""

    table = "fragments.upkeep"


class UpkeepBusyError(UpkeepError, TimeoutError):
    """Another process is at it. Facts: path."""

    key = "busy"
