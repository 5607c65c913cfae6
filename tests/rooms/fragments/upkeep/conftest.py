"""Gives the tests of the upkeep a room and its clock."""

from tests.support.fragments_room import clock as clock
from tests.support.fragments_room import room as room
