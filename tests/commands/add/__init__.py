"""Tests of the command that saves a lesson of a person."""
