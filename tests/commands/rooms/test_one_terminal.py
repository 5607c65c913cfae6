"""Tests what is counted of each room."""

from rooms.fragments.room import Room
from rooms.sessions.store import SessionStore
from tests.support.cli_process import Command

# figures


def test_the_figures_say_what_came_of_the_sessions(
    log: bytes, sessions: SessionStore, room: Room, command: Command
) -> None:
    lines = command("stats").lines
    section = [
        "Sessions of this project: 2",
        "  By status: coding 2.",
        "  With something that failed or is in the way: 0. Failed approaches: 0.",
        "  Continued by a later session: 1.",
    ]
    assert command("stats", "--room", "sessions").lines == section
    at = lines.index(section[0])
    assert lines[at : at + len(section)] == section
    told = command("stats", "--json").told
    assert told["sessions"] == {
        "sessions": 2,
        "statuses": {"coding": 2},
        "agents": {"": 2},
        "with_warnings": 0,
        "failed_approaches": 0,
        "continued": 1,
    }
    assert [*command("stats", "--json", "--room", "fragments").told] == ["project", "fragments"]


def test_a_room_that_holds_nothing_says_what_it_is(log: bytes, command: Command) -> None:
    assert command("stats", "--room", "sessions").lines[1] == "  This project has no sessions yet."
    assert command("stats", "--room", "fragments").lines[1] == "  There are no fragments yet."
