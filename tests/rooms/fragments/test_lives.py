"""Plays every life of `tests/stories/lives` in a file and on a server: see `lives.py`.

Those of a team are on a server alone, where each agent has an own room.
"""

from pathlib import Path

import pytest

from tests.rooms.fragments.lives import LIVES, Life
from tests.stories.story import Story, held, read_stories
from tests.support.fragments_room import Clock, a_room
from tests.support.team_engines import kept_in as kept_in

STORIES = [(path, story) for path in sorted(LIVES.glob("*.txt")) for story in read_stories(path)]


def lives(*, of_a_team: bool) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "story",
        [
            pytest.param(story, id=f"{path.stem}: {story.name}")
            for path, story in STORIES
            if (story.rooms == "team") is of_a_team
        ],
    )


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
