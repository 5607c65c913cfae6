"""Shows a visitor what the memory does, with the real server and the real hook: one story of two
days, or with `--full` all steps from an empty memory to a compacted one.

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

from commands.demo.scenes import play_scenes
from commands.demo.stage import SERVER, DemoFailedError, ScratchProject, Screen
from commands.demo.story import tell_story
from commands.demo.words import word
from commands.terminal.console import add_examples, explain
from core.messages import Language
from core.parser import language_here

COLUMNS = (60, 100)
STORY_COLUMNS = 80


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py demo`."""
    parser.add_argument("--full", action="store_true", help=explain("demo_full"))
    parser.add_argument("--keep", metavar="DIR", type=Path, help=explain("demo_keep"))
    add_examples(parser, "demo --full", "demo --keep demo-project")


def run(arguments: argparse.Namespace) -> int:
    """Play the demo in the language of the environment. Raises DemoFailedError."""
    demo(arguments.keep, lang=language_here(), full=arguments.full)
    return 0


def demo(
    keep: Path | None = None,
    *,
    lang: Language = "en",
    full: bool = False,
    server: Path = SERVER,
    out: TextIO | None = None,
) -> None:
    """Play on `out`, in one screen or `full`. Raises DemoFailedError when something fails.

    All files lie in a temporary directory, which is removed. keep: a new or empty directory for the
    scratch project, which then stays.
    """
    columns = min(max(shutil.get_terminal_size((COLUMNS[1], 24)).columns, COLUMNS[0]), COLUMNS[1])
    columns = columns if full else min(columns, STORY_COLUMNS)
    screen = Screen(out or sys.stdout, columns, lang)
    play = play_scenes if full else tell_story
    try:
        if keep and keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
            raise DemoFailedError(reason=word(lang, "not_empty", path=str(keep)))
        with tempfile.TemporaryDirectory(prefix="sentinel-demo-") as scratch:
            project = ScratchProject.make((keep or Path(scratch, "web-shop")).absolute())
            asyncio.run(play(project, screen, lang, server, Path(scratch)))
    except OSError as error:
        raise DemoFailedError(reason=str(error)) from error
    if keep:
        screen.say(word(lang, "kept", path=str(keep.absolute())))
