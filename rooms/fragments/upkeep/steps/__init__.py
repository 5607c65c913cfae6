"""Holds the eleven steps of the upkeep, each with its own figures."""
