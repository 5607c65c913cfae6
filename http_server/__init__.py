"""Serves the memory over HTTP: login, limits, sessions, routes."""
