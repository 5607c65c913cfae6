"""`cli.py export` and `cli.py import`: lessons to and from other formats, tools and projects."""
