"""What git knows of the project itself, not of its memory log."""
