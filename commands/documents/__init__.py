"""What every file written for people shares: its facts, its markup, its way to the disk."""
