"""Plays stories of commands on fragments that a server keeps, as whoever runs it has them."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from tests.stories.story import Story, Wire, held, read_stories
from tests.support.cli_process import as_new
from tests.support.team_engines import TeamServer, team_server

__all__ = ["team_server"]  # a fixture

PASSWORD = "correct-horse-battery"
STORIES = read_stories(Path(__file__).with_name("team.txt"))


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(it, id=it.name, marks=[pytest.mark.long] if at else [])
        for at, it in enumerate(STORIES)
    ],
)
def test_commands_do_this_with_the_fragments_of_a_server(
    story: Story, team_server: TeamServer, tmp_path: Path
) -> None:
    places: dict[str, Callable[[], str]] = dict.fromkeys(("EMPTY", "OTHER"), team_server.empty_dsn)
    places["TABLES"] = lambda: team_server.new_dsn(password=PASSWORD)
    for sign, make in places.items():
        used = [it for it in story.steps if it.text.endswith(f"FRAGMENTS={sign}")]
        dsn = make() if used else ""
        for step in used:
            step.words = [word.replace(sign, dsn) for word in step.words]
    for name in ("shop", "home"):
        (tmp_path / name).mkdir()
    with as_new():
        told = held(story, tmp_path / "shop", tmp_path / "home", cast(Wire, None))  # calls no tool
    assert not [it.text for it in told if PASSWORD in it.text]
