"""Stands for the installed package in an editable installation: its modules are the checkout's."""

from pathlib import Path

__path__ = [str(Path(__file__).parents[4])]
