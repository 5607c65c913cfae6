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
from core.disk import reason_of
from core.errors import DiskError
from core.lessons.log import MemoryLog
from core.lessons.record import utc_now
from core.lessons.record_text import day_of
from core.messages import has_sentence, language, say
from core.program import read_version
from core.sanitizer import redact
from core.text.plain import one_line, printable_text
from rooms.room import LESSONS, Filter, Item, Memory, room_names, rooms_of

HERE = Path(__file__).parent
FILE_NAME = "view.html"
MOST_ITEMS = 2_000  # of each room: above it a browser takes long to open the page
WORDS = (
    *("search", "all_rooms", "all_kinds", "all_topics", "order", "newest", "oldest", "found"),
    *("nothing", "more", "details", "copy", "copied", "keys", "begin", "sample"),
)
STEPS = ("step_setup", "step_work", "step_view")


def view(arguments: argparse.Namespace) -> int:
    """Write the page and open it; return 1 if no browser opens. Raises SentinelError.

    A file gets the user's own items only of rooms that were named.
    """
    check_output(arguments, "--open")
    opened, named = open_memory(arguments), arguments.room or []
    items, notes, left_out = list[Item](), list[str](), 0
    for room in rooms_of(opened, named):
        ask = partial(room.find, Filter(limit=MOST_ITEMS))
        found = ask_room(room, ask, named=named)
        if not found:
            continue
        if room.name == LESSONS:
            flaws = MemoryLog.parse(opened.store.read_bytes()).flaws
            notes += [say("lessons.flaws", **flaws)] if any(flaws.values()) else []
        kept = found.items
        if arguments.public:
            kept = [it for it in kept if it.privacy in ("", "public")]
        elif arguments.output and room.name not in named:
            kept = [it for it in kept if not it.privacy]
            left_out += len(found.items) - len(kept)
        items += kept
        if found.count > len(found.items):
            shown = len(found.items)
            notes.append(say("view.cut", shown=shown, count=found.count, room=room.name))
    if arguments.output and (private := sum(it.privacy == "private" for it in items)):
        notes.append(say("view.private", count=private))
    items.sort(key=lambda it: it.date, reverse=True)
    text = page(items, project=opened.project.root.name, notes=notes)
    said = [say("view.left_out", count=left_out)] if left_out else []
    if arguments.output == STDOUT:
        print(text, end="")
        for line in said:
            warn(line)
        return 0
    path = Path(arguments.output) if arguments.output else _own_place(opened)
    # Only the user may read an item that is neither a lesson of the team nor public.
    own = any(it.room != LESSONS and it.privacy != "public" for it in items)
    is_private, force = own or not arguments.output, arguments.force or not arguments.output
    write_new(path, text, force=force, project=opened.project.root, is_private=is_private)
    if arguments.output:
        written = say("view.written", path=plain(arguments.output), count=len(items))
        print("\n".join([written, *said]))
        if not arguments.open:
            return 0
    is_open = webbrowser.open(path.resolve().as_uri())
    key = "opened" if is_open else "no_browser"
    print(say(f"view.{key}", path=plain(str(path))), file=None if is_open else sys.stderr)
    return 0 if is_open else 1


def page(items: Sequence[Item], *, project: str, notes: Sequence[str] = ()) -> str:
    """Return the page in the reader's language, items in this order. notes: below the title."""
    style, script, template = (
        (HERE / name).read_text("utf-8") for name in ("view.css", "view.js", "template.html")
    )
    data = json.dumps(_data(items, notes), ensure_ascii=False)
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)};"
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


def _own_place(opened: Memory) -> Path:
    """Return the page's path, which only the user may read. Raises ExportError, DiskError."""
    directory = state_directory(str(opened.project.root), os.environ)
    if not directory:
        raise DiskError("view.no_place")
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
    except OSError as error:
        raise ExportError("file_write", path=directory, reason=reason_of(error)) from error
    return Path(directory, FILE_NAME)


def _data(items: Sequence[Item], notes: Sequence[str]) -> dict[str, Any]:
    kinds, today = {(it.room, it.kind) for it in items}, day_of(utc_now())
    there = {room for room, _ in kinds}
    rooms = dict.fromkeys((*(it for it in room_names() if it in there), *sorted(there)))
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
    shown = list[dict[str, Any]]()
    for item in items:
        texts = list[tuple[str, str]]()
        for label, text in item.texts:
            lines = text.strip("\r\n").replace("\r\n", "\n").replace("\r", "\n").split("\n")
            told = "\n".join(map(printable_text, lines))
            texts += [(one_line(label), told)] if text.strip() else []
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
        shown.append(value)
    return {"items": shown, "words": words, "notes": list(notes), "sample": sample}


def _hash(text: str) -> str:
    digest = base64.b64encode(sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"
