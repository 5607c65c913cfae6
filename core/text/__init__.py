"""Tools for any text: tokens, ranking, English words."""
