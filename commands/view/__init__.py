"""`cli.py view`: the memory as one page for the browser."""
