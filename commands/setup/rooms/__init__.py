"""Knows the rooms of the memory that clients are set up for."""
