"""Finds fragments: by keywords, by terms, by meaning, and along their links."""
