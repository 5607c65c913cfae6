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
from typing import TYPE_CHECKING, Any

if sys.version_info < (3, 11):  # noqa: UP036 - pre-commit runs any python3
    print(
        "cli.py needs Python 3.11 or newer, and this is " + sys.version.split()[0], file=sys.stderr
    )
    sys.exit(0 if sys.argv[1:2] == ["hook"] else 2)  # a hook that ends with 2 vetoes the action
if sys.flags.safe_path or __package__:  # hidden by `python -I`; or installed, below sentinel_memory
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

if TYPE_CHECKING:
    from core.parser import Parser

from core.errors import DiskError, SentinelError
from core.messages import language_of, speaking
from core.program import CLI, NAME, version

# For each command its module in commands/, and the group in which `--help` lists it. The module
# defines `add_arguments(parser)` and `run(arguments) -> int`, and is imported only when it runs.
COMMANDS = {
    "setup": ("setup.setup", "start"),
    "demo": ("demo.demo", "start"),
    "doctor": ("doctor.doctor", "start"),
    "list": ("records.list", "read"),
    "search": ("records.search", "read"),
    "show": ("records.show", "read"),
    "topics": ("records.topics", "read"),
    "sessions": ("sessions.sessions", "read"),
    "fragments": ("fragments.fragments", "read"),
    "view": ("view.view", "read"),
    "stats": ("stats.stats", "read"),
    "add": ("add.add", "change"),
    "edit": ("records.edit", "change"),
    "forget": ("records.forget", "change"),
    "import": ("exchange.importing", "change"),
    "restore": ("records.restore", "history"),
    "report": ("report.report", "team"),
    "scan": ("scan.scan", "team"),
    "export": ("exchange.export", "team"),
    "keys": ("keys.keys", "team"),
    "hook": ("hook.hook", "plumbing"),
    "help": ("shell.help", "plumbing"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out one command and return its exit code. Wrong arguments: SystemExit(2).

    Prints every SentinelError; the exit code is then `FAILED` of the command's module, else 1.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # Windows would use its code page
            stream.reconfigure(encoding="utf-8", errors="replace")
    given = _command_first(sys.argv[1:] if argv is None else list(argv)) or ["help"]
    if given[:1] == ["hook"] and not {"-h", "--help"} & {*given}:
        gc.disable()  # the process ends before there is anything to collect
        return int(importlib.import_module("commands.hook.hook").main(given[1:]))
    with speaking(language_of(os.environ, for_person=True)):
        return _carry_out(given)


def _carry_out(given: list[str]) -> int:
    parser = parsers(given[0])[""]
    arguments = parser.parse_args(given)
    if not arguments.command:  # argparse would miss it before it looks at an unknown option
        parser.error("the following arguments are required: COMMAND")
    chosen = _module(arguments.command)
    try:
        return int(chosen.run(arguments))
    except SentinelError as error:
        _print_error(error)
        return int(getattr(chosen, "FAILED", 1))


def _command_first(given: list[str]) -> list[str]:
    """Return the arguments with a `--project` that stands before the command behind it."""
    first, rest = "".join(given[:1]), given[1:]
    if first in ("-p", "--project"):
        value, rest = "".join(rest[:1]), rest[1:]
    elif first.startswith(("-p", "--project=")):
        value = first.partition("=")[2] if first.startswith("--") else first[2:]
    else:
        return given
    return [rest[0], f"--project={value}", *rest[1:]] if rest else given


def parsers(*names: str) -> "dict[str, Parser]":
    """Return by its name the parser of each command, and as "" that of all of them.

    names: those of which the options are wanted, too.
    """
    from commands.shell.help import overview  # a hook runs at every step of an agent,
    from commands.terminal.ask import summary_of  # so each import costs
    from core.parser import Parser, add_project, add_version

    parser = Parser(prog=CLI, page=lambda: overview(COMMANDS))
    add_project(parser)
    add_version(parser, lambda: f"{NAME} {version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    found = {"": parser}
    for name in COMMANDS:
        found[name] = commands.add_parser(name, description=summary_of(f"cmd_{name}"))
        found[name].set_defaults(parsers=parsers, names=[*COMMANDS])
        if name in names:
            _module(name).add_arguments(found[name])
    return found


def _module(name: str) -> Any:
    return importlib.import_module(f"commands.{COMMANDS[name][0]}")


def _print_error(error: SentinelError) -> None:
    from commands.terminal.safe_text import complain

    with speaking(language_of(os.environ, for_person=True)):
        complain(str(error))


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
        _print_error(DiskError("output", reason=error.strerror or type(error).__name__))
        code = 1
    if sys.argv[1:2] == ["hook"] and not code:
        os._exit(code)  # taking Python apart costs a quarter of what a hook may
    sys.exit(code)


if __name__ == "__main__":
    run()
