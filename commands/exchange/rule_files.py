"""Records with path anchors as rules that a client gives its model for these files only.

One file for each topic. Formats: cursor.com/docs/rules, code.claude.com/docs/en/memory, and
"Custom instructions" of the Visual Studio Code documentation.
"""

import argparse
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Sequence

from commands.clients.table import CLIENTS as ROWS
from commands.clients.table import Topics
from commands.documents.markdown import heading
from commands.exchange.export_words import word
from commands.exchange.formats import lessons
from core.injection.marks import HIDDEN_CLASS
from core.lessons.compaction import group_by_topic
from core.lessons.paths import is_exact, normalise_paths
from core.lessons.record import Record
from core.messages import Language
from core.settings import read_settings
from core.text.printable import one_line

MARKER = "<!-- sentinel-memory rules: generated from the memory, changes made here are lost -->"
PREFIX = "sentinel-memory-"

_PLAIN_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_HASHED = re.compile(r".*-[0-9a-f]{8}")
_SLUG_CHARS, _HASH_DIGITS = 40, 8
_FRONT_MATTER = re.compile(r"\ufeff?---\n.*?\n---\n\s*", re.DOTALL)
# With an extension it is a file; any other name may be a directory.
_OF_FILE = re.compile(r"[^/]+\.[^/.*]+")
# A class of characters: clients negate one with different signs, and it may hold those below.
_CLASS = re.compile(r"\[[!^]?(?:\][^\]/]*|[^\]/]+)\]|\[[!^]\]")
# What some client splits at, expands or reads as YAML; one character stands there in any case.
_NOT_FOR_ALL = re.compile(rf"[{{}}[\],!\"'#:`<>\n\r\t\ud800-\udfff\u2028\u2029{HIDDEN_CLASS}]")


def _for_cursor(about: str, globs: Sequence[str]) -> list[str]:
    about = re.sub(r"[^\w ,.;-]", " ", about).strip()  # it is not said how quotes are read
    return [f"description: {about}", f"globs: {', '.join(globs)}", "alwaysApply: false"]


def _for_claude(about: str, globs: Sequence[str]) -> list[str]:
    return ["paths:", *(f"  - {_quoted(glob)}" for glob in globs)]


def _for_vscode(about: str, globs: Sequence[str]) -> list[str]:
    return [f"description: {_quoted(about)}", f"applyTo: {_quoted(','.join(globs))}"]


def _quoted(text: str) -> str:
    """A text in double quotes: what is so in JSON is so in YAML."""
    return json.dumps(text, ensure_ascii=False)


Head = Callable[[str, Sequence[str]], list[str]]
HEADS: dict[str, Head] = {"globs": _for_cursor, "paths": _for_claude, "applyTo": _for_vscode}
CLIENTS = {client.key: client.topics for client in ROWS if client.topics}
# Of two clients, one reads the rules of both.
_PAIRS = [(key, other) for key, topics in CLIENTS.items() for other in topics.also]
ALSO_READ = {one: CLIENTS[other] for pair in _PAIRS for one, other in (pair, pair[::-1])}


def client_named(name: str) -> str:
    """The client of `--rules`; a name that it had before answers with the one of now."""
    if name == "claude":
        lang = read_settings(os.environ).lang
        raise argparse.ArgumentTypeError(word(lang, "renamed", old=name, new="claude-code"))
    return name


def rule_files(records: Iterable[Record], client: Topics, lang: Language) -> dict[str, str]:
    """By file name, the rules for the records that are about some files."""
    anchored = [record for record in records if globs_of(record)]
    files: dict[str, str] = {}
    for group in group_by_topic(anchored):
        globs = list(dict.fromkeys(glob for record in group.records for glob in globs_of(record)))
        topic = heading(group.topic)
        about = word(lang, "rule_about", topic=one_line(group.topic))
        lines = ["---", *HEADS[client.head](about, globs), "---", ""]
        lines += [MARKER, "", word(lang, "rule_head", topic=topic), ""]
        lines += lessons(group.records, lang)
        files[PREFIX + slug(group.topic) + client.suffix] = "\n".join(lines) + "\n"
    return files


def is_ours(text: str) -> bool:
    """Whether this command wrote a file: the marker is its first line after the front matter."""
    text = text.replace("\r\n", "\n")
    front = _FRONT_MATTER.match(text)
    return text[front.end() if front else 0 :].startswith(f"{MARKER}\n")


def slug(topic: str) -> str:
    """A part of a file name: the topic itself when it is plain, else one that no other has.

    The letters of other scripts are left out, since file systems disagree about how to write them.
    """
    if (
        len(topic) <= _SLUG_CHARS
        and _PLAIN_SLUG.fullmatch(topic)
        and not _HASHED.fullmatch(f"-{topic}")
    ):
        return topic
    words = re.findall("[a-z0-9]+", topic.lower())
    readable = "-".join(words)[:_SLUG_CHARS].strip("-") or "topic"
    digest = hashlib.sha256(topic.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{readable}-{digest[:_HASH_DIGITS]}"


def globs_of(record: Record) -> list[str]:
    """The files that a record is about, in the globs that all of these clients read alike."""
    return list(dict.fromkeys(glob for path in record.paths for glob in _globs(path)))


def _globs(path: str) -> list[str]:
    """Git's patterns: a name without a slash is meant anywhere, a directory with all below it."""
    try:
        patterns = normalise_paths([path])
    except ValueError:  # written by a hand, and out of the project
        return []
    globs = []
    for pattern in patterns:
        base = _NOT_FOR_ALL.sub("?", _CLASS.sub("?", pattern.rstrip("/")))
        base = base if is_exact(pattern) else f"**/{base}"
        folder, _, name = base.rpartition("/")
        if name == "**" or (name == "*" and not pattern.endswith("/")):
            globs.append("**" if folder == "**" else f"{folder}/**")
        elif pattern.endswith("/"):
            globs.append(f"{base}/**")
        else:
            globs += [base] if _OF_FILE.fullmatch(name) else [base, f"{base}/**"]
    return globs
