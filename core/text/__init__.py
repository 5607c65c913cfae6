"""Works on any text: estimates tokens, ranks by relevance, knows English words."""
