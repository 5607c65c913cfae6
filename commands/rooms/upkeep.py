"""The commands of one room: for sessions or for fragments."""

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from commands.rooms.read import table_lines
from commands.terminal.ask import is_confirmed, open_memory, progress
from commands.terminal.screen import (
    complain,
    plain,
    plain_json,
    print_lines,
    print_within,
    screen_here,
    table,
)
from core.messages import Facts, say
from rooms.room import Item

if TYPE_CHECKING:  # the rooms cost nothing where nobody asks for them
    from rooms.fragments.fragment import Fragment
    from rooms.fragments.upkeep.consolidation import Report


def archive(arguments: argparse.Namespace) -> int:
    """Move old sessions into a file; return 1 without a yes."""
    from rooms.sessions.for_people import ForPeople, item_of
    from rooms.sessions.upkeep import archive_before

    opened, screen = open_memory(arguments, writes=not arguments.dry_run), screen_here()
    store = ForPeople(opened).store
    before, with_open = arguments.before, arguments.open
    planned = archive_before(store, before, with_open=with_open, dry_run=True)
    left = list[str]()
    if planned.open:
        left.append(say("session_commands.left_open", count=planned.open))
    if planned.kept:
        left.append(say("session_commands.left_kept", count=len(planned.kept)))
        left += table_lines([*map(item_of, planned.kept)], screen)
    if not planned.sessions:
        print_lines([say("session_commands.none_old"), *left])
        return 0
    heading = say("session_commands.would_archive", count=len(planned.sessions))
    print_lines([heading, *table_lines([*map(item_of, planned.sessions)], screen), *left])
    if not is_confirmed(arguments, say("session_commands.ask_archive")):
        return int(not arguments.dry_run)
    done = archive_before(store, before, with_open=with_open)
    facts: Facts = {"count": len(done.sessions), "path": str(done.path)}
    print_lines([say("session_commands.archived", **facts)])
    return 0


def share(arguments: argparse.Namespace) -> int:
    """Share the sessions with the user's other projects, or no longer; return 0."""
    from rooms.sessions.everywhere import share as share_from
    from rooms.sessions.everywhere import unshare
    from rooms.sessions.for_people import ForPeople

    opened = open_memory(arguments, writes=True)
    store = ForPeople(opened).store
    if arguments.off:
        key = "unshared" if unshare(opened.project.root, os.environ) else "not_shared"
        print_lines([say(f"session_commands.{key}")])
        return 0
    share_from(store.root, os.environ)
    shared = say("session_commands.shared", count=store.count())
    print_lines([shared, say("session_commands.what_is_shared")])
    return 0


def pin(arguments: argparse.Namespace) -> int:
    """Pin fragments against ageing and removal, or unpin them; return 0."""
    from rooms.fragments.for_people import ForPeople, FragmentNameError
    from rooms.fragments.versions import pin as pin_one

    is_pinned = arguments.command == "fragments pin"
    fragments = ForPeople(open_memory(arguments))
    for name in arguments.ids:
        if not fragments.named(name):
            raise FragmentNameError("no_fragment", id=plain(name))
    ids = ", ".join(pin_one(fragments.room, it, pinned=is_pinned).id for it in arguments.ids)
    key = "now_pinned" if is_pinned else "now_unpinned"
    print_lines([say(f"fragment_commands.{key}", ids=plain(ids))])
    return 0


def consolidate(arguments: argparse.Namespace) -> int:
    """Age, merge and compare the fragments; return 0."""
    from rooms.fragments.for_people import ForPeople
    from rooms.fragments.models.embedding import embedder_of
    from rooms.fragments.models.judge import judge_of
    from rooms.fragments.upkeep.consolidation import consolidate as put_in_order

    room = ForPeople(open_memory(arguments)).room
    with progress() as far:
        report = put_in_order(
            room,
            progress=lambda place, count, name: far(f"{name} ({place}/{count})"),
            judge=judge_of(os.environ),
            embedder=embedder_of(os.environ),
        )
    if arguments.json:
        print(plain_json(_report_data(report)))
    else:
        print_within(_report_lines(report))
    return 0


def _report_lines(report: "Report") -> list[str]:
    from rooms.fragments.for_people import item_of

    screen, rows = screen_here(), list[list[str]]()
    for step in report.steps:
        figures = [f"{name} {count:,}" for name, count in step.figures.items() if count]
        rows.append([step.name, f"{step.count:,}", ", ".join(figures) or "-"])
    head, *lines = table(["step", "changed", "figures"], rows, screen.width)
    count = sum(step.count for step in report.steps)
    lines = [screen.painted(head, "bold"), *lines] if rows else []
    lines += [say("fragment_commands.consolidated", count=count)]
    pairs = [item_of(it) for pair in report.suspicions for it in (pair.earlier, pair.later)]
    listed: dict[str, list[Item]] = {
        "pairs": pairs,
        "doubtful": [*map(item_of, report.stale)],
        "promotable": [*map(item_of, report.promotable)],
        "for_the_log": [*map(item_of, report.for_the_log)],
    }
    for key, items in listed.items():
        if items:
            lines += ["", say(f"fragment_commands.{key}", id=items[0].id)]
            lines += table_lines(items, screen)
    return lines


def _report_data(report: "Report") -> dict[str, Any]:
    from rooms.fragments.for_people import item_of

    def listed(fragments: "Sequence[Fragment]") -> list[dict[str, Any]]:
        return [item_of(it).data for it in fragments]

    suspicions = list[dict[str, Any]]()
    for pair in report.suspicions:
        earlier, later = listed([pair.earlier, pair.later])
        suspicions.append({"earlier": earlier, "later": later, "similarity": pair.similarity})
    return {
        "steps": [
            {"name": it.name, "count": it.count, "figures": it.figures} for it in report.steps
        ],
        "suspicions": suspicions,
        "stale": listed(report.stale),
        "promotable": listed(report.promotable),
        "forTheLog": listed(report.for_the_log),
    }


def embed(arguments: argparse.Namespace) -> int:
    """Embed all fragments with the configured model; return 1 without one."""
    from rooms.fragments.for_people import ForPeople
    from rooms.fragments.models.embedding import embedder_of
    from rooms.fragments.models.vectors import fill

    room, embedder = ForPeople(open_memory(arguments)).room, embedder_of(os.environ)
    if embedder is None:
        complain(say("fragment_commands.no_model"))
        return 1
    with progress() as far:

        def tell(done: int, count: int) -> None:
            far(f"{done:,}/{count:,}")

        filled = fill(room, embedder, replaces=True, progress=tell)
    model, count, left = embedder.model, filled.count, filled.left
    if arguments.json:
        print(plain_json({"model": model, "embedded": count, "left": left}))
    else:
        told = say("fragment_commands.embedded", model=plain(model), count=count, left=left)
        print_lines([told])
    return 0


def migrate(arguments: argparse.Namespace) -> int:
    """Make or update the tables on a server; return 1 without a yes."""
    from core.postgres.pool import Pool
    from core.postgres.server import ServerError
    from rooms.fragments.config import database_server
    from rooms.fragments.storage import postgres_schema as schema

    server = database_server(os.environ)
    if server is None and arguments.sql:  # the output is to be run as SQL
        complain(say("migrate.no_server"))
        return 1
    if server is None:
        print_within([say("migrate.no_server")])
        return 0
    pool, path = Pool(server), plain(server.name)
    try:
        found = schema.Schema(pool).look()
        if found.is_foreign:
            raise ServerError("schema_foreign", path=server.name)
        is_done = found.is_current and not found.has_waiting_vectors
        if arguments.sql:
            print_lines([f"{it};" for it in ([] if is_done else schema.script(found))])
            return 0
        if is_done:
            print_within([say("migrate.current", path=path, version=found.version)])
            return 0
        print_within([say("migrate.would_make", path=path, count=len(schema.script(found)))])
        if found.has_waiting_vectors:
            print_within([say("migrate.would_convert")])
        if not is_confirmed(arguments, say("migrate.ask"), table="migrate"):
            return int(not arguments.dry_run)
        version = schema.Schema(pool).complete().version
        print_within([say("migrate.made", path=path, version=version)])
        return 0
    finally:
        pool.close()
