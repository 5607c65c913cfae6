"""`cli.py view`: the memory as one page for a browser."""
