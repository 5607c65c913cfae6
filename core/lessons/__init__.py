"""The memory log: one record, its line, the rules of change, and the file."""
