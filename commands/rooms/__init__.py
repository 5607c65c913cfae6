"""Carries the commands for the log over to the other rooms: sessions and fragments.

Nothing of a room is loaded where a project has no sessions, and its user no fragments.
"""
