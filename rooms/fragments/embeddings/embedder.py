"""Makes vectors of texts with the model that the settings name."""

import math
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Protocol

from core.sanitizer import redact
from rooms.fragments.embeddings.settings import (
    LOCAL,
    MOST_DIMENSIONS,
    VARIABLE,
    EmbeddingSettings,
    read,
)
from rooms.fragments.errors import ServiceError
from rooms.fragments.models.services import Pause, finite

QUESTION_TIMEOUT_S = 5.0  # somebody waits for the answer
FLOAT_BYTES = 4


class Source(Protocol):
    """What knows a model."""

    def numbers(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
        """Return the numbers of each text, in order. Raises ServiceError."""


class Embedder:
    """Embeds texts. Safe to use from several threads.

    model: its name, as it is stored with the embeddings. dimensions: of the vectors, 0 until the
    first is known.
    """

    def __init__(self, source: Source, model: str, dimensions: int = 0) -> None:
        self.model, self.dimensions = model, dimensions
        self._source, self._pausing = source, Pause()

    def embed(self, texts: Sequence[str], *, timeout_s: float = QUESTION_TIMEOUT_S) -> list[bytes]:
        """Return a vector for each text, in order: 32-bit floats, little endian, of length 1.

        Secrets are taken out of the texts before anything sees them. A service that did not answer
        is left alone for a while: until then this raises its failure at once. Raises ServiceError.
        """
        if not texts:
            return []
        clean = [redact(text)[0] for text in texts]
        with self._pausing.asking():
            rows = self._source.numbers(clean, timeout_s)
        try:
            vectors = [vector_of(row) for row in rows]
        except ValueError:
            raise ServiceError("bad_answer", variable=VARIABLE) from None
        sizes = {len(vector) // FLOAT_BYTES for vector in vectors}
        is_like_before = sizes == {self.dimensions or max(sizes, default=0)}
        if len(vectors) != len(texts) or not is_like_before or max(sizes) > MOST_DIMENSIONS:
            raise ServiceError("bad_answer", variable=VARIABLE)
        [self.dimensions] = sizes
        return vectors


def embedder_of(environment: Mapping[str, str]) -> Embedder | None:
    """Return what embeds by these settings; None where nothing does.

    Nothing is asked or loaded before the first text. Raises ServiceError for settings that `check`
    names.
    """
    settings = read(environment)
    return _embedder(settings) if settings else None


@lru_cache(maxsize=8)  # keeps the pause of a service, and a model that is loaded
def _embedder(settings: EmbeddingSettings) -> Embedder:
    if settings.address:
        from rooms.fragments.embeddings.service import EmbeddingService

        return Embedder(EmbeddingService(settings), settings.model, settings.dimensions)
    from rooms.fragments.embeddings.local import LocalModel

    return Embedder(LocalModel(settings), f"{LOCAL}:{settings.model}")


def vector_of(numbers: Iterable[object]) -> bytes:
    """Return numbers as a vector of length 1, little endian.

    Raises ValueError for what has no direction: no numbers, some that are not finite, only zeros.
    """
    given = [finite(number) for number in numbers]
    largest = max(map(abs, given), default=0.0)
    if not largest:
        raise ValueError("no direction")
    scaled = [number / largest for number in given]  # whose squares are neither 0 nor infinite
    length = math.sqrt(math.fsum(number * number for number in scaled))
    vector = array("f", (number / length for number in scaled))
    if sys.byteorder == "big":
        vector.byteswap()
    return vector.tobytes()
