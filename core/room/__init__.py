"""Shared by the rooms of sessions and fragments: databases, searching, copies, documents."""
