"""`cli.py report`: what a change does to the memory, for a pull request."""
