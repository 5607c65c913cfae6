"""Tests `list`, `search` and `show`: what they print of each room, in the same form."""

import os
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commands.rooms.read import table_lines
from commands.terminal.screen import Screen, cells, day_text, uncoloured
from core.config import Project, Settings, find_project
from core.lessons.record import Record
from core.store import open_store
from rooms.fragments.for_people import ForPeople as Fragments
from rooms.fragments.fragment import Link, Version
from rooms.fragments.fragment import Wanted as Asked
from rooms.fragments.room import Room, open_room
from rooms.lessons import item_of
from rooms.room import Opened
from rooms.sessions.session import Action, Changes, Point
from rooms.sessions.store import open_sessions
from tests.support.cli_process import TOKEN, Command, GoodRun, Run
from tests.support.costly import one_in
from tests.support.fragment_samples import keep_fragments
from tests.support.git_clones import write
from tests.support.room_samples import DAY, RECORD, a_fragment, a_session
from tests.support.samples import LATER, NOW, a_record
from tests.support.session_samples import keep, make_sample_store
from tests.support.stdio_client import ROOT
from tests.support.tables import table

ROWS = table("commands/rooms")
SETTINGS = Settings()
HOSTILE = "a\x1b[31m\nb\u202e ##vso[task.x]\r\x00\u2028c"
LAST = "2026-03-03T09:00:00+00:00"
EMPTY: dict[str, list[str]] = ROWS["empty"]

posix = pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")

VAT = a_record(
    ask_next_time="어느 국가에서 파나요?", paths=["src/tax/**"], when=["vat_of(", "tax, all"]
)
REFUND = a_record(
    "환불은 언제까지인지",
    topic="결제-환불",
    lesson=(
        "환불은 7일 안에만 되며, 그 뒤에는 담당자가 승인해야 한다."
        " 부분 환불은 수수료를 다시 계산한다."
    ),
    now=LATER,
)
RULE = replace(
    a_record("", topic="payments", lesson="Check tax before refunds.", type="principle"),
    source_count=3,
    compacted_at=NOW,
    updated=LAST,
    seen=2,
)

OLD_RECORD = replace(RECORD, created=DAY.format(3))  # of a year that is said


@pytest.fixture
def shop(project: Path) -> Path:
    write(project, VAT, REFUND, RULE)
    return project


def told(command: Command, *words: str, room: str = "lessons") -> list[dict[str, Any]]:
    """The items of a room that a command gives as data."""
    found: list[dict[str, Any]] = command(*words, "--json").told[room]["items"]
    return found


def ids(command: Command, *words: str) -> list[str]:
    return [it["id"] for it in told(command, *words)]


# what is listed


def test_each_room_is_a_table_of_the_same_columns(
    three: Room, project: Path, command: Command
) -> None:
    write(project, OLD_RECORD)
    assert command("list").lines == ROWS["list"]
    assert command("search", "redis").lines == ROWS["search"]


def test_a_narrow_terminal_gets_two_lines_for_an_item(
    three: Room, project: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, OLD_RECORD)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", "ko")
    assert command("list").lines == ROWS["narrow"]


def test_the_text_takes_what_a_wide_terminal_has(
    shop: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert command("list").lines[2].endswith(f"  {REFUND.lesson}")
    assert f"  {day_text(LATER)}  log " in command("list").lines[2]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_no_line_is_wider_than_the_terminal(
    three: Room, command: Command, lang: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", lang)
    for words in (
        *("list", "search redis", "search zzz", "list --topic buil", "list --forgotten"),
        *("list --room sessions --room fragments", "show #1 redis001"),
    ):
        for columns in ("24", "40", "60", "80", "132"):
            monkeypatch.setenv("COLUMNS", columns)
            done = command(*words.split())
            assert done.code == 0
            assert max(map(cells, done.lines)) <= int(columns), words


def test_colours_change_nothing_but_the_colour() -> None:
    items = [item_of(it) for it in (VAT, REFUND, RULE)]
    for width in (40, 60, 80, 200):
        plain = table_lines(items, Screen(width=width), "tax 환불")
        coloured = table_lines(items, Screen(width=width, colours=True), "tax 환불")
        assert [uncoloured(line) for line in coloured] == plain
    assert coloured[0].startswith("\x1b[1m")
    assert coloured[2].count("\x1b[33m환불\x1b[0m") == 3  # its topic, and twice in its text
    assert "\x1b[33m" not in coloured[1].partition("payment")[0]


@pytest.mark.long  # it costs much
@posix
def test_a_terminal_gets_colours_the_newest_25_and_the_command_for_the_rest(project: Path) -> None:
    write(project, *[a_record(f"gap {number}") for number in range(30)])
    words = ("list", "--topic", "payment")
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = GoodRun.at_terminal(*words, environment={**environment, "TERM": "xterm"})
    assert done.lines[0].startswith("\x1b[1m")
    assert done.lines[26:] == [
        "Lessons: 25 of 30, the newest first.",
        "… 5 more: `python cli.py list --topic payment --room lessons --limit 30`",
    ]
    assert len(GoodRun.at_terminal("list", "--limit", "28").lines) == 31
    elsewhere = GoodRun.started("list", environment=environment)
    assert ("\x1b" in elsewhere.out, len(elsewhere.lines)) == (False, 32)
    assert max(map(cells, elsewhere.lines)) <= 80


def test_five_of_a_room_are_shown_with_the_command_for_the_others(
    log: bytes, project: Path, command: Command
) -> None:
    keep(open_sessions(project, SETTINGS), [(a_session(number), []) for number in range(1, 8)])
    last = "… 2 more: `python cli.py search redis --room sessions --limit 7`"
    assert command("search", "redis").lines[-1] == last
    assert command("search", "redis").out.count("Move redis") == 5
    assert len(told(command, *last.split("`")[1].split()[2:], room="sessions")) == 7
    assert len(told(command, "search", "redis", room="sessions")) == 7


def test_ids_are_longer_where_their_beginnings_are_the_same() -> None:
    twins = [replace(VAT, id=VAT.id[:8] + digit * 8) for digit in "01"]
    shown = table_lines([*map(item_of, twins)], Screen(width=80))
    assert [line.split()[0] for line in shown[1:]] == [it.id for it in twins]
    wide = table_lines([item_of(replace(VAT, id="가" * 16))], Screen(width=20))
    assert wide[0].startswith("  가가가…  ")


# which items


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ("--topic payment", [VAT]),
        ("--topic payment --topic 결제-환불", [REFUND, VAT]),
        ("--kind principle", [RULE]),
        ("--since 2026-03-02", [RULE, REFUND]),
        ("--limit 1", [RULE]),
        ("--kind log --limit 5 --since 2026-03-01", [REFUND, VAT]),
    ],
)
def test_filters_narrow_the_list(
    command: Command, shop: Path, arguments: str, found: list[Record]
) -> None:
    assert ids(command, "list", *arguments.split()) == [record.id for record in found]


def test_filters_narrow_the_sessions(project: Path, command: Command) -> None:
    store = make_sample_store(project, 24)
    every = [store.get(str(number)) for number in range(24, 0, -1)]

    def numbers(*words: str) -> list[int]:
        return [it["number"] for it in told(command, *words, room="sessions")]

    for status in ("debugging", "testing"):
        named = [it.number for it in every if it.status == status]
        assert numbers("list", "--kind", status) == named
    assert numbers("list", "--topic", "auth") == [it.number for it in every if "auth" in it.tags]
    assert numbers("list", "--since", "2026-11-20") == [24]
    found = [store.get(str(number)) for number in numbers("search", "결제", "중복")]
    assert all("결제" in " ".join(it.texts) for it in found[:1])
    assert found


def test_filters_narrow_the_fragments(log: bytes, room: Room, command: Command) -> None:
    cure = replace(a_fragment("redis002", "Give redis a password."), kind="procedure")
    cure = replace(cure, lifetime="procedural", topic="ops", created_at=DAY.format(2))
    with room.engine.writing() as writing:
        writing.add([cure])
    for words, found in {
        "list": ["redis002", "redis001"],
        "list --kind error": ["redis001"],
        "list --kind procedural": ["redis002"],
        "list --topic OPS --topic none": ["redis002"],
        "list --since 2020-03-02": ["redis002"],
        "search password": ["redis001", "redis002"],
        "search password --kind procedure": ["redis002"],
        "search password --topic ops --topic none": ["redis002"],
    }.items():
        items = told(command, *words.split(), "--room", "fragments", room="fragments")
        assert sorted(it["id"] for it in items) == sorted(found), words
    with room.engine.reading() as reading:  # who looks for a lesson does not use them
        assert {it.access_count for it in reading.find(Asked(state="all"))} == {0}


def test_a_kind_means_the_rooms_that_have_it(three: Room, command: Command) -> None:
    assert [*command("list", "--kind", "error", "--json").told] == ["project", "fragments"]
    assert command("list", "--kind", "error").lines[-1].startswith("Fragments: 1 of 1")
    refused = command("list", "--kind", "principel")
    assert (refused.code, refused.out) == (1, "")
    assert refused.errors.startswith("There is no kind principel. Nothing was changed. The kinds")
    assert command("list", "--room", "nowhere").errors.startswith("There is no room nowhere.")


def test_what_was_forgotten_is_listed_where_it_can_come_back(three: Room, command: Command) -> None:
    gone = replace(a_fragment("redis002", "An old one."), superseded_at=DAY.format(5))
    with three.engine.writing() as writing:
        writing.add([gone])
    assert command("list", "--forgotten").lines[-1].startswith("Fragments: 1 of 1")
    assert command("forget", RECORD.id, "#1", "redis001", "--yes").code == 0
    forgotten = command("list", "--forgotten", "--json").told
    assert [it["id"] for it in forgotten["lessons"]["items"]] == [RECORD.id]
    assert forgotten["sessions"] == {"found": 0, "items": []}
    assert [it["id"] for it in forgotten["fragments"]["items"]] == ["redis001", "redis002"]


AGES_H = {"hour": 0.5, "day": 20, "week": 24 * 6, "month": 24 * 29, "year": 24 * 360, "old": 10_000}


def aged(gap: str, hours: float) -> Record:
    created = datetime.now(UTC) - timedelta(hours=hours)
    return a_record(gap, now=created.isoformat(timespec="seconds"))


@pytest.mark.parametrize(
    ("since", "count"),
    [("1h", 1), ("24h", 2), ("1d", 2), ("7d", 3), ("1w", 3), ("1m", 4), ("1y", 5), ("9y", 6)],
)
def test_since_counts_back_from_now(
    command: Command, project: Path, since: str, count: int
) -> None:
    write(project, *(aged(gap, hours) for gap, hours in AGES_H.items()))
    found = [it["missing_context"] for it in told(command, "list", "--since", since)]
    assert found == list(AGES_H)[:count]


@pytest.mark.parametrize(
    "since", ["d", "7", "-7d", "7 d", "7D", "12345d", "2026-02-30", "26-01-01"]
)
def test_what_is_no_time_is_refused(command: Command, since: str) -> None:
    assert command("list", f"--since={since}").refused.startswith("--since: it must be a date such")


# nothing


@pytest.mark.parametrize("words", ["list", "search tax"])
def test_an_empty_memory_is_a_sentence(project: Path, command: Command, words: str) -> None:
    [first, *_] = command(*words.split()).lines
    assert first.startswith("The memory of this project has no records yet. `python cli.py add`")
    assert told(command, *words.split()) == []
    assert not (project / ".context").exists()


@pytest.mark.parametrize("name", EMPTY)
def test_a_room_without_anything_says_what_it_is_and_makes_nothing(
    project: Path, tmp_path: Path, command: Command, name: str
) -> None:
    for words in ("list", "search word", "list --topic x --limit 1"):
        assert command(*words.split(), "--room", name).lines == EMPTY[name]
    assert command("list", "--room", name, "--json").told == {
        "project": str(project),
        name: {"found": 0, "items": []},
    }
    assert [*tmp_path.rglob("*")] == [project]


def test_a_topic_that_is_not_there_names_those_that_resemble(
    shop: Path, room: Room, command: Command
) -> None:
    make_sample_store(shop, 24)
    assert command("list", "--topic", "pay-ment", "--room", "lessons").lines == [
        "No record matches these filters (records: 3).",
        "There is no topic pay-ment; similar: payment, payments.",
    ]
    assert command("list", "--topic", "zz").lines[1] == "There is no topic zz."
    assert command("list", "--topic", "databse", "--room", "sessions").lines == [
        "No session fits these filters (sessions: 24).",
        "There is no tag databse; similar: database.",
    ]
    assert command("search", "x", "--topic", "reddis", "--room", "fragments").lines == [
        "Nothing was found. Those that can be recalled: 1.",
        "There is no topic reddis; similar: redis.",
    ]


@pytest.mark.parametrize("room", ["sessions", "fragments"])
def test_a_database_of_another_program_is_named_and_stays(
    log: bytes, project: Path, tmp_path: Path, command: Command, room: str
) -> None:
    """It takes nothing from the other rooms."""
    places = {
        "sessions": project / ".context" / "sessions" / "history.db",
        "fragments": tmp_path / "data" / "memory.db",
    }
    path = places[room]
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database at all, but long enough for a page" * 100)
    before = path.read_bytes()
    for words in ("search redis", "list", f"show {RECORD.id}"):
        done = command(*words.split())
        assert (done.code, done.errors.partition(": ")[0]) == (0, f"Without {room.capitalize()}")
        assert RECORD.id[:8] in done.out
    for words in ("search redis", "list", "show 1", "forget x --yes"):
        done = command(*words.split(), "--room", room)
        assert (done.code, done.out) == (1, "")
        assert str(path) in done.errors
    assert path.read_bytes() == before


PLACES = ("", "  ", "{}/memory.db", "{}", "{}/other.db", " {}/other.db ", "~/other.db", "{}/none/x")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    "name", ["", "memory.db", "other.db", ".local/share/sentinel-memory/memory.db"]
)
def test_the_same_file_is_looked_for_as_the_room_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    if name:
        keep_fragments(tmp_path / name, []).close()
    for place in PLACES:
        monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", place.format(tmp_path))
        if sys.platform == "linux" or place.strip():
            room = open_room(SETTINGS, os.environ)
            assert Fragments(opened(tmp_path)).is_there() == room.engine.exists(), place
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", "relative/memory.db")
    assert Fragments(opened(tmp_path)).is_there()  # the room refuses it


def opened(root: Path) -> Opened:
    project: Project = find_project(str(root), {}, root)
    return Opened(project=project, settings=SETTINGS, store=open_store(project, SETTINGS))


LOADING = ["list", "search redis", f"show {RECORD.id}", f"forget {RECORD.id} -n"]
LOADING += ["list --json"]
LOADED = """
import sys, cli
for words in sys.argv[1:]:
    cli.main(words.split())
loaded = {"rooms.sessions.store", "rooms.fragments.room", "sqlite3"} & set(sys.modules)
print(sorted(loaded), file=sys.stderr)
"""


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("lines", "has_sessions"),
    [(LOADING, False), *one_in(len(LOADING), [([line], True) for line in LOADING], names=2)],
)
def test_a_room_is_loaded_only_where_it_is(
    log: bytes, project: Path, lines: list[str], has_sessions: bool
) -> None:
    loaded = "['rooms.sessions.store', 'sqlite3']" if has_sessions else "[]"
    if has_sessions:
        keep(open_sessions(project, SETTINGS), [(a_session(1), [])])
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = (sys.executable, "-c", LOADED, *lines)
    done = Run.process(*started, cwd=project, environment=environment)
    assert (done.code, done.errors.splitlines()[-1]) == (0, loaded)


# a search

LONG = a_record(
    "Saves that wait behind a held lock fill the worker threads.",
    topic="store",
    lesson="Take one lock among the threads of a process, and let its holder ask for the file lock;"
    " both share one deadline, after which a timeout is told.",
    ask_next_time="How long may a save wait?",
    paths=["core/disk/lock.py"],
)
PARSER = a_record(
    "Usage errors ended a hook.",
    topic="hooks",
    lesson="A hook reads its arguments itself, without argparse.",
)
KOREAN = a_record("환불 기한", topic="결제", lesson="환불은 7일 안에만 된다.")


@pytest.fixture
def of_three(command: Command, project: Path) -> Command:
    write(project, LONG, PARSER, KOREAN)
    return command


def test_without_a_hit_the_words_are_counted(of_three: Command) -> None:
    assert of_three("search", "lock", "argprase", "환블").lines == [
        "No record has all of these words (records: 3). The search matches words, not",
        "meanings.",
        "Records with each word: lock 1, argprase 0, 환블 0.",
    ]
    assert of_three("search", "zzz").lines[2:] == []


def test_the_words_are_found_as_a_model_finds_them(of_three: Command) -> None:
    """In their forms, with any particle, by a beginning, in a path; not by single letters."""

    def found(*words: str) -> int:
        return len(ids(of_three, "search", *words))

    assert found("timeouts") == found("deadlines", "threads") == found("argparse,") == 1
    assert found("환불이") == found("기한을", "결제") == found("argpars") == found("disk") == 1
    assert found("the", "hooks") == 1
    assert found("ㅎㅂ") == found("환부") == found("rgparse") == found("zzz", "hooks") == 0
    assert found("hook", "--topic", "store") == 0
    assert found("hook", "--topic", "hooks") == 1
    assert ids(of_three, "search", LONG.id[:6]) == [LONG.id]
    assert ids(of_three, "search", LONG.token) == [LONG.id]
    assert len(ids(of_three, "search", "2026-03")) == 3


def test_the_rooms_that_are_named_are_searched(three: Room, command: Command) -> None:
    found = command("search", "redis", "--room", "fragments", "--room", "sessions", "--json").told
    assert [*found] == ["project", "query", "sessions", "fragments"]
    assert [it["number"] for it in found["sessions"]["items"]] == [2, 1]
    assert [it["id"] for it in found["fragments"]["items"]] == ["redis001"]


# what is shown whole


def test_a_record_is_shown_whole_and_wrapped(
    command: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = command("show", VAT.id[:4], RULE.token, REFUND.id).lines
    facts = {"vat": VAT.token, "rule": RULE.token, "refund": REFUND.token}
    expected = [line.format(**facts) for line in ROWS["show_lessons"]]
    assert "\n".join(lines) == "\n".join(expected).replace("@@", "@")


def test_a_whole_session_says_all_of_it(log: bytes, project: Path, command: Command) -> None:
    session = replace(
        a_session(2, parent_id=f"ctx_{1:012x}"),
        goal="Move refunds to PostgreSQL 16",
        summary="Replication lags by 40 s under load; the window for the move is on Sunday.",
        agent="codex",
        tags=("database", "migration"),
        decisions=(Point(text="Logical replication", why="A dump takes two hours."),),
        approaches=(Point(text="A dump", result="failed", why="Too slow"),),
        blockers=(
            Point(text="Only 4 slots"),
            Point(text="No figures", is_resolved=True, why="On the dashboard"),
        ),
        changes=Changes(modified_files=("ops/move.sql", "ops/a.sh"), summary="Sets sequences"),
        ended_at="2020-03-02T11:00:00+00:00",
    )
    moment = "2020-03-02T10:30:00+00:00"
    edit = Action(id="a1", kind="edit", content="ops/move.sql", created_at=moment)
    run = Action(id="a2", kind="command", content="make", result="failed", created_at=moment)
    store = open_sessions(project, SETTINGS)
    keep(store, [(a_session(1), []), (session, [edit, run])])
    assert command("show", "2").lines == ROWS["show_session"]
    assert command("show", "#2").lines == command("show", session.id).lines
    [data] = told(command, "show", "2", room="sessions")
    assert data.keys() == {*ROWS["keys_of_a_session"], "actions", "chain"}
    assert [it.as_json() for it in store.actions(session)] == data["actions"]
    listed = told(command, "list", room="sessions")
    assert [*listed[0]] == [*listed[1]] == ROWS["keys_of_a_session"]


@pytest.mark.row("003 T69")
def test_a_session_names_the_chain_that_it_is_part_of(
    log: bytes, project: Path, command: Command
) -> None:
    parents = {1: 0, 2: 1, 3: 2, 4: 2, 5: 3}
    chained = [
        a_session(at, parent_id=f"ctx_{it:012x}" if it else "") for at, it in parents.items()
    ]
    keep(open_sessions(project, SETTINGS), [(it, []) for it in chained])
    assert "  chain: #1, #2, #3, #5" in command("show", "3").lines
    assert "  chain: #1, #2, #3, #4, #5" in command("show", "#1").lines
    [data] = told(command, "show", "5", room="sessions")
    assert [it["number"] for it in data["chain"]] == [1, 2, 3, 5]
    assert data["chain"][0] == {
        "number": 1,
        "id": f"ctx_{1:012x}",
        "goal": "Move redis to the new host 1",
        "createdAt": DAY.format(1),
    }


def test_a_whole_fragment_has_its_links_and_what_it_said_before(
    three: Room, command: Command
) -> None:
    cure = replace(a_fragment("redis002", "Give redis a password."), is_anchor=True)
    with three.engine.writing() as writing:
        writing.add([replace(cure, keywords=("cdn", "cache"))])
        writing.put_links([Link(from_id="redis001", to_id="redis002", relation="resolved_by")])
        version = {"content": "It was stale.", "amended_at": DAY.format(1), "amended_by": "codex"}
        writing.note([Version(fragment_id="redis001", **version)])  # type: ignore[arg-type]
        writing.touch([1], {"access_count": 2, "accessed_at": DAY.format(5)})
    assert command("show", "redis001", "redis002").lines == ROWS["show_fragments"]
    assert command("show", "redis001", "--versions").lines == ROWS["versions_of_a_fragment"]
    [data] = told(command, "show", "redis001", room="fragments")
    assert (data["type"], data["links"][0]["relation_type"]) == ("error", "resolved_by")
    versions = command("show", "redis001", "--versions", "--json").told["versions"]
    assert [it["content"] for it in versions][1:] == ["It was stale."]
    assert [it["places"]["amendedAt"] for it in versions] == [None, DAY.format(1)]


def test_several_are_shown_in_the_order_in_which_they_were_named_each_once(
    three: Room, command: Command
) -> None:
    names = ("redis001", "#2", RECORD.id[:6], RECORD.token, "2", f"ctx_{1:012x}")
    single = [command("show", name).out for name in ("redis001", "2", RECORD.id, "1")]
    assert command("show", *names).out == "\n".join(single)
    data = command("show", *names, "--json").told
    assert [*data] == ["project", "fragments", "sessions", "lessons"]
    assert [it["number"] for it in data["sessions"]["items"]] == [2, 1]
    assert len(data["lessons"]["items"]) == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("abc", "abc: nothing has this id. Nothing was changed. Looked in: Lessons."),
        (VAT.id[:3], f"{VAT.id[:3]}: no record has this id, and a beginning needs 4 characters."),
        ("ffffffff", "ffffffff: nothing has this id. Nothing was changed."),
        ("x@y", "x@y: this is not an id and not a token"),
        (f"{VAT.id}@000000", f"The log has {VAT.token}, not {VAT.id}@000000."),
    ],
)
@pytest.mark.parametrize("verb", ["show", "forget"])
def test_what_cannot_be_named_is_a_sentence(
    command: Command, shop: Path, verb: str, name: str, said: str
) -> None:
    done = command(verb, VAT.id, name)
    assert (done.code, done.out) == (1, "")
    assert done.errors.startswith(said)
    assert len(done.errors.splitlines()) == 1


def test_a_name_of_several_has_to_be_told_which(
    three: Room, project: Path, command: Command
) -> None:
    with three.engine.writing() as writing:
        writing.add([a_fragment(RECORD.id[:8], "Another text.")])
    for verb in ("show", "forget"):
        done = command(verb, RECORD.id[:8])
        assert (done.code, done.errors) == (
            1,
            f"{RECORD.id[:8]} is in several rooms: Lessons, Fragments. Nothing was changed."
            f" Name the room: `python cli.py {verb} {RECORD.id[:8]} --room lessons`\n",
        )
    assert "Another text." in command("show", RECORD.id[:8], "--room", "fragments").out
    assert RECORD.lesson in command("show", RECORD.id[:8], "--room", "lessons").out
    write(project, replace(VAT, id="abcd0"), replace(REFUND, id="abcd1"))
    done = command("forget", "abcd", "--yes")
    listed = "abcd: the ids of several begin with it: abcd0 [payment], abcd1 [결제-환불]."
    assert (done.code, done.errors.startswith(listed)) == (1, True)
    assert command("show", "abcd0").code == 0


# what must not be printed


@pytest.mark.long  # it costs much
def test_hostile_texts_stay_in_their_line_and_give_no_orders(
    project: Path, room: Room, command: Command
) -> None:
    texts = {"topic": HOSTILE, "lesson": f"{HOSTILE} word", "missing_context": HOSTILE}
    write(project, replace(VAT, **texts, ask_next_time=HOSTILE, paths=(HOSTILE,), when=(HOSTILE,)))  # type: ignore[arg-type]
    session = a_session(1, goal=f"{HOSTILE} word", summary=HOSTILE, agent=HOSTILE, status=HOSTILE)
    session = replace(session, tags=(HOSTILE,), blockers=(Point(text=HOSTILE),))
    action = Action(id="a1", kind=HOSTILE, content=HOSTILE, result=HOSTILE, created_at=HOSTILE)
    keep(open_sessions(project, SETTINGS), [(session, [action])])
    about: dict[str, Any] = {"topic": HOSTILE, "keywords": (HOSTILE,), "source": HOSTILE}
    with room.engine.writing() as writing:
        writing.add([replace(a_fragment("hostile1", f"{HOSTILE} word"), agent=HOSTILE, **about)])
        writing.put_links([Link(from_id="hostile1", to_id="redis001")])
        writing.note([Version(fragment_id="hostile1", content=HOSTILE, amended_by=HOSTILE)])
    for words in (
        *("list", "search word", f"show {VAT.id} 1 hostile1", f"show {VAT.id} hostile1 --versions"),
        *(f"forget {VAT.id} 1 hostile1 -n", "list --topic \x1b[31m", "show \x1b[31m##vso[x]"),
    ):
        for more in ((), ("--json",)) if "-n" not in words else ((),):
            done = command(*words.split(), *more)
            for bad in ("\x1b", "\u202e", "\r", "\x00", "\u2028"):
                assert bad not in done.out + done.errors, words
            assert more or "##vso[" not in done.out + done.errors, words
    assert len(command("list").lines) == 12


SECRET = f"the key is {TOKEN}"
FIELDS: dict[str, Any] = {
    **dict.fromkeys(("missing_context", "lesson", "ask_next_time"), SECRET),
    **{"topic": f"refunds {TOKEN}", "paths": (f"src/{TOKEN}",), "when": ("refund(", SECRET)},
}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("field", FIELDS)
def test_no_secret_that_a_hand_put_into_the_log_is_shown(
    command: Command, project: Path, field: str
) -> None:
    write(project, replace(VAT, **{field: FIELDS[field]}), REFUND)
    [data] = told(command, "show", VAT.id)
    assert data["token"] in command("show", VAT.id).out
    verbs = ("list", "search VAT", f"show {VAT.id}", f"show {VAT.id} --versions")
    for words in (*verbs, *(f"{it} --json" for it in verbs), f"forget {data['token']} --yes"):
        done = command(*words.split())
        assert (done.code, TOKEN in done.out + done.errors) == (0, False), words
    assert ids(command, "list") == [REFUND.id]
    for words in ("list --forgotten", f"restore {VAT.id} -n", f"restore {VAT.id} --yes"):
        done = command(*words.split())
        assert (done.code, TOKEN in done.out + done.errors) == (0, False), words


def test_no_secret_that_is_in_a_session_or_a_fragment_is_shown(
    log: bytes, project: Path, room: Room, command: Command
) -> None:
    action = Action(id="a1", kind="command", content=SECRET, result=SECRET)
    session = replace(a_session(1, goal=SECRET, summary=SECRET), tags=(TOKEN,))
    keep(open_sessions(project, SETTINGS), [(session, [action])])
    with room.engine.writing() as writing:
        writing.add([replace(a_fragment("secret01", f"refund {SECRET}"), keywords=(TOKEN,))])
        writing.put_links([Link(from_id="secret01", to_id="redis001")])
        writing.note([Version(fragment_id="secret01", content=SECRET)])
    for words in (
        *("list", "search refund", "show 1 secret01", "show redis001 secret01 --versions"),
        "forget 1 secret01 --yes",
    ):
        for more in ((), ("--json",)) if "--yes" not in words else ((),):
            done = command(*words.split(), *more)
            assert (done.code, TOKEN in done.out + done.errors) == (0, False), words


# topics


def test_topics_are_counted_and_those_that_may_be_one_are_named(
    command: Command, shop: Path
) -> None:
    assert command("topics").lines == [
        f"  records  principle  {'last':<{len(day_text(NOW))}}  topic",
        f"        1          0  {day_text(NOW)}  payment",
        f"        1          0  {day_text(LATER)}  결제-환불",
        f"        1          1  {day_text(LAST)}  payments",
        "",
        "Topics: 3, records: 3.",
        "[payment] and [payments] may be the same topic: same beginning: payment.",
        "To make two of them one: `python cli.py topics rename OLD NEW`.",
    ]


def test_topics_come_as_data(command: Command, shop: Path) -> None:
    told = command("topics", "--json").told
    assert told["topics"][2] == {
        "topic": "payments",
        "records": 1,
        "principles": 1,
        "last": "2026-03-03T09:00:00+00:00",
    }
    pair = {"topic": "payment", "other": "payments", "reason": "prefix", "shared": "payment"}
    assert told["similar"] == [pair]


def test_only_the_first_similar_pairs_are_named(command: Command, project: Path) -> None:
    write(project, *(a_record("gap", topic=f"auth{at}") for at in range(6)))
    assert command("topics").lines[-2:] == [
        "Pairs not shown: 5. Use --json to list all of them.",
        "To make two of them one: `python cli.py topics rename OLD NEW`.",
    ]
