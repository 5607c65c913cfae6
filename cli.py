#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "fastmcp>=4.1,<5",
#     "filelock>=4,<5",
# ]
# ///
"""Runs one command for a person, git, CI or a client's hook: `python cli.py COMMAND`."""

import gc
import importlib
import io
import os
import sys
from collections.abc import Sequence

if sys.version_info < (3, 11):  # noqa: UP036 - pre-commit runs any python3
    print(
        "cli.py needs Python 3.11 or newer, and this is " + sys.version.split()[0], file=sys.stderr
    )
    sys.exit(0 if sys.argv[1:2] == ["hook"] else 2)  # a hook that ends with 2 vetoes the action
if sys.flags.safe_path or __package__:  # hidden by `python -I`; or installed, below sentinel_memory
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from core.errors import OutputError, SentinelError
from core.messages import CLI

# For each command its module in commands/ and a summary. The module defines
# `add_arguments(parser)` and `run(arguments) -> int`, and is imported only when it runs.
COMMANDS = {
    "bundle": ("bundle.bundle", "build the server as an .mcpb file for Claude Desktop"),
    "demo": ("demo.demo", "play the loop of search, log and compact on a scratch project"),
    "doctor": ("doctor.doctor", "check a memory log and what is around it; repair it with --fix"),
    "edit": ("records.edit", "correct a record in an editor"),
    "export": (
        "exchange.export",
        "write the memory as a document, as data, or into the files of a client",
    ),
    "forget": ("records.forget", "delete records, once they were shown and confirmed"),
    "history": ("records.history", "show what became of one record, commit by commit"),
    "hook": ("hook.hook", "answer an event of a client with the records that it needs"),
    "import": ("exchange.importing", "take lessons of other tools or projects into the memory"),
    "list": ("records.list", "list the records, the newest first, in one line each"),
    "onboard": ("onboard.onboard", "write one page of the memory for a new team member"),
    "report": ("report.report", "tell what a change does to the memory, for a pull request"),
    "restore": ("records.restore", "bring back a record, or an older version of it, from git"),
    "scan": ("scan.scan", "look for secrets in the log, in files or in git's history"),
    "search": ("records.search", "list the records that fit some words, the most relevant first"),
    "setup": ("setup.setup", "set up a client for a project: server entry, rules and hooks"),
    "show": ("records.show", "show whole records"),
    "stats": ("stats.stats", "show whether the memory helps: size, cost, gaps that came back"),
    "topics": ("records.topics", "list the topics, and which may be one; rename or merge them"),
    "uncompact": ("records.uncompact", "bring back the originals of a principle from git"),
    "view": ("view.view", "show the memory as one page in the browser, or write it to a file"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out one command and return its exit code. Wrong arguments: SystemExit(2).

    Prints every SentinelError; the exit code is then `FAILED` of the command's module, else 1.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # Windows would use its code page
            stream.reconfigure(encoding="utf-8", errors="replace")
    given = sys.argv[1:] if argv is None else list(argv)
    if given[:1] == ["hook"] and not {"-h", "--help"} & {*given}:
        gc.disable()  # the process ends before there is anything to collect
        return int(importlib.import_module("commands.hook.hook").main(given[1:]))
    from core.parser import Parser  # a hook runs at every step of an agent, so each import costs

    parser = Parser(prog=CLI, description="Sentinel-Memory, for people")
    offered = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    chosen = None
    for name, (module, summary) in COMMANDS.items():
        command = offered.add_parser(name, help=summary, description=_sentence(summary))
        if given[:1] == [name]:
            chosen = importlib.import_module(f"commands.{module}")
            chosen.add_arguments(command)
    arguments = parser.parse_args(given)
    if chosen is None:
        parser.print_help()
        return 0
    try:
        return int(chosen.run(arguments))
    except SentinelError as error:
        _print_error(error)
        return int(getattr(chosen, "FAILED", 1))


def _sentence(summary: str) -> str:
    return f"{summary[:1].upper()}{summary[1:]}."


def _print_error(error: SentinelError) -> None:
    from commands.terminal.safe_text import complain
    from core.settings import read_settings

    complain(error.text(read_settings(os.environ).lang))


def _discard_output() -> None:
    """Send unwritten output nowhere, or Python would try to write it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run() -> None:
    """Carry out the command of this process and end it. Raises SystemExit."""
    try:
        code = main()
        if sys.stdout:  # None if the caller closed it
            sys.stdout.flush()
    except KeyboardInterrupt:
        code = 0 if sys.argv[1:2] == ["hook"] else 130
    except BrokenPipeError:  # the reader, such as `head`, is done
        _discard_output()
        code = 0
    except OSError as error:
        # Only a stream's error names no file. A hook reports its own errors.
        if error.filename is not None or sys.argv[1:2] == ["hook"]:
            raise
        _discard_output()
        _print_error(OutputError(reason=error.strerror or type(error).__name__))
        code = 1
    if sys.argv[1:2] == ["hook"] and not code:
        os._exit(code)  # taking Python apart costs a quarter of what a hook may
    sys.exit(code)


if __name__ == "__main__":
    run()
