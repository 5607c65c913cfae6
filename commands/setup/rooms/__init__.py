"""Knows the rooms of the memory that clients are set up for, and asks which they shall be."""
