"""Says whether the models that the settings name can be asked."""

import os
from collections.abc import Iterator, Mapping

from core.errors import SentinelError
from rooms.fragments.errors import ServiceError, no_package
from rooms.fragments.models import embedding as embeddings
from rooms.fragments.models import judge as judging


def check(environment: Mapping[str, str]) -> list[SentinelError]:
    """Return the values with which a server must not start; nothing is asked or loaded for it."""
    return [*embeddings.check(environment), *judging.check(environment)]


def missing(environment: Mapping[str, str]) -> list[SentinelError]:
    """Return what the settings want and this machine has not: packages, programs, directories."""
    return [] if check(environment) else list(_missing(environment))


def _missing(environment: Mapping[str, str]) -> Iterator[SentinelError]:
    from rooms.fragments.models.judge import PACKAGES, PROGRAM, found_program  # not at every start

    embedding = embeddings.read(environment)
    if embedding and not embedding.address and not _is_installed(embeddings.LOCAL_MODULE):
        yield no_package(embeddings.VARIABLE, embeddings.LOCAL_PACKAGE)
    for judge in judging.read(environment):
        if judge.kind == judging.GEMINI and not found_program(judge.path):
            yield ServiceError("no_program", variable=judging.VARIABLE, program=PROGRAM)
        if judge.kind == judging.ONNX:
            for package in PACKAGES:
                if not _is_installed(package):
                    yield no_package(judging.VARIABLE, package, *PACKAGES)
                    break
            if not os.path.isdir(judge.place):
                yield ServiceError("no_model", variable=judging.VARIABLE, file="model.onnx")


def _is_installed(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is not None
