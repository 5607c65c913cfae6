"""The texts of a record as a small file for an editor, and what came back from there."""

import re
from collections.abc import Iterable
from dataclasses import replace

from commands.records.words import word
from commands.terminal.safe_text import plain
from core.lessons.record import LIMITS_BYTES, Record
from core.messages import Language

SECTIONS = (*LIMITS_BYTES, "paths")

_HEADING = re.compile(r"== (\w+) ==\s*")
_LIKE_HEADING = re.compile(r"\\*== \w+ ==\s*")


class EditedTextError(Exception):
    """What came back from the editor cannot be read. key, facts: the sentence in `desk_words`."""

    def __init__(self, key: str, **facts: str | int) -> None:
        self.key, self.facts = key, facts
        super().__init__(word("en", key, **facts))


def text_for_editor(record: Record, lang: Language) -> str:
    """Comment lines, then a section for each text; a line that looks like a heading gets a `\\`."""
    limits = ", ".join(f"{name} {limit_bytes:,}" for name, limit_bytes in LIMITS_BYTES.items())
    told = word(lang, "edit_head", token=plain(record.token), type=record.type, limits=limits)
    lines = [f"# {line}" for line in told.splitlines()]
    for name, text in _fields(record).items():
        shown = [_escaped(line) for line in text.split("\n")] if text else []
        lines += ["", f"== {name} ==", *shown]
    return "\n".join(lines) + "\n"


def sections_in(text: str) -> dict[str, str] | None:
    """The texts by their names, None for an emptied file. Raises EditedTextError.

    Blank lines around a text do not count, nor does what stands before the first section.
    """
    if not text.strip():
        return None
    found: dict[str, list[str]] = {}
    body: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        heading = _HEADING.fullmatch(line)
        if not heading:
            body.append(
                line[1:] if line.startswith("\\") and _LIKE_HEADING.fullmatch(line) else line
            )
            continue
        name = heading[1]
        if name not in SECTIONS or name in found:
            raise EditedTextError("bad_section", name=plain(name), names=", ".join(SECTIONS))
        body = found[name] = []
    for name in SECTIONS:
        if name not in found:
            raise EditedTextError("no_section", name=name)
    return {name: _without_blank_lines(lines) for name, lines in found.items()}


def edited(record: Record, before: dict[str, str], after: dict[str, str]) -> Record:
    """The record with the texts that differ; one that was left alone stays as it is stored."""
    texts = {name: after[name] for name in LIMITS_BYTES if after[name] != before[name]}
    paths = record.paths
    if after["paths"] != before["paths"]:
        paths = tuple(filter(None, map(str.strip, after["paths"].split("\n"))))
    return replace(
        record,
        topic=texts.get("topic", record.topic),
        missing_context=texts.get("missing_context", record.missing_context),
        lesson=texts.get("lesson", record.lesson),
        ask_next_time=texts.get("ask_next_time", record.ask_next_time),
        paths=paths,
    )


def _fields(record: Record) -> dict[str, str]:
    fields = dict(zip(LIMITS_BYTES, record.texts, strict=True))
    return {**fields, "paths": "\n".join(record.paths)}


def _escaped(line: str) -> str:
    return f"\\{line}" if _LIKE_HEADING.fullmatch(line) else line


def _without_blank_lines(lines: Iterable[str]) -> str:
    kept = list(lines)
    while kept and not kept[0].strip():
        kept.pop(0)
    while kept and not kept[-1].strip():
        kept.pop()
    return "\n".join(kept)
