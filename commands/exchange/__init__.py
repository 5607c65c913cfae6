"""`cli.py export` and `cli.py import`: moves lessons to and from other formats and tools."""
