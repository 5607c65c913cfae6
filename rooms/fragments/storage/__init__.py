"""Keeps fragments: one set of SQL, and what SQLite and PostgreSQL say otherwise."""
