"""Serves the rooms over HTTP: the program, its sessions, its limits, and what operators look at."""
