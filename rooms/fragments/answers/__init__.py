"""What a model reads of the fragments: lines of text, or the declared objects."""
