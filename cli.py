# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "fastmcp>=4.1,<5",
#     "filelock>=4,<5",
# ]
# ///
"""The face for people: `python cli.py COMMAND`; without a command it prints what there is."""

import argparse
import importlib
import io
import sys
from collections.abc import Sequence

# One line for each command: its name, the module behind it, what it does. The module offers
# `add_arguments(parser)` and `run(arguments) -> int`, and is imported only when it is called.
COMMANDS = {
    "demo": ("faces.demo", "play the loop of search, log and compact on a scratch project"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out one command; its exit code. Wrong arguments end in SystemExit(2)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # Windows would write its code page into a pipe
            stream.reconfigure(encoding="utf-8", errors="replace")
    given = sys.argv[1:] if argv is None else list(argv)
    parser = argparse.ArgumentParser(prog="cli.py", description="Sentinel-Memory, for people")
    offered = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    face = None
    for name, (module, summary) in COMMANDS.items():
        command = offered.add_parser(name, help=summary, description=f"{summary.capitalize()}.")
        if given[:1] == [name]:
            face = importlib.import_module(module)
            face.add_arguments(command)
    arguments = parser.parse_args(given)
    if face is None:
        parser.print_help()
        return 0
    return int(face.run(arguments))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
