"""Looks after the database of a room: damage, secrets that it holds, bytes of what was deleted."""
