"""Every refusal of the export and the import of fragments, with its facts."""

from rooms.fragments.errors import FragmentsError


class ExchangeError(FragmentsError):
    """A document cannot be written or read as asked; takes the key of its sentence."""

    table = "fragments.exchange"
