"""Takes a fragment into the memory log of a project, or back."""
