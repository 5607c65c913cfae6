"""Connections to a PostgreSQL server, for whatever keeps something there."""
