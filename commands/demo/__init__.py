"""`cli.py demo`: the loop of search, log and compact, played on a scratch project."""
