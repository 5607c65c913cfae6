"""Answers whether the memory helps: what it holds and costs, what came back, what hooks showed.

It only reads: the log, and the notes that hooks of this machine keep outside the project.
"""

import argparse
import os
import time

from commands.hook.journal import sessions_in
from commands.stats.data import as_json
from commands.stats.figures import count
from commands.stats.lines import lines_of
from commands.terminal.console import add_project, add_threshold, open_memory
from commands.terminal.safe_text import plain_json
from core.lessons.answers.frame import Frame
from core.project import state_directory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py stats`."""
    add_project(parser)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    add_threshold(parser)


def run(arguments: argparse.Namespace) -> int:
    """Count and print; return 0. Raises SentinelError when the log cannot be read."""
    opened = open_memory(arguments)
    root = str(opened.project.root)
    frame = Frame(project=root, settings=opened.settings, own_threshold=arguments.threshold)
    sessions = sessions_in(state_directory(root, os.environ))
    stats = count(opened.store.read_bytes(), sessions, frame, now_s=time.time())
    print(plain_json(as_json(stats)) if arguments.json else "\n".join(lines_of(stats)))
    return 0
