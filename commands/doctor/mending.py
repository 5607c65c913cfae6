"""Writes the commands that put right what the doctor has found, as they can be typed."""

import os
import sys

from commands.setup.client_table import CLIENTS
from commands.setup.files import Installation, Level
from commands.setup.here import (
    HERE,
    commands_here,
    installed,
    machine_here,
    runner_of,
    trace_of,
)
from commands.setup.hooks import command_line
from core.config import CONTEXT_DIRECTORY, Project, no_project_kind
from core.messages import Facts


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


def way_to_a_client(project: Project) -> tuple[str, Facts]:
    """Return the sentence, and its facts, for a project whose server no client starts."""
    if no_project_kind(project.folder, os.environ):
        return "head_no_project", {}
    machine = machine_here(project)
    is_known = any(trace_of(client, machine) for client in CLIENTS)
    is_named = project.source == "--project"
    option = f" {line_of('--project', str(project.root))}" if is_named else ""
    return "head_no_client" if is_known else "head_unknown_client", {"option": option}


def line_to_add(project: Project) -> str:
    """Return the line that gives git the memory of a project, from the working directory."""
    is_here = os.path.realpath(os.getcwd()) == os.path.realpath(project.root)
    elsewhere = [] if is_here else ["-C", str(project.root)]
    return line_of("git", *elsewhere, "add", CONTEXT_DIRECTORY)
