"""Shows a visitor what the memory does, with the real server and hook: one story of two days.

Nothing is canned: an answer is what the server, a hook or a command printed, and each is checked
before it is shown.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TextIO

from commands.demo.stage import SERVER, DemoFailedError, ScratchProject, Screen
from commands.demo.story import tell_story
from commands.terminal.ask import add_examples, explain
from core.messages import say

LEAST_COLUMNS, MOST_COLUMNS = 60, 80


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py demo`."""
    parser.add_argument("--keep", metavar="DIR", type=Path, help=explain("demo_keep"))
    add_examples(parser, "demo", "demo --keep demo-project")


def run(arguments: argparse.Namespace) -> int:
    """Play the demo in the language of the person. Raises DemoFailedError."""
    demo(arguments.keep)
    return 0


def demo(
    keep: Path | None = None,
    *,
    server: Path = SERVER,
    out: TextIO | None = None,
) -> None:
    """Tell the story on `out`. Raises DemoFailedError when something fails.

    All files lie in a temporary directory, which is removed. keep: a new or empty directory for the
    scratch project, which then stays.
    """
    columns = shutil.get_terminal_size((MOST_COLUMNS, 24)).columns
    columns = min(max(columns, LEAST_COLUMNS), MOST_COLUMNS)
    screen = Screen(out or sys.stdout, columns)
    try:
        if keep and keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
            raise DemoFailedError(reason=say("demo.not_empty", path=str(keep)))
        with tempfile.TemporaryDirectory(prefix="sentinel-demo-") as scratch:
            project = ScratchProject.make((keep or Path(scratch, "web-shop")).absolute())
            asyncio.run(tell_story(project, screen, server, Path(scratch)))
    except OSError as error:
        raise DemoFailedError(reason=str(error)) from error
    if keep:
        screen.say(say("demo.kept", path=str(keep.absolute())))
