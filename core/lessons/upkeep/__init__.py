"""A log put right: damage found and repaired, secrets taken out, records joined."""
