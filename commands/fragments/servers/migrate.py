"""Makes the tables on a server, or takes over another program's, after showing what it does."""

import argparse
import os
from typing import TYPE_CHECKING

from commands.fragments.servers.words import word
from commands.terminal.console import add_examples, explain, is_confirmed, settings_here
from commands.terminal.printing import print_lines, print_within
from commands.terminal.safe_text import plain
from core.messages import Language

if TYPE_CHECKING:
    from core.postgres.pool import Pool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py fragments migrate`."""
    parser.add_argument("--sql", action="store_true", help=explain("migrate_sql"))
    parser.add_argument("-n", "--dry-run", action="store_true", help=explain("dry_run"))
    parser.add_argument("-y", "--yes", action="store_true", help=explain("yes"))
    add_examples(parser, "fragments migrate", "fragments migrate --sql")


def run(arguments: argparse.Namespace) -> int:
    """Show what is missing, and make it once somebody agrees; 1 otherwise. Raises SentinelError."""
    from core.postgres.pool import Pool
    from rooms.fragments.config import database_server
    from rooms.fragments.postgres import schema, takeover

    lang, server = settings_here().lang, database_server(os.environ)
    if server is None:
        print_within([word(lang, "no_server")])
        return 0
    pool = Pool(server)
    try:
        found = schema.Schema(pool).look()
        is_done = found.is_current and not found.has_waiting_vectors
        if arguments.sql:
            statements = takeover.script(pool) if found.is_foreign else schema.script(found)
            print_lines([f"{it};" for it in ([] if is_done else statements)])
            return 0
        if is_done:
            print_within([word(lang, "current", path=plain(server.name), version=found.version)])
            return 0
        done = _takes_over if found.is_foreign else _makes
        return done(pool, arguments, lang)
    finally:
        pool.close()


def _makes(pool: "Pool", arguments: argparse.Namespace, lang: Language) -> int:
    """Make what is missing, once somebody agrees; 1 otherwise."""
    from rooms.fragments.postgres import schema

    tables, path = schema.Schema(pool), plain(pool.server.name)
    found = tables.look()
    count = len(schema.script(found))
    print_within([word(lang, "would_make", path=path, count=count)])
    if found.has_waiting_vectors:
        print_within([word(lang, "would_convert")])
    if not is_confirmed(arguments, word, lang, word(lang, "ask")):
        return int(not arguments.dry_run)
    version = tables.complete().version
    print_within([word(lang, "made", path=path, version=version)])
    return 0


def _takes_over(pool: "Pool", arguments: argparse.Namespace, lang: Language) -> int:
    """Take another program's tables over, once somebody agrees; 1 otherwise."""
    from rooms.fragments.postgres import takeover

    path, former = plain(pool.server.name), takeover.former(pool)
    counts = {"linked": former.linked, "vectors": former.vectors}
    lines = [word(lang, "would_take", path=path, former=takeover.FORMER)]
    lines += [word(lang, "rows", name=plain(it), count=n) for it, n in former.rows.items()]
    lines += [word(lang, key, count=count) for key, count in counts.items() if count]
    print_within([*lines, word(lang, "changes")])
    if not is_confirmed(arguments, word, lang, word(lang, "ask")):
        return int(not arguments.dry_run)
    count = takeover.take_over(pool).rows["fragments"]
    print_within([word(lang, "taken", path=path, count=count, former=takeover.FORMER)])
    return 0
