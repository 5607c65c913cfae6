"""What brings a record back at an action: the files that it is about, and its triggers."""
