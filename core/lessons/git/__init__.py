"""What git knows of the log: former versions, dates and authors."""
