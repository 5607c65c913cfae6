"""What git knows of the memory log: former versions, dates and authors."""
