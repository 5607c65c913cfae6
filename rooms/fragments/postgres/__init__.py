"""The fragments of a team, kept by a PostgreSQL server."""
