"""What `cli.py` can do, a folder for each command, and beside them what the commands share."""
