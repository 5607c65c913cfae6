"""Writes the commands that put right what the doctor has found, as they can be typed."""

import os
import sys

from commands.setup.files import Installation, Level
from commands.setup.here import HERE, commands_here, installed, runner_of
from commands.setup.hooks import command_line


def line_of(*words: str) -> str:
    """Return these words as a line for a shell of this system."""
    return command_line(words, windows=os.name == "nt")


def this_program() -> Installation:
    """Return what starts this program, as setup would write it down."""
    on_path = commands_here(sys.executable, os.environ)
    runner = runner_of(sys.executable, os.environ) or (sys.executable,)
    return on_path or installed(runner, str(HERE), windows=os.name == "nt")


def cli_line(*words: str) -> str:
    """Return the line that carries out a command of this program, wherever it is typed."""
    return line_of(*this_program().cli, *words)


def setup_line(clients: list[str], level: Level, root: str, without: list[str]) -> str:
    """Return the line that sets up clients at a level, without the parts that a user left out."""
    options = ["--user"] if level == "user" else []
    options += [f"--no-{part}" for part in without]
    named = [] if level == "user" else ["--project", root]
    return cli_line("setup", *clients, *options, *named)
