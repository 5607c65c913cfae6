"""Tests the duties of an engine of the fragments, in a file, on a server, with a Redis beside it.

`PlainEngine` says the same in plain Python: to any rows and questions an engine answers alike.
A new engine gets a line in `MAKERS`; docs/design.md lists the answers that it has to give.
"""

import copy
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import count, product
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from rooms.fragments import fragment as kept
from rooms.fragments.fragment import Activity, Embedding, Entry, Filter, Fragment, Link, Version
from rooms.fragments.storage import redis as layer
from rooms.fragments.storage.postgres import PostgresEngine
from rooms.fragments.storage.redis import VARIABLE, Cache, redis_server_of
from rooms.fragments.storage.rows import Engine, Rows, pages_of
from rooms.fragments.storage.sqlite import SqliteEngine
from tests.rooms.fragments.plain_engine import PlainEngine
from tests.support.real_engines import Valkey, valkey
from tests.support.tables import table
from tests.support.team_engines import TeamServer, a_server

_FIXTURES = [HealthCheck.function_scoped_fixture, HealthCheck.differing_executors]
# Each example opens an engine: the full profile tries no more than these.
SOME = settings(max_examples=min(settings().max_examples, 60), suppress_health_check=_FIXTURES)
HOSTILE = (
    "'; DROP TABLE fragments; --",
    'content: "NEAR(a b, 1)" AND NOT -x* ^y {a b}: (a OR "b',
    "? ?1 :name $name %s {0} \\",
    "before\x00after",
    "\u202egnp.exe\u202c \u2066x\u2069 عربي",
    "\ufffe\uffff\U0010ffff",
    "👩‍👩‍👧‍👦🇰🇷",
    "\u1112\u1161\u11ab e\u0301",
)


DAYS = [f"2026-0{month}-0{day}T10:00:00+00:00" for month in (1, 2) for day in (1, 2, 3)]


def a_fragment(id_: str, content: str = "", **given: Any) -> Fragment:
    """A fragment with the fields of every stored one."""
    dates = dict.fromkeys(("created_at", "updated_at"), DAYS[0])
    return Fragment(**{"id": id_, "content": content or f"content {id_}", **dates, **given})


def a_vector(*numbers: float) -> bytes:
    return array("f", numbers).tobytes()


@dataclass
class Engines:
    """Makes engines for a test, and closes them after it.

    make: returns the engine of a place, one that was never used for "", one without its file or its
    tables for "untouched". agent: whose the engines are, "" for upkeep's.
    """

    make: Callable[[str], Any]
    agent: str = ""
    made: list[Engine] = field(default_factory=list)

    def new(self, place: str = "") -> Engine:
        """An engine that has stored nothing; those before it are not used again."""
        self.close()
        return self._at(place)

    def again(self, engine: Any) -> Engine:
        """Another engine with the same data, as another process has it."""
        return self._at(engine.server.dsn if hasattr(engine, "server") else str(engine.name))

    def close(self) -> None:
        for engine in self.made:
            engine.close()
        self.made.clear()

    def _at(self, place: str) -> Engine:
        self.made.append(self.make(place))
        return self.made[-1].for_agent(self.agent) if self.agent else self.made[-1]


def in_files(request: pytest.FixtureRequest) -> Engines:
    directory, numbers = request.getfixturevalue("tmp_path"), count(1)

    def make(place: str) -> SqliteEngine:
        is_new = place in ("", "untouched")
        path = directory / str(next(numbers)) / "memory.db" if is_new else Path(place)
        return SqliteEngine(path, timeout_s=30)

    return Engines(make)


def beside(dsn: str, **environment: str) -> PostgresEngine:
    """An engine of a server, with the Redis of this environment; a failure is forgotten soon."""
    server, place = a_server(dsn), redis_server_of(environment)
    cache = Cache(place, server.name, pause_s=0.02) if place else None
    return PostgresEngine(server, timeout_s=10.0, cache=cache)


def on_a_server(team: TeamServer, agent: str = "", redis: Valkey | None = None) -> Engines:
    """Engines with this Redis beside them, which is empty for each new one."""

    def make(place: str) -> PostgresEngine:
        if redis and place in ("", "untouched"):
            redis.empty()
        dsn = {"": team.emptied_dsn, "untouched": team.empty_dsn}.get(place, lambda: place)()
        return beside(dsn, **({VARIABLE: redis.address, "CACHE_DB_TTL": "900"} if redis else {}))

    return Engines(make, agent)


def of_alice(request: pytest.FixtureRequest, redis: Valkey | None = None) -> Engines:
    return on_a_server(request.getfixturevalue("team_server"), "alice", redis)


def with_redis(request: pytest.FixtureRequest) -> Engines:
    opened = ExitStack()
    request.addfinalizer(opened.close)
    opened.enter_context(pytest.MonkeyPatch.context()).setattr(layer, "TIMEOUT_S", 60.0)
    return of_alice(request, opened.enter_context(valkey()))


MAKERS: dict[str, Callable[[pytest.FixtureRequest], Engines]] = {
    "a file": in_files,
    "a server": lambda request: on_a_server(request.getfixturevalue("team_server")),
    "a server, for an agent": of_alice,
    "a server with Redis, for an agent": with_redis,
}


def makers_but(left_out: str) -> list[Any]:
    names = [it for it in MAKERS if it != left_out]
    # Redis takes its time.
    return [pytest.param(it, marks=pytest.mark.long if "Redis" in it else ()) for it in names]


@pytest.fixture(params=makers_but(""))
def engines(request: pytest.FixtureRequest) -> Iterator[Engines]:
    engines = MAKERS[request.param](request)
    yield engines
    engines.close()


BY_UPKEEP = pytest.mark.parametrize("engines", [*MAKERS][:2], indirect=True)
# The lives below compare the answers to upkeep with plain Python.
OF_AN_AGENT = pytest.mark.parametrize("engines", makers_but("a server"), indirect=True)
# Where a test itself takes the engine of each agent.
OF_EACH_AGENT = pytest.mark.parametrize(
    "engines", makers_but("a server, for an agent"), indirect=True
)


def own(engine: Engine, fragment: Fragment) -> Fragment:
    """The fragment as that of the agent whose the engine is."""
    agent = getattr(engine, "agent", "")
    return replace(fragment, agent=agent) if agent else fragment


def stored(engine: Engine, *fragments: Fragment) -> list[Fragment]:
    with engine.writing() as rows:
        return rows.add([own(engine, each) for each in fragments])


def put_vectors(engine: Engine, vectors: Iterable[tuple[Fragment, Sequence[float]]]) -> None:
    with engine.writing() as rows:
        rows.put_vectors([Embedding(each.number, a_vector(*subject)) for each, subject in vectors])


def found(engine: Engine, wanted: Filter = Filter(), **how: Any) -> list[str]:  # noqa: B008
    with engine.reading() as rows:
        return [each.id for each in rows.find(wanted, **how)]


def shares(engine: Engine, query: str) -> dict[str, float]:
    """The share of a question that each fragment has, by its id."""
    with engine.reading() as rows:
        by_number = rows.coverage(query, 3_000).shares(0.25)
        return {each.id: by_number[each.number] for each in rows.by_numbers(by_number)}


# Filters, and changes of fragments.

AGENTS = ("default", "alice", "bob")
WORDS = st.sampled_from(["auth", "AUTH", "Ａｕｔｈ", "인증", "\u110b\u1175\u11ab증", "straße", "x"])
MOMENTS = st.sampled_from(["", *DAYS])
FIELDS: dict[str, st.SearchStrategy[Any]] = dict(
    content=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60),
    topic=WORDS,
    keywords=st.lists(WORDS, max_size=3).map(tuple),
    kind=st.sampled_from(kept.KINDS),
    lifetime=st.sampled_from(kept.LIFETIMES),
    tier=st.sampled_from(get_args(kept.Tier)),
    privacy=st.sampled_from(get_args(kept.Privacy)),
    importance=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    agent=st.sampled_from(AGENTS),
    session=st.sampled_from(["", "s1"]),
    source=st.sampled_from(["", "README"]),
    content_hash=st.sampled_from(["a", "b"]),
    is_anchor=st.booleans(),
    created_at=st.sampled_from(DAYS),
    **dict.fromkeys("accessed_at updated_at expires_at checked_at verified_at decayed_at".split(),
                    MOMENTS),
    **dict.fromkeys(("deleted_at", "superseded_at"), st.one_of(st.just(""), MOMENTS)),
    **dict.fromkeys(("last_session", "promoted"), WORDS),
    deletion=st.sampled_from(["", "stale"]),
    utility=st.sampled_from([1.0, 1.5]),
    **dict.fromkeys(("access_count", "estimated_tokens"), st.sampled_from([0, 2**30])),
    **dict.fromkeys(("sessions_count", "stale_days"), st.integers(0, 6)),
)  # fmt: skip
DRAFTS = st.builds(lambda **values: Fragment(id="", **values), **FIELDS)


def some_of(words: Sequence[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.one_of(st.just(()), st.lists(st.sampled_from(words), max_size=2).map(tuple))


def at_times(values: st.SearchStrategy[Any], otherwise: Any) -> st.SearchStrategy[Any]:
    """Mostly nothing: with every field filled in, a filter lets no fragment through."""
    return st.one_of(st.just(otherwise), st.just(otherwise), st.just(otherwise), values)


BOUNDS = at_times(st.sampled_from([*DAYS, DAYS[1][:10], DAYS[3][:19]]), "")
WANTED = st.builds(
    Filter,
    agents=some_of([*AGENTS, "nobody"]),
    kinds=some_of(kept.KINDS),
    lifetimes=some_of(kept.LIFETIMES),
    topics=at_times(st.lists(WORDS, max_size=2).map(tuple), ()),
    keywords=at_times(st.lists(WORDS, max_size=2).map(tuple), ()),
    numbers=at_times(st.lists(st.integers(-1, 12) | st.just(2**70), max_size=6).map(tuple), None),
    session=at_times(st.just("s1"), ""),
    privacy=at_times(st.sampled_from(get_args(kept.Privacy)), ""),
    content_hash=at_times(st.sampled_from(["a", "b"]), ""),
    **dict.fromkeys(("since", "until", "changed_since"), BOUNDS),
    state=st.sampled_from(["live", "superseded", "bin", "kept", "all"]),
    is_anchor=at_times(st.booleans(), None),
    has_vector=at_times(st.booleans(), None),
    is_checked=at_times(st.booleans(), None),
    after=at_times(st.integers(0, 8), 0),
)


def answers(rows: Rows, wanted: Filter, keywords: Sequence[str], first: int, most: int) -> Any:
    """The answers of every verb that has a filter, for the fragments that it lets through."""
    return [
        *(rows.find(wanted, order=order) for order in get_args(kept.Order)),
        *(
            rows.find(wanted, order=order, limit=most, offset=first)
            for order in get_args(kept.Order)
        ),
        [{**rows.count(wanted, by)} for by in get_args(kept.Group)],
        [{**rows.count(wanted, by, least=2)} for by in get_args(kept.Group) if by],
        [rows.has(wanted, least) for least in (1, most, 2**80)],
        [tuple(pair) for pair in rows.count_keywords(keywords, wanted, most)],
        rows.nearest_cosines(a_vector(1.0, 0.0), wanted, most),
        {**rows.count_links(wanted)},
    ]


@pytest.mark.row("002 2.13.b", "002 2.13.c", "002 2.13.d", "002 2.13.e", "002 2.13.f", "002 2.13.g")
@SOME
@given(
    st.lists(DRAFTS, max_size=12), WANTED, st.lists(WORDS, max_size=3), st.integers(0, 5),
    st.integers(1, 5),
)  # fmt: skip
def test_a_filter_lets_through_the_rows_of_plain_python_and_every_field_comes_back(
    engines: Engines,
    drafts: list[Fragment],
    wanted: Filter,
    words: list[str],
    first: int,
    most: int,
) -> None:
    assert FIELDS.keys() == {it.name for it in fields(Fragment)} - {"id", "number"}
    engine = engines.new()
    plain = PlainEngine(keeps_agents_apart=engine.keeps_agents_apart)
    for each in (engine.for_agent(""), plain):
        added = stored(each, *(replace(it, id=f"f{at}") for at, it in enumerate(drafts)))
        put_vectors(each, [(it, (1.0, 0.0)) for it in added[::3]])
        with each.writing() as rows:
            rows.put_links(Link(from_id=it.id, to_id="f0", created_at=DAYS[0]) for it in added[:4])
    with engine.reading() as rows, plain.for_agent(engines.agent).reading() as expected:
        asked = wanted, words, first, most
        assert answers(rows, *asked) == answers(expected, *asked)


QUESTIONS_OF_LIFE = ("deploy the node", "배포 redis token", "deplyo", "lint")
LIFE_WORDS = st.lists(st.sampled_from(["node", "redis", "deploy", "lint", "배포", "token"]),
                      min_size=2, max_size=2, unique=True)  # fmt: skip
ONE = st.integers(1, 3)
NUMBERS = st.lists(ONE, min_size=1, max_size=2)
ANYBODY = st.sampled_from(["", *AGENTS])
LINKS = st.lists(st.builds(
    lambda one, other, relation: Link(from_id=f"f{one}", to_id=f"f{other}", relation=relation,
                                      created_at=DAYS[0]),
    ONE, ONE, st.sampled_from(kept.RELATIONS),
), max_size=3)  # fmt: skip
KINDS_OF_ENTRY: list[type[Any]] = [*get_args(Entry)]
KINDS_OF_ENTRIES = st.sampled_from(KINDS_OF_ENTRY)
WORKS = st.lists(st.sampled_from(["one", "둘"]), max_size=2).map(tuple)
MOMENT, SESSION, FLAG = st.sampled_from(DAYS), st.sampled_from(["s1", "s2"]), st.booleans()
NEW_ENTRIES = st.one_of(
    st.builds(Activity, session_id=SESSION, agent=st.sampled_from(AGENTS), started_at=MOMENT,
              last_at=MOMENT, calls=st.integers(0, 3), ended_at=MOMENTS),
    st.builds(kept.ToolFeedback, tool_name=st.just("recall"), relevant=FLAG, sufficient=FLAG,
              session_id=SESSION, suggestion=WORDS, created_at=MOMENT),
    st.builds(kept.TaskFeedback, session_id=SESSION, overall_success=FLAG, tool_highlights=WORKS,
              created_at=MOMENT),
    st.builds(lambda one, other, share, day: kept.Suspicion(
        first_id=f"f{one}", second_id=f"f{other}", similarity=share, found_at=day),
        st.integers(1, 6), st.integers(1, 6), st.sampled_from([0.5, 0.75]), MOMENT),
    st.builds(lambda one, words, day: Version(
        fragment_id=f"f{one}", content="before", keywords=words, amended_at=day),
        ONE, WORKS, MOMENT),
)  # fmt: skip


class Twins(RuleBasedStateMachine):
    """Changes fragments by chance on an engine and in plain Python, and asks both the same.

    Two processes have the engine, and take turns. at: called with the number of each change before
    it; with it both are asked after each.
    """

    def __init__(self, engines: Engines, at: Callable[[int], object] | None = None) -> None:
        super().__init__()
        self.at, self.changes = at, count()
        one = engines.new()
        self.engines = [it.for_agent("") for it in (one, engines.again(one))]
        self.plain = PlainEngine(keeps_agents_apart=one.keeps_agents_apart)
        self.ids = count(1)
        for agent in AGENTS:
            self.add(["node", "deploy"], agent, "fact")

    def change(self, verb: Callable[[Rows], Any], agent: str = "") -> None:
        if self.at:
            self.at(next(self.changes))
        self.engines.reverse()
        done = list[Any]()
        for engine in (self.engines[0], self.plain):
            with engine.for_agent(agent).writing() as rows:
                done.append(verb(rows))
        assert done[0] == done[1]
        if self.at:
            self.ask()

    @rule(words=LIFE_WORDS, agent=st.sampled_from(AGENTS), kind=st.sampled_from(kept.KINDS))
    def add(self, words: list[str], agent: str, kind: Any) -> None:
        number = next(self.ids)
        text, keyword = words
        new = a_fragment(f"f{number}", f"{text} {number}", keywords=(keyword,), topic=text,
                         agent=agent, kind=kind)  # fmt: skip
        self.change(lambda rows: rows.add([new]), agent)

    @rule(words=LIFE_WORDS, number=ONE, share=st.sampled_from([None, 0.9]),
          agent=ANYBODY)  # fmt: skip
    def put_another(self, words: list[str], number: int, share: float | None, agent: str) -> None:
        def replaced(rows: Rows) -> None:
            given: dict[str, Any] = {"content": " ".join(words), "keywords": tuple(words[:1])}
            given = given if share is None else {"importance": share}
            some = [replace(it, **given) for it in rows.by_numbers([number])]
            rows.replace([*some, *(replace(it, number=2**40) for it in some)])

        self.change(replaced, agent)

    @rule(numbers=NUMBERS, agent=ANYBODY, values=st.sampled_from([
        {"deleted_at": DAYS[1]}, {"deleted_at": ""}, {"superseded_at": DAYS[2]}, {},
        {"superseded_at": ""}, {"access_count": 4}, {"tier": "cold", "is_anchor": True},
    ]))  # fmt: skip
    def touch(self, numbers: list[int], agent: str, values: dict[str, Any]) -> None:
        self.change(lambda rows: rows.set_fields([*numbers, 2**80], values), agent)

    @rule(numbers=NUMBERS, agent=ANYBODY)
    def drop(self, numbers: list[int], agent: str) -> None:
        self.change(lambda rows: rows.drop([f"f{number}" for number in numbers]), agent)

    @rule(links=LINKS, is_new=st.booleans())
    def link(self, links: list[Link], is_new: bool) -> None:
        def linked(rows: Rows) -> int | None:
            ends = {it.id for it in rows.find(Filter(state="all"))}
            known = [it for it in links if {it.from_id, it.to_id} <= ends]
            if not is_new:
                return rows.drop_links(known)
            rows.put_links(known)
            return None

        self.change(linked)

    @rule(numbers=NUMBERS, vector=st.sampled_from([(1.0, 0.0), (0.6, 0.8), (0.0, 1.0), (1.0,)]))
    def embed(self, numbers: list[int], vector: tuple[float, ...]) -> None:
        def embedded(rows: Rows) -> None:
            known = [it.number for it in rows.by_numbers(numbers)]
            rows.put_vectors([Embedding(number, a_vector(*vector)) for number in known])

        self.change(embedded)

    @rule(numbers=st.one_of(NUMBERS, NUMBERS, st.none()))
    def forget_vectors(self, numbers: list[int] | None) -> None:
        self.change(lambda rows: rows.drop_vectors(numbers))

    @rule(entries=st.lists(NEW_ENTRIES, max_size=3))
    def note(self, entries: list[Entry]) -> None:
        def noted(rows: Rows) -> None:
            agents = {it.id: it.agent for it in rows.find(Filter(state="all"))}

            def is_known(entry: Entry) -> bool:
                """Upkeep suspects only fragments of one agent."""
                ends = ("fragment_id", "first_id", "second_id")
                owners = {agents.get(getattr(entry, it)) for it in ends if hasattr(entry, it)}
                return None not in owners and len(owners) < 2

            rows.put_entries(filter(is_known, entries))

        self.change(noted)

    @rule(kind=KINDS_OF_ENTRIES, subject=st.sampled_from(["", "s1", "f1"]), before=MOMENTS)
    def forget_entries(self, kind: type[Entry], subject: str, before: str) -> None:
        self.change(lambda rows: rows.drop_entries(kind, subject=subject, before=before))

    @rule(value=st.sampled_from(["", "3", "m"]), number=st.integers(0, 3))
    def keep(self, value: str, number: int) -> None:
        def kept(rows: Rows) -> None:
            rows.set_state({"step": value})
            rows.count_up({"saved": number})

        self.change(kept)

    @rule(number=ONE)
    def fail(self, number: int) -> None:
        def failed(rows: Rows) -> None:
            rows.set_fields([number], {"content": "never said", "deleted_at": ""})
            for it in rows.by_numbers([number]):
                rows.put_vectors([Embedding(it.number, a_vector(-1.0, 0.0))])
                [cosine] = rows.nearest_cosines(a_vector(-1.0, 0.0), Filter(state="all"), 1)
                assert cosine == (number, 1.0)
            rows.drop(["f1", "f2"])
            rows.set_state({"step": "never taken"})
            rows.put_entries([Activity(session_id="never begun")])
            raise ZeroDivisionError

        for engine in (self.engines[0], self.plain):
            with suppress(ZeroDivisionError), engine.writing() as rows:
                failed(rows)

    @rule()
    def ask(self) -> None:
        for agent, engine in product(("", "alice"), self.engines):
            with (
                engine.for_agent(agent).reading() as rows,
                bare(engine, agent).reading() as asked_anew,
                self.plain.for_agent(agent).reading() as plain,
            ):
                assert everything(rows, agent) == everything(plain, agent)
                held, live = held_by(rows), {it.number for it in plain.find(Filter())}
                assert held == held_by(asked_anew)
                assert all(total == len(live) and live >= {*share} for total, _, share in held)

    def teardown(self) -> None:
        """Look at the index, too, which has kept in step if nothing of it is to be mended."""
        self.ask()
        with self.engines[0].writing() as rows:
            assert not rows.mend_index()


def bare(engine: Any, agent: str) -> Any:
    """The engine of an agent, with nothing beside it that remembers answers."""
    other = copy.copy(engine.for_agent(agent))
    other.cache = None
    return other


def held_by(rows: Rows) -> list[tuple[int, list[int], dict[int, float]]]:
    """The count of texts, that of texts with each term of a question, and each text's share of it.

    Each question is asked twice: the second answer may come from a cache.
    """
    held = [rows.coverage(question, 3_000) for question in QUESTIONS_OF_LIFE * 2]
    return [(it.total, [term.texts for term in it.terms], it.shares()) for it in held]


def everything(rows: Rows, agent: str) -> Any:
    every = rows.find(Filter(state="all"))
    ids, asked = [it.id for it in every], list[Any]()
    for wanted in (Filter(), Filter(agents=("alice", "default")), Filter(kinds=("error",))) * 2:
        pairs = rows.count_keywords(("node", "LINT", "unknown"), wanted, 3)
        asked += [[*map(tuple, pairs)], rows.nearest_cosines(a_vector(1.0, 0.0), wanted, 4)]
    vectors = rows.vectors([it.number for it in every])
    if agent:  # the server decides which of the others' links and entries an agent sees
        return every, vectors, asked
    noted = [
        (
            rows.entries(kind),
            rows.entries(kind, subject="f1", since=DAYS[1]),
            rows.count_entries(kind),
        )
        for kind in KINDS_OF_ENTRY
    ]
    links = rows.links(ids), rows.links(ids[:2], kept.RELATIONS[1:4])
    return every, vectors, asked, noted, links, rows.state()


def lived(engines: Engines, examples: int, steps: int = 20, **more: Any) -> None:
    how = settings(
        max_examples=examples,
        stateful_step_count=steps,
        suppress_health_check=_FIXTURES,
        derandomize=bool(more),
        database=None,
        phases=[Phase.generate] if more else tuple(Phase),  # to shrink takes an engine for each try
    )
    twins: Any = partial(Twins, engines, **more)
    run_state_machine_as_test(twins, settings=how)


@pytest.mark.row("002 2.20")
@OF_EACH_AGENT
@pytest.mark.parametrize("examples", [1, pytest.param(10, marks=pytest.mark.long)])
def test_after_any_steps_every_answer_is_that_of_plain_python(
    engines: Engines, examples: int
) -> None:
    lived(engines, examples)


# Pages, ids and numbers of any size, questions that are no question.


@OF_AN_AGENT
def test_ids_and_numbers_of_any_count_and_size_come_in_their_order(engines: Engines) -> None:
    engine = engines.new()
    added = stored(engine, *(a_fragment(f"f{at:04}", keywords=("k",)) for at in range(1_200)))
    ids, numbers = [it.id for it in reversed(added)], [it.number for it in added]
    with engine.reading() as rows:
        assert [it.id for it in rows.by_ids([*ids, "gone", "half \ud800", ids[0]])] == ids
        beyond = [0, -1, 2**31, 2**63, 2**80, -(2**70)]
        assert rows.by_numbers([*beyond, *numbers, numbers[0]]) == added
        assert rows.find(Filter(numbers=(*beyond, *numbers))) == added
        nothing: list[Any] = [
            *(rows.vectors([*beyond, *numbers]), rows.vectors([]), rows.links(ids)),
            *(rows.by_ids([]), rows.by_numbers([]), rows.links([])),
            *(rows.find(Filter(numbers=())), rows.find(Filter(after=2**80))),
            *(rows.count_keywords(words, Filter(), 2**70) for words in ([], ids)),
            rows.count_keywords(["k"], Filter(agents=("nobody",)), 9),
        ]
        assert nothing == [[]] * len(nothing)
        pages = [*pages_of(rows, Filter())]  # each goes on where the one before ended
        assert [len(page) for page in pages] == [500, 500, 200]
        assert [it for page in pages for it in page] == added
        last_two = rows.find(Filter(), limit=2**70)[1_198:]
        assert last_two == rows.find(Filter(), limit=2, offset=1_198)
    with engine.writing() as rows:
        rows.set_fields(numbers[1:], {"tier": "cold"})
        rows.set_fields(numbers[1_180:], {"superseded_at": DAYS[1]})
        assert rows.drop([*ids[:10], "nobody"]) == 10
        assert rows.drop(ids[:10]) == rows.drop([]) == 0
        assert rows.count(Filter(state="all"), "tier") == {"cold": 1_189, "hot": 1}
        assert rows.count(Filter(state="superseded")) == {"": 10}
        newest = rows.count_keywords(["k"], Filter(), 2)
        assert [number for number, _ in newest] == [numbers[1_179], numbers[1_178]]


def test_every_value_asked_for_is_a_text(engines: Engines) -> None:
    engine = engines.new()
    stored(engine, a_fragment("f1", "zebra", keywords=("zebra",)))
    lists = ("agents", "kinds", "lifetimes", "topics", "keywords")
    for text in (*HOSTILE, "half \ud800"):
        asked: dict[str, Any] = dict.fromkeys(lists, (text,))
        asked |= dict.fromkeys(("session", "content_hash"), text)
        for name, value in asked.items():
            assert found(engine, replace(Filter(), **{name: value})) == [], (name, text)
        with engine.reading() as rows:
            assert rows.count_keywords([text], Filter(), 5) == [], text
            assert (rows.by_ids([text]), rows.links([text], [text])) == ([], []), text
            assert rows.entries(Version, subject=text) == [], text
        assert shares(engine, text) == {}, text


def test_where_nothing_was_stored_nothing_is_found_or_made(engines: Engines) -> None:
    engine = engines.new("untouched")
    with engine.reading() as rows:
        assert (rows.find(Filter()), rows.nearest_cosines(a_vector(1.0), Filter(), 5)) == ([], [])
        assert (rows.count(Filter()), rows.count(Filter(), "kind")) == ({"": 0}, {})
        assert (rows.coverage("login", 100).shares(0.25), rows.state()) == ({}, {})
        assert rows.entries(Activity) == []
    assert not engine.exists()
    stored(engine, a_fragment("f1"))
    assert engine.exists() and engine.name


@pytest.mark.row("002 2.10.c", "002 2.12.a", "004 4.10.a")
@BY_UPKEEP
def test_a_hostile_text_is_stored_changed_and_removed_as_text(engines: Engines) -> None:
    engine = engines.new()
    for text in HOSTILE:
        [it] = stored(engine, a_fragment("f1", text, topic=text, keywords=(text,)))
        assert found(engine, Filter(topics=(text,), keywords=(text,))) == ["f1"], text
        with engine.writing() as rows:
            rows.replace([replace(it, content=f"{text} other", keywords=("k",))])
            rows.put_entries([Version(fragment_id="f1", content=text, amended_at=DAYS[0])])
            rows.set_state({text: text})
        with engine.reading() as rows:
            assert rows.by_ids(["f1"])[0].content == f"{text} other"
            assert rows.entries(Version, since=DAYS[0])[0].content == rows.state()[text] == text
        with engine.writing() as rows:
            assert rows.drop_entries(Version, before=DAYS[0]) == 0
            assert rows.drop(["f1"]) == 1
            assert rows.entries(Version) == []
        assert shares(engine, "other") == {}


def test_numbers_and_ids_are_of_one_fragment_and_a_vector_of_the_text_that_it_was_made_of(
    engines: Engines,
) -> None:
    engine = engines.new()
    [first, second] = stored(engine, a_fragment("f1"), a_fragment("f2"))
    put_vectors(engine, [(first, (1.0, 0.0)), (second, (1.0, 0.0))])
    with engine.writing() as rows:
        rows.replace([replace(first, importance=0.9), replace(second, topic="another")])
        assert [it.number for it in rows.vectors([first.number, second.number])] == [first.number]
        assert rows.count(Filter(has_vector=False, topics=("another",))) == {"": 1}
        for vector in (b"odd", a_vector(float("nan"))):
            assert not rows.nearest_cosines(vector, Filter(), 9)
        rows.drop(["f2"])
    [third] = stored(engine, a_fragment("f3"))
    assert 0 < first.number < second.number < third.number
    with pytest.raises(OSError):
        stored(engine, a_fragment("f4"), a_fragment("f1", "again"))
    assert found(engine) == ["f1", "f3"]


SENTENCES, QUESTIONS = table("engine_questions").values()
MISSPELT = {"retained": "retrained", "deploymnet": "deployment", "datenbnak": "Datenbank",
            "webhoks": "webhooks", "migratoin": "migration"}  # fmt: skip


# Terms of both languages, keywords, vectors.


@pytest.mark.row("002 2.10.c", "002 2.13.h", "002 2.14")
def test_terms_of_both_languages_are_found(engines: Engines) -> None:
    engine = engines.new()
    stored(engine, *(a_fragment(id_, text) for id_, text in SENTENCES.items()))
    for question, ids in QUESTIONS.items():
        assert {*ids} <= shares(engine, question).keys()
        assert ids or not shares(engine, question), question


@OF_AN_AGENT
def test_a_misspelt_word_is_forgiven_however_many_words_begin_as_it_does(engines: Engines) -> None:
    engine = engines.new()
    stored(engine, *(a_fragment(word, f"it says {word}") for word in MISSPELT.values()))
    stored(engine, *(a_fragment(f"ret{at}", f"retxq{at}z") for at in range(400)))
    for asked, word in MISSPELT.items():
        assert list(shares(engine, asked)) == [word], asked
    # Where a text has the word as it is spelled, nothing has to be forgiven.
    stored(engine, a_fragment("as it is", "retained"))
    assert list(shares(engine, "retained")) == ["as it is"]


# All of a change is there or nothing, whoever else writes.


def test_a_stored_fragment_is_there_for_everybody_at_once_and_a_reader_sees_one_state(
    engines: Engines,
) -> None:
    engine = engines.new()
    other = engines.again(engine)
    assert found(other) == []
    stored(engine, a_fragment("f1"))
    with other.reading() as rows:
        assert rows.count(Filter()) == {"": 1}
        stored(engine, a_fragment("f2"))
        assert rows.count(Filter()) == {"": 1}
    stored(other, a_fragment("f3"))
    assert found(engine) == found(other) == ["f1", "f2", "f3"]
    assert engine.purge()
    engine.close()
    assert found(engine) == ["f1", "f2", "f3"]  # a closed engine opens again


def test_writers_take_turns_and_none_is_lost(engines: Engines) -> None:
    engine = engines.new()
    stored(engine, a_fragment("f"))
    both = [engine, engines.again(engine)]

    def write(at: int) -> None:
        for turn in range(15):
            with both[at % 2].writing() as rows:
                [it] = rows.by_ids(["f"])
                rows.replace([replace(it, access_count=it.access_count + 1)])
                rows.add([own(engine, a_fragment(f"f{at}-{turn}"))])
                rows.count_up({"saved": 1})

    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(write, range(4))] == [None] * 4
    with engine.reading() as rows:
        assert rows.by_ids(["f"])[0].access_count == 60
        assert (rows.count(Filter()), rows.state()) == ({"": 61}, {"saved": "60"})
