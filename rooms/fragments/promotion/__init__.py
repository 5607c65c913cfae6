"""Hands what has earned it over to the memory log of a project, and takes it back."""
