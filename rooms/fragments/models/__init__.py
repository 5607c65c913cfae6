"""Says whether the models that the settings name can be asked."""

from collections.abc import Mapping

from rooms.fragments.errors import ServiceError
from rooms.fragments.models import embedding, judge


def check(environment: Mapping[str, str]) -> list[ServiceError]:
    """Return the values with which a server must not start; nothing is asked or loaded for it."""
    return [*embedding.check(environment), *judge.check(environment)]


def missing(environment: Mapping[str, str]) -> list[ServiceError]:
    """Return what the settings want and this machine has not: packages, programs, directories."""
    if check(environment):
        return []
    return [*embedding.missing(environment), *judge.missing(environment)]
