"""Tests the fragments of a team under strain."""
