"""Files that are replaced whole, and the lock that writers take."""
