"""Reads which model embeds the fragments.

SENTINEL_MEMORY_EMBEDDINGS  the address of a service of OpenAI's form, or `fastembed[:MODEL]`
OPENAI_API_KEY              the key that the service wants
EMBEDDING_MODEL             its model, text-embedding-3-small by default
EMBEDDING_DIMENSIONS        sent to it only where set
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from core.config import data_directory
from core.errors import SentinelError
from rooms.fragments.errors import ServiceError
from rooms.fragments.models.services import (
    KEY_VARIABLE,
    check_address,
    check_key,
    endpoint,
    value_of,
)

VARIABLE = "SENTINEL_MEMORY_EMBEDDINGS"
MODEL_VARIABLE, DIMENSIONS_VARIABLE = "EMBEDDING_MODEL", "EMBEDDING_DIMENSIONS"
DEFAULT_MODEL = "text-embedding-3-small"
LOCAL = "fastembed"
DEFAULT_LOCAL_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
MOST_DIMENSIONS = 16_384


class EmbeddingSettings(NamedTuple):
    """Who embeds. address: of the endpoint, "" for the package fastembed.

    dimensions: those asked for, 0 for those that the model has. folder: where fastembed keeps its
    models, "" for its own choice.
    """

    model: str
    address: str = ""
    key: str = ""
    dimensions: int = 0
    folder: str = ""

    def __repr__(self) -> str:
        return f"EmbeddingSettings({self.model!r}, {self.dimensions})"  # no address, no key


def read(environment: Mapping[str, str]) -> EmbeddingSettings | None:
    """Return who embeds; None for nobody. Raises ServiceError for what `check` names."""
    given = value_of(environment, VARIABLE)
    if not given:
        return None
    for error in check(environment):
        raise error
    name, _, model = given.partition(":")
    if name.lower() == LOCAL:
        base = data_directory(environment)
        folder = "" if environment.get("FASTEMBED_CACHE_PATH") or not base else f"{base}/fastembed"
        return EmbeddingSettings(model.strip() or DEFAULT_LOCAL_MODEL, folder=folder)
    return EmbeddingSettings(
        value_of(environment, MODEL_VARIABLE) or DEFAULT_MODEL,
        endpoint(given, "/embeddings"),
        value_of(environment, KEY_VARIABLE),
        int(value_of(environment, DIMENSIONS_VARIABLE) or 0),
    )


def check(environment: Mapping[str, str]) -> list[SentinelError]:
    """Return what is wrong with the settings; nothing is asked or loaded for it."""
    given = value_of(environment, VARIABLE)
    is_local = given.partition(":")[0].lower() == LOCAL
    return list(_errors(environment)) if given and not is_local else []


def _errors(environment: Mapping[str, str]) -> Iterator[SentinelError]:
    yield from check_address(environment, VARIABLE)
    yield from check_key(environment)
    dimensions = value_of(environment, DIMENSIONS_VARIABLE)
    is_number = dimensions.isascii() and dimensions.isdigit() and len(dimensions) < 9
    if dimensions and not (is_number and 0 < int(dimensions) <= MOST_DIMENSIONS):
        yield ServiceError("bad_dimensions", most=MOST_DIMENSIONS)
