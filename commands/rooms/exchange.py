"""`export` and `import`: the memory as a file, and a file's contents for the rooms."""

import argparse
import gc
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import unified_diff
from functools import partial
from pathlib import Path

from commands.clients.merge import CannotEditError, markers, with_block, without_block
from commands.clients.text_file import ExportError, UserFile, check_inside, write_new
from commands.rooms.read import MOST_ROWS, filter_of, rooms_with_kind, table_lines
from commands.rooms.sources import FORMAT, MARKER, STDIN, VERSION, Source, read_source, topic_of
from commands.terminal import ask
from commands.terminal import screen as terminal
from commands.terminal.screen import INDENT, RUNNERS, plain, print_lines, screen_here, warn
from core.config import find_project
from core.disk import is_there
from core.guard.injection import order_marks
from core.lessons.draft import redact_fields
from core.lessons.record import LIMITS_BYTES, Record, normalise_topic
from core.lessons.record_text import group_by_topic, version_id_text
from core.messages import has_sentence, say
from core.room.documents import dump_json
from core.text.plain import (
    as_code,
    as_heading,
    as_item,
    as_lines,
    day_of,
    escape_inline,
    one_line,
    utc_now,
)
from rooms import room as people
from rooms.room import LESSONS, Item, Memory

SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".html": "html", ".htm": "html"}
BLOCK = "principles"
MOST_PLACES = 5  # that are named for one reason of leaving out

# export


def export(options: argparse.Namespace) -> int:
    """Write the memory to the terminal, a file or a client's file; return 1 if nothing fits."""
    _check_options(options)
    memory = ask.open_memory(options)
    if options.block:
        return _put_block(memory, options)
    output = "" if options.output in (None, ask.STDOUT) else options.output
    form = options.format or SUFFIXES.get(os.path.splitext(output)[1].lower(), "markdown")
    filter_, names = filter_of(options), options.room or ()
    rooms = rooms_with_kind(people.rooms_of(memory, names), filter_.kind)
    counts, private_count, notes = Counter[str](), 0, list[str]()
    root, now, public = memory.project.root, utc_now(), options.public
    project = root.name
    head = {"format": FORMAT, "version": VERSION, "project": project, "exported": now}
    lines, items = [dump_json(head)], list[Item]()
    for room in rooms:
        stream = room.export_rows(filter_, only_public=public, notes=notes)
        rows = ask.ask_room(room, partial(list[people.ExportRow], stream), names=names)
        if not rows:
            continue
        count = sum(row.is_private for row in rows)
        if form == "jsonl":
            counts[room.name] = sum(row.is_counted for row in rows)
            lines += [dump_json({"room": room.name, "row": row.data}) for row in rows]
        else:  # for people: the items that they can list, without the bin
            members = room.find(filter_).items
            members = [item for item in members if not public or item.privacy in ("", "public")]
            counts[room.name] = len(members)
            # A room whose items do not say it is private as a whole, or not at all.
            privacies = ("private", "") if count else ("private",)
            count = sum(item.privacy in privacies for item in members)
            items += members
        private_count += count
    text = "\n".join([*lines, ""])
    if form == "markdown":
        text = export_markdown(items, project, counts, now)
    elif form == "html":
        from commands.view.view import build_page  # loaded where it is asked for

        text = build_page(items, project=project)
    for line in rooms[0].explain_no_match(filter_) if rooms and not counts.total() else ():
        warn(line)
    if len(lines) == 1 and not items:
        warn(say("export.nothing"))
    elif output:
        force, is_private = options.force, bool(private_count)
        write_new(Path(output), text, force=force, project=root, is_private=is_private)
        print(plain(say("export.written", path=output, counts=_counts_text(counts))))
    else:
        # CI may print it, and its runner would obey.
        print(RUNNERS.sub(r"\1\\u005b" if form == "jsonl" else "\\1\ufffd", text), end="")
    notes += [say("export.private", count=private_count)] if private_count else []
    for note in notes:
        warn(note)
    return 0 if counts.total() else 1


def _check_options(options: argparse.Namespace) -> None:
    """Refuse options that contradict each other. Raises SystemExit(2)."""
    for name in ("output", "format", "room", "topic", "kind", "since", "public", "force"):
        is_excluded = name != "topic" or options.remove  # a block may be of some topics
        if options.block and getattr(options, name) and is_excluded:
            other = "-o" if name == "output" else f"--{name}"
            options.refuse(say("terminal.together", one="--block", other=other))
    for name, value in {"--remove": options.remove, "--dry-run": options.dry_run}.items():
        if value and not options.block:
            options.refuse(say("terminal.needs", one=name, other="--block FILE"))
    ask.check_output(options)


def _counts_text(counts: Counter[str]) -> str:
    return ", ".join(f"{ask.title_of(name)} {count:,}" for name, count in counts.items()) or "0"


def export_markdown(items: Sequence[Item], project: str, counts: Counter[str], now: str) -> str:
    """Return a document by room and topic. counts: by room."""
    lines = [f"# {as_heading(say('export.title', project=project))}", ""]
    lines.append(say("export.intro", counts=_counts_text(counts), date=day_of(now)))
    for name in dict.fromkeys(item.room for item in items):
        lines += ["", f"## {as_heading(ask.title_of(name))}"]
        topics = dict[str, list[Item]]()
        for item in items:
            if item.room == name:
                topics.setdefault(item.topic, []).append(item)
        for topic, members in topics.items():
            lines += ["", f"### {as_heading(topic)}", ""]
            for item in members:
                facts = [escape_inline(one_line(fact)) for fact in (item.kind, *item.facts)]
                for i, (label, text) in enumerate(item.texts or (("", ""),)):
                    start = f"  - {escape_inline(one_line(label))}: " if i else "- "
                    lines += as_item(start, as_lines(text))
                lines.append(f"  - {'; '.join(facts)}")
    return "\n".join([*lines, "", MARKER]) + "\n"


# the block


def _put_block(memory: Memory, options: argparse.Namespace) -> int:
    """Put the principles as a block into a file, or take it out; return 1 without any.

    A file of nothing else goes with its block. No link of the project is followed out of it.
    """
    path, root = Path(options.block), memory.project.root
    check_inside(path, root, is_named=True)
    file, body = UserFile.read(path, root), ""
    if not options.remove:
        body = _block_of(memory, set(map(normalise_topic, options.topic or ())))
        if not body:
            terminal.complain(say("export.no_principles"))
    is_new = body and not file.is_there
    if is_new and path.name == "CLAUDE.md" and is_there(path.with_name("AGENTS.md")):
        raise ExportError("hides_agents", path=str(path))
    try:
        text: str | None = without_block(file.text, BLOCK)
        if body:
            text = with_block(file.text, body, BLOCK)
    except CannotEditError:
        marker = markers(BLOCK)[0].removesuffix(": begin -->")
        raise ExportError("broken_block", path=str(path), marker=marker) from None
    if not text and file.text and not path.is_symlink():
        text = None  # but a link of the user's stays
    status, file_name = 0 if body or options.remove else 1, str(file.path)
    if text == file.text:
        print(plain(say("export.unchanged", path=file_name)))
        return status
    before, after = map(_lines_of, (file.text, text or ""))
    diff = unified_diff(before, after, file_name, file_name, lineterm="", n=2)
    for line in terminal.paint_diff(map(plain, diff), screen_here()):
        print(line)
    key = "remove" if text is None else "change" if file.is_there else "create"
    if options.dry_run:
        print(plain(say(f"export.would_{key}", path=file_name)))
        print(say("export.dry"))
        return status
    file.write(text)
    print(plain(say(f"export.{key}d", path=file_name)))
    return status


def _lines_of(text: str) -> list[str]:
    """Return the lines; a lone carriage return ends none."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n")
    return text.split("\n") if text else []


def _block_of(memory: Memory, topics: set[str]) -> str:
    """Return the block of these topics, or all; "" without principles.

    The headings of the file are the user's, so that it has none. A principle that reads like an
    order, which a client would obey, is left out with a warning.
    """
    principles, kinds = list[Record](), list[str]()
    for record in memory.store.read().records:
        if record.type != "principle" or (topics and record.topic not in topics):
            continue
        clean, findings = redact_fields(record)
        kinds += [kind for _, kind in findings]
        marks = order_marks(clean.marks, (*clean.texts, *clean.paths, *clean.when))
        if marks:
            warn(say("export.left_out", marks=", ".join(marks), record=version_id_text(clean)))
        else:
            principles.append(clean)
    if kinds:
        warn(say("documents.redacted", **people.count_kinds(kinds)))
    lines = [say("export.block_head")]
    for topic, members in group_by_topic(principles).items():
        lines += ["", f"**{as_heading(topic)}**", "", *lesson_lines(members)]
    return "\n".join(lines) if principles else ""


def lesson_lines(records: Iterable[Record]) -> list[str]:
    """Return Markdown items for a model: lesson, question, files and triggers."""
    lines = list[str]()
    for record in records:
        lines += as_item("- ", as_lines(record.lesson))
        if record.ask_next_time.strip():
            lines += as_item(f"  - {say('documents.ask')}: ", as_lines(record.ask_next_time))
        for name, texts in (("paths", record.paths), ("when", record.when)):
            pieces = ", ".join(as_code(one_line(text)) for text in texts)
            lines += [f"  - {say(f'documents.{name}')}: {pieces}"] if texts else []
    return lines


# import


def import_file(options: argparse.Namespace) -> int:
    """Show the plan of an import, ask, save; return 1 without a yes."""
    gc.disable()  # of very many records none is garbage, and to look at them again and again costs
    topic, limit = normalise_topic(options.import_topic or ""), LIMITS_BYTES["topic"]
    if options.import_topic is not None and not 0 < len(topic.encode("utf-8", "replace")) <= limit:
        options.refuse(f"--topic: {say('import.bad_topic', limit=limit)}")
    people.check_names(options.room or ())
    root = find_project(options.project, os.environ).root
    with ask.progress():
        source = read_source(options.file, root, options.room or (), options.import_agent)
    for name, value, room in (
        ("--topic", topic, LESSONS),
        ("--agent", options.import_agent, "fragments"),
    ):
        if value and room not in source.by_room:
            facts = {"option": name, "title": ask.title_of(room), "room": room}
            options.refuse(say("import.not_for", **facts))
    is_of_project = bool(source.by_room.keys() - {"fragments"})
    memory = ask.open_memory(options, writes=is_of_project and not options.dry_run)
    if topic:
        source = source.with_topics(lambda _: topic)
    elif source.has_statements:  # topics of the memory in the place of those that read the same
        topic_for = {topic_of(name): name for name in reversed([*memory.store.read().topics])}
        source = source.with_topics(lambda name: topic_for.get(name, name))
    with ask.progress() as show:
        progress, by_room = partial(_show_progress, show, "checked"), source.by_room
        rooms = people.rooms_of(memory, [*by_room]) if by_room else []
        plans = {room.name: room.plan_import(by_room[room.name], progress) for room in rooms}
    print_lines(_preview(source, plans, str(memory.project.root) if is_of_project else ""))
    saves = [plan.save for plan in plans.values() if plan.save]
    if not saves:
        print(say("import.nothing"))
        return 0
    is_free = options.file != STDIN
    if not ask.is_confirmed(options, say("import.ask"), table="import", is_readable=is_free):
        return int(not options.dry_run)
    for save in saves:
        with ask.progress() as show:
            lines = save(partial(_show_progress, show, "stored"))
        print_lines(lines)
    return 0


def _show_progress(show: Callable[[str], object], key: str, done_count: int, count: int) -> None:
    show(say(f"import.{key}", done=done_count, count=count))


def _preview(source: Source, plans: dict[str, people.ImportPlan], project: str) -> list[str]:
    """Return the plan. project: "" where it gets nothing."""
    key = f"import.{source.form}"
    form = say(key) if has_sentence(key) else ask.title_of(source.form)
    counts = Counter({name: plan.count for name, plan in plans.items()})
    facts = {"path": source.path, "form": form, "counts": _counts_text(counts), "project": project}
    lines = [plain(say("import.head_into" if project else "import.head", **facts))]
    if source.has_statements and counts[LESSONS]:
        lines.append(say("import.principles"))
    for plan in plans.values():
        shown_items = plan.items[: MOST_ROWS if screen_here().is_terminal else None]
        if shown_items:
            lines += ["", *table_lines(shown_items)]
        if more := plan.count - len(shown_items):
            lines.append(INDENT + say("import.more_rows", more=more))
    redacted_kinds = [kind for plan in plans.values() for kind in plan.secret_kinds]
    notes = [plain(note) for plan in plans.values() for note in plan.notes]
    if redacted_kinds:
        notes.append(say("import.redacts", **people.count_kinds(redacted_kinds)))
    reasons = dict[str, list[str]]()
    refusals = [*source.refusals, *(item for plan in plans.values() for item in plan.refusals)]
    for place, reason in refusals:
        reasons.setdefault(reason, []).append(place)
    lines += ["", *notes] if notes else []
    lines += ["", say("import.passed")] if reasons else []
    for reason, places in reasons.items():
        names = list(dict.fromkeys(filter(None, places)))
        parts = [*map(plain, names[:MOST_PLACES]), *(["…"] if names[MOST_PLACES:] else [])]
        text = plain(say("import.left_out", why=reason, count=len(places)))
        lines.append(INDENT + (f"{text} ({', '.join(parts)})" if names else text))
    return [*lines, ""]
