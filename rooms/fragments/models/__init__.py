"""Checks the settings of the models."""

from collections.abc import Mapping

from rooms.fragments.errors import ServiceError
from rooms.fragments.models import embedding, judge


def check(environment: Mapping[str, str]) -> list[ServiceError]:
    """Return the faults that keep a server from starting; ask and load nothing."""
    return [*embedding.check(environment), *judge.check(environment)]


def missing(environment: Mapping[str, str]) -> list[ServiceError]:
    """Return the packages, programs and directories that this machine lacks."""
    if check(environment):
        return []
    return [*embedding.missing(environment), *judge.missing(environment)]
