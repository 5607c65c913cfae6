"""Saves a lesson of a person, who has no agent to do it."""
