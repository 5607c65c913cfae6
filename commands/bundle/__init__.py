"""`cli.py bundle`: the server as one file for Claude Desktop."""
