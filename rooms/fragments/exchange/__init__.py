"""Fragments as documents, and fragments out of documents and databases of others."""
