"""Keeps fragments in one SQLite file of a person."""
