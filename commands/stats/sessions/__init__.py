"""Tells in `cli.py stats` how many sessions a project has and what came of them."""
