"""Sets up clients for a server that others run, which they reach by its URL."""
