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
from commands.suspicions import Suspicion, in_lines, orders_in, shown_path
from commands.terminal.ask import STDOUT, check_output, open_memory, progress
from commands.terminal.screen import markdown_lines, plain, plain_json, screen_here
from core.config import Settings
from core.lessons.answers import Frame, need_of, search_answer
from core.lessons.log import CONFLICT_BEGIN, MemoryLog
from core.lessons.record import LIMITS_BYTES
from core.messages import say
from core.sanitizer import find_secrets, safe_name, values_in
from core.text.plain import EMPTY_SIGN, as_item, estimate_tokens, one_line, printable_lines

MOST_ITEMS = 30  # of a list
MOST_CHARS = 60_000  # of all lists; GitHub refuses a comment of more than 65,536
MOST_UNSETTLED = 10
BOUNDLESS = 10**12

_TICKS = re.compile("`+")
_IN_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY = {**_IN_DATA, ord(":"): "%3A", ord(","): "%2C"}

Item = list[str]  # the lines of one point of a list


def report(arguments: argparse.Namespace) -> int:
    """Report; 1 for a change that must not be merged, 2 when nobody could look."""
    check_output(arguments)
    opened = open_memory(arguments)
    with progress():
        revisions = read_revisions(opened.store, arguments.range, staged=arguments.staged)
        found = Report(revisions, threshold=opened.settings.threshold)
    text = plain_json(report_json(found)) + "\n" if arguments.json else report_markdown(found)
    if arguments.output not in (None, STDOUT):
        root = opened.project.root
        write_new(Path(arguments.output), text, force=arguments.force, project=root)
        print(plain(say("terminal.written", path=arguments.output)))
    elif screen_here().is_terminal and not arguments.json:
        print("\n".join(markdown_lines(text, screen_here())))
    else:
        print(text, end="")
    for annotation in annotations(found) if arguments.github else ():
        # The runner takes commands from standard error as well, and the report is redirected.
        print(annotation, file=sys.stderr)
    is_wrong = found.is_refused or (arguments.strict and found.orders)
    return 1 if is_wrong else 0


# The content of a report.


class Report:
    """The content of a report on two revisions.

    secrets: in new lines; with a commit, in lines that it brought and another removed. earlier: the
    number of secrets in older lines. damage: lines that no reader can use; the kind names the
    sentence. orders: records with texts that read like instructions to a model. before, after:
    figures.
    """

    def __init__(self, revisions: Revisions, *, threshold: int) -> None:
        before, after = revisions.before.log, revisions.after.log
        self.revisions, self.threshold = revisions, threshold
        self.secrets = list(in_lines(revisions.path, revisions.fresh))
        there = set[tuple[str, ...]]().union(*map(_values, self.secrets))
        # Only other words of its record changed; another value is another secret.
        passing = [it for it in revisions.passing if not _values(it) or _values(it) - there]
        self.secrets += passing
        self.earlier = sum(1 for _ in in_lines(revisions.path, revisions.kept))
        self.damage = list(_damage(revisions))
        self.records = Comparison(before, after, revisions.passed)
        self.orders: list[tuple[Entry, list[Suspicion]]] = []
        places = (at for at, _ in after.all_records() if at not in after.leftover_lines)
        lines = {id(record): at + 1 for at, record in zip(places, after.records, strict=True)}
        for record, known in self.records.touched:
            orders = orders_in(revisions.path, lines[id(record)], record)
            if found := [it for it in orders if getattr(record, it.field) not in known]:
                self.orders.append((Entry.of(record), found))
        self.before, self.after = _figures(revisions.before), _figures(revisions.after)
        self.need = need_of(after.records, after.count, threshold)

    @property
    def is_refused(self) -> bool:
        """Whether the change must not be merged."""
        return bool(self.secrets or self.damage)


def _values(found: Suspicion) -> set[tuple[str, ...]]:
    """Return the secrets of this kind in a record's field, if it has such a text."""
    if not found.record or found.field not in LIMITS_BYTES:
        return set()
    text, place = getattr(found.record, found.field), (found.record.id, found.field, found.kind)
    secrets = find_secrets(text, values_in(found.record.texts))
    return {(*place, text[it.start : it.end]) for it in secrets if it.kind == found.kind}


def _damage(revisions: Revisions) -> Iterator[Suspicion]:
    """Yield new damage; one more copy of a broken line counts."""
    before, after = revisions.before, revisions.after
    if revisions.link:
        yield Suspicion(path=revisions.link, line=1, kind="link")
    if after.is_wide and not before.is_wide:
        yield Suspicion(path=revisions.path, line=1, kind="utf_16")
        return  # its lines are broken for that reason alone
    known = Counter(content for _, content, _ in _broken(before.log))
    for line, content, kind in _broken(after.log):
        if known[content]:
            known[content] -= 1
        else:
            yield Suspicion(path=revisions.path, line=line, kind=kind)


def _broken(log: MemoryLog) -> Iterator[tuple[int, bytes, str]]:
    """Yield line (from 1), content and kind of unreadable or hidden lines."""
    hidden = {id(record) for record, _ in log.hidden}
    begun = [at for at in sorted(log.conflict) if CONFLICT_BEGIN.match(log.line_content(at))]
    conflicts = frozenset(begun or sorted(log.conflict)[:1])
    for at, entry in enumerate(log.entries):
        content = log.line_content(at).rstrip(b"\r\n")
        if at in conflicts:
            yield at + 1, content, "conflict"
        elif entry is None and at not in log.conflict and content.strip():
            yield at + 1, content, "unreadable"
        elif id(entry) in hidden:
            yield at + 1, content, "hidden"


def _figures(side: Side) -> dict[str, int]:
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
    revisions, unsettled = report.revisions, report.revisions.after.log.unsettled
    is_before, is_after = revisions.before.is_there, revisions.after.is_there
    notes = {"before_absent": not is_before, "after_absent": not is_after, "cut": revisions.is_cut}
    lines = [summary(report), ""]
    lines += [say("report.earlier", count=report.earlier), ""] if report.earlier else []
    for key in (key for key, is_so in notes.items() if is_so and revisions.has_log):
        lines += [say(f"report.{key}"), ""]
    if unsettled:
        gaps = [[_named(Entry.of(it)) for it in gap] for gap in unsettled[:MOST_UNSETTLED]]
        named = "; ".join(map(" ↔ ".join, gaps))
        lines += [say("report.unsettled", count=len(unsettled), records=named), ""]
    room, parts = MOST_CHARS, [part for part in _parts(report) if part[2]]
    for key, intro, items, after in parts:
        lines += [f"### {say(f'report.{key}')}", ""]
        lines += [intro, ""] if intro else []
        left = room // 2  # an endless item pushes no other off, and no part the others
        shown = 0
        for item in items:
            size = sum(len(line) + 1 for line in item)
            if shown < MOST_ITEMS and size <= left:
                lines += item
                shown, left, room = shown + 1, left - size, room - size
        if more := len(items) - shown:
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


def summary(report: Report) -> str:
    """Return the report in one sentence, of numbers only."""
    revisions = report.revisions
    if not revisions.has_log:
        return say("report.no_log", path=code(shown_path(revisions.path)))
    counts = {
        "secrets": len(report.secrets),
        "damage": len(report.damage),
        "marked": len(report.orders),
        **{kind: len(report.records.changes[kind]) for kind in KINDS},
        "compacted": report.records.replaced,
    }
    parts = [
        say(f"report.{key}_1" if count == 1 else f"report.{key}", count=count)
        for key, count in counts.items()
        if count
    ]
    if not parts and not revisions.fresh:
        return say("report.nothing", count=report.after["records"])
    return say("report.memory", told=", ".join(parts or [say("report.other_lines")]))


def _parts(report: Report) -> Iterator[tuple[str, str, list[Item], str]]:
    """Yield heading key, introduction, items and ending of each part."""
    refused = list[Item]()
    for found in report.secrets:
        text, commit = _secret(found), found.commit
        if commit:
            text = say("report.passing", commit=code(commit.short), found=text)
        refused.append([f"- {text}"])
    for found in report.damage:
        refused.append([f"- {say(f'report.{found.kind}', where=code(found.where))}"])
    advice = {
        "replace_advice": report.secrets,
        "redact_advice": [it for it in report.secrets if not it.commit],
        "damage_advice": [it for it in report.damage if it.kind not in ("link", "hidden")],
    }
    yield "refused", "", refused, " ".join(say(f"report.{key}") for key in advice if advice[key])
    orders = list[Item]()
    for entry, marked in report.orders:
        kinds = ", ".join(dict.fromkeys(it.kind for it in marked))
        orders.append([f"- {code(marked[0].where)}: {kinds}, {_named(entry)}"])
        for field in dict.fromkeys(it.field for it in marked):
            orders[-1] += _text(f"  - {code(field)}: ", getattr(entry.record, field))
    yield "reads_like", say("report.reads_like_intro"), orders, ""
    items = (_record_item, _changed_item, _returned_item, _compacted_item, _record_item)
    for kind, item in zip(KINDS, items, strict=True):
        changes = report.records.changes[kind]
        if kind == "added":  # principles sum up many logs
            changes = sorted(changes, key=lambda it: it.entry.record.type != "principle")
        intro = say(f"report.{kind}_intro") if kind in ("returned", "removed") else ""
        yield f"{kind}_head", intro, list(map(item, changes)), ""


def _secret(found: Suspicion) -> str:
    """Return place, kind and record of a secret, without its text."""
    where = code(found.where)
    if not found.record:
        return say("report.in_line", where=where, kind=found.kind)
    record, field = _named(Entry.of(found.record)), code(found.field_name)
    return say("report.in_record", where=where, kind=found.kind, field=field, record=record)


def _record_item(change: Change) -> Item:
    record = change.entry.record
    lines = _text("- ", record.lesson)
    for label, text in (("missing", record.missing_context), ("ask", record.ask_next_time)):
        if text.strip():
            lines += _text(f"  - {say(f'documents.{label}')}: ", text)
    for label, names in (("paths", record.paths), ("when", record.when)):
        if names:
            lines.append(f"  - {say(f'documents.{label}')}: {', '.join(map(code, names))}")
    kind = "principle " if record.type == "principle" else ""
    return [*lines, f"  - {kind}{_named(change.entry)}"]


def _changed_item(change: Change) -> Item:
    former = ", ".join(
        _token(it) for it in change.former if it.version_id != change.entry.version_id
    )
    lines = [f"- {former} → {_named(change.entry)}" if former else f"- {_named(change.entry)}"]
    for key, values in change.values.items():
        lines.append(f"  - {code(key)}")
        for label, value in zip(("before", "after"), values, strict=True):
            is_text = value is None or isinstance(value, str)
            text = str(value or "") if is_text else json.dumps(value, ensure_ascii=False)
            lines += _text(f"    - {say(f'report.{label}')}: ", text)
    return lines if change.values else [*lines, f"  - {say('report.only_secret')}"]


def _returned_item(change: Change) -> Item:
    record, before = change.entry.record, change.number
    how = say("report.seen", before=before, after=record.seen) if before else ""
    lines = _text("- ", record.missing_context.strip() or record.lesson)
    return [*lines, f"  - {how or say('report.seen_again')}, {_named(change.entry)}"]


def _compacted_item(change: Change) -> Item:
    lines, originals = _record_item(change), change.former
    lines.append(f"  - {say('report.originals', count=len(originals) + change.number)}")
    for entry in originals[:MOST_ITEMS]:
        lines += as_item("    - ", [*_text("", entry.record.lesson), _named(entry)])
    if more := len(originals[MOST_ITEMS:]):
        lines.append(f"    - {say('report.many', count=more)}")
    if change.number:
        lines.append(f"    - {say('report.unknown', count=change.number)}")
    return lines


def _text(start: str, text: str) -> list[str]:
    return as_item(start, [code(line) for line in printable_lines(text)])


def _named(entry: Entry) -> str:
    return f"{_token(entry)} ({code(entry.record.topic)})"


def _token(entry: Entry) -> str:
    return code(entry.version_id) if entry.version_id else say("report.unnamed")


def code(text: str) -> str:
    """Return any text as one line of code in Markdown, hidden characters spelled out.

    >>> code("a`b")
    '``a`b``'
    """
    shown = one_line(text).strip() or EMPTY_SIGN
    longest = max(map(len, _TICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


# As data for scripts: the same facts, no secret.


def report_json(report: Report) -> dict[str, object]:
    """Return the object of `--json`, whose keys are in `docs/ci.md`; no list is cut."""
    revisions, changes = report.revisions, report.records.changes
    before, after = revisions.before, revisions.after
    return {
        "summary": summary(report),
        "path": shown_path(revisions.path),
        "before": {"version": before.name, "present": before.is_there, **report.before},
        "after": {"version": after.name, "present": after.is_there, **report.after},
        "shallow": revisions.is_cut,
        "secrets": [it.as_json() for it in report.secrets if not it.commit],
        "passing_secrets": [it.as_json() for it in report.secrets if it.commit],
        "earlier_secrets": report.earlier,
        "damage": [
            {"path": shown_path(it.path), "line": it.line, "kind": it.kind} for it in report.damage
        ],
        "marked": [
            _entry_json(entry, findings=list(map(Suspicion.as_json, found)))
            for entry, found in report.orders
        ],
        "added": [_entry_json(it.entry) for it in changes["added"]],
        "changed": [
            _entry_json(
                it.entry, before=[old.version_id for old in it.former], changed={**it.values}
            )
            for it in changes["changed"]
        ],
        "came_back": [_entry_json(it.entry, seen_before=it.number) for it in changes["returned"]],
        "compacted": [
            _entry_json(it.entry, originals=list(map(_entry_json, it.former)), unknown=it.number)
            for it in changes["compacted"]
        ],
        "removed": [_entry_json(it.entry) for it in changes["removed"]],
        "compaction": {"need": report.need, "threshold": report.threshold},
        "refused": report.is_refused,
    }


def _entry_json(entry: Entry, **more: object) -> dict[str, object]:
    return {"token": entry.version_id, "record": entry.record.as_json(), **more}


# As annotations of GitHub Actions.


def annotations(report: Report) -> Iterator[str]:
    """Yield GitHub's commands: errors for secrets and damage, warnings for orders."""
    for found in report.secrets:
        text, commit = found.sentence(), found.commit
        if commit:  # it is nowhere in the files that the runner shows
            text = say("report.passing", commit=commit.short, found=text)
        yield _annotation("error", "secret", text, None if commit else found)
    for found in report.damage:
        text = say(f"report.{found.kind}", where=found.where)
        yield _annotation("error", "damage", text, found)
    for found in (it for _, orders in report.orders for it in orders):
        yield _annotation("warning", "marked", found.sentence(), found)


def _annotation(kind: str, title: str, text: str, at: Suspicion | None = None) -> str:
    """Return one command of the runner, without a path that may not be printed."""
    properties = {"title": say(f"report.title_{title}")}
    if at and safe_name(at.path) and plain(at.path) == at.path:
        properties = {"file": at.path, "line": str(at.line), **properties}
    named = ",".join(f"{name}={it.translate(_IN_PROPERTY)}" for name, it in properties.items())
    return f"::{kind} {named}::{plain(text).translate(_IN_DATA)}"
