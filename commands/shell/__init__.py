"""The command about the command line itself: help."""
