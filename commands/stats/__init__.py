"""`cli.py stats`: whether the memory helps, in figures."""
