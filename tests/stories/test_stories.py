"""Plays every story: in this process, in the long half over stdio and over HTTP as well.

Only stories that call a tool go over stdio. Those with a step on files, git or the environment stay
off HTTP, where the server is elsewhere; so does `as`, since a key says there who calls. All rooms
are served over HTTP, the fragments out of PostgreSQL.
"""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.stories.story import Story, held, read_stories
from tests.stories.wires import InProcess, Servers, emptied_file
from tests.support.team_engines import EMPTIED
from tests.support.team_engines import team_server as team_server

FILES = sorted(Path(__file__).parent.glob("*.txt"))
STORIES = {path: read_stories(path) for path in FILES}


def params(is_played: Callable[[Story], bool], *, is_long: bool = False) -> list[Any]:
    return [
        pytest.param(
            path,
            story,
            id=f"{path.stem}: {story.name}",
            marks=pytest.mark.long if is_long or story.is_long else (),
        )
        for path, stories in STORIES.items()
        for story in stories
        if is_played(story)
    ]


@pytest.fixture(scope="class")
def in_process(request: pytest.FixtureRequest) -> Iterator[InProcess]:
    wire = InProcess(request.cls.rooms)
    yield wire
    wire.close()


class InRooms:
    """The stories of some rooms: in one class, as only their tests stay together in any order.

    Each change of rooms makes a server anew, since a room knows which others are beside it.
    """

    rooms = ""

    def test_a_story(self, path: Path, story: Story, in_process: InProcess, tmp_path: Path) -> None:
        project, home = tmp_path / "shop", tmp_path / "home"
        project.mkdir()
        home.mkdir()
        held(story, project, home, in_process)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.cls and issubclass(metafunc.cls, InRooms):
        rooms = metafunc.cls.rooms
        metafunc.parametrize(("path", "story"), params(lambda it: it.rooms == rooms))


for _rooms in dict.fromkeys(story.rooms for stories in STORIES.values() for story in stories):
    _name = "Test" + "And".join(it.title().replace(":", "") for it in _rooms.split(","))
    globals()[_name] = type(_name, (InRooms,), {"rooms": _rooms})


@pytest.fixture(scope="module")
def over_stdio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("stdio")
    wire = Servers(folder, lambda: emptied_file(folder / "memory.db"))
    yield wire
    wire.close()


@pytest.fixture(scope="module")
def over_http(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Servers]:
    @cache
    def dsn() -> str:
        return str(request.getfixturevalue("team_server").new_dsn())

    def emptied() -> str:
        with psycopg.connect(dsn()) as connection:
            connection.execute(EMPTIED)
        return dsn()

    wire = Servers(tmp_path_factory.mktemp("http"), emptied, is_http=True)
    yield wire
    wire.close()


@pytest.mark.parametrize(("path", "story"), params(lambda it: it.calls_a_tool, is_long=True))
def test_a_story_over_stdio(path: Path, story: Story, over_stdio: Servers) -> None:
    over_stdio.begin(story)
    held(story, over_stdio.project, over_stdio.home, over_stdio)


@pytest.mark.parametrize(
    ("path", "story"), params(lambda it: it.calls_a_tool and not it.is_local, is_long=True)
)
def test_a_story_over_http(path: Path, story: Story, over_http: Servers) -> None:
    over_http.begin(story)
    held(story, over_http.project, over_http.home, over_http)
