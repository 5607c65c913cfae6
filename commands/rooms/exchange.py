"""`export` and `import`: the memory as a file, and a file's contents for the rooms."""

import argparse
import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import unified_diff
from functools import partial
from pathlib import Path

from commands.clients.merge import CannotEditError, markers, with_block, without_block
from commands.clients.text_file import ExportError, UserFile, check_inside, write_new
from commands.rooms.read import rooms_with_kind, table_lines
from commands.rooms.sources import FORMAT, MARKER, STDIN, VERSION, Source, read_source, topic_of
from commands.terminal import ask
from commands.terminal import screen as terminal
from commands.terminal.screen import INDENT, RUNNERS, plain, print_lines, screen_here, warn
from core.config import find_project
from core.disk import is_there
from core.guard.injection import order_marks
from core.lessons.draft import clean_record
from core.lessons.record import LIMITS_BYTES, Record, normalise_topic, utc_now
from core.lessons.record_text import day_of, group_by_topic, version_id_text
from core.messages import has_sentence, say
from core.room.documents import as_json
from core.text.plain import as_code, as_heading, as_item, as_lines, escape_inline, one_line
from rooms import room as people
from rooms.room import LESSONS, Filter, Item, Memory

SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".html": "html", ".htm": "html"}
BLOCK = "principles"
MOST_ROWS = 25  # of a room, on a terminal
MOST_PLACES = 5  # that are named for one reason of leaving out

# export


def export(arguments: argparse.Namespace) -> int:
    """Write the memory to the terminal, a file or a client's file; return 1 if nothing fits."""
    _check(arguments)
    opened = ask.open_memory(arguments)
    if arguments.block:
        return _put_block(opened, arguments)
    output = "" if arguments.output in (None, ask.STDOUT) else arguments.output
    suffix = os.path.splitext(output)[1].lower()
    form = arguments.format or SUFFIXES.get(suffix, "markdown")
    wanted = Filter(
        topics=tuple(arguments.topic or ()), kind=arguments.kind or "", since=arguments.since or ""
    )
    rooms = rooms_with_kind(people.rooms_of(opened, arguments.room or ()), wanted.kind)
    counts, private, notes = Counter[str](), 0, list[str]()
    root, now = opened.project.root, utc_now()
    project = root.name
    head = {"format": FORMAT, "version": VERSION, "project": project, "exported": now}
    lines, items = [as_json(head)], list[Item]()
    for room in rooms:
        going = room.export_rows(wanted, only_public=arguments.public, notes=notes)
        read = partial(list[people.ExportRow], going)
        rows = ask.ask_room(room, read, named=arguments.room or ())
        if not rows:
            continue
        own = sum(row.is_private for row in rows)
        if form == "jsonl":
            counts[room.name] = sum(row.is_counted for row in rows)
            lines += [as_json({"room": room.name, "row": row.data}) for row in rows]
        else:  # for people: the items that they can list, without the bin
            found = room.find(wanted).items
            shown = [it for it in found if not arguments.public or it.privacy in ("", "public")]
            counts[room.name] = len(shown)
            # A room whose items do not say it is private as a whole, or not at all.
            own = sum(it.privacy == "private" or (own > 0 and not it.privacy) for it in shown)
            items += shown
        private += own
    text = "\n".join([*lines, ""])
    if form != "jsonl":
        from commands.view.view import page  # loaded where it is asked for

        is_page = form == "html"
        text = (
            page(items, project=project)
            if is_page
            else export_markdown(items, project, counts, now)
        )
    for line in rooms[0].explain_no_match(wanted) if rooms and not counts.total() else ():
        warn(line)
    is_empty = len(lines) == 1 and not items
    if is_empty:
        warn(say("export.nothing"))
    elif output:
        force, is_private = arguments.force, bool(private)
        write_new(Path(output), text, force=force, project=root, is_private=is_private)
        print(plain(say("export.written", path=output, counts=_counted(counts))))
    else:
        # CI may print it, and its runner would obey.
        sys.stdout.write(RUNNERS.sub(r"\1\\u005b" if form == "jsonl" else "\\1\ufffd", text))
    if private:
        notes.append(say("export.private", count=private))
    for note in notes:
        warn(note)
    return 0 if counts.total() else 1


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that contradict each other. Raises SystemExit(2)."""
    for name in ("output", "format", "room", "topic", "kind", "since", "public", "force"):
        is_beside = name != "topic" or arguments.remove  # a block may be of some topics
        if arguments.block and getattr(arguments, name) and is_beside:
            other = "-o" if name == "output" else f"--{name}"
            arguments.refuse(say("terminal.together", one="--block", other=other))
    for name, value in {"--remove": arguments.remove, "--dry-run": arguments.dry_run}.items():
        if value and not arguments.block:
            arguments.refuse(say("terminal.needs", one=name, other="--block FILE"))
    ask.check_output(arguments)


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{ask.title_of(name)} {count:,}" for name, count in counts.items()) or "0"


def export_markdown(items: Sequence[Item], project: str, counts: Counter[str], now: str) -> str:
    """Return a document by room and topic. counts: by room."""
    lines = [f"# {as_heading(say('export.title', project=project))}", ""]
    lines.append(say("export.intro", counts=_counted(counts), date=day_of(now)))
    for name in dict.fromkeys(item.room for item in items):
        lines += ["", f"## {as_heading(ask.title_of(name))}"]
        topics = dict[str, list[Item]]()
        for item in items:
            if item.room == name:
                topics.setdefault(item.topic, []).append(item)
        for topic, members in topics.items():
            lines += ["", f"### {as_heading(topic)}", ""]
            for item in members:
                facts = "; ".join(
                    escape_inline(one_line(fact)) for fact in (item.kind, *item.facts)
                )
                for at, (label, text) in enumerate(item.texts or (("", ""),)):
                    start = f"  - {escape_inline(one_line(label))}: " if at else "- "
                    lines += as_item(start, as_lines(text))
                lines.append(f"  - {facts}")
    return "\n".join([*lines, "", MARKER]) + "\n"


# the block


def _put_block(opened: Memory, arguments: argparse.Namespace) -> int:
    """Put the principles as a block into a file, or take it out; return 1 without any.

    A file of nothing else goes with its block. No link of the project is followed out of it.
    """
    path, root = Path(arguments.block), opened.project.root
    check_inside(path, root, named=True)
    file, body = UserFile.read(path, root), ""
    if not arguments.remove:
        body = _block(opened, set(map(normalise_topic, arguments.topic or ())))
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
    status, shown = 0 if body or arguments.remove else 1, str(file.path)
    # git may have changed the line ends at checkout
    if text in (file.text, file.text.replace("\r\n", "\n")):
        print(plain(say("export.unchanged", path=shown)))
        return status
    before, after = (_lines(it) for it in (file.text, text or ""))
    changed = unified_diff(before, after, shown, shown, lineterm="", n=2)
    for line in terminal.paint_diff(map(plain, changed), screen_here()):
        print(line)
    key = "remove" if text is None else "change" if file.is_there else "create"
    if arguments.dry_run:
        print(plain(say(f"export.would_{key}", path=shown)))
        print(say("export.dry"))
        return status
    file.write(text)
    print(plain(say(f"export.{key}d", path=shown)))
    return status


def _lines(text: str) -> list[str]:
    """Return the lines; a lone carriage return ends none."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n")
    return text.split("\n") if text else []


def _block(opened: Memory, topics: set[str]) -> str:
    """Return the block of these topics, or all; "" without principles.

    The headings of the file are the user's, so that it has none. A principle that reads like an
    order, which a client would obey, is left out with a warning.
    """
    kept, kinds = list[Record](), list[str]()
    for record in opened.store.read().records:
        if record.type != "principle" or (topics and record.topic not in topics):
            continue
        clean, found = clean_record(record)
        kinds += [kind for _, kind in found]
        marks = order_marks(clean.marks, (*clean.texts, *clean.paths, *clean.when))
        if marks:
            warn(say("export.left_out", marks=", ".join(marks), record=version_id_text(clean)))
        else:
            kept.append(clean)
    if kinds:
        warn(say("documents.redacted", **people.count_kinds(kinds)))
    lines = [say("export.block_head")]
    for topic, members in group_by_topic(kept).items():
        lines += ["", f"**{as_heading(topic)}**", "", *lessons(members)]
    return "\n".join(lines) if kept else ""


def lessons(records: Iterable[Record]) -> list[str]:
    """Return Markdown items for a model: lesson, question, files and triggers."""
    lines = list[str]()
    for record in records:
        lines += as_item("- ", as_lines(record.lesson))
        if record.ask_next_time.strip():
            lines += as_item(f"  - {say('documents.ask')}: ", as_lines(record.ask_next_time))
        for name, texts in (("paths", record.paths), ("when", record.when)):
            pieces = ", ".join(as_code(one_line(it)) for it in texts)
            lines += [f"  - {say(f'documents.{name}')}: {pieces}"] if texts else []
    return lines


# import


def import_file(arguments: argparse.Namespace) -> int:
    """Show the plan of an import, ask, save; return 1 without a yes."""
    gc.disable()  # of very many records none is garbage, and to look at them again and again costs
    try:
        topic, limit = normalise_topic(arguments.import_topic or ""), LIMITS_BYTES["topic"]
        topic_bytes = len(topic.encode("utf-8", "replace"))
        if arguments.import_topic is not None and not 0 < topic_bytes <= limit:
            arguments.refuse(f"--topic: {say('import.bad_topic', limit=limit)}")
        people.check_names(arguments.room or ())
        root = find_project(arguments.project, os.environ, ask.find_cwd(arguments.project)).root
        with ask.progress():
            source = read_source(arguments.file, root, arguments.room or (), arguments.import_agent)
        for name, value, room in (
            ("--topic", topic, LESSONS),
            ("--agent", arguments.import_agent, "fragments"),
        ):
            if value and room not in source.by_room:
                arguments.refuse(
                    say("import.not_for", option=name, title=ask.title_of(room), room=room)
                )
        is_of_project = bool(source.by_room.keys() - {"fragments"})
        opened = ask.open_memory(arguments, writes=is_of_project and not arguments.dry_run)
        if topic:
            source = source.in_topics(lambda _: topic)
        elif source.is_stated:  # topics of the memory in the place of those that read the same
            known = {topic_of(it): it for it in reversed([*opened.store.read().topics])}
            source = source.in_topics(lambda it: known.get(it, it))
        with ask.progress() as far:
            tell = partial(_tell, far, "checked")
            rooms = people.rooms_of(opened, [*source.by_room]) if source.by_room else []
            takings = {
                room.name: room.plan_import(source.by_room[room.name], tell) for room in rooms
            }
        print_lines(_preview(source, takings, str(opened.project.root) if is_of_project else ""))
        saving = [taken.save for taken in takings.values() if taken.save]
        if not saving:
            print(say("import.nothing"))
            return 0
        is_readable = arguments.file != STDIN
        if not ask.is_confirmed(
            arguments, say("import.ask"), is_readable=is_readable, table="import"
        ):
            return int(not arguments.dry_run)
        for save in saving:
            with ask.progress() as far:
                lines = save(partial(_tell, far, "stored"))
            print_lines(lines)
        return 0
    finally:
        gc.enable()


def _tell(far: Callable[[str], object], key: str, done: int, count: int) -> None:
    far(say(f"import.{key}", done=done, count=count))


def _preview(source: Source, takings: dict[str, people.ImportPlan], project: str) -> list[str]:
    """Return the plan. project: "" where it gets nothing."""
    key = f"import.{source.form}"
    form = say(key) if has_sentence(key) else ask.title_of(source.form)
    counts = Counter({name: taken.count for name, taken in takings.items()})
    facts = {"path": source.path, "form": form, "counts": _counted(counts), "project": project}
    lines = [plain(say("import.head_into" if project else "import.head", **facts))]
    if source.is_stated and counts[LESSONS]:
        lines.append(say("import.principles"))
    for taken in takings.values():
        shown_items = taken.items[: MOST_ROWS if screen_here().is_terminal else None]
        if shown_items:
            lines += ["", *table_lines(shown_items)]
        if more := taken.count - len(shown_items):
            lines.append(INDENT + say("import.more_rows", more=more))
    redacted = [kind for taken in takings.values() for kind in taken.redacted]
    notes = [plain(note) for taken in takings.values() for note in taken.notes]
    if redacted:
        notes.append(say("import.redacts", **people.count_kinds(redacted)))
    reasons = dict[str, list[str]]()
    for place, why in (
        *source.refusals,
        *(it for taken in takings.values() for it in taken.refusals),
    ):
        reasons.setdefault(why, []).append(place)
    lines += ["", *notes] if notes else []
    lines += ["", say("import.passed")] if reasons else []
    for why, places in reasons.items():
        named = list(dict.fromkeys(filter(None, places)))
        first = ", ".join(
            [*map(plain, named[:MOST_PLACES]), *(["…"] if named[MOST_PLACES:] else [])]
        )
        text = plain(say("import.left_out", why=why, count=len(places)))
        lines.append(INDENT + (f"{text} ({first})" if named else text))
    return [*lines, ""]
