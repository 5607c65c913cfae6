"""What a model reads of the sessions: lines of text, or the objects of the specification."""
