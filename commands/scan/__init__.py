"""`cli.py scan`: secrets in the log, in files and in git's history."""
