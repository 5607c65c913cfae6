"""Tests that a session is found by what it says."""
