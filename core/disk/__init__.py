"""Replaces files whole, and locks them for one writer at a time."""
