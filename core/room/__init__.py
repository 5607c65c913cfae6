"""What the rooms of sessions and fragments share: databases, searching, copies, documents."""
