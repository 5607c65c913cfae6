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
from typing import Any, ClassVar

if sys.version_info < (3, 11):  # noqa: UP036 - pre-commit runs any python3
    print(
        "cli.py needs Python 3.11 or newer, and this is " + sys.version.split()[0], file=sys.stderr
    )
    sys.exit(0 if sys.argv[1:2] == ["hook"] else 2)  # a hook that ends with 2 vetoes the action
if sys.argv[1:2] == ["hook"]:

    def _end_hook(kind: type[BaseException], *_: object) -> None:
        """End a hook that failed outside its own `try`, for example while loading."""
        try:
            os.write(2, f"sentinel-memory hook: {kind.__name__}\n".encode())
        finally:
            os._exit(0)  # other codes veto the client's action

    sys.excepthook = _end_hook
if sys.flags.safe_path or __package__:  # hidden by `python -I`; or installed, below sentinel_memory
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from commands import Command
from core.errors import DiskError, SentinelError
from core.messages import language_of, use_language
from core.program import read_cwd

# Each command in the order of the help. A module is imported only when its command runs.
# fmt: off
COMMANDS = {
    "setup": Command("clients.setup:setup", "start",
        "setup_clients* setup_remove setup_user setup_rooms setup_no_rules setup_no_hooks"
        " setup_no_approvals setup_url setup_oauth yes/dry_run",
        ("setup", "setup claude-code cursor", "setup --dry-run")),
    "demo": Command("demo:demo", "start", "", ("demo",), has_project=False),
    "doctor": Command("doctor:doctor", "start",
        "doctor_fix yes/dry_run doctor_online json", ("doctor", "doctor --fix --dry-run")),
    "list": Command("rooms.read:list_items", "read", "room topic kind since limit forgotten json",
        ("list --topic auth --since 7d", "list --room sessions")),
    "search": Command("rooms.read:list_items", "read", "words+ room topic kind since limit json",
        ("search payment retry --kind principle", "search redis --room sessions")),
    "show": Command("rooms.read:show_items", "read",
        "any_id room versions json", ("show 3f2a --versions", "show '#12' k3fa9x2m")),
    "topics": Command("rooms.upkeep:list_topics", "read", "json", ("topics",)),
    "topics rename": Command("rooms.upkeep:rename_topic", "read",
        "topics_old topics_new yes/dry_run",
        ("topics rename login auth --dry-run", "topics rename login auth")),
    "view": Command("view.view:view", "read",
        "room public output force view_open", ("view -o memory.html",)),
    "stats": Command("stats:stats", "read", "room json", ("stats", "stats --room sessions")),
    "add": Command("rooms.lesson:add", "change",
        "add_topic add_missing add_lesson add_ask add_path add_when add_fragment yes/dry_run",
        ('add --topic ci --missing "Node version" --lesson "Use Node 22"', "add")),
    "edit": Command("rooms.lesson:edit", "change",
        "id add_topic add_missing add_lesson add_ask add_path add_when from yes",
        ('edit 3f2a --lesson "Use Node 24"', "edit 3f2a")),
    "forget": Command("rooms.read:forget_items", "change",
        "any_id room hard yes/dry_run", ("forget 3f2a --dry-run", "forget '#12' k3fa9x2m")),
    "import": Command("rooms.exchange:import_file", "change",
        "import_file room import_topic import_agent yes/dry_run",
        ("import backup.jsonl --dry-run", "import lessons.md --topic deploy")),
    "sessions archive": Command("rooms.upkeep:archive", "change",
        "sessions_before sessions_open yes/dry_run", ("sessions archive --before 1y --dry-run",)),
    "sessions share": Command("rooms.upkeep:share", "change",
        "sessions_off", ("sessions share", "sessions share --off")),
    "fragments pin": Command("rooms.upkeep:pin", "change",
        "fragments_id", ("fragments pin k3fa9x2m",)),
    "fragments unpin": Command("rooms.upkeep:pin", "change",
        "fragments_id", ("fragments unpin k3fa9x2m",)),
    "fragments consolidate": Command("rooms.upkeep:consolidate", "change",
        "json", ("fragments consolidate",)),
    "fragments embed": Command("rooms.upkeep:embed", "change", "", ("fragments embed",)),
    "fragments migrate": Command("rooms.upkeep:migrate", "change",
        "migrate_sql yes/dry_run", ("fragments migrate", "fragments migrate --sql")),
    "compact": Command("rooms.upkeep:compact", "change",
        "compact_topic", ("compact", "compact ci")),
    "restore": Command("rooms.read:restore_item", "history",
        "id room originals yes/dry_run", ("restore 3f2a --dry-run", "restore --originals 91bc")),
    "report": Command("report:report", "team",
        "report_range?/report_staged report_strict report_github report_output force json",
        ("report origin/main..HEAD", "report --staged"), error_code=2),
    "scan": Command("scan:scan", "team",
        "scan_paths*/scan_staged/scan_history/scan_redact json yes/dry_run",
        ("scan", "scan --staged", "scan --redact --dry-run"), error_code=2),
    "export": Command("rooms.exchange:export", "team",
        "output export_format room topic kind since public force export_block export_remove"
        " dry_run",
        ("export -o backup.jsonl", "export --topic deploy", "export --block AGENTS.md --dry-run")),
    "keys": Command("keys:list_keys", "team", "json", ("keys",), has_project=False),
    "keys add": Command("keys:add_key", "team",
        "keys_name keys_agent", ("keys add laptop", "keys add ci --agent ci"), has_project=False),
    "keys list": Command("keys:list_keys", "team", "json", ("keys list",), has_project=False),
    "keys remove": Command("keys:remove_key", "team", "keys_name yes/dry_run",
        ("keys remove laptop --dry-run", "keys remove laptop"), has_project=False),
    "hook": Command("hook.hook:main", "plumbing",  # which reads its arguments itself
        "hook_event hook_client hook_lang",
        ("hook session-start --client claude-code < event.json",)),
    "help": Command("options:show_help", "plumbing",
        "help_command", ("help list", "help topics rename"), has_project=False),
}
# fmt: on


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out one command and return its exit code. Wrong arguments: SystemExit(2)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # Windows would use its code page
            stream.reconfigure(encoding="utf-8", errors="replace")
    name, words = _command_of(sys.argv[1:] if argv is None else argv)
    if name == "hook" and not {"-h", "--help"} & {*words}:
        gc.disable()  # the process ends before there is anything to collect
        return int(importlib.import_module("commands.hook.hook").main(words))
    with use_language(language_of(os.environ, for_person=True)):
        from commands.options import first_page, parser_of, top_parser  # a hook needs none of it

        if not name:
            if words:
                parser = top_parser(COMMANDS)
                parser.parse_args(words)
                parser.error("the following arguments are required: COMMAND")
            print(first_page(COMMANDS), end="")
            return 0
        options, row = parser_of(name, COMMANDS).parse_args(words), COMMANDS[name]
        module, _, function = row.function.partition(":")
        try:
            return int(getattr(importlib.import_module(f"commands.{module}"), function)(options))
        except SentinelError as error:
            _print_error(error)
        except OSError as error:
            if error.filename is None and read_cwd():  # of a stream; see `run`
                raise
            reason, path = error.strerror or type(error).__name__, str(error.filename or os.curdir)
            _print_error(DiskError("system", path=path, reason=reason))
        except ImportError as error:
            if error.name != "_sqlite3":  # a Python can be built without it
                raise
            _print_error(DiskError("disk.no_sqlite"))
        return row.error_code


def _command_of(argv: Sequence[str]) -> tuple[str, list[str]]:
    """Return the command with its action, and its arguments."""
    name, options, words = "", list[str](), list(argv)
    while words:
        longer_name = f"{name} {words[0]}".lstrip()
        if words[0] in ("-p", "--project") and len(words) > 1:
            options, words = [*options, f"--project={words[1]}"], words[2:]
        elif words[0].startswith(("-p", "--project=")):
            options, words = [*options, words[0]], words[1:]
        elif any(f"{command} ".startswith(f"{longer_name} ") for command in COMMANDS):
            name, words = longer_name, words[1:]
        else:
            break
    return name, [*options, *words]


def _print_error(error: SentinelError) -> None:
    from commands.terminal.screen import complain, plain_lines

    with use_language(language_of(os.environ, for_person=True)):
        commands = str(error.facts.get("commands", ""))  # only these may be lines
        complain(str(error).removesuffix(commands), block=plain_lines(commands))


class _Output(io.FileIO):
    """A standard stream: no reader that ends, such as `head`, and no full disk stops a deed."""

    failures: ClassVar[list[OSError]] = []

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if not isinstance(error, BrokenPipeError):
                self.failures.append(error)
            return len(data)


def run() -> None:
    if sys.argv[1:2] == ["hook"]:
        try:
            main()
        except SystemExit:  # its help
            sys.stdout.flush()
        os._exit(0)  # at once: taking Python apart costs a quarter of a hook's time
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream and not stream.isatty():  # None if the caller closed it
            pipe = io.BufferedWriter(_Output(stream.fileno(), "wb", closefd=False))
            setattr(sys, name, io.TextIOWrapper(pipe, line_buffering=stream.line_buffering))
    try:
        code: Any = main()
    except SystemExit as error:
        code = error.code
    except KeyboardInterrupt:
        code = 130
    if sys.stdout:
        sys.stdout.flush()
    for failure in _Output.failures[:1]:
        _print_error(DiskError("output", reason=failure.strerror or type(failure).__name__))
        code = code or 1
    sys.exit(code)


if __name__ == "__main__":
    run()
