"""Adds to the page of `cli.py view` the fragments of the user, where there are any."""
