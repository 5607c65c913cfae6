"""`cli.py report`: tells a pull request what it does to the memory."""
