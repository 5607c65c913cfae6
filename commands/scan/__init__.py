"""`cli.py scan`: finds secrets in the log, in files and in git's history."""
