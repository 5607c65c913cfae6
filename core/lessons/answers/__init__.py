"""What a model reads of the log: answers of tools, briefings, lessons before an action."""
