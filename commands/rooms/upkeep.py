"""The commands of one room: topics of the log, what is old of sessions, the care of fragments."""

import argparse
import os
from dataclasses import replace

from commands.rooms.lesson import redacted_lines, topic_name
from commands.rooms.read import table_lines, whole
from commands.terminal import screen as terminal
from commands.terminal.ask import is_confirmed, open_memory, progress
from commands.terminal.screen import plain, print_lines, print_within, render_table
from core.errors import RefusedError
from core.lessons.answers import need_of
from core.lessons.log import MemoryLog
from core.lessons.record import normalise_topic, seconds_of
from core.lessons.record_text import group_by_topic
from core.messages import say
from core.sanitizer import redact
from core.text.wording import TOPICS_COMPARED, find_similar, similar_topics
from rooms.lessons import item_of

MOST_PAIRS = 10

# topics


def list_topics(arguments: argparse.Namespace) -> int:
    """Print the topics, largest first, and similar pairs; return 0."""
    opened = open_memory(arguments)
    groups = group_by_topic(opened.store.read().records)
    by_size = sorted(groups, key=lambda topic: -len(groups[topic]))
    compared = by_size[:TOPICS_COMPARED] if len(groups) > TOPICS_COMPARED else [*groups]
    pairs = similar_topics(compared)
    topics = {
        topic: {
            "topic": redact(topic)[0],
            "records": len(records),
            "principles": sum(record.type == "principle" for record in records),
            "last": max((it.updated or it.created for it in records), key=seconds_of),
        }
        for topic, records in groups.items()
    }
    if arguments.json:
        similar = [
            {**pair._asdict(), "topic": redact(pair.topic)[0], "other": redact(pair.other)[0]}
            for pair in pairs
        ]
        data = {"project": str(opened.project.root), "topics": [*topics.values()]}
        print(terminal.plain_json({**data, "similar": similar}))
        return 0
    if not groups:
        print_within([say("records.empty")])
        return 0
    rows = list[list[str]]()
    for topic in by_size:
        counts = (f"{topics[topic][it]:,}" for it in ("records", "principles"))
        rows.append([*counts, terminal.day_text(str(topics[topic]["last"])), topic_name(topic)])
    head = [say("records.records"), "principle", say("records.date"), "topic"]
    count = sum(map(len, groups.values()))
    lines = [*render_table(head, rows), "", say("records.topics", topics=len(groups), count=count)]
    for pair in pairs[:MOST_PAIRS]:
        names = {"topic": topic_name(pair.topic), "other": topic_name(pair.other)}
        reason = say(f"answers.reason_{pair.reason}", shared=pair.shared)
        lines.append(plain(say("records.similar", **names, reason=reason)))
    if more := len(pairs[MOST_PAIRS:]):
        lines.append(say("records.more_similar", more=more))
    if pairs:
        lines.append(say("records.merge_hint"))
    print_within(lines)
    return 0


def rename_topic(arguments: argparse.Namespace) -> int:
    """Rename a topic; return 1 without a yes or for an unknown one."""
    opened = open_memory(arguments, writes=not arguments.dry_run)
    log = opened.store.read()
    old, new = normalise_topic(arguments.old), normalise_topic(arguments.new)
    if old not in log.topics:
        terminal.complain(_unknown(old, log))
        return 1
    if old == new:
        print_within([say("records.same_topic")])
        return 0
    before = [record for record in log.records if record.topic == old]
    changed = {it.version_id: replace(it, topic=new) for it in before}
    trial = opened.store.renew(changed, join=True, dry_run=True)
    topic = trial.records[0].topic
    key = "would_merge" if topic in log.topics else "would_rename"
    counts = {"count": len(before), "there": log.topics[topic]}
    head = say(f"records.{key}", old=topic_name(old), new=topic_name(topic), **counts)
    lines = [plain(head), ""]
    lines += table_lines([*map(item_of, before)])
    for versions in trial.earlier:
        if len(versions) > 1:
            lines += ["", say("records.would_join", count=len(versions))]
            for record in versions:
                lines += [terminal.INDENT + line for line in whole(item_of(record))]
    lines += ["", *redacted_lines(trial.redacted, "would_redact")]
    if trial.suspicious:
        lines.append(say("records.suspicious", fields=", ".join(trial.suspicious)))
    print_within(lines)
    if not is_confirmed(arguments, say("records.ask_rename")):
        return int(not arguments.dry_run)
    done = opened.store.renew(changed, join=True)
    moved = [
        f"{terminal.INDENT}{plain(former.id)} → {plain(record.id)}"
        for versions, record in zip(done.earlier, done.records, strict=True)
        for former in versions
        if former.id != record.id
    ]
    print_within([say("records.renamed", count=len(moved)), *moved, say("records.commit_soon")])
    if left := done.log.topics[old]:
        print_within([say("records.left_behind", count=left)])
    return 0


def _unknown(topic: str, log: MemoryLog) -> str:
    near = ", ".join(map(topic_name, find_similar(topic, [*log.topics])))
    key = "unknown_topic_but" if near else "unknown_topic"
    return say(f"records.{key}", topic=topic_name(topic), similar=near)


def compact(arguments: argparse.Namespace) -> int:
    """Print a request to an agent for a compaction; return 1 for an unknown topic."""
    opened = open_memory(arguments)
    log, topic = opened.store.read(), normalise_topic(arguments.topic or "")
    if topic and topic not in log.topics:
        terminal.complain(_unknown(topic, log))
        return 1
    threshold = opened.settings.threshold
    need = need_of(log.records, log.count, threshold)
    print_within([say(f"compact.{need}", count=log.count, threshold=threshold), ""])
    print(say("compact.line_topic" if topic else "compact.line", topic=topic_name(topic)))
    return 0


# sessions and fragments


def archive(arguments: argparse.Namespace) -> int:
    """Move old sessions into a file; return 1 without a yes."""
    from rooms.sessions.for_people import ForPeople, item_of
    from rooms.sessions.upkeep import archive_before

    opened = open_memory(arguments, writes=not arguments.dry_run)
    store = ForPeople(opened).store
    before, with_open = arguments.before, arguments.open
    planned = archive_before(store, before, with_open=with_open, dry_run=True)
    left = list[str]()
    if planned.open:
        left.append(say("session_commands.left_open", count=planned.open))
    if planned.kept_sessions:
        left.append(say("session_commands.left_kept", count=len(planned.kept_sessions)))
        left += table_lines([*map(item_of, planned.kept_sessions)])
    if not planned.sessions:
        print_lines([say("session_commands.none_old"), *left])
        return 0
    heading = say("session_commands.would_archive", count=len(planned.sessions))
    print_lines([heading, *table_lines([*map(item_of, planned.sessions)]), *left])
    if not is_confirmed(arguments, say("session_commands.ask_archive")):
        return int(not arguments.dry_run)
    done = archive_before(store, before, with_open=with_open)
    print_lines([say("session_commands.archived", count=len(done.sessions), path=str(done.path))])
    return 0


def share(arguments: argparse.Namespace) -> int:
    """Share the sessions with the user's other projects, or no longer; return 0."""
    from rooms.sessions.for_people import ForPeople
    from rooms.sessions.search import share_project as share_from
    from rooms.sessions.search import unshare_project

    opened = open_memory(arguments, writes=True)
    store = ForPeople(opened).store
    if arguments.off:
        key = "unshared" if unshare_project(opened.project.root, os.environ) else "not_shared"
        print_lines([say(f"session_commands.{key}")])
        return 0
    share_from(store.root, os.environ)
    shared = say("session_commands.shared", count=store.count())
    print_lines([shared, say("session_commands.what_is_shared")])
    return 0


def pin(arguments: argparse.Namespace) -> int:
    """Pin fragments against ageing and removal, or unpin them; return 0."""
    from rooms.fragments.for_people import ForPeople
    from rooms.fragments.versions import pin as pin_one

    is_pinned = arguments.command == "fragments pin"
    fragments = ForPeople(open_memory(arguments))
    for name in arguments.ids:
        if not fragments.find_by_name(name):
            raise RefusedError("fragment_commands.no_fragment", id=plain(name))
    ids = ", ".join(pin_one(fragments.room, it, pinned=is_pinned).id for it in arguments.ids)
    key = "now_pinned" if is_pinned else "now_unpinned"
    print_lines([say(f"fragment_commands.{key}", ids=plain(ids))])
    return 0


def consolidate(arguments: argparse.Namespace) -> int:
    """Age, merge and compare the fragments; return 0."""
    from rooms.fragments.for_people import ForPeople, item_of
    from rooms.fragments.models.judge import judge_of
    from rooms.fragments.models.vectors import embedder_of
    from rooms.fragments.upkeep.consolidation import consolidate as put_in_order

    room = ForPeople(open_memory(arguments)).room
    with progress() as far:
        report = put_in_order(
            room,
            progress=lambda place, count, name: far(f"{name} ({place}/{count})"),
            judge=judge_of(os.environ),
            embedder=embedder_of(os.environ),
        )
    stale, promotable, for_the_log = (
        [*map(item_of, it)] for it in (report.stale, report.promotable, report.for_the_log)
    )
    pairs = [(item_of(it.earlier), item_of(it.later)) for it in report.suspicions]
    if arguments.json:
        steps = [{"name": it.name, "count": it.count, "figures": it.figures} for it in report.steps]
        suspicions = [
            {"earlier": earlier.data, "later": later.data, "similarity": pair.similarity}
            for (earlier, later), pair in zip(pairs, report.suspicions, strict=True)
        ]
        listed = {"stale": stale, "promotable": promotable, "forTheLog": for_the_log}
        data = {name: [it.data for it in items] for name, items in listed.items()}
        print(terminal.plain_json({"steps": steps, "suspicions": suspicions, **data}))
        return 0
    rows = list[list[str]]()
    for step in report.steps:
        figures = [f"{name} {count:,}" for name, count in step.figures.items() if count]
        rows.append([step.name, f"{step.count:,}", ", ".join(figures) or "-"])
    lines = render_table(["step", "changed", "figures"], rows) if rows else []
    count = sum(step.count for step in report.steps)
    lines.append(say("fragment_commands.consolidated", count=count))
    shown = {"pairs": [item for pair in pairs for item in pair], "doubtful": stale}
    shown |= {"promotable": promotable, "for_the_log": for_the_log}
    for key, items in shown.items():
        if items:
            lines += ["", say(f"fragment_commands.{key}", id=items[0].id)]
            lines += table_lines(items)
    print_within(lines)
    return 0


def embed(arguments: argparse.Namespace) -> int:
    """Embed all fragments with the configured model; return 1 without one."""
    from rooms.fragments.for_people import ForPeople
    from rooms.fragments.models.vectors import embed_missing, embedder_of

    room, embedder = ForPeople(open_memory(arguments)).room, embedder_of(os.environ)
    if embedder is None:
        terminal.complain(say("fragment_commands.no_model"))
        return 1
    with progress() as far:

        def tell(done: int, count: int) -> None:
            far(f"{done:,}/{count:,}")

        filled = embed_missing(room, embedder, replaces=True, progress=tell)
    model, count, left = plain(embedder.model), filled.count, filled.missing
    print_lines([say("fragment_commands.embedded", model=model, count=count, left=left)])
    return 0


def migrate(arguments: argparse.Namespace) -> int:
    """Make or update the tables on a server; return 1 without a yes."""
    from core.postgres.address import ServerError
    from core.postgres.pool import Pool
    from rooms.fragments.room import database_server
    from rooms.fragments.storage import postgres_schema as schema

    server = database_server(os.environ)
    if server is None and arguments.sql:  # the output is to be run as SQL
        terminal.complain(say("migrate.no_server"))
        return 1
    if server is None:
        print_within([say("migrate.no_server")])
        return 0
    pool, path = Pool(server), plain(server.name)
    try:
        found = schema.Schema(pool).read_state()
        if found.is_foreign:
            raise ServerError("schema_foreign", path=server.name)
        is_done = found.is_current and not found.has_waiting_vectors
        if arguments.sql:
            print_lines(
                [f"{it};" for it in ([] if is_done else schema.statements_for_admin(found))]
            )
            return 0
        if is_done:
            print_within([say("migrate.current", path=path, version=found.version)])
            return 0
        print_within(
            [say("migrate.would_make", path=path, count=len(schema.statements_for_admin(found)))]
        )
        if found.has_waiting_vectors:
            print_within([say("migrate.would_convert")])
        if not is_confirmed(arguments, say("migrate.ask"), table="migrate"):
            return int(not arguments.dry_run)
        version = schema.Schema(pool).bring_up_to_date(with_vectors=True).version
        print_within([say("migrate.made", path=path, version=version)])
        return 0
    finally:
        pool.close()
