"""A stand-in for a service of embeddings: the same text always has the same numbers."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from rooms.fragments.models.embedding import PROBES, Embedder, embedder_of
from tests.support.stand_in_service import Answer, Asked, StandIn, stand_in

DIMENSIONS = 8


def numbers_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    digest = hashlib.sha256(text.encode()).digest()
    return [byte - 127.5 for byte in digest[:dimensions]]


def embeddings(asked: Asked) -> Answer:
    """Answer as vLLM does: backwards, and not for a model whose dimensions are asked for."""
    if "dimensions" in asked.body:
        return Answer({"error": "matryoshka is not supported"}, 400)
    rows = [
        {"object": "embedding", "index": at, "embedding": numbers_of(text)}
        for at, text in enumerate(asked.body["input"])
    ]
    return Answer({"object": "list", "data": rows[::-1], "model": asked.body["model"]})


@pytest.fixture
def service() -> Iterator[StandIn]:
    """A running one; a file imports it."""
    with stand_in(embeddings) as running:
        yield running


def environment_of(service: StandIn, **more: str) -> dict[str, str]:
    given = {"SENTINEL_MEMORY_EMBEDDINGS": service.address, "EMBEDDING_MODEL": "bge-m3"}
    return {**given, **more}


def embedder(service: StandIn, **more: str) -> Embedder:
    """An embedder of this service, which no other test has seen."""
    found = embedder_of(environment_of(service, **more))
    assert found
    return found


def batches_of(service: StandIn) -> list[list[str]]:
    """The texts of every request, without the questions by which nearness is measured."""
    bodies: list[Mapping[str, Any]] = service.bodies
    return [body["input"] for body in bodies if body["input"] != list(PROBES)]


def texts_of(service: StandIn) -> list[str]:
    """Every text that the service was asked for, in order, without those questions."""
    return [text for batch in batches_of(service) for text in batch]
