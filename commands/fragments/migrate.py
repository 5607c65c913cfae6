"""Makes the tables on a server, or brings them up to date, after showing what it does."""

import argparse
import os
from typing import TYPE_CHECKING

from commands.terminal.ask import add_examples, explain, is_confirmed
from commands.terminal.safe_text import plain
from commands.terminal.screen import print_lines, print_within
from core.messages import say

if TYPE_CHECKING:
    from core.postgres.pool import Pool
    from rooms.fragments.postgres.schema import Found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py fragments migrate`."""
    parser.add_argument("--sql", action="store_true", help=explain("migrate_sql"))
    parser.add_argument("-n", "--dry-run", action="store_true", help=explain("dry_run"))
    parser.add_argument("-y", "--yes", action="store_true", help=explain("yes"))
    add_examples(parser, "fragments migrate", "fragments migrate --sql")


def run(arguments: argparse.Namespace) -> int:
    """Show what is missing, and make it once somebody agrees; 1 otherwise. Raises SentinelError."""
    from core.postgres.errors import ServerError
    from core.postgres.pool import Pool
    from rooms.fragments.config import database_server
    from rooms.fragments.postgres import schema

    server = database_server(os.environ)
    if server is None:
        print_within([say("migrate.no_server")])
        return 0
    pool = Pool(server)
    try:
        found = schema.Schema(pool).look()
        if found.is_foreign:
            raise ServerError("schema_foreign", path=server.name)
        is_done = found.is_current and not found.has_waiting_vectors
        if arguments.sql:
            print_lines([f"{it};" for it in ([] if is_done else schema.script(found))])
            return 0
        if is_done:
            print_within([say("migrate.current", path=plain(server.name), version=found.version)])
            return 0
        return _make(pool, found, arguments)
    finally:
        pool.close()


def _make(pool: "Pool", found: "Found", arguments: argparse.Namespace) -> int:
    """Make what is missing, once somebody agrees; 1 otherwise."""
    from rooms.fragments.postgres import schema

    path = plain(pool.server.name)
    print_within([say("migrate.would_make", path=path, count=len(schema.script(found)))])
    if found.has_waiting_vectors:
        print_within([say("migrate.would_convert")])
    if not is_confirmed(arguments, say("migrate.ask"), table="migrate"):
        return int(not arguments.dry_run)
    version = schema.Schema(pool).complete().version
    print_within([say("migrate.made", path=path, version=version)])
    return 0
