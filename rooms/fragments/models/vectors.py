"""Gives fragments the vectors of one model, and measures how near is near enough.

That depends on the model and on the stored texts: an answer has to be nearer than the fragments
nearest to questions that no memory of a team answers.
"""

import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from statistics import fmean, pstdev
from typing import NamedTuple

from core.errors import SentinelError
from rooms.fragments.errors import ServiceError
from rooms.fragments.fragment import Embedding, Fragment, Wanted
from rooms.fragments.links import linked_by_itself
from rooms.fragments.models.embedding import BATCH_TIMEOUT_S, Embedder, embedder_of
from rooms.fragments.room import Room
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep.life import before

AT_ONCE = 32  # texts in one request; some services take no more
MODEL_STATE, DIMENSIONS_STATE = "embedding_model", "embedding_dimensions"
LEAST_COSINE = 0.5  # `Cosines.least` before the first measurement
COSINES_STATE = "embedding_cosines"
_DEVIATIONS, _LEAST_DEVIATION = 2, 0.01
_GROWTH, _RENEWED_DAYS = 1.5, 1
_FRESH_HOURS = 1  # fragments saved since are linked by their meaning
_FAILURES = 3  # one after the other, and it is not the texts

Progress = Callable[[int, int], None]  # done, total


class Cosines(NamedTuple):
    """The cosines of the fragments nearest to questions that nothing answers.

    texts: fragments with a vector then, 0 before the first measurement.
    """

    model: str = ""
    mean: float = 0.0
    deviation: float = 0.0
    texts: int = 0
    measured_at: str = ""

    @property
    def least(self) -> float:
        """From which a fragment may answer a question."""
        if not self.texts:
            return LEAST_COSINE
        return min(self.mean + _DEVIATIONS * max(self.deviation, _LEAST_DEVIATION), 1.0)

    @property
    def doubtful(self) -> float:
        """Below which shared words are chance."""
        return self.mean + self.deviation if self.texts else -1.0

    def nearness(self, cosine: float) -> float:
        """Scale a cosine from 0, near to any question, to 1."""
        return max(cosine - self.mean, 0.0) / max(1 - self.mean, _LEAST_DEVIATION)


def cosines_of(state: Mapping[str, str]) -> Cosines:
    """Return the measurement with the model of the stored vectors."""
    try:
        cosines = Cosines(*json.loads(state.get(COSINES_STATE, "")))
        is_good = 0 <= cosines.least <= 1 and cosines.model == state.get(MODEL_STATE)
        return cosines if is_good else Cosines()
    except (ValueError, TypeError, RecursionError):  # none, or of another program
        return Cosines()


def measure(room: Room, embedder: Embedder) -> None:
    """Measure `Cosines` anew, if due. Raises DatabaseError."""
    now = room.clock()
    with room.engine.reading() as rows:
        known = cosines_of(rows.state())
        texts = sum(rows.count(Wanted(has_vector=True)).values())
        since = before(now, days=_RENEWED_DAYS)
    has_grown = not known.texts <= texts < known.texts * _GROWTH
    if not texts or not (has_grown or known.measured_at <= since):
        return
    try:
        probes = embedder.probes
    except ServiceError:  # the next call tries again
        return
    with room.engine.reading() as rows:
        tops = [cosine for probe in probes for _, cosine in rows.near(probe, Wanted(), 1)]
    if tops:
        mean, deviation = round(fmean(tops), 4), round(pstdev(tops), 4)
        cosines = Cosines(embedder.model, mean, deviation, texts, now)
        with room.engine.writing() as rows:
            if is_of(rows, embedder):
                rows.set_state({COSINES_STATE: json.dumps(cosines)})


# Filling: a service is asked outside of every transaction; a transaction of a few milliseconds
# stores its vectors, for the fragments whose text is still the same.


@dataclass(frozen=True, slots=True)
class Filled:
    """How many got an embedding, how many still have none."""

    count: int
    left: int


def is_of(rows: Rows, embedder: Embedder) -> bool:
    """Return whether stored embeddings are a model's (by name, without dimensions), or none."""
    state = rows.state()
    stored = state.get(MODEL_STATE, ""), state.get(DIMENSIONS_STATE, "")
    dimensions = str(embedder.dimensions) if embedder.dimensions else stored[1]
    if stored == (embedder.model, dimensions):
        return True
    return not rows.has(Wanted(state="all", has_vector=True))


def fill(
    room: Room, embedder: Embedder, *, replaces: bool = False, progress: Progress | None = None
) -> Filled:
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
            some = rows.find(Wanted(), limit=_FAILURES)
        _embedded(embedder, some)
    with room.engine.reading() as rows:
        has_others = not is_of(rows, embedder)
        if has_others and not replaces:
            raise ServiceError("other_model")
        wanted = Wanted() if has_others else Wanted(has_vector=False)
        total = sum(rows.count(wanted).values())
    done = 0
    while done < total or has_others:
        with room.engine.reading() as rows:
            some = rows.find(wanted, limit=AT_ONCE)
        if not (some or has_others):
            break
        embedded = _embedded(embedder, some)
        if embedded or has_others:
            with room.engine.writing() as rows:
                done += _put(rows, embedder, embedded, replaces=has_others)
        _link(room, [it for it, _ in embedded])
        has_others = False
        wanted = Wanted(has_vector=False, after=some[-1].number if some else 0)
        if progress and some:
            progress(done, total)
    measure(room, embedder)
    with room.engine.reading() as rows:
        return Filled(done, sum(rows.count(Wanted(has_vector=False)).values()))


_due = dict[str, Callable[[], object]]()  # not begun, by the place of the fragments
_turns = dict[int, threading.Lock]()  # by process: a thread stays with the one that began it


def fill_in_background(room: Room, embedder: Embedder | None = None) -> None:
    """Fill in one thread of this process, which ends without waiting for it. Never raise.

    embedder: None for that of the environment, if any. Failed work is left to the next save.
    """
    try:
        chosen = embedder or embedder_of(os.environ)
    except ServiceError:  # said at the start
        return
    if chosen:
        _due[room.engine.name] = lambda: fill(room, chosen)
        turn = _turns.setdefault(os.getpid(), threading.Lock())
        if turn.acquire(blocking=False):
            work = partial(_fill_due, turn)
            threading.Thread(target=work, name="embeddings", daemon=True).start()


def _fill_due(turn: threading.Lock) -> None:
    """Do the work that is due, and free the turn that the caller has taken."""
    has_turn = True
    while has_turn:
        try:
            while _due:
                _, work = _due.popitem()
                with suppress(SentinelError):
                    work()
        finally:
            turn.release()
        has_turn = bool(_due) and turn.acquire(blocking=False)  # a save came before the release


def _embedded(embedder: Embedder, fragments: Sequence[Fragment]) -> list[tuple[Fragment, bytes]]:
    """Return the fragments that the model can embed, with their vectors.

    If all fail at once, each is tried by itself. Raises ServiceError if no text is the cause, or
    the first few fail one by one.
    """
    if not fragments:
        return []
    try:
        texts = [it.content for it in fragments]
        return list(zip(fragments, embedder.embed(texts, timeout_s=BATCH_TIMEOUT_S), strict=True))
    except ServiceError as error:
        if not error.may_be_of_these or len(fragments) == 1:
            raise
    pairs = list[tuple[Fragment, bytes]]()
    for tried, fragment in enumerate(fragments, 1):
        try:
            [vector] = embedder.embed([fragment.content], timeout_s=BATCH_TIMEOUT_S)
            pairs.append((fragment, vector))
        except ServiceError as error:
            is_last = tried == min(_FAILURES, len(fragments))
            if not error.may_be_of_these or (is_last and not pairs):
                raise
    return pairs


def _put(
    rows: Rows, embedder: Embedder, embedded: Sequence[tuple[Fragment, bytes]], *, replaces: bool
) -> int:
    """Store the vectors of unchanged texts; return how many. replaces: another model's go."""
    if not is_of(rows, embedder):
        if not replaces:
            raise ServiceError("other_model")
        rows.drop_vectors()
    values = {MODEL_STATE: embedder.model, DIMENSIONS_STATE: str(embedder.dimensions or "")}
    if not values.items() <= rows.state().items():
        rows.set_state(values)
    now = {it.number: it.content for it in rows.by_numbers(it.number for it, _ in embedded)}
    kept = [
        Embedding(before.number, vector)
        for before, vector in embedded
        if now.get(before.number) == before.content
    ]
    rows.put_vectors(kept)
    return len(kept)


def _link(room: Room, embedded: Iterable[Fragment]) -> None:
    """Link by meaning fragments that had no vector when they were saved, and have no link yet."""
    since = before(room.clock(), hours=_FRESH_HOURS)
    for fragment in (it for it in embedded if it.created_at >= since):
        with room.engine.writing() as rows:
            stored = [it for it in rows.by_numbers([fragment.number]) if it.is_live]
            if stored and not rows.links([fragment.id]):
                rows.put_links(linked_by_itself(rows, stored[0])[0])
