"""Tests of the commands for keys."""
