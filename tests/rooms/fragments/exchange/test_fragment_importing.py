"""Tests that fragments of other places come in once, within the limits, without secrets."""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rooms.fragments.bin import forget
from rooms.fragments.draft import Draft, remember
from rooms.fragments.errors import ExchangeError
from rooms.fragments.exchange.exporting import rows_of
from rooms.fragments.exchange.importing import Plan, carry_out, planned
from rooms.fragments.exchange.lines import MARK, VERSION, line_of
from rooms.fragments.exchange.sources import MOST_BYTES, of_rows, read_source, read_text
from rooms.fragments.fragment import Fragment, Link, ToolFeedback, Version, Wanted
from rooms.fragments.room import Room
from rooms.fragments.versions import Amendment, amend
from tests.support.both_engines import IN_A_FILE
from tests.support.both_engines import kept_in_seldom as kept_in_seldom
from tests.support.cli_process import TOKEN
from tests.support.fragment_sources import DUMP, GRAPH, make_lines, make_memory_db
from tests.support.fragments_room import START, a_room, is_unused
from tests.support.samples import a_record
from tests.support.sentences import in_language

HEAD = {"format": MARK, "version": VERSION}


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return a_room(tmp_path / "own")


def taken(room: Room, path: Path) -> Plan:
    """Import a file; what was planned."""
    plan = planned(room, read_source(path))
    saved = carry_out(room, plan)
    assert saved == (len(plan.new), len(plan.links), len(plan.entries))
    return plan


def held(room: Room) -> dict[str, Fragment]:
    """The fragments of the room by what they say."""
    with room.engine.reading() as reading:
        return {it.content: it for it in reading.find(Wanted(state="all"), limit=10_000)}


def links_of(room: Room) -> set[tuple[str, str, str]]:
    """The links of the room, their ends by what they say."""
    said = {it.id: it.content for it in held(room).values()}
    with room.engine.reading() as reading:
        found = reading.links(list(said))
    return {(said[it.from_id], it.relation, said[it.to_id]) for it in found}


def reasons(plan: Plan) -> Counter[str]:
    return Counter(it.why for it in plan.faults)


def refusal(path: Path) -> str:
    with pytest.raises(ExchangeError) as refused:
        read_source(path)
    assert in_language("ko", str, refused.value)
    return refused.value.key


class TestMemoryDb:
    @pytest.mark.row("002 2.98")
    def test_every_row_comes_in_with_its_life(self, room: Room, tmp_path: Path) -> None:
        path = make_memory_db(
            tmp_path / "x" / "memory.db",
            ("mem-000001", "semantic", "Node 20 is used.", 0.7, "public", "2026-01-02 10:00:00", 1),
            ("2", "working", "Now at step 3.", 0.4, "team", "2026-04-30 10:00:00", 0),
            ("3", "episodic", "We met.", None, "private", 1_776_000_000_000, 0),
            ("4", "procedural", "Run make.", 5, "private", "not a date", 0),
        )
        before = path.read_bytes()
        plan = taken(room, path)
        assert (len(plan.new), plan.faults) == (4, [])
        found = held(room)
        node = found["Node 20 is used."]
        assert (node.id, node.kind, node.lifetime) == ("mem-000001", "fact", "semantic")
        assert (node.importance, node.privacy, node.is_anchor) == (0.7, "public", True)
        assert (node.tier, node.expires_at) == ("permanent", "")
        assert (node.created_at, node.updated_at) == ("2026-01-02T10:00:00+00:00", START)
        working = found["Now at step 3."]
        assert (working.lifetime, working.privacy) == ("working", "team")
        assert working.expires_at == "2026-05-02T10:00:00+00:00"
        met = found["We met."]
        assert (met.importance, met.created_at) == (0.4, "2026-04-12T13:20:00+00:00")
        assert (found["Run make."].importance, found["Run make."].created_at) == (1.0, START)
        assert path.read_bytes() == before
        assert [it.name for it in path.parent.iterdir()] == ["memory.db"]
        again = taken(room, path)
        assert (again.new, again.known) == ([], 4)

    def test_what_has_expired_stays_behind_and_is_counted(self, room: Room, tmp_path: Path) -> None:
        path = make_memory_db(
            tmp_path / "memory.db",
            ("mem-1", "working", "Step 1.", 0.4, "private", "2026-04-01 10:00:00", 0),
            ("mem-2", "working", "Step 2.", 0.4, "private", "2026-04-01 10:00:00", 1),
            ("mem-3", "episodic", "x" * 1_025, 0.4, "private", "2026-04-01 10:00:00", 0),
            ("mem-4", "episodic", " ", 0.4, "private", "2026-04-01 10:00:00", 0),
        )
        plan = taken(room, path)
        assert reasons(plan) == {"expired": 1, "too_large": 1, "blank": 1}
        assert [it.place for it in plan.faults] == [1, 3, 4]
        assert [*held(room)] == ["Step 2."]

    def test_a_database_of_another_kind_is_refused(self, tmp_path: Path) -> None:
        with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
            connection.execute("CREATE VIEW memory_item AS SELECT 1")
        assert refusal(tmp_path / "x.db") == "no_source"
        (tmp_path / "y.db").write_bytes(b"SQLite format 3\0" + b"x" * 5_000)
        assert refusal(tmp_path / "y.db") == "unreadable"


class TestDump:
    @pytest.mark.row("002 2.98")
    def test_rows_come_in_with_links_versions_and_feedback(
        self, room: Room, tmp_path: Path
    ) -> None:
        plan = taken(room, make_lines(tmp_path / "dump.jsonl", *DUMP))
        assert reasons(plan) == {"no_end": 1}
        off, on = held(room)["Redis is off by default."], held(room)["Redis is on by default."]
        assert (off.id, off.keywords, off.kind) == ("frag-1a2b3c", ("redis", "cache"), "decision")
        assert (off.importance, off.tier, off.access_count) == (0.75, "cold", 3)
        assert (off.agent, off.utility) == ("default", 1.5)
        assert off.created_at == "2026-04-01T01:00:00+00:00"
        assert off.accessed_at == "2026-04-02T10:00:00+00:00"
        assert (on.is_anchor, on.agent, on.importance) == (True, "codex", 0.3)
        assert on.superseded_at == "2026-04-01T10:00:00+00:00"
        assert links_of(room) == {(on.content, "superseded_by", off.content)}
        with room.engine.reading() as reading:
            [version] = reading.entries(Version)
            [feedback] = reading.entries(ToolFeedback)
        assert (version.content, version.amended_by) == ("Redis is off.", "codex")
        assert (feedback.relevant, feedback.sufficient) == (True, False)
        again = taken(room, tmp_path / "dump.jsonl")
        assert (again.new, again.links, again.entries, again.known) == ([], [], [], 2)

    def test_a_list_of_rows_and_lines_among_which_some_are_broken(
        self, room: Room, tmp_path: Path
    ) -> None:
        whole = tmp_path / "list.json"
        whole.write_text(json.dumps(DUMP[:2]), encoding="utf-8")
        assert len(planned(room, read_source(whole)).new) == 2
        path = make_lines(tmp_path / "broken.jsonl", DUMP[0], "{", {"a": 1}, DUMP[1], '"x"')
        plan = taken(room, path)
        assert len(plan.new) == 2
        assert reasons(plan)["not_json"] == 2
        assert reasons(plan)["not_a_fragment"] == 1


class TestServerMemory:
    @pytest.mark.row("002 2.98")
    def test_observations_are_facts_and_relations_are_linked(
        self, room: Room, tmp_path: Path
    ) -> None:
        taken(room, make_lines(tmp_path / "memory.jsonl", *GRAPH))
        found = held(room)
        assert [*found] == [
            *("Prefers tabs", "Works on payments", "shop: project"),
            "Kim works on shop",
        ]
        tabs, relation = found["Prefers tabs"], found["Kim works on shop"]
        assert (tabs.kind, tabs.topic, tabs.keywords) == ("fact", "Kim", ("Kim", "person"))
        assert (relation.kind, relation.keywords) == ("relation", ("Kim", "shop"))
        assert links_of(room) == {
            (relation.content, "related", "Prefers tabs"),
            (relation.content, "related", "shop: project"),
        }
        again = taken(room, tmp_path / "memory.jsonl")
        assert (again.new, again.links, again.known) == ([], [], 4)

    def test_a_graph_as_it_is_answered_is_the_same(self, room: Room, tmp_path: Path) -> None:
        graph = {"entities": [{"name": "Kim", "observations": ["Prefers tabs"]}], "relations": []}
        taken(room, make_lines(tmp_path / "graph.json", graph))
        assert [*held(room)] == ["Prefers tabs"]

    def test_names_above_the_limits_are_shortened_and_counted(
        self, room: Room, tmp_path: Path
    ) -> None:
        entity = {"type": "entity", "name": "n" * 60, "observations": ["Short"]}
        plan = taken(room, make_lines(tmp_path / "memory.jsonl", entity))
        assert plan.shortened == 2
        assert held(room)["Short"].topic == "n" * 49 + "…"


@pytest.mark.row("002 2.98")
def test_a_memory_log_is_none_of_fragments(room: Room, tmp_path: Path) -> None:
    path = tmp_path / "memory_log.jsonl"
    path.write_bytes(a_record("which port").to_line())
    assert refusal(path) == "no_source"


class TestOurs:
    def test_a_fragment_that_was_corrected_here_stays(self, room: Room) -> None:
        kept = remember(room, Draft(content="The port is 56332.")).fragment
        gone = remember(room, Draft(content="The port was 8080.")).fragment
        with room.engine.reading() as reading:
            rows = rows_of(reading, Wanted(state="all"), only_public=False)
            lines = [*enumerate(map(line_of, rows), 1)]
        amend(room, Amendment(id=kept.id, content="The port is 56333."))
        forget(room, id=gone.id)
        plan = planned(room, of_rows(lines, "a.jsonl"))
        assert (plan.new, plan.other, plan.in_bin, plan.known) == ([], 1, 1, 0)

    def test_what_somebody_else_has_saved_meanwhile_is_left_alone(
        self, room: Room, tmp_path: Path
    ) -> None:
        source = read_source(make_lines(tmp_path / "dump.jsonl", *DUMP))
        one, other = planned(room, source), planned(room, source)
        assert carry_out(room, one) == (2, 1, 2)
        assert carry_out(room, other) == (0, 0, 0)

    def test_the_same_text_under_another_id_is_known_and_its_links_lead_here(
        self, room: Room, tmp_path: Path
    ) -> None:
        own = remember(room, Draft(content="Redis is off by default.")).fragment
        plan = taken(room, make_lines(tmp_path / "dump.jsonl", *DUMP[:3]))
        assert plan.known == 1
        assert [it.to_id for it in plan.links] == [own.id]

    def test_a_newer_export_and_a_document_for_people_are_refused(
        self, room: Room, tmp_path: Path
    ) -> None:
        for name in ("a.md", "a.html"):
            (tmp_path / name).write_text(f"<!-- {MARK}: of an older version -->\n", "utf-8")
            assert refusal(tmp_path / name) == "exported_document"
        head = {"format": "sentinel-memory-fragments", "version": 2}
        assert refusal(make_lines(tmp_path / "b.jsonl", head)) == "newer_export"

    def test_columns_from_outside_are_brought_within_their_bounds(
        self, room: Room, tmp_path: Path
    ) -> None:
        head = {"format": "sentinel-memory-fragments", "version": 1}
        line = {
            **{"kind": "fragment", "id": TOKEN, "content": "It is so.", "type": "lie"},
            **{"importance": float("1e300"), "access_count": -5, "agent_id": "SYSTEM"},
            **{"created_at": "2099-01-01T00:00:00Z", "deleted_at": "x", "deletion": "hm"},
            **{"keywords": "no list", "topic": 7, "is_anchor": "yes", "ttl_tier": "boiling"},
        }
        taken(room, make_lines(tmp_path / "a.jsonl", head, line))
        [found] = held(room).values()
        assert (found.kind, found.importance, found.access_count) == ("fact", 1.0, 0)
        assert (found.agent, found.created_at, found.tier) == ("default", START, "hot")
        assert (found.deleted_at, found.deletion, found.topic) == ("", "", "general")
        assert (found.keywords, found.is_anchor) == ((), False)
        assert TOKEN not in found.id


@IN_A_FILE
def test_no_secret_comes_in_and_strict_leaves_the_fragment_out(tmp_path: Path) -> None:
    row = {**DUMP[0], "content": f"The key is {TOKEN}.", "keywords": [TOKEN], "linked_to": []}
    version = {**DUMP[3], "content": TOKEN}
    path = make_lines(tmp_path / "dump.jsonl", row, version)
    room = a_room(tmp_path / "own")
    plan = taken(room, path)
    assert plan.redacted == {"github-token": 2}
    room.engine.close()
    data = b"".join(it.read_bytes() for it in (tmp_path / "own").iterdir())
    assert TOKEN.encode() not in data
    strict = planned(a_room(tmp_path / "strict", strict=True), read_source(path))
    assert (strict.new, strict.entries) == ([], [])
    assert reasons(strict)["secret_refused"] == 2


@pytest.mark.long  # it costs much
def test_what_is_no_file_of_fragments_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "gone.jsonl") == "unreadable"
    assert refusal(tmp_path) == "not_a_file"
    assert refusal(make_lines(tmp_path / "a.txt", "Some text.")) == "no_source"
    assert refusal(make_lines(tmp_path / "b.jsonl", {"a": 1})) == "no_source"
    make_lines(tmp_path / "c.jsonl", *DUMP)
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "c.jsonl")
    assert refusal(tmp_path / "link.jsonl") == "not_a_file"
    with pytest.raises(ExchangeError) as refused:
        read_text(b" " * (MOST_BYTES + 1), "x")
    assert refused.value.key == "too_large_source"


def test_a_room_that_was_never_used_stays_unmade_by_a_plan(room: Room, tmp_path: Path) -> None:
    assert planned(room, read_source(make_lines(tmp_path / "dump.jsonl", *DUMP))).new
    assert is_unused(room)


@pytest.mark.long  # it costs much
def test_several_batches_and_their_progress(room: Room, tmp_path: Path) -> None:
    rows = [
        {"id": f"frag-{number:05}", "content": f"Fact {number}", "topic": "t", "keywords": []}
        for number in range(1_201)
    ]
    linked = [{**it, "linked_to": [rows[0]["id"]]} for it in rows[1:]]
    source = read_source(make_lines(tmp_path / "dump.jsonl", rows[0], *linked))
    told = list[tuple[int, int]]()
    plan = planned(room, source, lambda done, count: told.append((done, count)))
    assert told == [(500, 1_201), (1_000, 1_201), (1_201, 1_201)]
    assert carry_out(room, plan) == (1_201, 1_200, 0)


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
@settings(
    deadline=None,
    max_examples=min(settings().max_examples, 60),
    suppress_health_check=list(HealthCheck),
)
@given(st.booleans(), st.lists(OBJECTS, max_size=5))
def test_whatever_objects_a_file_has_it_is_refused_or_taken(
    tmp_path_factory: pytest.TempPathFactory, is_ours: bool, values: list[dict[str, Any]]
) -> None:
    head = [{"format": "sentinel-memory-fragments", "version": 1}] if is_ours else []
    data = "\n".join(json.dumps(it) for it in [*head, *values]).encode()
    room = a_room(tmp_path_factory.mktemp("own"))
    try:
        source = read_text(data, "x")
    except ExchangeError as error:
        assert error.key == "no_source"
        return
    carry_out(room, planned(room, source))
    again = planned(room, source)
    assert not [it for it in again.new if it.is_live]
    assert again.links == []
    room.engine.close()


def test_a_link_of_the_source_does_not_change_one_of_here(room: Room, tmp_path: Path) -> None:
    path = make_lines(tmp_path / "dump.jsonl", *DUMP[:3])
    taken(room, path)
    link = Link(from_id="frag-4d5e6f", to_id="frag-1a2b3c", relation="contradicts")
    with room.engine.writing() as writing:
        writing.put_links([link])
    taken(room, path)
    assert {it[1] for it in links_of(room)} == {"contradicts"}


def test_names_of_agents_and_sessions_come_without_secrets(room: Room) -> None:
    row = {"kind": "fragment", "id": "aaaaaaab", "content": "one", "last_session": TOKEN}
    lines = [HEAD, {**row, "agent_id": TOKEN, "session_id": TOKEN}]
    plan = planned(room, read_text("\n".join(map(json.dumps, lines)).encode(), "x"))
    [new] = plan.new
    assert TOKEN not in (new.agent, new.session, new.last_session) and plan.redacted
    strict = replace(room, settings=room.settings._replace(strict=True))
    plan = planned(strict, read_text("\n".join(map(json.dumps, lines)).encode(), "x"))
    assert (plan.new, reasons(plan)) == ([], {"secret_refused": 1})


def test_a_second_fragment_of_an_id_in_one_file_is_not_called_known(room: Room) -> None:
    row = {"kind": "fragment", "id": "aaaaaaab", "content": "one"}
    lines = [HEAD, row, {**row, "content": "another"}, row]
    plan = planned(room, read_text("\n".join(map(json.dumps, lines)).encode(), "x"))
    assert (len(plan.new), plan.other, plan.known) == (1, 1, 1)
