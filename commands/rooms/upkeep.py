"""The commands of one room: topics of the log, what is old of sessions, the care of fragments."""

import argparse
import os
from dataclasses import replace

from commands.rooms.lesson import redacted_lines, topic_name
from commands.rooms.read import item_lines, table_lines
from commands.terminal import screen as terminal
from commands.terminal.ask import is_confirmed, open_memory, progress
from commands.terminal.screen import plain, print_lines, print_within, render_table
from core.errors import RefusedError
from core.lessons.answers import need_of
from core.lessons.record import normalise_topic
from core.lessons.record_text import group_by_topic
from core.messages import say
from core.sanitizer import redact
from core.text.plain import seconds_of
from core.text.wording import TOPICS_COMPARED, similar_topics
from rooms.lessons import item_of
from rooms.room import lines_on_unknown

MOST_PAIRS = 10

# topics


def list_topics(options: argparse.Namespace) -> int:
    """Print the topics, largest first, and similar pairs; return 0."""
    memory = open_memory(options)
    groups = group_by_topic(memory.store.read().records)
    by_size = sorted(groups, key=lambda topic: -len(groups[topic]))
    compared_topics = by_size[:TOPICS_COMPARED] if len(groups) > TOPICS_COMPARED else [*groups]
    pairs = similar_topics(compared_topics)
    topics = {
        topic: {
            "topic": redact(topic)[0],
            "records": len(records),
            "principles": sum(record.type == "principle" for record in records),
            "last": max((record.updated or record.created for record in records), key=seconds_of),
        }
        for topic, records in groups.items()
    }
    if options.json:
        similar = [
            {**pair._asdict(), "topic": redact(pair.topic)[0], "other": redact(pair.other)[0]}
            for pair in pairs
        ]
        data = {"project": str(memory.project.root), "topics": [*topics.values()]}
        print(terminal.plain_json({**data, "similar": similar}))
        return 0
    if not groups:
        print_within([say("records.empty")])
        return 0
    rows = list[list[str]]()
    for topic in by_size:
        counts = (f"{topics[topic][name]:,}" for name in ("records", "principles"))
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


def rename_topic(options: argparse.Namespace) -> int:
    """Rename a topic; return 1 without a yes or for an unknown one."""
    memory = open_memory(options, writes=not options.dry_run)
    log = memory.store.read()
    old, new = normalise_topic(options.old), normalise_topic(options.new)
    if unknown := lines_on_unknown("records.unknown_topic", [old], log.topics):
        terminal.complain(unknown[0])
        return 1
    if old == new:
        print_within([say("records.same_topic")])
        return 0
    before = [record for record in log.records if record.topic == old]
    changed_records = {record.version_id: replace(record, topic=new) for record in before}
    trial = memory.store.renew(changed_records, join=True, dry_run=True)
    topic = trial.records[0].topic
    key = "would_merge" if topic in log.topics else "would_rename"
    counts = {"count": len(before), "there": log.topics[topic]}
    head = say(f"records.{key}", old=topic_name(old), new=topic_name(topic), **counts)
    lines = [plain(head), "", *table_lines([*map(item_of, before)])]
    for versions in trial.earlier_versions:
        if len(versions) > 1:
            lines += ["", say("records.would_join", count=len(versions))]
            for record in versions:
                lines += [terminal.INDENT + line for line in item_lines(item_of(record))]
    lines += ["", *redacted_lines(trial.secret_kinds, "would_redact")]
    if trial.suspicious_fields:
        lines.append(say("records.suspicious", fields=", ".join(trial.suspicious_fields)))
    print_within(lines)
    if not is_confirmed(options, say("records.ask_rename")):
        return int(not options.dry_run)
    outcome = memory.store.renew(changed_records, join=True)
    moves = [
        f"{terminal.INDENT}{plain(former.id)} → {plain(record.id)}"
        for versions, record in zip(outcome.earlier_versions, outcome.records, strict=True)
        for former in versions
        if former.id != record.id
    ]
    print_within([say("records.renamed", count=len(moves)), *moves, say("records.commit_soon")])
    if count := outcome.log.topics[old]:
        print_within([say("records.left_behind", count=count)])
    return 0


def compact(options: argparse.Namespace) -> int:
    """Print a request to an agent for a compaction; return 1 for an unknown topic."""
    memory = open_memory(options)
    log, topic = memory.store.read(), normalise_topic(options.topic or "")
    if topic and (unknown := lines_on_unknown("records.unknown_topic", [topic], log.topics)):
        terminal.complain(unknown[0])
        return 1
    threshold = memory.settings.threshold
    need = need_of(log.records, log.count, threshold)
    print_within([say(f"compact.{need}", count=log.count, threshold=threshold), ""])
    print(say("compact.line_topic" if topic else "compact.line", topic=topic_name(topic)))
    return 0


# sessions and fragments


def archive(options: argparse.Namespace) -> int:
    """Move old sessions into a file; return 1 without a yes."""
    from rooms.sessions.for_people import ForPeople, item_of
    from rooms.sessions.upkeep import archive_before

    memory = open_memory(options, writes=not options.dry_run)
    store = ForPeople(memory).store
    before, with_open = options.before, options.open
    plan = archive_before(store, before, with_open=with_open, dry_run=True)
    notes = list[str]()
    if plan.open_count:
        notes.append(say("session_commands.left_open", count=plan.open_count))
    if plan.kept_sessions:
        notes.append(say("session_commands.left_kept", count=len(plan.kept_sessions)))
        notes += table_lines([*map(item_of, plan.kept_sessions)])
    if not plan.sessions:
        print_lines([say("session_commands.none_old"), *notes])
        return 0
    heading = say("session_commands.would_archive", count=len(plan.sessions))
    print_lines([heading, *table_lines([*map(item_of, plan.sessions)]), *notes])
    if not is_confirmed(options, say("session_commands.ask_archive")):
        return int(not options.dry_run)
    sessions, path, *_ = archive_before(store, before, with_open=with_open)
    print_lines([say("session_commands.archived", count=len(sessions), path=str(path))])
    return 0


def share(options: argparse.Namespace) -> int:
    """Share the sessions with the user's other projects, or no longer; return 0."""
    from rooms.sessions.for_people import ForPeople
    from rooms.sessions.search import share_project, unshare_project

    memory = open_memory(options, writes=True)
    store = ForPeople(memory).store
    if options.off:
        key = "unshared" if unshare_project(memory.project.root, os.environ) else "not_shared"
        print_lines([say(f"session_commands.{key}")])
        return 0
    sentence = say("session_commands.shared", count=store.count())  # fails before the consent
    share_project(store.root, os.environ)
    print_lines([sentence, say("session_commands.what_is_shared")])
    return 0


def pin(options: argparse.Namespace) -> int:
    """Pin fragments against ageing and removal, or unpin them; return 0."""
    from rooms.fragments.for_people import ForPeople
    from rooms.fragments.versions import pin as pin_one

    is_pinned = options.command == "fragments pin"
    fragments = ForPeople(open_memory(options))
    for name in options.ids:
        if not fragments.find_by_name(name):
            raise RefusedError("fragment_commands.no_fragment", id=plain(name))
    ids = ", ".join(pin_one(fragments.room, name, pinned=is_pinned).id for name in options.ids)
    key = "now_pinned" if is_pinned else "now_unpinned"
    print_lines([say(f"fragment_commands.{key}", ids=plain(ids))])
    return 0


def consolidate(options: argparse.Namespace) -> int:
    """Age, merge and compare the fragments; return 0."""
    from rooms.fragments.for_people import ForPeople, item_of
    from rooms.fragments.models.judge import judge_of
    from rooms.fragments.models.vectors import embedder_of
    from rooms.fragments.upkeep.consolidation import consolidate as put_in_order

    room = ForPeople(open_memory(options)).room
    with progress() as show:
        report = put_in_order(
            room,
            progress=lambda place, count, name: show(f"{name} ({place}/{count})"),
            judge=judge_of(os.environ),
            embedder=embedder_of(os.environ),
        )
    stale_items, promotable_items, log_items = (
        [*map(item_of, items)] for items in (report.stale, report.promotable, report.for_the_log)
    )
    pairs = [(item_of(pair.earlier), item_of(pair.later)) for pair in report.suspicions]
    if options.json:
        steps = [
            {"name": step.name, "count": step.count, "figures": step.figures}
            for step in report.steps
        ]
        suspicions = [
            {"earlier": earlier.data, "later": later.data, "similarity": pair.similarity}
            for (earlier, later), pair in zip(pairs, report.suspicions, strict=True)
        ]
        items_of = {"stale": stale_items, "promotable": promotable_items, "forTheLog": log_items}
        data = {name: [item.data for item in items] for name, items in items_of.items()}
        print(terminal.plain_json({"steps": steps, "suspicions": suspicions, **data}))
        return 0
    rows = list[list[str]]()
    for step in report.steps:
        figures = [f"{name} {count:,}" for name, count in step.figures.items() if count]
        rows.append([step.name, f"{step.count:,}", ", ".join(figures) or "-"])
    head = [say(f"fragment_commands.{name}") for name in ("step", "changes", "figures")]
    lines, count = render_table(head, rows) if rows else [], sum(row.count for row in report.steps)
    lines.append(say("fragment_commands.consolidated", count=count))
    groups = {"pairs": [item for pair in pairs for item in pair], "doubtful": stale_items}
    groups |= {"promotable": promotable_items, "for_the_log": log_items}
    for key, items in groups.items():
        if items:
            lines += ["", say(f"fragment_commands.{key}", id=items[0].id)]
            lines += table_lines(items)
    print_within(lines)
    return 0


def embed(options: argparse.Namespace) -> int:
    """Embed all fragments with the configured model. Raises RefusedError without one."""
    from rooms.fragments.for_people import ForPeople
    from rooms.fragments.models.vectors import embed_missing, embedder_of

    room, embedder = ForPeople(open_memory(options)).room, embedder_of(os.environ)
    if embedder is None:
        raise RefusedError("fragment_commands.no_model")
    with progress() as show:
        filled = embed_missing(
            room, embedder, replaces=True, progress=lambda done, count: show(f"{done:,}/{count:,}")
        )
    model, count, missing_count = plain(embedder.model), filled.count, filled.missing
    print_lines([say("fragment_commands.embedded", model=model, count=count, left=missing_count)])
    return 0


def migrate(options: argparse.Namespace) -> int:
    """Make or update the tables on a server; return 1 without a yes."""
    from core.postgres.address import ServerError
    from core.postgres.pool import Pool
    from rooms.fragments.room import database_server
    from rooms.fragments.storage import postgres_schema as schema

    server = database_server(os.environ)
    if server is None and options.sql:  # the output is to be run as SQL
        raise RefusedError("migrate.no_server")
    if server is None:
        print_within([say("migrate.no_server")])
        return 0
    pool, path = Pool(server), plain(server.name)
    try:
        state = schema.Schema(pool).read_state()
        if state.is_foreign:
            raise ServerError("schema_foreign", path=server.name)
        is_done = state.is_current and not state.has_waiting_vectors
        statements = [] if is_done else schema.statements_for_admin(state)
        if options.sql:
            print_lines([f"{statement};" for statement in statements])
            return 0
        if is_done:
            print_within([say("migrate.current", path=path, version=state.version)])
            return 0
        print_within([say("migrate.would_make", path=path, count=len(statements))])
        if state.has_waiting_vectors:
            print_within([say("migrate.would_convert")])
        if not is_confirmed(options, say("migrate.ask"), table="migrate"):
            return int(not options.dry_run)
        version = schema.Schema(pool).bring_up_to_date(with_vectors=True).version
        print_within([say("migrate.made", path=path, version=version)])
        return 0
    finally:
        pool.close()
