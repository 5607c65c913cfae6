"""Tests the rooms of the memory in setup."""
