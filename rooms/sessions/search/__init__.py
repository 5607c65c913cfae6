"""Finds sessions: their index in the database, the order of the hits, what resembles a goal."""
