"""Tests that a room which nobody has heard of is one folder, and appears in every command."""

import sys
from pathlib import Path
from typing import Any

import pytest

import rooms
from tests.stories.story import Story, held, read_stories
from tests.support.tables import ROOT

STORIES = read_stories(ROOT / "tests/data/commands/fourth_room.txt")


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_a_fourth_room(story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = str(ROOT / "tests/commands/rooms/notes_room")
    monkeypatch.setattr(rooms, "__path__", [*rooms.__path__, beside])
    for name in ("shop", "home"):
        (tmp_path / name).mkdir()
    calls_no_tool: Any = None
    try:
        held(story, tmp_path / "shop", tmp_path / "home", calls_no_tool)
    finally:
        for name in [it for it in sys.modules if it.startswith("rooms.notes")]:
            del sys.modules[name]
