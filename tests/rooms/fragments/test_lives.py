"""Plays lives in a file and on a server: stories about a room of fragments and its standing clock.

A life is written as a story is, see `tests/stories/story.py`; its steps are the verbs of `VERBS`,
which are the functions of the room. It begins on day 0 at ten o'clock.

    save name=a content="The shop runs on Node"
    wait days=2
    forget id=a
    | fragments: a
    | ~ a: deleted_at=day 2, deletion=forgotten
    | = forgotten: 1

The answer has the values that the verb returns, without empty ones, then each difference: `+` is
new, `~` has changed, `-` is gone, `=` is a value that the room keeps by its name. So a verb that
changes more than is written does not pass. A verb that is refused (`!`) changes nothing, and says
so in Korean, too. Lives of a team are on a server alone, where each agent has a room of its own.
`python -m tests.rooms.fragments.test_lives FILE …` records, but for a team.
"""

import json
import math
import re
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import datetime, timedelta
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple, cast, get_args

import pytest

from core.errors import SentinelError
from core.text.plain import estimate_tokens
from core.text.ranking import Entry as Listed
from rooms.fragments import draft, exchange, versions
from rooms.fragments import fragment as schema
from rooms.fragments.activity import statistics_of, store_feedback
from rooms.fragments.draft import reflect, remember
from rooms.fragments.fragment import Draft, Filter, Fragment, Link, ServiceError, hash_of
from rooms.fragments.links import Pair, Step, explore, link
from rooms.fragments.models.judge import Verdict
from rooms.fragments.models.vectors import PROBES, Embedder, embed_missing
from rooms.fragments.recall import recall, restore_context
from rooms.fragments.room import Room
from rooms.fragments.storage.rows import pages_of
from rooms.fragments.texts import keywords_of
from rooms.fragments.upkeep.consolidation import StepOutcome, consolidate, tend
from rooms.fragments.versions import amend, forget, pin, restore
from tests.stories import update
from tests.stories.story import Answer, Story, held, read_stories
from tests.support.fragments_room import START, Clock, a_room
from tests.support.room_samples import make_memory_db
from tests.support.sentences import in_language
from tests.support.tables import table
from tests.support.team_engines import kept_in as kept_in

LIVES = Path(__file__).parents[2] / "stories" / "lives"
KINDS: dict[str, type[Any]] = {it.__name__: it for it in get_args(schema.Entry)}
IDS = set("id start end linked_to fragment_id first_id second_id lines".split())
_DAY = re.compile(r"day (-?\d+)(?: (\d\d):(\d\d))?")
_DRAWN = re.compile(r"[a-z2-9]{8}|stored-\d+")
_PARTLY = ("fill", "reembed")  # a failure keeps the work before it
_OF_A_RUN = ("upkeep", "upkeep_figures")


class Held(NamedTuple):
    """All that a room holds. others: links, vectors and the rows beside, as they are told."""

    fragments: dict[str, Fragment]
    others: Counter[str]
    state: dict[str, str]


@dataclass
class Model:
    """A model whose cosines are known. cosines: of texts, 1 for others; probes: of its probes.

    The rest of a probe is near to no text. dimensions: of its vectors, those after the third are 0.
    fails: the key of its failure, "" for none; fails_at: at which request, 0 for each. refuses: a
    text that it cannot embed.
    """

    name: str = "known"
    cosines: Mapping[str, float] = field(default_factory=dict)
    probes: Sequence[float] = (0.2,)
    dimensions: int = 3
    fails: str = ""
    fails_at: int = 0
    refuses: str = ""
    asked: list[list[str]] = field(default_factory=list)  # by request

    def numbers_of(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
        self.asked.append(list(texts))
        is_refused = self.refuses in texts
        if is_refused or (self.fails and self.fails_at in (0, len(self.asked))):
            key = "refused" if is_refused else self.fails
            raise ServiceError(key, variable="SENTINEL_MEMORY_EMBEDDINGS", status=400, seconds=1)
        known = {**dict(zip(PROBES, cycle(self.probes), strict=False)), **self.cosines}
        cosines = [(known.get(text, 1.0), text in PROBES) for text in texts]
        rests = [(it, math.sqrt(1 - it * it), is_probe) for it, is_probe in cosines]
        more = (0.0,) * (self.dimensions - 3)
        return [(it, rest * (not is_probe), rest * is_probe, *more) for it, rest, is_probe in rests]

    def new_requests(self, known: int) -> list[list[str]]:
        """The requests after the first, without those of probes."""
        return [some for some in self.asked[known:] if some[0] not in PROBES]


class Life:
    """A room, its clock, and the names by which the steps call its fragments."""

    def __init__(self, room: Room, clock: Clock) -> None:
        self.room = self.of_all = room
        self.clock, self.existed = clock, room.engine.exists()
        self.names = dict[str, str]()  # by id
        self.model: Model | None = None
        self.before: Held | None = None  # as the step before left it

    def call(self, agent: str, verb: str, given: dict[str, Any]) -> Answer:
        name = given.pop("name", "") if verb != "model" else ""
        values = {it: self.meant(it, value) for it, value in given.items()}
        before = self.before or self.held()
        try:
            done = VERBS[verb](self, **values)
        except SentinelError as error:
            self.before = after = self.held()
            assert after == before or verb in _PARTLY
            assert self.exists_rightly(after) or not self.room.settings.strict
            assert in_language("ko", str, error) != str(error)
            requests = [f"requests: {len(self.model.asked)}"] if self.model else []
            lines = [str(error), *requests, *self.changes(before, after)]
            return Answer(self.named("\n".join(lines)), is_refused=True)
        self.before = after = self.held()
        for id_ in after.fragments:
            if id_ not in self.names:
                is_given = not _DRAWN.fullmatch(id_)  # by the file of an import
                self.names[id_] = name or (id_ if is_given else f"new{len(self.names)}")
        assert self.exists_rightly(after)
        lines = [*self.told_of(done), *self.changes(before, after)]
        return Answer(self.named("\n".join(lines) or "nothing"))

    def ended(self) -> None:
        """Look at the index, which the verbs must have kept in step."""
        if self.of_all.engine.exists():
            with self.of_all.engine.writing() as rows:
                assert not rows.mend_index()

    # Arguments

    def meant(self, argument: str, value: Any) -> Any:
        """A value of a step: lists are tuples, names ids, days moments."""
        if isinstance(value, list):
            return tuple(self.meant(argument, it) for it in value)
        if isinstance(value, dict):
            return {name: self.meant(argument, it) for name, it in value.items()}
        if not isinstance(value, str):
            return value
        if argument in IDS:
            for id_, name in self.names.items():
                value = re.sub(rf"\b{name}\b", id_, value)
        if day := _DAY.fullmatch(value):
            time = timedelta(days=int(day[1]), hours=int(day[2] or 10), minutes=int(day[3] or 0))
            begun = datetime.fromisoformat(START).replace(hour=0)
            return (begun + time).isoformat(timespec="seconds")
        return value

    # Answers

    def held(self) -> Held:
        with self.of_all.engine.reading() as rows:
            found = [it for page in pages_of(rows, Filter(state="all")) for it in page]
            links = rows.links([it.id for it in found])
            entries = [it for kind in KINDS.values() for it in rows.entries(kind)]
            vectors = rows.vectors([it.number for it in found])
            state = {name: it for name, it in rows.state().items() if name not in _OF_A_RUN}
        by_number = {it.number: it.id for it in found}
        others = [self.told(it) for it in links]
        others += [f"{type(it).__name__}: {self.told(it)}" for it in entries]
        for number, vector in vectors:
            floats = ", ".join(f"{it:.3g}" for (it,) in struct.iter_unpack("<f", vector))
            others.append(f"{by_number[number]} has the vector {floats}")
        return Held({it.id: it for it in found}, Counter(others), state)

    def exists_rightly(self, held: Held) -> bool:
        """Whether there is a file only where something is kept."""
        is_any = any(held) or self.existed or self.room.engine.keeps_agents_apart
        return bool(is_any) or not self.room.engine.exists()

    def changes(self, before: Held, after: Held) -> Iterable[str]:
        for id_, fragment in after.fragments.items():
            if id_ not in before.fragments:
                yield f"+ {id_}: {fragment.content}"
                if also := self.differing(_usual(fragment, self.clock()), fragment):
                    yield f"    {also}"
            elif (was := before.fragments[id_]) != fragment and (
                also := self.differing(was, fragment)
            ):
                yield f"~ {id_}: {also}"
        yield from (f"- {it}" for it in before.fragments if it not in after.fragments)
        gone, new = (before.others - after.others).elements(), after.others - before.others
        yield from sorted(f"- {self.named(it)}" for it in gone)
        yield from sorted(f"+ {self.named(it)}" for it in new.elements())
        for name in sorted({*before.state, *after.state}):
            if before.state.get(name) != after.state.get(name):
                yield f"= {name}: {self.told(after.state.get(name, ''))}"

    def differing(self, one: Fragment, other: Fragment) -> str:
        names = [it.name for it in fields(Fragment) if it.name not in ("number", "id")]
        if other.content_hash == hash_of(other.content):
            names.remove("content_hash")
        values = {it: getattr(other, it) for it in names if getattr(one, it) != getattr(other, it)}
        return ", ".join(f"{name}={self.told(value) or '-'}" for name, value in values.items())

    def told_of(self, done: Any) -> list[str]:
        """The result of a verb, a line for each part that is not empty."""
        if done is None:
            return []
        parts = {"fragment": done} if isinstance(done, Fragment) else _parts(done)
        if parts is None:
            return [self.told(done)]
        lines = [(name, self.told(value)) for name, value in parts.items() if name != "before"]
        return [f"{name}: {text}" for name, text in lines if text]

    def told(self, value: Any) -> str:
        """A value in one line; "" for an empty one."""
        match value:
            case Fragment():
                return value.id
            case Listed():
                return self.told(value.item)
            case Link():
                return f"{value.from_id} {value.relation} {value.to_id}"
            case Step():
                return f"{value.fragment.id} ({self.told(value.link)})"
            case Pair():
                return f"{value.earlier.id} and {value.later.id} {'+'.join(value.signs)}".strip()
            case StepOutcome():
                figures = self.told(value.figures)
                return f"{value.name} ({figures}; {value.count})" if figures else ""
            case bool():
                return "yes" if value else ""
            case int() | float():
                return f"{value:.5g}" if value else ""
            case str():
                return self.day(value)
            case SentinelError():
                return value.key
        parts = _parts(value)
        if parts is None:
            return ", ".join(filter(None, map(self.told, value or ())))
        told = {name: self.told(it) for name, it in parts.items() if name != "similarity"}
        return " ".join(f"{name}={text}" for name, text in told.items() if text)

    def day(self, text: str) -> str:
        """The day of a moment, and the time where that is another than at the start."""
        try:
            passed = datetime.fromisoformat(text) - datetime.fromisoformat(START).replace(hour=0)
        except (ValueError, TypeError):
            return text
        time = (datetime.fromisoformat(START).replace(hour=0) + passed).strftime("%H:%M")
        return f"day {passed.days}" if time == "10:00" else f"day {passed.days} {time}"

    def named(self, text: str) -> str:
        for id_, name in self.names.items():
            text = text.replace(id_, name)
        return text


def _parts(value: Any) -> Mapping[str, Any] | None:
    """The named parts of a value, None where it has none."""
    if isinstance(value, Mapping):
        return value
    if hasattr(value, "_asdict"):
        return dict(value._asdict())
    if is_dataclass(value):
        return {it.name: getattr(value, it.name) for it in fields(value)}
    return None


def _usual(fragment: Fragment, now: str) -> Fragment:
    """A new fragment with the fields that no answer tells, since all new ones have them."""
    content, tokens = fragment.content, estimate_tokens(fragment.content)
    moments: Any = dict.fromkeys(("created_at", "updated_at", "verified_at"), now)
    return Fragment(id=fragment.id, content=content, content_hash=hash_of(content),
                    keywords=keywords_of(content), estimated_tokens=tokens, **moments)  # fmt: skip


# The verbs

_SOURCES: dict[str, Any] = table("fragment_sources")
_OF_DRAFT = Draft.__dataclass_fields__


def _rows(change: Callable[..., Any]) -> Callable[..., Any]:
    """A verb that changes rows as another program does."""

    def verb(life: Life, **given: Any) -> None:
        with life.room.engine.writing() as rows:
            change(life, rows, **given)

    return verb


@_rows
def _add(life: Life, rows: Any, **given: Any) -> None:
    content = given["content"]
    usual = _usual(Fragment(id=f"stored-{len(life.names):03}", content=content), life.clock())
    rows.add([replace(usual, **given)])


@_rows
def _change(life: Life, rows: Any, id: str, **given: Any) -> None:
    if "content" in given:
        given["content_hash"] = hash_of(given["content"])
    rows.replace([replace(it, **given) for it in rows.by_ids([id])])


def _save(life: Life, session: str = "", agent: str = "", **given: Any) -> Any:
    draft = Draft(**{name: given.pop(name) for name in [*given] if name in _OF_DRAFT})
    done = remember(life.room, draft, agent=agent, session=session)
    if given:
        VERBS["change"](life, id=done.fragment.id, **given)
    return {**done._asdict(), "is_new": "" if done.is_new else "no"}


def _recall(life: Life, **given: Any) -> Any:
    model = life.model
    embedder, known = (Embedder(model, model.name), len(model.asked)) if model else (None, 0)
    done = recall(life.room, schema.Query(**given), embedder=embedder)
    return {**done._asdict(), "asked": model.new_requests(known) if model else ()}


def _fill(life: Life, *, again: bool = False) -> Any:
    """Give each fragment without a vector one; again: put those of this model in place of all."""
    model, progress = life.model or Model(), list[str]()
    embedder, known = Embedder(model, model.name), len(model.asked)

    def tell(done: int, total: int) -> None:
        progress.append(f"{done} of {total}")

    done = embed_missing(life.room, embedder, replaces=again, progress=tell)
    requests = [str(len(it)) for it in model.new_requests(known)]
    return {**(_parts(done) or {}), "progress": progress, "texts of requests": requests}


def _reflect(life: Life, session: str = "", agent: str = "", **given: Any) -> Any:
    if "effectiveness" in given:
        given["effectiveness"] = schema.TaskFeedback(**given["effectiveness"])
    done = reflect(life.room, schema.Reflection(**given), session=session, agent=agent)
    return done._replace(saved=[])


def _consolidate(life: Life, judge: str = "") -> Any:
    """judge: a label and how sure it is, `none` for one that does not answer."""
    asked = list[tuple[str, str]]()

    def verdict(earlier: str, later: str) -> Verdict:
        asked.append((earlier, later))
        if judge == "none":
            raise ServiceError("unreachable")
        label, confidence = judge.split()
        return Verdict(cast(Any, label), float(confidence))

    embedder = Embedder(life.model, life.model.name) if life.model else None
    one: Any = SimpleNamespace(verdict=verdict) if judge else None
    report = consolidate(life.room, embedder=embedder, judge=one)
    return {**(_parts(report) or {}), "asked": len(asked)}


def _export(life: Life, *, only_public: bool) -> Any:
    with life.room.engine.reading() as rows:
        found = exchange.read_rows(rows, Filter(state="all"), only_public=only_public)
        lines = [exchange.line_of(row) for row in found]
    ids = ("kind", "id", "fragment_id", "from_id", "to_id")
    return [" ".join(str(it[name]) for name in ids if name in it) for it in lines]


def _bring_database(life: Life, rows: Sequence[Sequence[Any]]) -> Any:
    """Import a memory.db of the fourth specification, which stays as it is."""
    with TemporaryDirectory() as folder:
        path = make_memory_db(Path(folder, "memory.db"), *rows)
        before = path.read_bytes()
        plan = exchange.plan_import(life.room, exchange.read_source(path))
        assert exchange.save_plan(life.room, plan) == len(plan.new_fragments)
        assert path.read_bytes() == before and [*Path(folder).iterdir()] == [path]
    faults = [f"{it.place} {it.reason}" for it in plan.faults]
    return {"known_count": plan.known_count, "faults": faults}


def _bring(
    life: Life, of: str = "", most: int = 99, lines: Sequence[Any] = (), agent: str = ""
) -> Any:
    """Import a file: most lines of a sample, then these."""
    values = [*_SOURCES.get(of, [])[:most], *lines]
    texts = [it if isinstance(it, str) else json.dumps(it, ensure_ascii=False) for it in values]
    source = exchange.read_text("\n".join(texts).encode(), "a.jsonl")
    plan = exchange.plan_import(life.room, source, agent=agent)
    assert exchange.save_plan(life.room, plan) == len(plan.new_fragments)
    counted = {it: len(getattr(plan, it)) for it in ("new_fragments", "links", "entries")}
    return {**(_parts(plan) or {}), **counted, "faults": Counter(it.reason for it in plan.faults)}


def _set_up(life: Life, strict: bool = False, **config: Any) -> None:
    settings = life.room.settings._replace(strict=strict)
    life.room = replace(life.room, config=life.room.config._replace(**config), settings=settings)
    life.of_all = replace(life.room, agent="", engine=life.of_all.engine)


def _for_the_log(life: Life, most: int = 10) -> Any:
    with life.room.engine.reading() as rows:
        return versions.find_promotable(rows, life.room.own_agents, most)


VERBS: dict[str, Callable[..., Any]] = {
    "save": _save,
    "recall": _recall,
    "forget": lambda life, **given: forget(life.room, **given),
    "restore": lambda life, id: restore(life.room, id),
    "pin": lambda life, id: pin(life.room, id, pinned=True),
    "unpin": lambda life, id: pin(life.room, id, pinned=False),
    "link": lambda life, start, end, relation="related", **given: link(
        life.room, start, end, relation, **given
    ),
    "amend": lambda life, agent="", session="", **given: amend(
        life.room, schema.Amendment(**given), agent=agent, session=session
    ),
    "reflect": _reflect,
    "feedback": lambda life, **given: store_feedback(life.room, schema.ToolFeedback(**given)),
    "end": lambda life, session: draft.end_session(life.room, session),
    "end_idle": lambda life: draft.end_idle_sessions(life.room),
    "context": lambda life, **given: restore_context(life.room, **given),
    "explore": lambda life, id, **given: explore(life.room, id, **given),
    "consolidate": _consolidate,
    "tend": lambda life, compares=True: tend(life.room, compares=compares),
    "statistics": lambda life: statistics_of(life.room),
    "promote": lambda life, id, record: versions.promote(life.room, id, record),
    "said_by": lambda life, id: versions.record_texts_of(life.room, id)[1],
    "for_the_log": _for_the_log,
    "bring": _bring,
    "bring_database": _bring_database,
    "export": _export,
    "fill": _fill,
    "reembed": lambda life: _fill(life, again=True),
    # Steps that no tool takes
    "wait": lambda life, **given: life.clock.wait(**given) and None,
    "act": lambda life, agent="": setattr(  # be this agent from here on, "" for all
        life, "room", life.of_all.for_agent(agent) if agent else life.of_all
    ),
    "model": lambda life, **given: setattr(life, "model", Model(**given)),
    "room": _set_up,
    "add": _add,
    "change": _change,
    "note": _rows(lambda life, rows, kind, **given: rows.put_entries([KINDS[kind](**given)])),
    "put_link": _rows(
        lambda life, rows, start, end, relation="related": rows.put_links(
            [Link(from_id=start, to_id=end, relation=relation)]
        )
    ),
    "vector": _rows(
        lambda life, rows, id, numbers: rows.put_vectors(
            schema.Embedding(it.number, struct.pack(f"<{len(numbers)}f", *numbers))
            for it in rows.by_ids([id])
        )
    ),
    "keep": _rows(lambda life, rows, **given: rows.set_state(given)),
}


STORIES = [(path, story) for path in sorted(LIVES.glob("*.txt")) for story in read_stories(path)]


def lives(*, of_a_team: bool) -> pytest.MarkDecorator:
    chosen = [it for it in STORIES if (it[1].rooms == "team") is of_a_team]
    ids = [f"{path.stem}: {story.name}" for path, story in chosen]
    return pytest.mark.parametrize("story", [story for _, story in chosen], ids=ids)


@lives(of_a_team=False)
def test_a_life_is_as_it_is_written(story: Story, tmp_path: Path) -> None:
    clock = Clock()
    life = Life(a_room(tmp_path, clock=clock), clock)
    held(story, tmp_path, tmp_path, life)
    life.ended()


@lives(of_a_team=True)
@pytest.mark.parametrize("kept_in", ["server"], indirect=True)
def test_a_life_of_a_team_is_as_it_is_written(story: Story, tmp_path: Path) -> None:
    test_a_life_is_as_it_is_written(story, tmp_path)


class InNewRooms:
    """The wire of a recording: each story has a directory of its own, and a room in it."""

    def __init__(self) -> None:
        self._place, self._life = Path(), Life(a_room(Path()), Clock())

    def call(self, agent: str, tool: str, arguments: dict[str, Any]) -> Answer:
        if Path.cwd() != self._place:
            self._place, clock = Path.cwd(), Clock()
            self._life = Life(a_room(self._place, clock=clock), clock)
        return self._life.call(agent, tool, arguments)


if __name__ == "__main__":
    sys.exit(update.main([it for it in sys.argv[1:] if "team" not in it], InNewRooms()))
