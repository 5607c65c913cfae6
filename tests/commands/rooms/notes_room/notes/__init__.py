"""A room that keeps notes: a new room is one folder, without a change elsewhere."""
