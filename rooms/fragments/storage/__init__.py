"""Keeps fragments in SQLite or PostgreSQL, by one set of SQL."""
