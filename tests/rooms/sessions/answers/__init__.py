"""Tests of what the tools of the sessions answer."""
