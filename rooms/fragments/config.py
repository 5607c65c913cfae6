"""Says where a person's fragments are kept, and by which figures they are ordered and age.

The figures stand in `config.json` beside the database, with the keys of the specification's
MEMORY_CONFIG. A value that cannot be used is refused with a sentence on its key.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from core.config import FRAGMENTS_PLACE, data_directory
from core.postgres.server import Server, is_server, server_of
from core.room.documents import CONFIG_NAME, Expected, Keys, unknown_keys_in, values_in, wrong_value
from rooms.fragments.errors import FragmentsError
from rooms.fragments.storage.redis import Place, place_of

FILE_NAME = "memory.db"
MOST_DAYS, MOST_LINKED = 36_500, 100
_DIGITS = 9  # to which two weights must make 1


class Config(NamedTuple):
    """How the room works.

    path: of the database, which need not exist. server: that keeps the fragments instead. cache:
    where answers of such a server are remembered. importance_weight, recency_weight: order equally
    relevant fragments, from activation_threshold fragments on; together they are 1. stale_days: by
    the words of `TYPES`, in place of theirs. linked_limit: of linked fragments in a recall.
    doubtful_days: how long a procedure counts as verified, None for what `TYPES` says, 0 for ever.
    least_cosine: from which a fragment may answer by its vector alone, None for what is measured.
    """

    path: Path
    importance_weight: float = 0.6
    recency_weight: float = 0.4
    activation_threshold: int = 100
    stale_days: tuple[tuple[str, int], ...] = ()
    linked_limit: int = 10
    doubtful_days: int | None = None
    least_cosine: float | None = None
    server: Server | None = None
    cache: Place | None = None


def read_config(environment: Mapping[str, str]) -> Config:
    """Return the settings of the room. Raises ConfigError, PlaceError, FragmentsError."""
    path, server = database_path(environment), database_server(environment)
    cache = place_of(environment) if server else None
    return Config(path, **_figures(config_path(path)), server=server, cache=cache)


def database_server(environment: Mapping[str, str]) -> Server | None:
    """Return the server that keeps the fragments, None where a file does. Raises FragmentsError."""
    place = environment.get(FRAGMENTS_PLACE, "").strip()
    return server_of(place, environment) if is_server(place) else None


def database_path(environment: Mapping[str, str]) -> Path:
    """Return where the fragments are kept, which need not exist. Raises FragmentsError.

    Where a server keeps them, it is where a file of the user would be: `config.json` is beside it.
    """
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
    """Return where the figures of a database are, if it has any of its own."""
    return database.with_name(CONFIG_NAME)


def unknown_keys(database: Path) -> list[str]:
    """Return the keys of `config.json` that the program does not know. Raises ConfigError."""
    return unknown_keys_in(config_path(database), _KEYS)


def _whole(sentence: str, most: int) -> Expected:
    """Return the check of a whole number from 0 on, refused by the sentence of this key."""
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


def _figures(path: Path) -> dict[str, Any]:
    """Return the fields of `Config` that a `config.json` names. Raises ConfigError."""
    values = values_in(path, _KEYS)
    stale = ("fact", "decision", "relation")
    days = tuple((word, values.pop(word)) for word in stale if word in values)
    importance, recency = values.get("importance_weight"), values.get("recency_weight")
    if importance is not None:
        rest = round(1 - importance, _DIGITS)
        if recency is not None and round(recency - rest, _DIGITS):
            raise wrong_value(path, "ranking.recencyWeight", "fragments.room.expects_rest")
        values["recency_weight"] = rest
    elif recency is not None:
        values["importance_weight"] = round(1 - recency, _DIGITS)
    return {**values, "stale_days": days}
