"""`cli.py onboard`: writes one page of the memory for a new team member."""
