"""Every refusal of the sessions, with its facts."""

from core.errors import RefusedError


class SessionsError(RefusedError):
    """A call on the sessions cannot be carried out; takes the key of its sentence and its facts."""

    table = "sessions.room"


class NoSuchSessionError(SessionsError):
    """No session has this number or id. Facts: name."""

    key = "no_such_session"


class ExchangeError(SessionsError):
    """A document cannot be written or read as asked; takes the key of its sentence."""

    table = "sessions.exchange"


class UpkeepError(SessionsError):
    """Something about an archive, a repair or a removal; takes the key of its sentence."""

    table = "sessions.upkeep"
