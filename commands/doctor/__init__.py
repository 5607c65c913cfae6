"""`cli.py doctor`: what is wrong with a memory log or around it, and its repair."""
