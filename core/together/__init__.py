"""What the rooms of the memory give to each other, without knowing each other."""
