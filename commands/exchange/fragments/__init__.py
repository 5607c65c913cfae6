"""Takes fragments from elsewhere into the room of this person."""
