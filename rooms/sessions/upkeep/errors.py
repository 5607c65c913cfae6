"""Names the refusals of the upkeep; their sentences stand in `words.py`."""

from rooms.sessions.errors import SessionsError


class UpkeepError(SessionsError):
    """Something about an archive, a repair or a removal; takes the key of its sentence."""

    table = "sessions.upkeep"
