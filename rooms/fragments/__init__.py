"""Keeps knowledge across projects: facts, decisions, errors, preferences, procedures, relations."""
