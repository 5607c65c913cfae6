"""Gives the tests of saving a room and its clock."""

from tests.support.fragments_room import clock as clock
from tests.support.fragments_room import room as room
