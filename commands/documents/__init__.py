"""Writes the files that people read: markup, facts of a record, the way to the disk."""
