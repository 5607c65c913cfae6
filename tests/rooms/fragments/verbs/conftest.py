"""Gives the tests of the verbs a room in a file and on a server, and its clock."""

from tests.support.both_engines import kept_in as kept_in
from tests.support.fragments_room import clock as clock
from tests.support.fragments_room import room as room
