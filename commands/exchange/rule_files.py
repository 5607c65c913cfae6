"""Writes the rule files of Cursor, Claude Code and VS Code, which apply to some files only.

Each topic has one file. The formats are described at cursor.com/docs/rules,
code.claude.com/docs/en/memory, and in "Custom instructions" of the Visual Studio Code manual.
"""

import argparse
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence

from commands.clients.table import CLIENTS as ROWS
from commands.clients.table import Topics
from commands.exchange.export_words import word
from commands.exchange.formats import lessons
from core.injection.ignorable import HIDDEN_CLASS
from core.lessons.anchors.paths import is_exact, normalise_paths
from core.lessons.compaction import group_by_topic
from core.lessons.record import Record
from core.messages import Language
from core.parser import language_here
from core.text.markdown import heading
from core.text.printable import one_line

MARKER = "<!-- sentinel-memory rules: generated from the memory, changes made here are lost -->"
PREFIX = "sentinel-memory-"

_PLAIN_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_HASHED = re.compile(r".*-[0-9a-f]{8}")
_SLUG_CHARS, _HASH_DIGITS = 40, 8
_FRONT_MATTER = re.compile(r"\ufeff?---\n.*?\n---\n\s*", re.DOTALL)
# A name with an extension is a file; any other may be a directory.
_OF_FILE = re.compile(r"[^/]+\.[^/.*]+")
# Clients negate a class of characters with different signs.
_CLASS = re.compile(r"\[[!^]?(?:\][^\]/]{0,128}+|[^\]/]{1,128}+)\]|\[[!^]\]")
# What some client splits at, expands or reads as YAML or as another file; `?` stands for it.
_NOT_FOR_ALL = re.compile(
    rf"[{{}}[\],!\"'#:`<>&|%@\n\r\t\ud800-\udfff\u2028\u2029{HIDDEN_CLASS}]|(?<=^[^\w.*]) "
)


def _for_cursor(about: str, globs: Sequence[str]) -> list[str]:
    about = re.sub(r"[^\w ,.;-]", " ", about).strip()  # Cursor does not say how it reads quotes
    return [f"description: {about}", f"globs: {', '.join(globs)}", "alwaysApply: false"]


def _for_claude(about: str, globs: Sequence[str]) -> list[str]:
    return ["paths:", *(f"  - {_quoted(glob)}" for glob in globs)]


def _for_vscode(about: str, globs: Sequence[str]) -> list[str]:
    return [f"description: {_quoted(about)}", f"applyTo: {_quoted(','.join(globs))}"]


def _quoted(text: str) -> str:
    """Quote a text for YAML, which reads a string of JSON."""
    return json.dumps(text, ensure_ascii=False)


Head = Callable[[str, Sequence[str]], list[str]]
HEADS: dict[str, Head] = {"globs": _for_cursor, "paths": _for_claude, "applyTo": _for_vscode}
CLIENTS = {client.key: client.topics for client in ROWS if client.topics}
# Of two clients, one reads the rules of both.
_PAIRS = [(key, other) for key, topics in CLIENTS.items() for other in topics.also]
ALSO_READ = {one: CLIENTS[other] for pair in _PAIRS for one, other in (pair, pair[::-1])}


def client_named(name: str) -> str:
    """Return the client of `--rules`; refuse its former name with the present one."""
    if name == "claude":
        lang = language_here()
        raise argparse.ArgumentTypeError(word(lang, "renamed", old=name, new="claude-code"))
    return name


def rule_files(records: Iterable[Record], client: Topics, lang: Language) -> dict[str, str]:
    """Return by file name the rules for the records that name files."""
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
    """Return whether this command wrote a file: its marker follows the front matter."""
    text = text.replace("\r\n", "\n")
    front = _FRONT_MATTER.match(text)
    return text[front.end() if front else 0 :].startswith(f"{MARKER}\n")


def slug(topic: str) -> str:
    """Return a part of a file name: a plain topic itself, another one with a hash.

    Other scripts are left out, since file systems disagree about their encoding.
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
    """Return the files of a record as globs that all these clients read alike."""
    return list(dict.fromkeys(glob for path in record.paths for glob in _globs(path)))


def _globs(path: str) -> list[str]:
    """Translate a pattern of git: a bare name matches anywhere, a directory with its content."""
    try:
        patterns = normalise_paths([path])
    except ValueError:  # edited by hand to leave the project
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
