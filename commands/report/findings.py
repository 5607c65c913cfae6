"""What a report says: what must not be merged, what should be read, and what became of the lessons.

Nothing in here holds a secret but for the places where one was found; what is shown of a record
are its entries.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from commands.report.range import Range, Side
from commands.scan.findings import Found, in_lines
from core.injection.marks import marks_of
from core.lessons.answers.counting import whole_answer
from core.lessons.answers.frame import Frame
from core.lessons.compaction import Need, group_by_topic, need_for
from core.lessons.git.comparing import Comparison, Entry, compare
from core.lessons.lines import CONFLICT_BEGIN
from core.lessons.log import MemoryLog
from core.lessons.record import LIMITS_BYTES
from core.lessons.upkeep.secrets import secrets_in
from core.sanitizer import values_in
from core.settings import Settings
from core.text.tokens import estimate_tokens

CONFLICT, UNREADABLE, UTF_16, LINK = "conflict", "unreadable", "utf_16", "link"


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A line that no reader can read, a conflict left open, or another file in the log's place.

    kind: CONFLICT and the like.
    """

    path: str
    line: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A record with texts that read like instructions to a model.

    found: one for each mark, with its field.
    """

    entry: Entry
    found: tuple[Found, ...]

    @property
    def fields(self) -> dict[str, list[str]]:
        """By field, its marks."""
        fields: dict[str, list[str]] = {}
        for found in self.found:
            fields.setdefault(found.field, []).append(found.kind)
        return fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The size of one version; tokens: estimated, of a search that shows everything."""

    records: int
    principles: int
    topics: int
    tokens: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that is told of a range.

    secrets: in lines that it brings. passing: in lines that a commit inside of it brought and a
    later one took out again. earlier: how many were there before and still are.
    """

    range: Range
    secrets: list[Found]
    passing: list[Found]
    earlier: int
    damage: list[Damage]
    marked: list[Marked]
    records: Comparison
    before: Figures
    after: Figures
    need: Need
    threshold: int

    @property
    def is_refused(self) -> bool:
        """Whether there is something that must not be merged."""
        return bool(self.secrets or self.passing or self.damage)

    @property
    def is_absent(self) -> bool:
        """Whether neither version has a log."""
        return not (self.range.before.is_there or self.range.after.is_there)


def report_on(range: Range, *, threshold: int) -> Report:
    """Look at a range; threshold: records above which to compact."""
    before, after = range.before.log, range.after.log
    secrets = list(in_lines(range.path, range.fresh))
    there: dict[tuple[str, str, str], set[str]] = {}
    for found in secrets:
        there.setdefault(_place(found), set()).update(_values(found))
    records = compare(before, after, range.passed)
    return Report(
        range=range,
        secrets=secrets,
        passing=[it for it in range.passing if not _is_there(it, there)],
        earlier=sum(1 for _ in in_lines(range.path, range.kept)),
        damage=list(_damage(range)),
        marked=list(_marked(range, records)),
        records=records,
        before=_figures(range.before),
        after=_figures(range.after),
        need=need_for(group_by_topic(after.records), after.count, threshold),
        threshold=threshold,
    )


def _is_there(found: Found, there: Mapping[tuple[str, str, str], set[str]]) -> bool:
    """Whether only other words of its record have changed; another value is another secret."""
    values = _values(found)
    return bool(values) and values <= there.get(_place(found), set())


def _place(found: Found) -> tuple[str, str, str]:
    return found.record.id if found.record else "", found.field, found.kind


def _values(found: Found) -> set[str]:
    """The secrets of this kind in the field; nothing where no text of a record holds them."""
    if not found.record or found.field not in LIMITS_BYTES:
        return set()
    text = getattr(found.record, found.field)
    secrets = secrets_in(text, values_in(found.record.texts))
    return {text[it.start : it.end] for it in secrets if it.kind == found.kind}


def _damage(range: Range) -> Iterator[Damage]:
    """What is broken and was not before; a line that stands there once more counts as well."""
    if range.link:
        yield Damage(path=range.link, line=1, kind=LINK)
    if range.after.is_wide and not range.before.is_wide:
        yield Damage(path=range.path, line=1, kind=UTF_16)
    known = Counter(content for _, content, _ in _broken(range.before.log))
    for line, content, kind in _broken(range.after.log):
        if known[content]:
            known[content] -= 1
        else:
            yield Damage(path=range.path, line=line, kind=kind)


def _broken(log: MemoryLog) -> Iterator[tuple[int, bytes, str]]:
    """The lines that no reader can read, counted from 1, and where each conflict begins."""
    begun = [at for at in sorted(log.conflict) if CONFLICT_BEGIN.match(log.content(at))]
    conflicts = frozenset(begun or sorted(log.conflict)[:1])
    for at, entry in enumerate(log.entries):
        content = log.content(at).rstrip(b"\r\n")
        if at in conflicts:
            yield at + 1, content, CONFLICT
        elif entry is None and at not in log.conflict and content.strip():
            yield at + 1, content, UNREADABLE


def _marked(range: Range, records: Comparison) -> Iterator[Marked]:
    for record, told in records.touched:
        texts = {name: getattr(record, name) for name in LIMITS_BYTES}
        lines = range.after.log.with_id(record.id)
        line = next((at for at, it in lines.items() if it == record), 0) + 1
        found = tuple(
            Found(path=range.path, line=line, kind=mark, field=name, record=record, is_mark=True)
            for name, text in texts.items()
            if text not in told
            for mark in marks_of(text)
        )
        if found:
            yield Marked(entry=Entry.of(record), found=found)


def _figures(side: Side) -> Figures:
    records = side.log.records
    # Neither the name of a directory nor a setting of this machine may change a figure.
    frame = Frame(project="", settings=Settings())
    return Figures(
        records=len(records),
        principles=sum(record.type == "principle" for record in records),
        topics=len(side.log.topics),
        tokens=estimate_tokens(whole_answer(side.log, frame)) if records else 0,
        size=len(side.data),
    )
