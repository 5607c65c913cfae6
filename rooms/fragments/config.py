"""Says where a person's fragments are kept, and by which figures they are ordered and age."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from core.project import data_directory
from rooms.fragments.errors import ConfigError

PLACE_VARIABLE = "SENTINEL_MEMORY_FRAGMENTS"
FILE_NAME = "memory.db"


class Config(NamedTuple):
    """How the room works.

    path: of the database. importance_weight, recency_weight: what orders fragments that are equally
    relevant, from activation_threshold fragments on. stale_days: by kind, in the place of those of
    `TYPES`. linked_limit: how many linked fragments a recall adds at most.
    """

    path: Path
    importance_weight: float = 0.6
    recency_weight: float = 0.4
    activation_threshold: int = 100
    stale_days: tuple[tuple[str, int], ...] = ()
    linked_limit: int = 10


def read_config(environment: Mapping[str, str]) -> Config:
    """Return the settings of the room. Raises ConfigError."""
    given = environment.get(PLACE_VARIABLE, "").strip()
    if given:
        path = os.path.expanduser(given)
        if not os.path.isabs(path) or "://" in path:
            raise ConfigError("bad_place")
        if os.path.isdir(path):
            path = os.path.join(path, FILE_NAME)
        return Config(Path(path))
    base = data_directory(environment)
    if not base:
        raise ConfigError("no_place")
    return Config(Path(base, FILE_NAME))
