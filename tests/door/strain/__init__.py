"""Tests the door under strain: broken messages, and processes that are killed."""
