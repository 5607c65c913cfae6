"""Writes one record of the page: texts, authors and dates, and the originals of a principle."""

import re
from collections.abc import Sequence

from commands.documents.facts import labelled
from commands.documents.words import word as document_word
from commands.hook.journal import KEPT_DAYS
from commands.view.escaping import as_line, as_name, as_text, spoken
from commands.view.page import Entry, Original
from commands.view.words import word
from core.lessons.answers.rendering import day_of, warning
from core.lessons.answers.words import say
from core.lessons.git.commits import Commit
from core.messages import Language

_CODE = re.compile("(?<!`)`([^`\n]+)`(?!`)")


def kinds_of(entry: Entry, lang: Language) -> list[str]:
    """Return by what a reader can filter a record: its type, and what deserves a look."""
    record = entry.record
    found = {
        record.type: True,
        "open": record.ask_next_time.strip(),
        "again": record.seen > 1,
        "marked": warning(record, lang),
    }
    return [kind for kind, has in found.items() if has]


def entry_lines(entry: Entry, lang: Language) -> list[str]:
    """Return the lines of one record or original."""
    record, lines = entry.record, list[str]()
    if record.type == "principle":
        kind = word(lang, "principle")
        if record.source_count:
            kind += " · " + word(lang, "merged", count=record.source_count)
        lines.append(f'<p class="kind">{as_line(kind)}</p>')
    if notice := warning(record, lang):
        lines.append(f'<p class="warning">{as_line(notice)}</p>')
    name = f' id="{entry.anchor}-lesson"' if entry.anchor else ""
    attributes = f'class="lesson text"{name} {spoken(record.lesson, lang)}'
    lines.append(f"<p {attributes}>{as_code(as_text(record.lesson))}</p>")
    more = [
        f"<dt>{as_line(label)}</dt>"
        f'<dd class="text" {spoken(text, lang)}>{as_code(as_text(text))}</dd>'
        for label, text in labelled(record, lang)
    ]
    for name, given in (("paths", record.paths), ("when", record.when)):
        if given:
            shown = ", ".join(f"<code>{as_line(it)}</code>" for it in given)
            more.append(f"<dt>{as_line(document_word(lang, name))}</dt><dd>{shown}</dd>")
    if more:
        lines += ["<dl>", *more, "</dl>"]
    lines.append(f'<p class="facts">{" · ".join(_facts(entry, lang))}</p>')
    if entry.deeper:
        note = word(lang, "deeper", count=entry.deeper, token=entry.token or record.id)
        lines.append(f'<p class="soft">{as_line(note)}</p>')
    return lines + _originals(entry.originals, lang)


def as_code(text: str) -> str:
    """Turn what stands between backticks in HTML into code."""
    return _CODE.sub(r"<code>\1</code>", text)


def _facts(entry: Entry, lang: Language) -> list[str]:
    """Return when and by whom a record was saved, how often seen and shown, and its token."""
    record = entry.record
    key = "compacted" if record.source_count else "saved"
    parts = [f"{as_line(word(lang, key))} {_day(record.compacted_at or record.created)}"]
    if entry.added:
        parts[0] += " " + _who(entry.added)
    if record.seen > 1:
        parts.append(as_line(word(lang, "seen", count=record.seen)))
    if record.updated or entry.saved:
        moment = record.updated or (entry.saved.date if entry.saved else "")
        last = f"{as_line(word(lang, 'updated'))} {_day(moment)}"
        if entry.saved:
            last += " " + _who(entry.saved)
        parts.append(last)
    if entry.reach is not None:
        parts.append(as_line(word(lang, "reach", count=entry.reach, days=KEPT_DAYS)))
    return [*parts, f"<code>{as_line(entry.token or say(lang, 'no_token'))}</code>"]


def _day(moment: str) -> str:
    day = day_of(moment)
    return f'<time datetime="{day}">{day}</time>' if day[0] != "?" else day


def _who(commit: Commit) -> str:
    return f"{as_name(commit.author)} <code>{as_line(commit.short)}</code>"


def _originals(originals: Sequence[Original], lang: Language) -> list[str]:
    if not originals:
        return []
    found = sum(original.entry is not None for original in originals)
    title = word(lang, "originals", found=found, count=len(originals))
    lines = [f'<details class="originals"><summary>{as_line(title)}</summary><ol>']
    for original in originals:
        if original.entry:
            lines += ["<li>", *entry_lines(original.entry, lang), "</li>"]
        else:
            missing = word(lang, "original_missing", token=original.token)
            lines.append(f'<li class="soft">{as_line(missing)}</li>')
    return [*lines, "</ol></details>"]
