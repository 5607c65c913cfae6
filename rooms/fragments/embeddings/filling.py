"""Gives fragments their embeddings: those that have none, or all of them for another model.

A service is asked outside of every transaction; what it answered is stored in one of a few
milliseconds, for the fragments that still say what was embedded.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from rooms.fragments.embeddings.background import Background
from rooms.fragments.embeddings.embedder import Embedder, embedder_of
from rooms.fragments.errors import NoVectorsError, OtherModelError, ServiceError
from rooms.fragments.fragment import Embedding, Fragment, Wanted
from rooms.fragments.links import linked_by_itself
from rooms.fragments.room import Room
from rooms.fragments.storage.rows import Rows

MODEL_STATE, DIMENSIONS_STATE = "embedding_model", "embedding_dimensions"
AT_ONCE = 32  # texts in one request; some services take no more
BATCH_TIMEOUT_S = 120.0  # a model on an ordinary processor takes its time
_FRESH = timedelta(hours=1)  # what was saved since is linked with what means nearly the same
_FAILURES = 3  # one after the other, and it is not the texts

Progress = Callable[[int, int], None]  # how many are done, of how many
_Pair = tuple[Fragment, bytes]


BACKGROUND = Background()  # of this process


@dataclass(frozen=True, slots=True)
class Filled:
    """What was done: how many fragments got an embedding, how many have none."""

    count: int
    left: int


def is_of(reading: Rows, embedder: Embedder) -> bool:
    """Return whether the stored embeddings may be compared with those of a model.

    One whose dimensions are not known yet is judged by its name. Where nothing is stored, any may.
    """
    state = reading.state()
    stored = state.get(MODEL_STATE, ""), state.get(DIMENSIONS_STATE, "")
    dimensions = str(embedder.dimensions) if embedder.dimensions else stored[1]
    if stored == (embedder.model, dimensions):
        return True
    return not reading.has(Wanted(state="all", has_vector=True))


def fill(
    room: Room, embedder: Embedder, *, limit: int | None = None, progress: Progress | None = None
) -> Filled:
    """Embed live fragments that have no embedding, the oldest first, whoever's they are.

    limit: how many at most. progress: called after each batch. A text that the model cannot embed
    is passed over, and tried again by the next call. Raises NoVectorsError, OtherModelError,
    ServiceError, DatabaseError, WaitEndedError; what was embedded until then is stored.
    """
    room = room.for_all()  # one model is that of all
    _check_keeps(room)
    with room.engine.reading() as reading:
        _check(reading, embedder)
    return _fill(room, embedder, limit, progress)


def reembed(room: Room, embedder: Embedder, *, progress: Progress | None = None) -> Filled:
    """Embed all live fragments with a model, in the place of the embeddings of another.

    These are removed with the first batch that the new model has embedded, so a service that does
    not answer costs nothing. A call that ended early is gone on with by the next one, and where all
    are of this model already, nothing happens. Raises ServiceError, DatabaseError, WaitEndedError.
    """
    _check_keeps(room)
    with room.engine.reading() as reading:
        first = reading.find(Wanted(), limit=AT_ONCE)
    if not embedder.dimensions:  # a service may give others by the same name now
        _embedded(embedder, first[:_FAILURES])
    with room.engine.reading() as reading:
        has_others = not is_of(reading, embedder)
    begun = _begin_anew(room, embedder, first) if has_others else 0

    def go_on(done: int, total: int) -> None:
        if progress:
            progress(begun + done, begun + total)

    rest = fill(room, embedder, progress=go_on)
    return Filled(begun + rest.count, rest.left)


def _begin_anew(room: Room, embedder: Embedder, first: Sequence[Fragment]) -> int:
    """Put the vectors of some fragments in the place of all; return how many they are."""
    embedded = _embedded(embedder, first)
    with room.engine.writing() as writing:
        if not is_of(writing, embedder):  # as it still is, unless another process was faster
            writing.drop_vectors()
        _note_model(writing, embedder)
        return _put(writing, embedded)


def fill_in_background(
    room: Room, embedder: Embedder | None = None, *, background: Background = BACKGROUND
) -> None:
    """Have what is missing embedded by a thread of this process; returns at once, and never raises.

    embedder: None for that of the environment, where it names one. The thread ends when nothing is
    missing, or with the process; after a failure it tries again, ever more rarely.
    `background.wait` waits for it, `background.failure` is its last failure.
    """
    try:
        chosen = embedder or embedder_of(os.environ)
    except ServiceError:  # said at the start
        return
    if chosen:
        background.do(room.engine.name, lambda: fill(room, chosen))


def _fill(room: Room, embedder: Embedder, limit: int | None, progress: Progress | None) -> Filled:
    with room.engine.reading() as reading:
        total = _count(reading)
    most = total if limit is None else min(limit, total)
    done = after = 0
    while done < most:
        wanted = Wanted(has_vector=False, after=after)
        with room.engine.reading() as reading:
            some = reading.find(wanted, limit=min(AT_ONCE, most - done))
        if not some:
            break
        after = some[-1].number
        embedded = _embedded(embedder, some)
        if embedded:
            with room.engine.writing() as writing:
                _check(writing, embedder)
                _note_model(writing, embedder)
                done += _put(writing, embedded)
        _link(room, [it for it, _ in embedded])
        if progress:
            progress(done, most)
    with room.engine.reading() as reading:
        return Filled(done, _count(reading))


def _embedded(embedder: Embedder, fragments: Sequence[Fragment]) -> list[_Pair]:
    """Return those of the fragments that the model can embed, with their vectors.

    Where it fails for all at once, each is tried by itself. Raises ServiceError for a failure that
    no text is the reason of, and where the first of them fail one by one, too.
    """
    if not fragments:
        return []
    try:
        texts = [it.content for it in fragments]
        return list(zip(fragments, embedder.embed(texts, timeout_s=BATCH_TIMEOUT_S), strict=True))
    except ServiceError as error:
        if not error.may_be_of_these or len(fragments) == 1:
            raise
    pairs = list[_Pair]()
    for tried, fragment in enumerate(fragments, 1):
        try:
            [vector] = embedder.embed([fragment.content], timeout_s=BATCH_TIMEOUT_S)
            pairs.append((fragment, vector))
        except ServiceError as error:
            is_last = tried == min(_FAILURES, len(fragments))
            if not error.may_be_of_these or (is_last and not pairs):
                raise
    return pairs


def _check_keeps(room: Room) -> None:
    """Raise NoVectorsError before a service is asked for what would not be stored."""
    if not room.engine.keeps_vectors():
        raise NoVectorsError(room.engine.name)


def _check(reading: Rows, embedder: Embedder) -> None:
    if not is_of(reading, embedder):
        raise OtherModelError


def _note_model(writing: Rows, embedder: Embedder) -> None:
    values = {MODEL_STATE: embedder.model, DIMENSIONS_STATE: str(embedder.dimensions or "")}
    if not values.items() <= writing.state().items():
        writing.set_state(values)


def _put(writing: Rows, embedded: Sequence[_Pair]) -> int:
    """Store the vectors of those fragments that say what they said; return how many they are."""
    now: Mapping[int, Fragment] = {
        it.number: it for it in writing.by_numbers(it.number for it, _ in embedded)
    }
    kept = [
        Embedding(before.number, vector)
        for before, vector in embedded
        if before.number in now and now[before.number].content == before.content
    ]
    writing.put_vectors(kept)
    return len(kept)


def _link(room: Room, embedded: Iterable[Fragment]) -> None:
    """Link what was just saved by its meaning: at its saving it had no vector yet.

    What words have linked then stays as it is.
    """
    since = (datetime.fromisoformat(room.clock()) - _FRESH).isoformat(timespec="seconds")
    for fragment in (it for it in embedded if it.created_at >= since):
        with room.engine.writing() as writing:
            stored = [it for it in writing.by_numbers([fragment.number]) if it.is_live]
            if stored and not writing.links([fragment.id]):
                writing.put_links(linked_by_itself(writing, stored[0]).links)


def _count(reading: Rows) -> int:
    return sum(reading.count(Wanted(has_vector=False)).values())
