"""Names the refusals of saving; their sentences stand in `words.py`."""

from rooms.fragments.errors import FragmentsError


class SavingError(FragmentsError):
    """A fragment cannot be saved, corrected, linked or removed; takes the key of its sentence."""

    table = "fragments.saving"
