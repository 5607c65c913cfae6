"""Checks the settings of the models."""

from collections.abc import Mapping
from importlib.util import find_spec

from rooms.fragments.fragment import ServiceError, package_error
from rooms.fragments.models import judge, services, vectors


def check(environment: Mapping[str, str]) -> list[ServiceError]:
    """Return the faults that keep a server from starting; ask and load nothing."""
    judges = [it for it in judge.named(environment) if isinstance(it, ServiceError)]
    return [*vectors.check(environment), *judges]


def find_missing(environment: Mapping[str, str]) -> list[ServiceError]:
    """Return the packages, programs and directories that this machine lacks."""
    absent = list[ServiceError]()
    if check(environment):
        return absent
    is_local = services.value_of(environment, vectors.VARIABLE).lower() == vectors.LOCAL
    if is_local and find_spec(vectors.LOCAL_MODULE) is None:
        absent.append(package_error(vectors.VARIABLE, vectors.LOCAL_PACKAGE))
    for it in judge.named(environment):
        if isinstance(it, judge.GeminiJudge | judge.OnnxJudge):
            absent += it.find_missing()
    return absent
