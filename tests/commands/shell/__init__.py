"""Tests the commands about the command line itself."""
