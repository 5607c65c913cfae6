"""Tests of the door: who may come in."""
