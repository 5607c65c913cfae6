"""Carries all rooms in one file, and takes them from there."""
