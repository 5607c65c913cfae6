"""Tells a reviewer what a change teaches a memory, and what in it is dangerous.

The writer of a record must not control a page or a runner's log: each text stands there as code,
in which nothing is a mention, a link, markup or a command.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from commands.clients.text_file import write_new
from commands.revisions import KINDS, Change, Comparison, Entry, Revisions, Side, read_revisions
from commands.suspicions import Suspicion, find_in_lines, orders_in, printable_path
from commands.terminal.ask import STDOUT, check_output, open_memory, progress
from commands.terminal.screen import markdown_lines, plain, plain_json, screen_here
from core.config import Settings
from core.lessons.answers import Frame, need_of, search_answer
from core.lessons.log import CONFLICT_BEGIN, MemoryLog
from core.lessons.record import LIMITS_BYTES
from core.messages import say
from core.sanitizer import find_secrets, safe_name, secret_values_in
from core.text.plain import EMPTY_SIGN, as_item, estimate_tokens, one_line, printable_lines

MOST_ITEMS = 30  # of a list
MOST_CHARS = 60_000  # of all lists; GitHub refuses a comment of more than 65,536
MOST_UNSETTLED = 10
BOUNDLESS = 10**12

_TICKS = re.compile("`+")
_DATA_ESCAPES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY_ESCAPES = {**_DATA_ESCAPES, ord(":"): "%3A", ord(","): "%2C"}

Item = list[str]  # the lines of one point of a list


def report(options: argparse.Namespace) -> int:
    """Report; 1 for a change that must not be merged, 2 when nobody could look."""
    check_output(options)
    memory = open_memory(options)
    with progress():
        revisions = read_revisions(memory.store, options.range, staged=options.staged)
        content = Report(revisions, threshold=memory.settings.threshold)
    text = plain_json(report_json(content)) + "\n" if options.json else report_markdown(content)
    if options.output not in (None, STDOUT):
        root = memory.project.root
        write_new(Path(options.output), text, force=options.force, project=root)
        print(plain(say("terminal.written", path=options.output)))
    elif screen_here().is_terminal and not options.json:
        print("\n".join(markdown_lines(text, screen_here())))
    else:
        print(text, end="")
    for annotation in annotations_of(content) if options.github else ():
        # The runner takes commands from standard error as well, and the report is redirected.
        print(annotation, file=sys.stderr)
    return 1 if content.is_refused or (options.strict and content.orders) else 0


# The content of a report.


class Report:
    """The content of a report on two revisions.

    secrets: in new lines; with a commit, in lines that it brought and another removed.
    earlier_count: of secrets in older lines. damage: lines that no reader can use; the kind names
    the sentence. orders: records whose texts read like instructions. before, after: figures.
    """

    def __init__(self, revisions: Revisions, *, threshold: int) -> None:
        before, after = revisions.before.log, revisions.after.log
        self.revisions, self.threshold = revisions, threshold
        self.secrets = list(find_in_lines(revisions.path, revisions.new_lines))
        new_values = set[tuple[str, ...]]().union(*map(_values_of, self.secrets))
        # Only other words of its record changed; another value is another secret.
        pairs = [(secret, _values_of(secret)) for secret in revisions.passing_secrets]
        self.secrets += [secret for secret, values in pairs if not values or values - new_values]
        self.earlier_count = sum(1 for _ in find_in_lines(revisions.path, revisions.old_lines))
        self.damage = list(_find_damage(revisions))
        self.records = Comparison(before, after, revisions.transients)
        self.orders: list[tuple[Entry, list[Suspicion]]] = []
        places = (index for index, _ in after.all_records() if index not in after.leftover_lines)
        lines = {id(record): index + 1 for index, record in zip(places, after.records, strict=True)}
        for record, old_texts in self.records.touched_records:
            orders = orders_in(revisions.path, lines[id(record)], record)
            hits = [order for order in orders if getattr(record, order.field) not in old_texts]
            self.orders += [(Entry.of(record), hits)] if hits else []
        self.before, self.after = _figures_of(revisions.before), _figures_of(revisions.after)
        self.need = need_of(after.records, after.count, threshold)

    @property
    def is_refused(self) -> bool:
        """Whether the change must not be merged."""
        return bool(self.secrets or self.damage)


def _values_of(suspicion: Suspicion) -> set[tuple[str, ...]]:
    """Return the secrets of this kind in a record's field, if it has such a text."""
    record, field, kind = suspicion.record, suspicion.field, suspicion.kind
    if not record or field not in LIMITS_BYTES:
        return set()
    text, place = getattr(record, field), (record.id, field, kind)
    matches = find_secrets(text, secret_values_in(record.texts))
    return {(*place, text[match.start : match.end]) for match in matches if match.kind == kind}


def _find_damage(revisions: Revisions) -> Iterator[Suspicion]:
    """Yield new damage; one more copy of a broken line counts."""
    before, after = revisions.before, revisions.after
    if revisions.link:
        yield Suspicion(path=revisions.link, line=1, kind="link")
    if after.is_wide and not before.is_wide:
        yield Suspicion(path=revisions.path, line=1, kind="utf_16")
        return  # its lines are broken for that reason alone
    old_counts = Counter(content for _, content, _ in _broken_lines(before.log))
    for line, content, kind in _broken_lines(after.log):
        if old_counts[content]:
            old_counts[content] -= 1
        else:
            yield Suspicion(path=revisions.path, line=line, kind=kind)


def _broken_lines(log: MemoryLog) -> Iterator[tuple[int, bytes, str]]:
    """Yield line (from 1), content and kind of unreadable or hidden lines."""
    hidden_ids = {id(record) for record, _ in log.hidden_pairs}
    starts = [i for i in sorted(log.conflict) if CONFLICT_BEGIN.match(log.line_content(i))]
    conflicts = frozenset(starts or sorted(log.conflict)[:1])
    for index, entry in enumerate(log.entries):
        content = log.line_content(index).rstrip(b"\r\n")
        if index in conflicts:
            yield index + 1, content, "conflict"
        elif entry is None and index not in log.conflict and content.strip():
            yield index + 1, content, "unreadable"
        elif id(entry) in hidden_ids:
            yield index + 1, content, "hidden"


def _figures_of(side: Side) -> dict[str, int]:
    """Return the size of a version. tokens: estimated, of a search without limits."""
    records = side.log.records
    principles = sum(record.type == "principle" for record in records)
    # Neither the name of a directory nor a setting of this machine may change a figure.
    settings = Settings(budget_tokens=BOUNDLESS, budget_chars=BOUNDLESS)
    frame = Frame(project="", settings=settings)
    answer = search_answer(side.log, frame, query="") if records else ""
    return {
        "records": len(records),
        "principles": principles,
        "logs": len(records) - principles,
        "topics": len(side.log.topics),
        "tokens": estimate_tokens(answer),
        "bytes": len(side.data),
    }


# As Markdown, the most important part first.


def report_markdown(report: Report) -> str:
    """Return the document; a runner or terminal may print each line."""
    revisions, unsettled = report.revisions, report.revisions.after.log.rivals
    is_before, is_after = revisions.before.is_there, revisions.after.is_there
    notes = {"before_absent": not is_before, "after_absent": not is_after, "cut": revisions.is_cut}
    lines = [summary_of(report), ""]
    lines += [say("report.earlier", count=report.earlier_count), ""] if report.earlier_count else []
    for key in (key for key, is_so in notes.items() if is_so and revisions.has_log):
        lines += [say(f"report.{key}"), ""]
    if unsettled:
        gaps = [map(_entry_text, map(Entry.of, gap)) for gap in unsettled[:MOST_UNSETTLED]]
        records = "; ".join(map(" ↔ ".join, gaps))
        lines += [say("report.unsettled", count=len(unsettled), records=records), ""]
    room_chars, parts = MOST_CHARS, [part for part in _parts_of(report) if part[2]]
    for key, intro, items, after in parts:
        lines += [f"### {say(f'report.{key}')}", ""]
        lines += [intro, ""] if intro else []
        part_chars = room_chars // 2  # an endless item pushes no other off, and no part the others
        count = 0
        for item in items:
            chars = sum(len(line) + 1 for line in item)
            if count < MOST_ITEMS and chars <= part_chars:
                lines += item
                count, part_chars, room_chars = count + 1, part_chars - chars, room_chars - chars
        if more := len(items) - count:
            lines += ["", say("report.not_shown", count=more)]
        lines += ["", after, ""] if after else [""]
    if parts:
        lines += [f"### {say('report.figures')}", "", say("report.columns")]
        lines.append("| --- | ---: | ---: | ---: |")
        for key, old in report.before.items():
            new = report.after[key]
            change = f"{new - old:+,}" if new != old else "0"
            lines.append(f"| {say(f'report.{key}')} | {old:,} | {new:,} | {change} |")
        need = "required" if report.need == "required" else "not_required"
        figures = {"count": report.after["records"], "threshold": report.threshold}
        lines += ["", say(f"report.{need}", **figures)]
    return "\n".join(map(plain, lines)).rstrip("\n") + "\n"


def summary_of(report: Report) -> str:
    """Return the report in one sentence, of numbers only."""
    revisions = report.revisions
    if not revisions.has_log:
        return say("report.no_log", path=code_of(printable_path(revisions.path)))
    counts = {
        "secrets": len(report.secrets),
        "damage": len(report.damage),
        "marked": len(report.orders),
        **{kind: len(report.records.changes[kind]) for kind in KINDS},
        "compacted": report.records.replaced_count,
    }
    parts = [
        say(f"report.{key}_1" if count == 1 else f"report.{key}", count=count)
        for key, count in counts.items()
        if count
    ]
    if not parts and not revisions.new_lines:
        return say("report.nothing", count=report.after["records"])
    return say("report.memory", told=", ".join(parts or [say("report.other_lines")]))


def _parts_of(report: Report) -> Iterator[tuple[str, str, list[Item], str]]:
    """Yield heading key, introduction, items and ending of each part."""
    items = list[Item]()
    for secret in report.secrets:
        facts = {"where": code_of(secret.where), "kind": secret.kind}
        text = say("report.in_line", **facts)
        if secret.record:
            record, field = _entry_text(Entry.of(secret.record)), code_of(secret.field_name)
            text = say("report.in_record", **facts, field=field, record=record)
        if secret.commit:
            text = say("report.passing", commit=code_of(secret.commit.short_id), found=text)
        items.append([f"- {text}"])
    for flaw in report.damage:
        items.append([f"- {say(f'report.{flaw.kind}', where=code_of(flaw.where))}"])
    advice = {
        "replace_advice": report.secrets,
        "redact_advice": [secret for secret in report.secrets if not secret.commit],
        "damage_advice": [flaw for flaw in report.damage if flaw.kind not in ("link", "hidden")],
    }
    yield "refused", "", items, " ".join(say(f"report.{key}") for key in advice if advice[key])
    orders = list[Item]()
    for entry, suspicions in report.orders:
        kinds = ", ".join(dict.fromkeys(suspicion.kind for suspicion in suspicions))
        orders.append([f"- {code_of(suspicions[0].where)}: {kinds}, {_entry_text(entry)}"])
        for field in dict.fromkeys(suspicion.field for suspicion in suspicions):
            orders[-1] += _text_lines(f"  - {code_of(field)}: ", getattr(entry.record, field))
    yield "reads_like", say("report.reads_like_intro"), orders, ""
    makers = (_record_item, _changed_item, _returned_item, _compacted_item, _record_item)
    for kind, make_item in zip(KINDS, makers, strict=True):
        changes = report.records.changes[kind]
        if kind == "added":  # principles sum up many logs
            changes = sorted(changes, key=lambda change: change.entry.record.type != "principle")
        intro = say(f"report.{kind}_intro") if kind in ("returned", "removed") else ""
        yield f"{kind}_head", intro, list(map(make_item, changes)), ""


def _record_item(change: Change) -> Item:
    record = change.entry.record
    lines = _text_lines("- ", record.lesson)
    for label, text in (("missing", record.missing_context), ("ask", record.ask_next_time)):
        if text.strip():
            lines += _text_lines(f"  - {say(f'documents.{label}')}: ", text)
    for label, names in (("paths", record.paths), ("when", record.when)):
        if names:
            lines.append(f"  - {say(f'documents.{label}')}: {', '.join(map(code_of, names))}")
    kind = "principle " if record.type == "principle" else ""
    return [*lines, f"  - {kind}{_entry_text(change.entry)}"]


def _changed_item(change: Change) -> Item:
    entry = change.entry
    ids = ", ".join(_id_text(old) for old in change.former if old.version_id != entry.version_id)
    lines = [f"- {ids} → {_entry_text(entry)}" if ids else f"- {_entry_text(entry)}"]
    for key, values in change.values.items():
        lines.append(f"  - {code_of(key)}")
        for label, value in zip(("before", "after"), values, strict=True):
            is_text = value is None or isinstance(value, str)
            text = str(value or "") if is_text else json.dumps(value, ensure_ascii=False)
            lines += _text_lines(f"    - {say(f'report.{label}')}: ", text)
    return lines if change.values else [*lines, f"  - {say('report.only_secret')}"]


def _returned_item(change: Change) -> Item:
    record, before = change.entry.record, change.number
    seen_text = say("report.seen", before=before, after=record.seen) if before else ""
    lines = _text_lines("- ", record.missing_context.strip() or record.lesson)
    return [*lines, f"  - {seen_text or say('report.seen_again')}, {_entry_text(change.entry)}"]


def _compacted_item(change: Change) -> Item:
    lines, originals = _record_item(change), change.former
    lines.append(f"  - {say('report.originals', count=len(originals) + change.number)}")
    for entry in originals[:MOST_ITEMS]:
        lines += as_item("    - ", [*_text_lines("", entry.record.lesson), _entry_text(entry)])
    if more := len(originals[MOST_ITEMS:]):
        lines.append(f"    - {say('report.many', count=more)}")
    if change.number:
        lines.append(f"    - {say('report.unknown', count=change.number)}")
    return lines


def _text_lines(start: str, text: str) -> list[str]:
    return as_item(start, [code_of(line) for line in printable_lines(text)])


def _entry_text(entry: Entry) -> str:
    return f"{_id_text(entry)} ({code_of(entry.record.topic)})"


def _id_text(entry: Entry) -> str:
    return code_of(entry.version_id) if entry.version_id else say("report.unnamed")


def code_of(text: str) -> str:
    """Return any text as one line of code in Markdown, hidden characters spelled out.

    >>> code_of("a`b")
    '``a`b``'
    """
    line = one_line(text).strip() or EMPTY_SIGN
    longest = max(map(len, _TICKS.findall(line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if "`" in (line[0], line[-1]) else ""
    return f"{fence}{pad}{line}{pad}{fence}"


# As data for scripts: the same facts, no secret.


def report_json(report: Report) -> dict[str, object]:
    """Return the object of `--json`, whose keys are in `docs/ci.md`; no list is cut."""
    revisions, changes = report.revisions, report.records.changes
    before, after = revisions.before, revisions.after
    return {
        "summary": summary_of(report),
        "path": printable_path(revisions.path),
        "before": {"version": before.name, "present": before.is_there, **report.before},
        "after": {"version": after.name, "present": after.is_there, **report.after},
        "shallow": revisions.is_cut,
        "secrets": [secret.as_json() for secret in report.secrets if not secret.commit],
        "passing_secrets": [secret.as_json() for secret in report.secrets if secret.commit],
        "earlier_secrets": report.earlier_count,
        "damage": [
            {"path": printable_path(flaw.path), "line": flaw.line, "kind": flaw.kind}
            for flaw in report.damage
        ],
        "marked": [
            _entry_json(entry, findings=list(map(Suspicion.as_json, suspicions)))
            for entry, suspicions in report.orders
        ],
        "added": [_entry_json(change.entry) for change in changes["added"]],
        "changed": [
            _entry_json(entry, before=[old.version_id for old in entries], changed={**values})
            for entry, entries, values, _ in changes["changed"]
        ],
        "came_back": [_entry_json(entry, seen_before=n) for entry, *_, n in changes["returned"]],
        "compacted": [
            _entry_json(entry, originals=list(map(_entry_json, originals)), unknown=count)
            for entry, originals, _, count in changes["compacted"]
        ],
        "removed": [_entry_json(change.entry) for change in changes["removed"]],
        "compaction": {"need": report.need, "threshold": report.threshold},
        "refused": report.is_refused,
    }


def _entry_json(entry: Entry, **more: object) -> dict[str, object]:
    return {"token": entry.version_id, "record": entry.record.as_json(), **more}


# As annotations of GitHub Actions.


def annotations_of(report: Report) -> Iterator[str]:
    """Yield GitHub's commands: errors for secrets and damage, warnings for orders."""
    for secret in report.secrets:
        text, commit = secret.sentence(), secret.commit
        if commit:  # it is nowhere in the files that the runner shows
            text = say("report.passing", commit=commit.short_id, found=text)
        yield _annotation("error", "secret", text, None if commit else secret)
    for flaw in report.damage:
        text = say(f"report.{flaw.kind}", where=flaw.where)
        yield _annotation("error", "damage", text, flaw)
    for order in (order for _, orders in report.orders for order in orders):
        yield _annotation("warning", "marked", order.sentence(), order)


def _annotation(kind: str, title: str, text: str, suspicion: Suspicion | None = None) -> str:
    """Return one command of the runner, without a path that may not be printed."""
    properties = {"title": say(f"report.title_{title}")}
    if suspicion and safe_name(suspicion.path) and plain(suspicion.path) == suspicion.path:
        properties = {"file": suspicion.path, "line": str(suspicion.line), **properties}
    pairs = [f"{name}={value.translate(_PROPERTY_ESCAPES)}" for name, value in properties.items()]
    return f"::{kind} {','.join(pairs)}::{plain(text).translate(_DATA_ESCAPES)}"
