"""Reads where fragments are kept, and the figures of their order and age.

The figures stand in `config.json` beside the database, with the keys of the specification's
MEMORY_CONFIG. A bad value is refused, with its key.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from core.config import FRAGMENTS_PLACE, data_directory
from core.postgres.server import Server, is_server, server_of
from core.room.documents import CONFIG_NAME, Expected, Keys, unknown_keys_in, values_in, wrong_value
from rooms.fragments.errors import FragmentsError
from rooms.fragments.storage.redis import Place, place_of

FILE_NAME = "memory.db"
MOST_DAYS, MOST_LINKED = 36_500, 100
_DIGITS = 9  # to which two weights must make 1


class Config(NamedTuple):
    """The settings of the room."""

    path: Path  # of the database, which need not exist
    importance_weight: float = 0.6  # of two that order equally relevant fragments; their sum is 1
    recency_weight: float = 0.4
    activation_threshold: int = 100  # fragments, from which on the weights count
    stale_days: tuple[tuple[str, int], ...] = ()  # by type word, in place of `TYPES`
    linked_limit: int = 10  # linked fragments of a recall
    doubtful_days: int | None = None  # of a verified procedure, None for `TYPES`, 0 for ever
    least_cosine: float | None = None  # of what a vector alone finds, None for the measured one
    server: Server | None = None  # keeps the fragments instead
    cache: Place | None = None  # a Redis before that server


def read_config(environment: Mapping[str, str]) -> Config:
    """Return the settings. Raises ConfigError, PlaceError, FragmentsError."""
    path, server = database_path(environment), database_server(environment)
    cache = place_of(environment) if server else None
    values = values_in(config_path(path), _KEYS)
    stale = ("fact", "decision", "relation")
    values["stale_days"] = tuple((word, values.pop(word)) for word in stale if word in values)
    importance, recency = values.get("importance_weight"), values.get("recency_weight")
    if importance is not None:
        rest = round(1 - importance, _DIGITS)
        if recency is not None and round(recency - rest, _DIGITS):
            key = "ranking.recencyWeight"
            raise wrong_value(config_path(path), key, "fragments.room.expects_rest")
        values["recency_weight"] = rest
    elif recency is not None:
        values["importance_weight"] = round(1 - recency, _DIGITS)
    return Config(path, **values, server=server, cache=cache)


def database_server(environment: Mapping[str, str]) -> Server | None:
    """Return the server of the fragments, None for a file."""
    place = environment.get(FRAGMENTS_PLACE, "").strip()
    return server_of(place, environment) if place and is_server(place) else None


def database_path(environment: Mapping[str, str]) -> Path:
    """Return the path of the database, with a server the default: `config.json` is beside it."""
    place = os.path.expanduser(environment.get(FRAGMENTS_PLACE, "").strip())
    if not place or is_server(place):
        if base := data_directory(environment):
            return Path(base, FILE_NAME)
        raise FragmentsError("no_place")
    if not os.path.isabs(place) or "://" in place:
        raise FragmentsError("bad_place")
    is_folder = os.path.isdir(place) or not os.path.basename(place)  # a slash ends one to be made
    return Path(place, FILE_NAME) if is_folder else Path(place)


def config_path(database: Path) -> Path:
    return database.with_name(CONFIG_NAME)


def unknown_keys(database: Path) -> list[str]:
    """Return keys of `config.json` that are no settings. Raises ConfigError."""
    return unknown_keys_in(config_path(database), _KEYS)


def _whole(sentence: str, most: int) -> Expected:
    return Expected(sentence, lambda value: type(value) is int and 0 <= value <= most)


_WEIGHT = Expected(
    "fragments.room.expects_weight", lambda value: type(value) in (int, float) and 0 <= value <= 1
)
_COUNT = _whole("fragments.room.expects_count", 10**9)
_DAYS = _whole("fragments.room.expects_days", MOST_DAYS)
_LINKED = _whole("fragments.room.expects_linked", MOST_LINKED)

# fmt: off
_KEYS: Keys = {
    "ranking.importanceWeight": ("importance_weight", _WEIGHT),
    "ranking.recencyWeight": ("recency_weight", _WEIGHT),
    "ranking.activationThreshold": ("activation_threshold", _COUNT),
    "staleThresholds.procedure": ("doubtful_days", _DAYS),
    "staleThresholds.fact": ("fact", _DAYS),
    "staleThresholds.decision": ("decision", _DAYS),
    "staleThresholds.default": ("relation", _DAYS),  # nothing else is left that may go stale
    "embeddings.leastCosine": ("least_cosine", _WEIGHT),
    "linkedFragmentLimit": ("linked_limit", _LINKED),
}
# fmt: on
