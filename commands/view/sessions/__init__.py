"""Adds to the page of `cli.py view` what the project's sessions remember, where it has any."""
