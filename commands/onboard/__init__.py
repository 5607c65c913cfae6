"""`cli.py onboard`: one page of the memory for a new team member."""
