"""`cli.py hook`: a client's event answered with the lessons that it needs."""
