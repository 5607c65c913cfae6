"""The upkeep of fragments: their ageing, order, counts and repair."""
