"""Checks the settings of the models."""

from collections.abc import Mapping

from rooms.fragments.errors import ServiceError
from rooms.fragments.models import judge, vectors


def check(environment: Mapping[str, str]) -> list[ServiceError]:
    """Return the faults that keep a server from starting; ask and load nothing."""
    return [*vectors.check(environment), *judge.check(environment)]


def missing(environment: Mapping[str, str]) -> list[ServiceError]:
    """Return the packages, programs and directories that this machine lacks."""
    if check(environment):
        return []
    return [*vectors.missing(environment), *judge.missing(environment)]
