"""Writes all rooms as one page for a browser; serves and sends nothing.

The page is one file: a template, a style, a script, data. Its policy allows only this style and
script, by their hashes.
"""

import argparse
import base64
import json
import os
import sys
import webbrowser
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from commands.clients.text_file import ExportError, write_new
from commands.terminal.ask import STDOUT, ask_room, check_output, open_memory, title_of
from commands.terminal.screen import plain, warn
from core.config import state_directory
from core.disk import errors_as
from core.errors import DiskError
from core.lessons.log import cached_log
from core.messages import has_sentence, language, say
from core.program import read_version
from core.sanitizer import redact
from core.text.plain import day_of, one_line, printable_text, utc_now
from rooms.room import LESSONS, Filter, Item, Memory, room_names, rooms_of

HERE = Path(__file__).parent
FILE_NAME = "view.html"
MOST_ITEMS = 2_000  # of each room: above it a browser takes long to open the page
WORDS = (
    *("search", "all_rooms", "all_kinds", "all_topics", "order", "newest", "oldest", "found"),
    *("nothing", "more", "details", "copy", "copied", "keys", "begin", "sample"),
)
STEPS = ("step_setup", "step_work", "step_view")


def view(options: argparse.Namespace) -> int:
    """Write the page and open it; return 1 if no browser opens. Raises SentinelError.

    A file gets the user's own items only of rooms that were named.
    """
    check_output(options, "--open")
    memory, names = open_memory(options), options.room or []
    items, notes, omitted_count = list[Item](), list[str](), 0
    for room in rooms_of(memory, names):
        matches = ask_room(room, partial(room.find, Filter(limit=MOST_ITEMS)), names=names)
        if not matches:
            continue
        if room.name == LESSONS:
            flaws = cached_log(memory.store.read_bytes()).flaws
            notes += [say("lessons.flaws", **flaws)] if any(flaws.values()) else []
        kept_items = matches.items
        if options.public:
            kept_items = [item for item in kept_items if item.privacy in ("", "public")]
        elif options.output and room.name not in names:
            kept_items = [item for item in kept_items if not item.privacy]
            omitted_count += len(matches.items) - len(kept_items)
        items += kept_items
        if matches.count > len(matches.items):
            shown_count = len(matches.items)
            notes.append(say("view.cut", shown=shown_count, count=matches.count, room=room.name))
    if options.output and (private_count := sum(item.privacy == "private" for item in items)):
        notes.append(say("view.private", count=private_count))
    items.sort(key=lambda item: item.date, reverse=True)
    text = build_page(items, project=memory.project.root.name, notes=notes)
    extra_lines = [say("view.left_out", count=omitted_count)] if omitted_count else []
    if options.output == STDOUT:
        print(text, end="")
        for line in extra_lines:
            warn(line)
        return 0
    path = Path(options.output) if options.output else _default_path(memory)
    # Only the user may read an item that is neither a lesson of the team nor public.
    is_personal = any(item.room != LESSONS and item.privacy != "public" for item in items)
    is_private, force = is_personal or not options.output, options.force or not options.output
    write_new(path, text, force=force, project=memory.project.root, is_private=is_private)
    if options.output:
        saved_line = say("view.written", path=plain(options.output), count=len(items))
        print("\n".join([saved_line, *extra_lines]))
        if not options.open:
            return 0
    is_open = webbrowser.open(path.resolve().as_uri())
    key = "opened" if is_open else "no_browser"
    print(say(f"view.{key}", path=plain(str(path))), file=None if is_open else sys.stderr)
    return 0 if is_open else 1


def build_page(items: Sequence[Item], *, project: str, notes: Sequence[str] = ()) -> str:
    """Return the page in the reader's language, items in this order. notes: below the title."""
    style, script, template = (
        (HERE / name).read_text("utf-8") for name in ("view.css", "view.js", "template.html")
    )
    data = json.dumps(_page_data(items, notes), ensure_ascii=False)
    policy = (
        f"default-src 'none'; style-src {_policy_hash(style)}; script-src {_policy_hash(script)};"
        " base-uri 'none'; form-action 'none'"
    )
    return Template(template).substitute(
        lang=language(),
        title=escape(say("view.title", project=one_line(redact(project).text))),
        policy=policy,
        style=style,
        script=script,
        no_script=escape(say("view.no_script")),
        data=data.replace("<", "\\u003c"),  # so that no text ends the element
    )


def _default_path(memory: Memory) -> Path:
    """Return the page's path, which only the user may read. Raises ExportError, DiskError."""
    directory = state_directory(str(memory.project.root), os.environ)
    if not directory:
        raise DiskError("view.no_place")
    with errors_as(ExportError, "file_write", directory):
        os.makedirs(directory, mode=0o700, exist_ok=True)
    return Path(directory, FILE_NAME)


def _page_data(items: Sequence[Item], notes: Sequence[str]) -> dict[str, Any]:
    kinds, today = {(item.room, item.kind) for item in items}, day_of(utc_now())
    names = {room for room, _ in kinds}
    rooms = dict.fromkeys((*(name for name in room_names() if name in names), *sorted(names)))
    kind_words = dict[str, str]()
    for room, kind in kinds:
        key = f"{room}.kinds.{kind}"
        kind_words[f"{room}.{kind}"] = say(key) if has_sentence(key) else one_line(kind)
    words = {
        **{name: say(f"page.{name}") for name in WORDS if name != "found"},
        "found": say("page.found", shown="{shown}", count="{count}"),
        "made": say("page.made", version=read_version(), date=today),
        "steps": [say(f"page.{step}") for step in STEPS],
        "rooms": {room: title_of(room) for room in rooms},
        "kinds": kind_words,
    }
    sample = {  # shown for an empty memory
        **{"room": LESSONS, "id": "3f2a91bc", "date": today, "kind": "log", "mark": ""},
        "topic": say("page.sample_topic"),
        "texts": [
            ("", say("page.sample_lesson")),
            (say("documents.missing"), say("page.sample_missing")),
            (say("documents.ask"), say("page.sample_ask")),
        ],
        "facts": [],
    }
    values = list[dict[str, Any]]()
    for item in items:
        texts = list[tuple[str, str]]()
        for label, text in item.texts:
            lines = text.strip("\r\n").replace("\r\n", "\n").replace("\r", "\n").split("\n")
            clean_text = "\n".join(map(printable_text, lines))
            texts += [(one_line(label), clean_text)] if text.strip() else []
        value = {
            "room": item.room,
            "id": one_line(item.id),
            "date": day_of(item.date),
            "kind": one_line(item.kind),
            "topic": one_line(item.topic),
            "mark": item.mark,
            "texts": texts,
            "facts": [one_line(fact) for fact in item.facts if item.id not in fact],
        }
        values.append(value)
    return {"items": values, "words": words, "notes": list(notes), "sample": sample}


def _policy_hash(text: str) -> str:
    digest = base64.b64encode(sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"
