"""Works on any text: one plain form, tokens, relevance, wording."""
