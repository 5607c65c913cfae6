"""Every refusal of the export and the import, with its facts."""

from rooms.sessions.errors import SessionsError


class ExchangeError(SessionsError):
    """A document cannot be written or read as asked; takes the key of its sentence."""

    table = "sessions.exchange"
