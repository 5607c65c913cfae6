"""Writes the report as Markdown for a pull request, the most important part first.

Pure. What comes from records, paths or revisions goes through `documents/github_markdown.py`.
"""

from collections.abc import Iterable, Iterator, Sequence

from commands.documents.facts import labelled
from commands.documents.github_markdown import code, inert, inert_lines
from commands.documents.words import word as record_word
from commands.report.findings import HIDDEN, LINK, Marked, Report
from commands.report.parts import Item, Part, fitted
from commands.report.words import counted, word
from commands.scan.findings import Found
from commands.scan.lines import shown_path
from commands.scan.words import word as scan_word
from commands.terminal.records import LABELS, text_of
from core.lessons.answers.rendering import INDEX_CHARS
from core.lessons.git.comparing import Changed, Compacted, Entry, Renamed, Returned
from core.lessons.record import LIMITS_BYTES
from core.messages import Language
from core.text.markdown import EMPTY, listed

MOST_ORIGINALS = 50
MOST_UNSETTLED = 10


def markdown(report: Report, lang: Language) -> str:
    """Return the document."""
    head = [summary(report, lang)]
    if report.is_absent:
        return head[0] + "\n"
    head += _notes(report, lang)
    parts = [part for part in _parts(report, lang) if part.items]
    foot = _figures(report, lang) if parts else []
    return fitted(head, parts, foot, lang)


def summary(report: Report, lang: Language) -> str:
    """Sum up the whole report in one sentence, of numbers only."""
    if report.is_absent:
        return word(lang, "no_log", path=code(shown_path(lang, report.revisions.path)))
    records = report.records
    counts = {
        "secrets": len(report.secrets) + len(report.passing),
        "damage": len(report.damage),
        "marked": len(report.marked),
        "added": len(records.added),
        "changed": len(records.changed),
        "returned": len(records.returned),
        "compacted": records.replaced,
        "undone": sum(len(it.originals) for it in records.undone),
        "renamed": len(records.renamed),
        "removed": len(records.removed),
    }
    parts = [counted(lang, key, count) for key, count in counts.items() if count]
    if not parts and report.revisions.fresh:
        parts = [word(lang, "other_lines")]
    if parts:
        return word(lang, "memory", told=", ".join(parts))
    return word(lang, "nothing", count=report.after.records)


def _notes(report: Report, lang: Language) -> Iterator[str]:
    if report.earlier:
        yield word(lang, "earlier", count=report.earlier)
    if not report.revisions.before.is_there:
        yield word(lang, "before_absent")
    if not report.revisions.after.is_there:
        yield word(lang, "after_absent")
    if report.revisions.is_cut:
        yield word(lang, "cut")
    if unsettled := report.revisions.after.log.unsettled:
        named = "; ".join(
            " ↔ ".join(_named(Entry.of(record), lang) for record in versions)
            for versions in unsettled[:MOST_UNSETTLED]
        )
        yield word(lang, "unsettled", count=len(unsettled), records=named)


def _parts(report: Report, lang: Language) -> list[Part]:
    records = report.records
    marked = [_marked(it, lang) for it in report.marked]
    returned = [_returned(it, lang) for it in records.returned]
    removed = [Item(_record(it, lang), it.record.topic) for it in records.removed]
    return [
        _refused(report, lang),
        Part(word(lang, "reads_like"), marked, [word(lang, "reads_like_intro")]),
        Part(word(lang, "added_head"), _added(records.added, lang)),
        Part(word(lang, "changed_head"), [_changed(it, lang) for it in records.changed]),
        Part(word(lang, "returned_head"), returned, [word(lang, "returned_intro")]),
        Part(word(lang, "compacted_head"), [_compacted(it, lang) for it in records.compacted]),
        Part(word(lang, "undone_head"), [_compacted(it, lang, "back") for it in records.undone]),
        Part(word(lang, "renamed_head"), [_renamed(it, lang) for it in records.renamed]),
        Part(word(lang, "removed_head"), _by_topic(removed), [word(lang, "removed_intro")]),
    ]


def _refused(report: Report, lang: Language) -> Part:
    items = [Item([f"- {found_text(lang, it)}"]) for it in report.secrets]
    for found in report.passing:
        commit = code(found.commit.short if found.commit else "")
        text = word(lang, "passing", commit=commit, found=found_text(lang, found))
        items.append(Item([f"- {text}"]))
    for damage in report.damage:
        where = _where(lang, damage.path, damage.line)
        items.append(Item([f"- {word(lang, damage.kind, where=where)}"]))
    advice = {
        "replace_advice": report.secrets or report.passing,
        "redact_advice": report.secrets,
        "damage_advice": [it for it in report.damage if it.kind not in (LINK, HIDDEN)],
    }
    due = " ".join(word(lang, key) for key, is_due in advice.items() if is_due)
    return Part(word(lang, "refused"), items, after=[due])


def found_text(lang: Language, found: Found) -> str:
    """Say where something was found, of what kind and in which record, with no text of it."""
    where = _where(lang, found.path, found.line)
    if not found.record:
        return word(lang, "in_line", where=where, kind=found.kind)
    field = found.field if found.field in LIMITS_BYTES else scan_word(lang, found.field)
    record = _named(Entry.of(found.record), lang)
    return word(lang, "in_record", where=where, kind=found.kind, field=code(field), record=record)


def _where(lang: Language, path: str, line: int) -> str:
    return code(f"{shown_path(lang, path)}:{line}")


def _marked(marked: Marked, lang: Language) -> Item:
    first = marked.found[0]
    kinds = ", ".join(dict.fromkeys(found.kind for found in marked.found))
    where = _where(lang, first.path, first.line)
    lines = [f"- {where}: {kinds}, {_named(marked.entry, lang)}"]
    for field in dict.fromkeys(found.field for found in marked.found):
        lines += listed(f"  - {code(field)}: ", inert_lines(getattr(marked.entry.record, field)))
    return Item(lines)


def _added(entries: Sequence[Entry], lang: Language) -> list[Item]:
    """List the added records by topic, principles first, since they sum up many logs."""
    ordered = sorted(entries, key=lambda it: it.record.type != "principle")
    return _by_topic([Item(_record(it, lang), it.record.topic) for it in ordered])


def _by_topic(items: Iterable[Item]) -> list[Item]:
    topics: dict[str | None, list[Item]] = {}
    for item in items:
        topics.setdefault(item.topic, []).append(item)
    return [item for members in topics.values() for item in members]


def _record(entry: Entry, lang: Language) -> list[str]:
    """Return a whole record as an item."""
    record = entry.record
    lines = listed("- ", inert_lines(record.lesson))
    for label, text in labelled(record, lang):
        lines += listed(f"  - {label}: ", inert_lines(text))
    for name, given in (("paths", record.paths), ("when", record.when)):
        if given:
            lines.append(f"  - {record_word(lang, name)}: {', '.join(map(code, given))}")
    kind = "principle " if record.type == "principle" else ""
    return [*lines, f"  - {kind}{_token(entry, lang)}"]


def _changed(changed: Changed, lang: Language) -> Item:
    last = changed.before[-1]
    head = f"- {_token(last, lang)} → {_named(changed.after, lang)}"
    lines = [head if last.token != changed.after.token else f"- {_named(changed.after, lang)}"]
    if len(changed.before) > 1:
        tokens = ", ".join(_token(entry, lang) for entry in changed.before)
        lines.append(f"  - {word(lang, 'one_now', records=tokens)}")
    for key, old, new in changed.values:
        if key in LABELS:
            lines.append(f"  - {code(key)}")
            lines += listed(f"    - {word(lang, 'before')}: ", _text_lines(old))
            lines += listed(f"    - {word(lang, 'after')}: ", _text_lines(new))
        else:
            lines.append(f"  - {code(key)}: {_value(old)} → {_value(new)}")
    if not changed.values:
        lines.append(f"  - {word(lang, 'only_secret')}")
    return Item(lines)


def _text_lines(value: object) -> list[str]:
    return [] if value is None else inert_lines(text_of(value))


def _value(value: object) -> str:
    return EMPTY if value is None else code(text_of(value))


def _returned(returned: Returned, lang: Language) -> Item:
    record = returned.after.record
    seen = word(lang, "seen", before=returned.before, after=record.seen)
    how = seen if returned.before else word(lang, "seen_again")
    gap = " ".join((record.missing_context.strip() or record.lesson).split())
    shown = gap if len(gap) <= INDEX_CHARS else gap[:INDEX_CHARS].rstrip() + "…"
    return Item([f"- {_named(returned.after, lang)}, {how}: {inert(shown)}"])


def _compacted(compacted: Compacted, lang: Language, folded: str = "originals") -> Item:
    """Return the principle, with its originals folded away; blank lines keep those Markdown.

    folded: the key of the sentence that counts them.
    """
    count = len(compacted.originals) + len(compacted.kept) + compacted.unknown
    summed = word(lang, folded, count=count)
    lines = [*_record(compacted.principle, lang), "", "  <details>"]
    lines += [f"  <summary>{summed}</summary>", ""]
    lines += _listed_originals(compacted.originals, "", lang)
    if compacted.kept:
        lines.append(f"  - {word(lang, 'kept', count=len(compacted.kept))}")
        lines += _listed_originals(compacted.kept, "  ", lang)
    if compacted.unknown:
        lines.append(f"  - {word(lang, 'unknown', count=compacted.unknown)}")
    return Item([*lines, "", "  </details>", ""], compacted.principle.record.topic)


def _listed_originals(entries: Sequence[Entry], indent: str, lang: Language) -> Iterator[str]:
    for entry in entries[:MOST_ORIGINALS]:
        texts = [*inert_lines(entry.record.lesson), _named(entry, lang)]
        yield from listed(f"{indent}  - ", texts)
    if more := len(entries[MOST_ORIGINALS:]):
        yield f"{indent}  - {word(lang, 'many', count=more)}"


def _renamed(renamed: Renamed, lang: Language) -> Item:
    topics = f"{code(renamed.before.record.topic)} → {code(renamed.after.record.topic)}"
    return Item([f"- {topics}: {_token(renamed.after, lang)}"])


def _token(entry: Entry, lang: Language) -> str:
    return code(entry.token) if entry.token else word(lang, "unnamed")


def _named(entry: Entry, lang: Language) -> str:
    return f"{_token(entry, lang)} ({inert(entry.record.topic)})"


def _figures(report: Report, lang: Language) -> list[str]:
    lines = [
        f"### {word(lang, 'figures')}",
        "",
        word(lang, "columns"),
        "| --- | ---: | ---: | ---: |",
    ]
    for key in ("records", "principles", "logs", "topics", "tokens", "size"):
        old, new = getattr(report.before, key), getattr(report.after, key)
        change = f"{new - old:+,}" if new != old else "0"
        lines.append(f"| {word(lang, key)} | {old:,} | {new:,} | {change} |")
    need = "required" if report.need == "required" else "not_required"
    due = word(lang, need, count=report.after.records, threshold=report.threshold)
    return ["\n".join(lines), due]
