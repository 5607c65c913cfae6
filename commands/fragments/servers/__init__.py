"""Actions on the server that keeps the fragments of a team."""
