"""A room that keeps notes, so that tests see what a new room takes: this folder and no change."""
