"""Tests that commands find the fragments of a user where the room finds them, without it."""

import sys
from pathlib import Path

import pytest

from commands.terminal.rooms_here import has_fragments
from core.settings import Settings
from rooms.fragments.errors import ConfigError
from rooms.fragments.room import open_room
from tests.support.fragment_samples import keep_fragments

PLACES = ("", "  ", "{}/memory.db", "{}", "{}/other.db", " {}/other.db ", "~/other.db", "{}/none/x")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "name", ["", "memory.db", "other.db", ".local/share/sentinel-memory/memory.db"]
)
def test_the_same_file_is_looked_for_as_the_room_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, name: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    if name:
        keep_fragments(tmp_path / name, []).close()
    environment = {"SENTINEL_MEMORY_FRAGMENTS": place.format(tmp_path)}
    if sys.platform == "linux" or place.strip():
        room = open_room(Settings(), environment)
        assert has_fragments(environment) == room.engine.exists()


def test_a_place_that_is_none_is_left_to_the_room_to_refuse() -> None:
    environment = {"SENTINEL_MEMORY_FRAGMENTS": "relative/memory.db"}
    assert has_fragments(environment)
    with pytest.raises(ConfigError):
        open_room(Settings(), environment)
