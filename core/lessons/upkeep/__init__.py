"""Puts a memory log right: finds and repairs damage, takes secrets out."""
