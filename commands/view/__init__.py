"""`cli.py view`: shows the memory as one page in the browser."""
