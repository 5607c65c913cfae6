"""Tests of the server: who may come in."""
