"""Tests what an engine of the fragments must do: in a file, on a server, with a Redis beside it.

What a filter means is said once more, in plain Python, by `is_meant`; whatever is stored and asked
for, an engine says the same.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from itertools import count
from pathlib import Path
from typing import Any, Protocol, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis

from core.text.plain import normal_form
from rooms.fragments.fragment import (
    KINDS,
    LIFETIMES,
    PRIVACIES,
    RELATIONS,
    TIERS,
    Activity,
    By,
    Embedding,
    Entry,
    Fragment,
    Link,
    Order,
    Suspicion,
    TaskFeedback,
    ToolFeedback,
    Version,
    Wanted,
)
from rooms.fragments.postgres.adapter import PostgresEngine
from rooms.fragments.postgres.reading import PostgresReading
from rooms.fragments.redis import client
from rooms.fragments.redis.engine import CachedEngine
from rooms.fragments.storage.engine import Engine, pages_of
from rooms.fragments.storage.rows import Rows
from rooms.fragments.storage.sqlite import SqliteEngine
from tests.support.cached_engines import a_cache
from tests.support.engine_samples import DAYS, a_fragment, a_vector
from tests.support.real_engines import Valkey, valkey
from tests.support.tables import table
from tests.support.team_engines import TeamServer, a_server

_MEANT = [HealthCheck.function_scoped_fixture, HealthCheck.differing_executors]
# Each example opens an engine: the full profile tries no more than these.
SOME = settings(max_examples=min(settings().max_examples, 60), suppress_health_check=_MEANT)
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


class Engines(Protocol):
    """Makes engines for a test, and closes them after it."""

    def new(self, *, is_untouched: bool = False) -> Engine:
        """Return an engine that has stored nothing; those before it are not used again.

        is_untouched: not even its file or its tables are there.
        """

    def again(self, engine: Engine) -> Engine:
        """Return another engine with the same data, as another process has it."""


class Files:
    """Engines in files. directory: below which each has one of its own."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._numbers = directory, count(1)

    def new(self, *, is_untouched: bool = False) -> Engine:
        return SqliteEngine(self._directory / str(next(self._numbers)) / "memory.db", timeout_s=30)

    def again(self, engine: Engine) -> Engine:
        return SqliteEngine(Path(engine.name), timeout_s=30)


class Servers:
    """Engines on a server."""

    def __init__(self, team: TeamServer) -> None:
        self._team = team

    def new(self, *, is_untouched: bool = False) -> Engine:
        return self.at(self._team.empty_dsn() if is_untouched else self._team.emptied_dsn())

    def again(self, engine: Any) -> Engine:
        return self.at(engine.server.dsn)

    def at(self, dsn: str) -> Engine:
        return PostgresEngine(a_server(dsn), timeout_s=10.0)


class _Revised:
    """A reading that tells the revisions of all agents: else nothing of theirs is remembered."""

    def __init__(self, reading: PostgresReading) -> None:
        self._reading = reading

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reading, name)

    def revisions(self) -> dict[str, str]:
        return dict(self._reading._rows("SELECT agent_id, revision::text FROM revisions"))


class _RevisedEngine(PostgresEngine):
    @contextmanager
    def reading(self) -> Iterator[Rows]:
        with super().reading() as reading:
            told: Any = _Revised(reading) if isinstance(reading, PostgresReading) else reading
            yield told


class ServersWithRedis(Servers):
    """Engines on a server, with a Redis beside it."""

    def __init__(self, team: TeamServer, redis: Valkey) -> None:
        super().__init__(team)
        self._redis = redis

    def new(self, *, is_untouched: bool = False) -> Engine:
        with Redis(port=self._redis.port) as redis:
            redis.flushall()
        return super().new(is_untouched=is_untouched)

    def again(self, engine: Any) -> Engine:
        return self.at(engine.inner.server.dsn)

    def at(self, dsn: str) -> Engine:
        inner = _RevisedEngine(a_server(dsn), timeout_s=10.0)
        return CachedEngine(inner, a_cache(self._redis.address, inner.name))


class Closing:
    """Closes the engines before a new one, and all of them in the end."""

    def __init__(self, engines: Engines) -> None:
        self._engines, self._made = engines, list[Engine]()

    def new(self, *, is_untouched: bool = False) -> Engine:
        self.close()
        self._made.append(self._engines.new(is_untouched=is_untouched))
        return self._made[-1]

    def again(self, engine: Engine) -> Engine:
        self._made.append(self._engines.again(engine))
        return self._made[-1]

    def close(self) -> None:
        for engine in self._made:
            engine.close()
        self._made.clear()


@contextmanager
def engines_of(kind: str, request: pytest.FixtureRequest, directory: Path) -> Iterator[Engines]:
    if kind == "a file":
        yield Files(directory)
        return
    team: TeamServer = request.getfixturevalue("team_server")
    if kind == "a server":
        yield Servers(team)
        return
    with pytest.MonkeyPatch.context() as patch, valkey() as redis:
        patch.setattr(client, "TIMEOUT_S", 60.0)  # a busy machine is no failure of Redis
        yield ServersWithRedis(team, redis)


_LONG = pytest.param("a server with Redis", marks=pytest.mark.long)


@pytest.fixture(params=["a file", "a server", _LONG])
def engines(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engines]:
    with engines_of(request.param, request, tmp_path) as some:
        made = Closing(some)
        yield made
        made.close()


def stored(engine: Engine, *fragments: Fragment) -> list[Fragment]:
    with engine.writing() as writing:
        return writing.add(fragments)


def put_vectors(engine: Engine, vectors: Iterable[tuple[Fragment, Sequence[float]]]) -> None:
    with engine.writing() as writing:
        writing.put_vectors([Embedding(it.number, a_vector(*of)) for it, of in vectors])


def found(engine: Engine, wanted: Wanted = Wanted(), **how: Any) -> list[str]:  # noqa: B008
    with engine.reading() as reading:
        return [it.id for it in reading.find(wanted, **how)]


def shares(engine: Engine, query: str) -> dict[str, float]:
    """The share of a question that each fragment has, by its id."""
    with engine.reading() as reading:
        by_number = reading.holding(query, 3_000).shares(0.25)
        return {it.id: by_number[it.number] for it in reading.by_numbers(by_number)}


# what a filter means


def plain(word: str) -> str:
    return normal_form("NFKC", word).casefold().strip()


def is_meant(it: Fragment, wanted: Wanted, with_vector: set[str]) -> bool:
    """Whether a filter means a fragment: every field in plain Python."""
    keywords, since, until = {*map(plain, it.keywords)}, wanted.since, wanted.until
    return all((
        {
            "live": not it.deleted_at and not it.superseded_at,
            "superseded": not it.deleted_at and bool(it.superseded_at),
            "bin": bool(it.deleted_at),
            "kept": not it.deleted_at,
            "all": True,
        }[wanted.state],
        not wanted.agents or it.agent in wanted.agents,
        not wanted.kinds or it.kind in wanted.kinds,
        not wanted.lifetimes or it.lifetime in wanted.lifetimes,
        not wanted.tiers or it.tier in wanted.tiers,
        not wanted.topics or plain(it.topic) in map(plain, wanted.topics),
        {*map(plain, wanted.keywords)} <= keywords,
        wanted.session in ("", it.session),
        wanted.source in ("", it.source),
        wanted.privacy in ("", it.privacy),
        wanted.content_hash in ("", it.content_hash),
        it.created_at >= since,
        not until or it.created_at <= until or it.created_at.startswith(until),
        wanted.is_anchor in (None, it.is_anchor),
        wanted.has_vector in (None, it.id in with_vector),
        not wanted.used_before or it.used_at < wanted.used_before,
        not wanted.expires_before or "" < it.expires_at < wanted.expires_before,
        not wanted.deleted_before or "" < it.deleted_at < wanted.deleted_before,
        not wanted.checked_before or it.checked_at < wanted.checked_before,
        it.number > wanted.after,
    ))  # fmt: skip


def in_order(meant: Iterable[Fragment], order: Order) -> list[str]:
    keys: dict[Order, Callable[[Fragment], Any]] = {
        "number": lambda it: -it.number,
        "newest": lambda it: (it.created_at, it.number),
        "worth": lambda it: (it.is_anchor, it.importance, it.created_at, it.number),
    }
    return [it.id for it in sorted(meant, key=keys[order], reverse=True)]


WORDS = st.sampled_from(["auth", "AUTH", "Ａｕｔｈ", "인증", "\u110b\u1175\u11ab증", "straße", "x"])
MOMENTS = st.sampled_from(["", *DAYS])
FRAGMENTS = st.lists(
    st.builds(
        lambda **given: Fragment(id="", content="content", **given),
        topic=WORDS,
        keywords=st.lists(WORDS, max_size=3).map(tuple),
        kind=st.sampled_from(KINDS),
        lifetime=st.sampled_from(LIFETIMES),
        tier=st.sampled_from(TIERS),
        privacy=st.sampled_from(PRIVACIES),
        importance=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
        agent=st.sampled_from(["default", "claude"]),
        session=st.sampled_from(["", "s1"]),
        source=st.sampled_from(["", "README"]),
        content_hash=st.sampled_from(["a", "b"]),
        is_anchor=st.booleans(),
        created_at=st.sampled_from(DAYS),
        **dict.fromkeys(("accessed_at", "updated_at", "expires_at", "checked_at"), MOMENTS),
        deleted_at=st.one_of(st.just(""), MOMENTS),
        superseded_at=st.one_of(st.just(""), MOMENTS),
    ),
    max_size=12,
)


def some_of(words: Sequence[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.one_of(st.just(()), st.lists(st.sampled_from(words), max_size=2).map(tuple))


def at_times(values: st.SearchStrategy[Any], otherwise: Any) -> st.SearchStrategy[Any]:
    """Mostly nothing: with every field filled in, a filter means no fragment."""
    return st.one_of(st.just(otherwise), st.just(otherwise), st.just(otherwise), values)


WANTED = st.builds(
    Wanted,
    agents=some_of(["default", "claude", "nobody"]),
    kinds=some_of(KINDS),
    lifetimes=some_of(LIFETIMES),
    tiers=some_of(TIERS),
    topics=at_times(st.lists(WORDS, max_size=2).map(tuple), ()),
    keywords=at_times(st.lists(WORDS, max_size=2).map(tuple), ()),
    session=at_times(st.just("s1"), ""),
    source=at_times(st.just("README"), ""),
    content_hash=at_times(st.sampled_from(["a", "b"]), ""),
    since=at_times(st.sampled_from([*DAYS, DAYS[1][:10], DAYS[3][:7]]), ""),
    until=at_times(st.sampled_from([*DAYS, DAYS[1][:10], DAYS[3][:7]]), ""),
    state=st.sampled_from(["live", "superseded", "bin", "kept", "all"]),
    is_anchor=at_times(st.booleans(), None),
    has_vector=at_times(st.booleans(), None),
    **dict.fromkeys(
        ("used_before", "expires_before", "deleted_before", "checked_before"),
        at_times(st.sampled_from(DAYS), ""),
    ),
    after=at_times(st.integers(0, 8), 0),
)


@pytest.mark.row("002 2.13.b", "002 2.13.c", "002 2.13.d", "002 2.13.e", "002 2.13.f", "002 2.13.g")
class TestFinding:
    """What a filter means, in which order, and how many there are."""

    @SOME
    @given(drafts=FRAGMENTS, wanted=WANTED, data=st.data())
    def test_a_filter_means_what_plain_python_says(
        self, engines: Engines, drafts: list[Fragment], wanted: Wanted, data: st.DataObject
    ) -> None:
        engine = engines.new()
        given_ones = stored(engine, *(replace(it, id=f"f{at}") for at, it in enumerate(drafts)))
        with_vector = given_ones[::3]
        put_vectors(engine, [(it, (1.0, 0.0)) for it in with_vector])
        meant = [it for it in given_ones if is_meant(it, wanted, {it.id for it in with_vector})]
        with engine.reading() as reading:
            for order in get_args(Order):
                expected = in_order(meant, order)
                if order == "number":
                    expected = [it.id for it in meant]
                assert [it.id for it in reading.find(wanted, order=order)] == expected
                limit, offset = data.draw(st.integers(1, 5)), data.draw(st.integers(0, 5))
                some = reading.find(wanted, order=order, limit=limit, offset=offset)
                assert [it.id for it in some] == expected[offset : offset + limit]
            assert reading.count(wanted) == {"": len(meant)}
            for by in filter(None, get_args(By)):
                counts = Counter(getattr(it, by) for it in meant)
                assert reading.count(wanted, by) == counts
                several = {value: count for value, count in counts.items() if count > 1}
                assert reading.count(wanted, by, least=2) == several
            for least in (1, 2, len(meant) or 1, len(meant) + 1, 2**80):
                assert reading.has(wanted, least) == (len(meant) >= least)
            keywords = data.draw(st.lists(WORDS, max_size=3))
            having = [
                (it.number, len({*map(plain, keywords)} & {*map(plain, it.keywords)}))
                for it in meant
            ]
            most_first = sorted((it for it in having if it[1]), key=lambda it: (-it[1], -it[0]))
            assert reading.with_keywords(keywords, wanted, 5) == most_first[:5]
            near = reading.near(a_vector(1.0, 0.0), wanted, 5)
            numbers = [it.number for it in meant if it in with_vector]
            assert near == [(it, 1.0) for it in sorted(numbers, reverse=True)[:5]]

    def test_pages_go_on_where_the_one_before_ended(self, engines: Engines) -> None:
        engine = engines.new()
        stored(engine, *(a_fragment(f"f{at:02}") for at in range(7)))
        with engine.reading() as reading:
            pages = [[it.id for it in some] for some in pages_of(reading, Wanted(), 3)]
        assert pages == [["f00", "f01", "f02"], ["f03", "f04", "f05"], ["f06"]]

    def test_ids_and_numbers_of_any_count_and_size_come_in_their_order(
        self, engines: Engines
    ) -> None:
        engine = engines.new()
        given_ones = stored(engine, *(a_fragment(f"f{at:04}") for at in range(1_200)))
        ids = [it.id for it in reversed(given_ones)]
        numbers = [it.number for it in given_ones]
        with engine.reading() as reading:
            assert [it.id for it in reading.by_ids([*ids, "gone", "half \ud800", ids[0]])] == ids
            beyond = [0, -1, 2**31, 2**63, 2**80, -(2**70)]
            assert reading.by_numbers([*beyond, *numbers, numbers[0]]) == given_ones
            assert reading.vectors([*beyond, *numbers]) == []
            assert reading.links(ids) == []
            assert reading.by_ids([]) == reading.by_numbers([]) == []
            nothing = (
                reading.links([]),
                reading.vectors([]),
                reading.with_keywords([], Wanted(), 5),
            )
            assert nothing == ([], [], [])
            assert reading.with_keywords(ids, Wanted(), 2**70) == []
            assert reading.find(Wanted(after=2**80)) == []
            assert len(reading.find(Wanted(), limit=2**70)) == 1_200

    @pytest.mark.parametrize("text", [*HOSTILE, "half \ud800"])
    def test_whatever_is_asked_for_is_a_text(self, engines: Engines, text: str) -> None:
        engine = engines.new()
        stored(engine, a_fragment("f1", "zebra", keywords=("zebra",)))
        lists = ("agents", "kinds", "lifetimes", "tiers", "topics", "keywords")
        asked: dict[str, Any] = dict.fromkeys(lists, (text,))
        asked |= dict.fromkeys(("session", "source", "content_hash"), text)
        for name, value in asked.items():
            assert found(engine, replace(Wanted(), **{name: value})) == []
        with engine.reading() as reading:
            assert reading.with_keywords([text], Wanted(), 5) == []
            assert (reading.by_ids([text]), reading.links([text], [text])) == ([], [])
            assert reading.entries(Version, of=text) == []
            assert shares(engine, text) == {}

    def test_where_nothing_was_stored_nothing_is_found_or_made(self, engines: Engines) -> None:
        engine = engines.new(is_untouched=True)
        with engine.reading() as reading:
            assert (reading.find(Wanted()), reading.near(a_vector(1.0), Wanted(), 5)) == ([], [])
            assert (reading.count(Wanted()), reading.count(Wanted(), "kind")) == ({"": 0}, {})
            assert (reading.holding("login", 100).shares(0.25), reading.state()) == ({}, {})
            assert reading.entries(Activity) == []
        assert not engine.exists()
        stored(engine, a_fragment("f1"))
        assert engine.exists() and engine.name


@pytest.mark.row("002 2.10.c", "002 2.12.a", "004 4.10.a")
class TestStoring:
    """What is put in comes back as it was, and goes with all that belongs to it."""

    @SOME
    @given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
    def test_every_field_comes_back(self, engines: Engines, text: str) -> None:
        engine = engines.new()
        [whole] = stored(engine, a_whole_fragment(text))
        with engines.again(engine).reading() as reading:
            assert reading.by_numbers([whole.number]) == reading.by_ids(["w"]) == [whole]
        assert replace(whole, number=0) == a_whole_fragment(text)

    @pytest.mark.parametrize("text", HOSTILE)
    def test_a_hostile_text_is_stored_changed_and_removed_as_text(
        self, engines: Engines, text: str
    ) -> None:
        engine = engines.new()
        [it] = stored(engine, a_fragment("f1", text, topic=text, keywords=(text,)))
        assert found(engine, Wanted(topics=(text,), keywords=(text,))) == ["f1"]
        with engine.writing() as writing:
            writing.replace([replace(it, content=f"{text} other", keywords=("k",))])
            writing.note([Version(fragment_id="f1", content=text, amended_at=DAYS[0])])
            writing.set_state({text: text})
        with engine.reading() as reading:
            assert reading.by_ids(["f1"])[0].content == f"{text} other"
            assert reading.entries(Version)[0].content == reading.state()[text] == text
        with engine.writing() as writing:
            assert writing.drop(["f1"]) == 1
        assert shares(engine, "other") == {}

    def test_a_number_is_never_given_twice(self, engines: Engines) -> None:
        engine = engines.new()
        [first, second] = stored(engine, a_fragment("f1"), a_fragment("f2"))
        with engine.writing() as writing:
            writing.drop(["f2"])
        [third] = stored(engine, a_fragment("f3"))
        assert 0 < first.number < second.number < third.number

    def test_an_id_is_there_once(self, engines: Engines) -> None:
        engine = engines.new()
        stored(engine, a_fragment("f1", "before"))
        with pytest.raises(OSError), engine.writing() as writing:
            writing.add([a_fragment("f2"), a_fragment("f1", "again")])
        assert found(engine) == ["f1"]

    def test_what_replaces_a_fragment_is_found_and_what_was_is_not(self, engines: Engines) -> None:
        engine = engines.new()
        one, two = stored(
            engine,
            a_fragment("f1", "the kitchen has a zebra", topic="zoo", keywords=("stripes",)),
            a_fragment("f2", "the cellar has a giraffe"),
        )
        put_vectors(engine, [(one, (1.0, 0.0)), (two, (0.0, 1.0))])
        changed = replace(one, content="a walrus", topic="sea", keywords=("tusks",))
        with engine.writing() as writing:
            writing.replace([changed, replace(two, importance=0.9)])
            writing.replace([replace(two, number=2**40)])  # nothing is there
        assert (shares(engine, "zebra"), shares(engine, "stripes")) == ({}, {})
        assert list(shares(engine, "walrus")) == list(shares(engine, "tusks")) == ["f1"]
        assert found(engine, Wanted(keywords=("stripes",))) == found(
            engine, Wanted(topics=("zoo",))
        )
        assert found(engine, Wanted(keywords=("tusks",), topics=("SEA",))) == ["f1"]
        with engine.reading() as reading:
            assert reading.by_numbers([one.number]) == [changed]
            # A vector is of a text; it stays where only something else was changed.
            assert [it.number for it in reading.vectors([one.number, two.number])] == [two.number]

    @pytest.mark.parametrize("field", ["deleted_at", "superseded_at"])
    def test_what_is_not_live_is_in_no_index_and_comes_back_with_its_words(
        self, engines: Engines, field: str
    ) -> None:
        engine = engines.new()
        [it] = stored(engine, a_fragment("f1", "a zebra", topic="zoo", keywords=("stripes",)))
        for moment, expected in ((DAYS[1], []), (DAYS[2], []), ("", ["f1"])):
            with engine.writing() as writing:
                writing.touch([it.number], {field: moment})
            assert list(shares(engine, "zebra")) == list(shares(engine, "stripes")) == expected
            assert found(engine, Wanted(keywords=("stripes",))) == expected
            assert found(engine, Wanted(keywords=("stripes",), state="all")) == ["f1"]
            with engine.reading() as reading:
                with_keyword = reading.with_keywords(["STRIPES"], Wanted(), 5)
                assert with_keyword == [(it.number, 1)][: len(expected)]

    def test_one_value_is_set_for_many(self, engines: Engines) -> None:
        engine = engines.new()
        given_ones = stored(engine, *(a_fragment(f"f{at}") for at in range(700)))
        numbers = [it.number for it in given_ones]
        values: dict[str, Any] = {
            "tier": "cold",
            "is_anchor": True,
            "kind": "error",
            "access_count": 3,
        }
        with engine.writing() as writing:
            writing.touch([*numbers[1:], 2**40, 2**80], values)
            writing.touch(numbers, {})
            writing.touch([], {"tier": "hot"})
        with engine.reading() as reading:
            assert reading.find(Wanted()) == [
                given_ones[0],
                *(replace(it, **values) for it in given_ones[1:]),
            ]

    def test_a_dropped_fragment_takes_along_what_belongs_to_it(self, engines: Engines) -> None:
        engine = engines.new()
        given_ones = stored(engine, *(a_fragment(f"f{at}", "a zebra") for at in range(600)))
        put_vectors(engine, [(it, (1.0, 0.0)) for it in given_ones[:2]])
        with engine.writing() as writing:
            ends = [("f0", "f1"), ("f1", "f0"), ("f0", "f599")]
            writing.put_links([Link(from_id=one, to_id=two) for one, two in ends])
            for one in ("f0", "f599"):
                writing.note([Version(fragment_id=one, content="x", amended_at=DAYS[0])])
            for pair in (("f0", "f599"), ("f598", "f0"), ("f598", "f599")):
                writing.note([Suspicion(first_id=pair[0], second_id=pair[1], similarity=0.5)])
            assert (writing.count_entries(Version), writing.count_entries(Suspicion)) == (2, 3)
        with engine.writing() as writing:
            gone = [it.id for it in given_ones if it.id not in ("f598", "f599")]
            assert writing.drop([*gone, "nobody"]) == 598
            assert writing.drop(gone) == writing.drop([]) == 0
        assert found(engine, Wanted(state="all")) == ["f598", "f599"]
        assert shares(engine, "zebra").keys() == {"f598", "f599"}
        with engine.reading() as reading:
            assert reading.links([*gone, "f599"]) == []
            assert [it.fragment_id for it in reading.entries(Version)] == ["f599"]
            assert [it.first_id for it in reading.entries(Suspicion)] == ["f598"]
            assert reading.count_entries(Version) == reading.count_entries(Suspicion) == 1
            assert reading.vectors(it.number for it in given_ones) == []
            assert reading.near(a_vector(1.0, 0.0), Wanted(state="all"), 5) == []


def a_whole_fragment(text: str) -> Fragment:
    """A fragment whose every field has a value of its own."""
    texts = (
        "content",
        "topic",
        "source",
        "agent",
        "session",
        "content_hash",
        "last_session",
        "promoted",
    )
    moments = ("accessed_at", "created_at", "updated_at", "verified_at", "checked_at", "decayed_at")
    values: dict[str, Any] = {
        **{name: f"{name} {text}" for name in texts},
        **{name: f"2026-03-0{at}T10:00:00+00:00" for at, name in enumerate(moments, 1)},
        **dict.fromkeys(("expires_at", "deleted_at", "superseded_at"), DAYS[5]),
        **{"keywords": (f"k {text}", "k", f"K {text}"), "kind": "procedure", "deletion": "stale"},
        **{"lifetime": "episodic", "privacy": "team", "tier": "permanent", "is_anchor": True},
        **{"importance": 0.625, "utility": 1.5, "access_count": 2**40, "sessions_count": 4},
        **{"estimated_tokens": 5, "stale_days": 6, "id": "w"},
    }
    assert values.keys() == {it.name for it in fields(Fragment)} - {"number"}
    return Fragment(**values)


class TestNoting:
    """Links, entries and the state."""

    def test_a_pair_has_one_link_in_each_direction(self, engines: Engines) -> None:
        engine = engines.new()
        stored(engine, *(a_fragment(it) for it in "abc"))
        forth = Link(from_id="a", to_id="b", relation="caused_by", created_at=DAYS[0])
        back = Link(from_id="b", to_id="a", relation="related", created_at=DAYS[1])
        other = Link(from_id="c", to_id="b", relation="part_of", created_at=DAYS[0])
        with engine.writing() as writing:
            assert writing.put_links([forth, back, other]) == 3
            assert writing.put_links([replace(forth, relation="resolved_by")]) == 0
            assert writing.put_links([]) == writing.drop_links([]) == 0
        with engine.reading() as reading:
            assert reading.links(["a"]) == [replace(forth, relation="resolved_by"), back]
            assert reading.links(["b", "c"], ["part_of", "related"]) == [back, other]
            assert reading.links(["a"], ["part_of"]) == []
        with engine.writing() as writing:
            for relation in RELATIONS:
                assert not writing.put_links([replace(forth, relation=relation)])  # type: ignore[arg-type]
                assert writing.links(["a"], [relation])[0].relation == relation
            assert writing.drop_links([forth, other, forth]) == 2
            assert writing.links(["a", "b", "c"]) == [back]

    ENTRIES: tuple[tuple[Entry, Entry, str], ...] = (
        (
            Version(fragment_id="a", content="c", keywords=("k", "케이"), amended_at=DAYS[0]),
            Version(fragment_id="b", content="", kind="error", amended_at=DAYS[1], amended_by="x"),
            "a",
        ),
        (
            ToolFeedback(tool_name="recall", relevant=True, sufficient=False, created_at=DAYS[0],
                         session_id="a", suggestion="s", context="c", trigger_type="sampled"),
            ToolFeedback(tool_name="recall", relevant=False, sufficient=True, created_at=DAYS[1]),
            "a",
        ),
        (
            TaskFeedback(session_id="a", overall_success=False, tool_highlights=("one", "둘"),
                         tool_pain_points=("two",), created_at=DAYS[0]),
            TaskFeedback(session_id="b", created_at=DAYS[1]),
            "a",
        ),
        (
            Activity(session_id="a", agent="x", started_at=DAYS[0], last_at=DAYS[0], calls=3,
                     written=2, reflected_at=DAYS[1], ended_at=DAYS[2]),
            Activity(session_id="b", started_at=DAYS[1], last_at=DAYS[1]),
            "a",
        ),
        (
            Suspicion(first_id="x", second_id="a", similarity=0.75, found_at=DAYS[0]),
            Suspicion(first_id="x", second_id="b", similarity=0.5, found_at=DAYS[1]),
            "a",
        ),
    )  # fmt: skip

    @pytest.mark.parametrize(("first", "second", "of"), ENTRIES)
    def test_entries_come_oldest_first_and_go_by_what_they_are_of_or_their_age(
        self, engines: Engines, first: Entry, second: Entry, of: str
    ) -> None:
        engine, kind = engines.new(), type(first)
        with engine.writing() as writing:
            writing.note([first, second])
        with engine.reading() as reading:
            assert reading.entries(kind) == [first, second]
            assert reading.entries(kind, limit=1) == reading.entries(kind, of=of) == [first]
            assert reading.entries(kind, since=DAYS[1]) == [second]
            assert reading.entries(kind, of="nobody") == []
        with engine.writing() as writing:
            assert writing.forget_entries(kind, of="nobody") == 0
            assert writing.forget_entries(kind, of=of) == 1
            writing.note([first])
            assert writing.forget_entries(kind, before=DAYS[1]) == 1
            assert writing.entries(kind) == [second]
            assert writing.forget_entries(kind) == 1

    def test_an_activity_and_a_suspicion_are_there_once(self, engines: Engines) -> None:
        engine = engines.new()
        before = Activity(session_id="s", started_at=DAYS[0], last_at=DAYS[0], calls=1)
        doubt = Suspicion(first_id="a", second_id="b", similarity=0.5, found_at=DAYS[0])
        with engine.writing() as writing:
            writing.note([before, doubt])
            writing.note([replace(before, calls=2), replace(doubt, similarity=0.9)])
            assert writing.entries(Activity) == [replace(before, calls=2)]
            assert writing.entries(Suspicion) == [replace(doubt, similarity=0.9)]

    def test_the_state_keeps_values_and_counts(self, engines: Engines) -> None:
        engine = engines.new()
        with engine.writing() as writing:
            writing.set_state({"model": "m", "step": "3"})
            writing.count_up({"purged": 2, "expired": 0})
            writing.count_up({"purged": 5})
            writing.set_state({"step": "", "nothing": ""})
        with engine.reading() as reading:
            assert reading.state() == {"model": "m", "purged": "7"}


SENTENCES, QUESTIONS = table("engine_questions").values()


@pytest.mark.row("002 2.10.c", "002 2.13.h", "002 2.14")
class TestSearching:
    """Terms of both languages, keywords, vectors."""

    @pytest.mark.parametrize("question", QUESTIONS)
    def test_terms_of_both_languages_are_found(self, engines: Engines, question: str) -> None:
        engine = engines.new()
        stored(engine, *(a_fragment(id_, text) for id_, text in SENTENCES.items()))
        assert {*QUESTIONS[question]} <= shares(engine, question).keys()
        assert not (shares(engine, question) and not QUESTIONS[question])

    def test_topic_and_keywords_are_searched_as_the_content_is(self, engines: Engines) -> None:
        engine = engines.new()
        stored(
            engine,
            a_fragment("content", "a zebra"),
            a_fragment("topic", topic="zebra"),
            a_fragment("keywords", keywords=("zebra", "얼룩말")),
        )
        assert shares(engine, "zebra").keys() == {"content", "topic", "keywords"}
        assert shares(engine, "얼룩말").keys() == {"keywords"}

    def test_how_common_a_term_is_and_how_many_there_are_is_known(self, engines: Engines) -> None:
        engine = engines.new()
        stored(engine, *(a_fragment(f"f{at}", f"common {at * 'x'}z") for at in range(30)))
        with engine.reading() as reading:
            holding = reading.holding("common xxxxxxxz", 3_000)
        assert holding.total == 30
        assert [it.having for it in holding.terms] == [30, 1]
        with engine.writing() as writing:
            first, second, third, *_ = writing.find(Wanted())
            writing.touch([first.number], {"deleted_at": DAYS[1]})
            writing.replace([replace(second, superseded_at=DAYS[1])])
            writing.drop([third.id])
        with engine.reading() as reading:
            assert reading.holding("common", 3_000).total == 27
        with engine.writing() as writing:
            writing.touch([first.number], {"deleted_at": ""})
        with engine.reading() as reading:
            assert reading.holding("common", 3_000).total == 28

    def test_the_nearest_vectors_come_first(self, engines: Engines) -> None:
        engine = engines.new()
        ones = stored(engine, *(a_fragment(f"f{at}") for at in range(5)))
        vectors = [(1.0, 0.0), (0.6, 0.8), (0.0, 1.0), (0.6, 0.8), (-1.0, 0.0)]
        put_vectors(engine, zip(ones, vectors, strict=True))
        asked = a_vector(1.0, 0.0)
        with engine.reading() as reading:
            near = reading.near(asked, Wanted(), 4)
            assert near == [
                (ones[at].number, it) for at, it in ((0, 1.0), (3, 0.6), (1, 0.6), (2, 0.0))
            ]
            assert reading.near(asked, Wanted(), 0) == []
            assert reading.near(a_vector(1.0), Wanted(), 5) == []  # of another length
            assert reading.near(b"", Wanted(), 5) == reading.near(b"abc", Wanted(), 5) == []
            assert reading.vectors([ones[1].number]) == [
                Embedding(ones[1].number, a_vector(0.6, 0.8))
            ]

    def test_what_is_near_follows_every_change(self, engines: Engines) -> None:
        engine = engines.new()
        other = engines.again(engine)
        one, two, three = stored(engine, *(a_fragment(it) for it in ("f1", "f2", "f3")))
        asked = a_vector(1.0, 0.0)

        def near(wanted: Wanted = Wanted()) -> list[tuple[int, float]]:  # noqa: B008
            with engine.reading() as reading:
                return reading.near(asked, wanted, 5)

        assert near() == []
        put_vectors(engine, [(one, (1.0, 0.0)), (two, (0.0, 1.0))])
        assert near() == [(one.number, 1.0), (two.number, 0.0)]
        put_vectors(other, [(two, (0.8, 0.6)), (three, (0.6, 0.8))])
        assert near() == [(one.number, 1.0), (two.number, 0.8), (three.number, 0.6)]
        with other.writing() as writing:
            writing.touch([one.number], {"deleted_at": DAYS[1]})
        assert near() == [(two.number, 0.8), (three.number, 0.6)]
        assert near(Wanted(state="bin")) == [(one.number, 1.0)]
        with pytest.raises(ZeroDivisionError), engine.writing() as writing:
            writing.put_vectors([Embedding(two.number, a_vector(-1.0, 0.0))])
            assert writing.near(asked, Wanted(), 5)[-1] == (two.number, -1.0)
            raise ZeroDivisionError
        put_vectors(other, [(three, (0.0, 1.0))])
        assert near() == [(two.number, 0.8), (three.number, 0.0)]
        with other.writing() as writing:
            writing.drop_vectors([two.number])
        assert near() == [(three.number, 0.0)]
        with other.writing() as writing:
            writing.drop_vectors()
        assert near() == []
        put_vectors(other, [(three, (1.0, 0.0))])
        assert near() == [(three.number, 1.0)]

    def test_few_that_are_meant_are_found_behind_many_that_are_not(self, engines: Engines) -> None:
        engine = engines.new()
        many = stored(engine, *(a_fragment(f"f{at}") for at in range(300)))
        few = stored(engine, *(a_fragment(f"g{at}", topic="rare") for at in range(3)))
        put_vectors(engine, [*((it, (1.0, 0.0)) for it in many), *((it, (0.0, 1.0)) for it in few)])
        with engine.reading() as reading:
            near = reading.near(a_vector(1.0, 0.0), Wanted(topics=("Rare",)), 2)
        assert near == [(few[2].number, 0.0), (few[1].number, 0.0)]


class TestTransacting:
    """All of a change is there or nothing, whoever else writes."""

    def test_an_error_inside_undoes_all(self, engines: Engines) -> None:
        engine = engines.new()
        [it] = stored(engine, a_fragment("f1", "a zebra"))
        with pytest.raises(ZeroDivisionError), engine.writing() as writing:
            writing.add([a_fragment("f2")])
            writing.replace([replace(it, content="a walrus")])
            writing.put_links([Link(from_id="f1", to_id="f2")])
            writing.put_vectors([Embedding(it.number, a_vector(1.0))])
            writing.note([Version(fragment_id="f1", content="x", amended_at=DAYS[0])])
            writing.set_state({"name": "value"})
            assert [it.id for it in writing.find(Wanted())] == ["f1", "f2"]  # sees its own
            raise ZeroDivisionError
        assert found(engine) == list(shares(engine, "zebra")) == ["f1"]
        assert shares(engine, "walrus") == {}
        with engine.reading() as reading:
            assert (reading.links(["f1"]), reading.vectors([it.number])) == ([], [])
            assert (reading.entries(Version), reading.state()) == ([], {})

    def test_what_was_stored_is_there_for_everybody_at_once(self, engines: Engines) -> None:
        engine = engines.new()
        other = engines.again(engine)
        assert found(other) == []
        stored(engine, a_fragment("f1"))
        assert found(other) == ["f1"]
        stored(other, a_fragment("f2"))
        assert found(engine) == ["f1", "f2"]

    def test_a_reader_sees_one_state(self, engines: Engines) -> None:
        engine = engines.new()
        stored(engine, a_fragment("f1"))
        with engine.reading() as reading:
            assert reading.count(Wanted()) == {"": 1}
            stored(engines.again(engine), a_fragment("f2"))
            assert reading.count(Wanted()) == {"": 1}
        assert found(engine) == ["f1", "f2"]

    def test_writers_take_turns_and_none_is_lost(self, engines: Engines) -> None:
        engine = engines.new()
        stored(engine, a_fragment("f"))
        both, wrong = [engine, engines.again(engine)], list[BaseException]()

        def write(at: int) -> None:
            try:
                for turn in range(15):
                    with both[at % 2].writing() as writing:
                        [it] = writing.by_ids(["f"])
                        writing.replace([replace(it, access_count=it.access_count + 1)])
                        writing.add([a_fragment(f"f{at}-{turn}")])
                        writing.count_up({"saved": 1})
            except BaseException as error:  # an assertion in a thread is nobody's
                wrong.append(error)

        threads = [threading.Thread(target=write, args=(at,)) for at in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        with engine.reading() as reading:
            assert reading.by_ids(["f"])[0].access_count == 60
            assert (reading.count(Wanted()), reading.state()) == ({"": 61}, {"saved": "60"})

    def test_what_was_closed_opens_again(self, engines: Engines) -> None:
        engine = engines.new()
        stored(engine, a_fragment("f1"))
        assert engine.purge()
        engine.close()
        assert found(engine) == ["f1"]
