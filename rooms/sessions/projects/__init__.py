"""Lets a user's projects find each other's sessions: who takes part, their hints, the search."""
