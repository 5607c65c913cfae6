"""`cli.py setup`: server entry, rules and hooks written into a client's files, or taken out."""
