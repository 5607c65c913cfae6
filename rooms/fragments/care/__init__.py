"""Looks after the file of the fragments: what is damaged in it, and which secrets it holds."""
