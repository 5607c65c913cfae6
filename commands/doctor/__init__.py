"""`cli.py doctor`: finds and repairs what is wrong with a memory log or around it."""
