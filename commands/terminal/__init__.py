"""Knows the screen of a person, makes text safe for it, and asks who sits at it."""
