"""Asks a service of OpenAI's form for embeddings: OpenAI, Ollama, vLLM, LM Studio and others."""

from collections.abc import Sequence
from typing import Any

from rooms.fragments.embeddings.settings import VARIABLE, EmbeddingSettings
from rooms.fragments.errors import ServiceError
from rooms.fragments.models.services import Service, post


class EmbeddingService:
    """A source of embeddings behind an address."""

    def __init__(self, settings: EmbeddingSettings) -> None:
        self._settings = settings
        self._service = Service(settings.address, VARIABLE, settings.key)

    def numbers(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
        """Return the numbers of each text, in order. Raises ServiceError."""
        body: dict[str, object] = {"model": self._settings.model, "input": list(texts)}
        if self._settings.dimensions:  # a model that knows none refuses even its own number
            body["dimensions"] = self._settings.dimensions
        answer = post(self._service, body, timeout_s=timeout_s)
        try:
            return _in_order(answer, len(texts))
        except (TypeError, ValueError, KeyError, AttributeError):
            raise ServiceError("bad_answer", variable=VARIABLE) from None


def _in_order(answer: Any, count: int) -> list[Sequence[object]]:
    """Return the lists of numbers in the order of the texts. Raises what a wrong form leads to."""
    rows = answer["data"]
    places = [row.get("index", at) for at, row in enumerate(rows)]
    if sorted(places) != list(range(count)):
        raise ValueError("another number of embeddings than of texts")
    found = dict(zip(places, (row["embedding"] for row in rows), strict=True))
    ordered = [found[at] for at in range(count)]
    if not all(isinstance(numbers, list) for numbers in ordered):
        raise ValueError("no list")
    return ordered
