"""`cli.py stats`: shows in figures whether the memory helps."""
