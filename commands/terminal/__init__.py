"""The terminal of a person: its screen, safe text, questions."""
