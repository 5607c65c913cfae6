"""Tests that rows leave the room and come in whole, once, within the limits, without secrets."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rooms.fragments import exchange
from rooms.fragments.fragment import Filter, FragmentsError
from rooms.fragments.room import Room
from tests.support.cli_process import TOKEN
from tests.support.fragments_room import Clock, a_room, add, everything
from tests.support.tables import table

DUMP: list[Any] = table("fragment_sources")["dump"]  # rows of the second specification
HEAD = {"format": exchange.EXPORT_FORMAT, "version": exchange.EXPORT_VERSION}
LATER = "2026-06-01T10:00:00+00:00"
MUCH: Any = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return a_room(tmp_path / "own", clock=Clock(LATER))


def plan_of(room: Room, *values: Any) -> exchange.Plan:
    """The plan of a file with these values, one on a line; a text stays as it is."""
    lines = [it if isinstance(it, str) else json.dumps(it, ensure_ascii=False) for it in values]
    return exchange.plan_import(room, exchange.read_text("\n".join(lines).encode(), "a.jsonl"))


def test_neither_an_export_nor_a_plan_makes_a_room_and_no_secret_goes_out(room: Room) -> None:
    def lines() -> list[dict[str, Any]]:
        with room.engine.reading() as rows:
            fragments = exchange.read_rows(rows, Filter(state="all"), only_public=False)
            return [*map(exchange.line_of, fragments)]

    assert lines() == []
    assert plan_of(room, *DUMP).new_fragments
    assert not room.engine.exists()
    add(room, f"The token is {TOKEN}.", keywords=(TOKEN,))
    assert lines() and TOKEN not in str(lines())


@pytest.mark.row("002 2.98")
def test_a_database_of_another_kind_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("CREATE VIEW memory_item AS SELECT 1")
    (tmp_path / "y.db").write_bytes(b"SQLite format 3\0" + b"x" * 5_000)
    for name, key in {"x.db": "no_source", "y.db": "unreadable", "z.db": "unreadable"}.items():
        with pytest.raises(FragmentsError) as refused:
            exchange.read_source(tmp_path / name)
        assert refused.value.key == key


def test_a_fragment_that_somebody_else_has_saved_meanwhile_is_left_alone(room: Room) -> None:
    one, other = plan_of(room, *DUMP), plan_of(room, *DUMP)
    before = [(exchange.save_plan(room, it), everything(room)) for it in (one, other)]
    assert before == [(2, before[0][1]), (0, before[0][1])]


def test_no_secret_comes_in(room: Room, tmp_path: Path) -> None:
    names = ("agent_id", "session_id", "last_session", "source")
    texts: dict[str, Any] = dict.fromkeys(names, TOKEN)
    long = f"{'x' * 30} {TOKEN}"  # to be cut in the middle of the secret
    row = {"kind": "fragment", "id": "aaaaaaab", "content": f"The key is {TOKEN}.", **texts}
    row |= {"topic": long, "keywords": [TOKEN, long]}
    version = {"kind": "version", "fragment_id": "aaaaaaab", "content": TOKEN}
    plan = plan_of(room, HEAD, row, version)
    assert exchange.save_plan(room, plan) == len(plan.new_fragments)
    assert plan.secret_counts == {"github-token": 2}
    room.engine.close()
    data = b"".join(it.read_bytes() for it in (tmp_path / "own").iterdir())
    assert TOKEN.encode() not in data and TOKEN[:12].encode() not in data


@pytest.mark.long  # it costs much
def test_several_batches_and_their_progress(room: Room) -> None:
    ids, told = [f"frag-{number:05}" for number in range(1_201)], list[tuple[int, int]]()
    rows = [{"id": it, "content": f"Fact {it}", "topic": "t", "keywords": [],
             "linked_to": [*ids[:1]] * (it != ids[0])} for it in ids]  # fmt: skip
    lines = "\n".join(map(json.dumps, rows)).encode()
    source = exchange.read_text(lines, "x")
    plan = exchange.plan_import(room, source, lambda *count: told.append(count))
    assert told == [(500, 1_201), (1_000, 1_201), (1_201, 1_201)]
    assert exchange.save_plan(room, plan) == 1_201
    with room.engine.reading() as reading:
        assert sum(reading.count_links(Filter()).values()) == 1_200


ANY = st.recursive(
    st.one_of(
        *(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
        st.sampled_from(["fact", "working", "frag-000001", "2026-01-01", "superseded_by"]),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
NAMES = (
    *("kind", "id", "content", "topic", "keywords", "type", "importance", "linked_to", "name"),
    *("agent_id", "created_at", "is_anchor", "from_id", "to_id", "relation_type", "from", "to"),
    *("fragment_id", "tool_name", "relevant", "sufficient", "observations", "relationType"),
)
OBJECTS = st.dictionaries(st.sampled_from(NAMES), ANY, max_size=8)


@pytest.mark.long  # it costs much
@settings(max_examples=min(settings().max_examples, 60), **MUCH)
@given(st.booleans(), st.lists(OBJECTS, max_size=5))
def test_a_file_with_any_objects_is_refused_or_taken(
    tmp_path_factory: pytest.TempPathFactory, is_ours: bool, values: list[dict[str, Any]]
) -> None:
    data = "\n".join(json.dumps(it) for it in [*([HEAD] if is_ours else []), *values]).encode()
    room = a_room(tmp_path_factory.mktemp("own"))
    try:
        source = exchange.read_text(data, "x")
    except FragmentsError as error:
        assert error.key == "no_source"
        return
    exchange.save_plan(room, exchange.plan_import(room, source))
    again = exchange.plan_import(room, source)
    assert not [it for it in again.new_fragments if it.is_live]
    assert (again.links, again.entries) == ([], [])
    room.engine.close()
