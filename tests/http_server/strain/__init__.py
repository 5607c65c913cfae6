"""Tests the server under strain: broken messages, and processes that are killed."""
