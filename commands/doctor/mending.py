"""Writes the commands that put right what the doctor has found, as they can be typed."""

import os
import sys

from commands.setup.here import HERE, installed, runner_of
from commands.setup.hooks import command_line


def line_of(*words: str) -> str:
    """Return these words as a line for a shell of this system."""
    return command_line(words, windows=os.name == "nt")


def cli_line(*words: str) -> str:
    """Return the line that carries out a command of this program, wherever it is typed."""
    runner = runner_of(sys.executable, os.environ) or (sys.executable,)
    here = installed(runner, str(HERE), windows=os.name == "nt")
    return line_of(*here.runner, here.cli, *words)
