"""Writes the report as Markdown for a pull request, the most important part first.

Pure. What comes from records, paths or revisions goes through `documents/github_markdown.py`.
"""

from collections.abc import Iterable, Iterator, Sequence

from commands.documents.facts import labelled
from commands.documents.github_markdown import code, inert, inert_lines
from commands.report.comparison import Changed, Compacted, Entry, Renamed, Returned
from commands.report.findings import HIDDEN, LINK, Marked, Report
from commands.report.parts import Item, Part, fitted
from commands.scan.findings import Found
from commands.scan.lines import shown_path
from commands.terminal.records import LABELS, text_of
from core.lessons.record import LIMITS_BYTES
from core.lessons.record_text import INDEX_CHARS
from core.messages import say
from core.text.plain import EMPTY, listed

MOST_ORIGINALS = 50
MOST_UNSETTLED = 10


def markdown(report: Report) -> str:
    """Return the document."""
    head = [summary(report)]
    if report.is_absent:
        return head[0] + "\n"
    head += _notes(report)
    parts = [part for part in _parts(report) if part.items]
    foot = _figures(report) if parts else []
    return fitted(head, parts, foot)


def summary(report: Report) -> str:
    """Sum up the whole report in one sentence, of numbers only."""
    if report.is_absent:
        return say("report.no_log", path=code(shown_path(report.revisions.path)))
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
    parts = [
        say(f"report.{key}_1" if count == 1 else f"report.{key}", count=count)
        for key, count in counts.items()
        if count
    ]
    if not parts and report.revisions.fresh:
        parts = [say("report.other_lines")]
    if parts:
        return say("report.memory", told=", ".join(parts))
    return say("report.nothing", count=report.after.records)


def _notes(report: Report) -> Iterator[str]:
    if report.earlier:
        yield say("report.earlier", count=report.earlier)
    if not report.revisions.before.is_there:
        yield say("report.before_absent")
    if not report.revisions.after.is_there:
        yield say("report.after_absent")
    if report.revisions.is_cut:
        yield say("report.cut")
    if unsettled := report.revisions.after.log.unsettled:
        named = "; ".join(
            " ↔ ".join(_named(Entry.of(record)) for record in versions)
            for versions in unsettled[:MOST_UNSETTLED]
        )
        yield say("report.unsettled", count=len(unsettled), records=named)


def _parts(report: Report) -> list[Part]:
    records = report.records
    marked = [_marked(it) for it in report.marked]
    returned = [_returned(it) for it in records.returned]
    removed = [Item(_record(it), it.record.topic) for it in records.removed]
    return [
        _refused(report),
        Part(say("report.reads_like"), marked, [say("report.reads_like_intro")]),
        Part(say("report.added_head"), _added(records.added)),
        Part(say("report.changed_head"), [_changed(it) for it in records.changed]),
        Part(say("report.returned_head"), returned, [say("report.returned_intro")]),
        Part(say("report.compacted_head"), [_compacted(it) for it in records.compacted]),
        Part(say("report.undone_head"), [_compacted(it, "back") for it in records.undone]),
        Part(say("report.renamed_head"), [_renamed(it) for it in records.renamed]),
        Part(say("report.removed_head"), _by_topic(removed), [say("report.removed_intro")]),
    ]


def _refused(report: Report) -> Part:
    items = [Item([f"- {found_text(it)}"]) for it in report.secrets]
    for found in report.passing:
        commit = code(found.commit.short if found.commit else "")
        text = say("report.passing", commit=commit, found=found_text(found))
        items.append(Item([f"- {text}"]))
    for damage in report.damage:
        where = _where(damage.path, damage.line)
        items.append(Item([f"- {say(f'report.{damage.kind}', where=where)}"]))
    advice = {
        "replace_advice": report.secrets or report.passing,
        "redact_advice": report.secrets,
        "damage_advice": [it for it in report.damage if it.kind not in (LINK, HIDDEN)],
    }
    due = " ".join(say(f"report.{key}") for key, is_due in advice.items() if is_due)
    return Part(say("report.refused"), items, after=[due])


def found_text(found: Found) -> str:
    """Say where something was found, of what kind and in which record, with no text of it."""
    where = _where(found.path, found.line)
    if not found.record:
        return say("report.in_line", where=where, kind=found.kind)
    field = found.field if found.field in LIMITS_BYTES else say(f"scan.{found.field}")
    record = _named(Entry.of(found.record))
    return say("report.in_record", where=where, kind=found.kind, field=code(field), record=record)


def _where(path: str, line: int) -> str:
    return code(f"{shown_path(path)}:{line}")


def _marked(marked: Marked) -> Item:
    first = marked.found[0]
    kinds = ", ".join(dict.fromkeys(found.kind for found in marked.found))
    where = _where(first.path, first.line)
    lines = [f"- {where}: {kinds}, {_named(marked.entry)}"]
    for field in dict.fromkeys(found.field for found in marked.found):
        lines += listed(f"  - {code(field)}: ", inert_lines(getattr(marked.entry.record, field)))
    return Item(lines)


def _added(entries: Sequence[Entry]) -> list[Item]:
    """List the added records by topic, principles first, since they sum up many logs."""
    ordered = sorted(entries, key=lambda it: it.record.type != "principle")
    return _by_topic([Item(_record(it), it.record.topic) for it in ordered])


def _by_topic(items: Iterable[Item]) -> list[Item]:
    topics: dict[str | None, list[Item]] = {}
    for item in items:
        topics.setdefault(item.topic, []).append(item)
    return [item for members in topics.values() for item in members]


def _record(entry: Entry) -> list[str]:
    """Return a whole record as an item."""
    record = entry.record
    lines = listed("- ", inert_lines(record.lesson))
    for label, text in labelled(record):
        lines += listed(f"  - {label}: ", inert_lines(text))
    for name, given in (("paths", record.paths), ("when", record.when)):
        if given:
            lines.append(f"  - {say(f'documents.{name}')}: {', '.join(map(code, given))}")
    kind = "principle " if record.type == "principle" else ""
    return [*lines, f"  - {kind}{_token(entry)}"]


def _changed(changed: Changed) -> Item:
    last = changed.before[-1]
    head = f"- {_token(last)} → {_named(changed.after)}"
    lines = [head if last.token != changed.after.token else f"- {_named(changed.after)}"]
    if len(changed.before) > 1:
        tokens = ", ".join(_token(entry) for entry in changed.before)
        lines.append(f"  - {say('report.one_now', records=tokens)}")
    for key, old, new in changed.values:
        if key in LABELS:
            lines.append(f"  - {code(key)}")
            lines += listed(f"    - {say('report.before')}: ", _text_lines(old))
            lines += listed(f"    - {say('report.after')}: ", _text_lines(new))
        else:
            lines.append(f"  - {code(key)}: {_value(old)} → {_value(new)}")
    if not changed.values:
        lines.append(f"  - {say('report.only_secret')}")
    return Item(lines)


def _text_lines(value: object) -> list[str]:
    return [] if value is None else inert_lines(text_of(value))


def _value(value: object) -> str:
    return EMPTY if value is None else code(text_of(value))


def _returned(returned: Returned) -> Item:
    record = returned.after.record
    seen = say("report.seen", before=returned.before, after=record.seen)
    how = seen if returned.before else say("report.seen_again")
    gap = " ".join((record.missing_context.strip() or record.lesson).split())
    shown = gap if len(gap) <= INDEX_CHARS else gap[:INDEX_CHARS].rstrip() + "…"
    return Item([f"- {_named(returned.after)}, {how}: {inert(shown)}"])


def _compacted(compacted: Compacted, folded: str = "originals") -> Item:
    """Return the principle, with its originals folded away; blank lines keep those Markdown.

    folded: the key of the sentence that counts them.
    """
    count = len(compacted.originals) + len(compacted.kept) + compacted.unknown
    summed = say(f"report.{folded}", count=count)
    lines = [*_record(compacted.principle), "", "  <details>"]
    lines += [f"  <summary>{summed}</summary>", ""]
    lines += _listed_originals(compacted.originals, "")
    if compacted.kept:
        lines.append(f"  - {say('report.kept', count=len(compacted.kept))}")
        lines += _listed_originals(compacted.kept, "  ")
    if compacted.unknown:
        lines.append(f"  - {say('report.unknown', count=compacted.unknown)}")
    return Item([*lines, "", "  </details>", ""], compacted.principle.record.topic)


def _listed_originals(entries: Sequence[Entry], indent: str) -> Iterator[str]:
    for entry in entries[:MOST_ORIGINALS]:
        texts = [*inert_lines(entry.record.lesson), _named(entry)]
        yield from listed(f"{indent}  - ", texts)
    if more := len(entries[MOST_ORIGINALS:]):
        yield f"{indent}  - {say('report.many', count=more)}"


def _renamed(renamed: Renamed) -> Item:
    topics = f"{code(renamed.before.record.topic)} → {code(renamed.after.record.topic)}"
    return Item([f"- {topics}: {_token(renamed.after)}"])


def _token(entry: Entry) -> str:
    return code(entry.token) if entry.token else say("report.unnamed")


def _named(entry: Entry) -> str:
    return f"{_token(entry)} ({inert(entry.record.topic)})"


def _figures(report: Report) -> list[str]:
    lines = [
        f"### {say('report.figures')}",
        "",
        say("report.columns"),
        "| --- | ---: | ---: | ---: |",
    ]
    for key in ("records", "principles", "logs", "topics", "tokens", "size"):
        old, new = getattr(report.before, key), getattr(report.after, key)
        change = f"{new - old:+,}" if new != old else "0"
        lines.append(f"| {say(f'report.{key}')} | {old:,} | {new:,} | {change} |")
    need = "required" if report.need == "required" else "not_required"
    due = say(f"report.{need}", count=report.after.records, threshold=report.threshold)
    return ["\n".join(lines), due]
