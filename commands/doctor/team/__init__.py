"""Looks at what a team has in common: a server that clients reach by its URL."""
