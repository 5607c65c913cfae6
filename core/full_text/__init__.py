"""Finds texts by an index of SQLite: what is put into it, and which of them answer a question."""
