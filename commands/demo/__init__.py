"""`cli.py demo`: plays search, log and compaction on a scratch project."""
