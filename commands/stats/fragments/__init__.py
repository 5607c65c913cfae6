"""Tells in `cli.py stats` how many fragments a user has, where there are any."""
