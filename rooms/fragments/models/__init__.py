"""Checks the settings of the models."""

from collections.abc import Mapping
from importlib.util import find_spec

from rooms.fragments.fragment import ServiceError, package_error
from rooms.fragments.models import judge, services, vectors


def faults_in(environment: Mapping[str, str]) -> list[ServiceError]:
    """Return the faults that keep a server from starting; ask and load nothing."""
    errors = [item for item in judge.judges_in(environment) if isinstance(item, ServiceError)]
    return [*vectors.faults_in(environment), *errors]


def find_missing(environment: Mapping[str, str]) -> list[ServiceError]:
    """Return the packages, programs and directories that this machine lacks."""
    errors = list[ServiceError]()
    if faults_in(environment):
        return errors
    is_local = services.value_of(environment, vectors.VARIABLE).lower() == vectors.LOCAL
    if is_local and find_spec(vectors.LOCAL_MODULE) is None:
        errors.append(package_error(vectors.VARIABLE, vectors.LOCAL_PACKAGE))
    for item in judge.judges_in(environment):
        if isinstance(item, judge.GeminiJudge | judge.OnnxJudge):
            errors += item.find_missing()
    return errors
