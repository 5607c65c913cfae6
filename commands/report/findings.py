"""Works out what a report says: what must not be merged, what to read, what became of the lessons.

Only the entries of records and the places of secrets are kept, never a secret itself.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from commands.report.comparison import Comparison, Entry, compare
from commands.report.revisions import Revisions, Side
from commands.scan.findings import Found, in_lines
from core.config import Settings
from core.guard.injection import marks_of
from core.lessons.answers import Frame, Need, need_of, search_answer
from core.lessons.log import CONFLICT_BEGIN, MemoryLog
from core.lessons.record import LIMITS_BYTES
from core.sanitizer import find, values_in
from core.text.plain import estimate_tokens

CONFLICT, UNREADABLE, UTF_16, LINK = "conflict", "unreadable", "utf_16", "link"
HIDDEN = "hidden"
BOUNDLESS = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A line that no reader can read or sees, an open conflict, or another file in its place.

    kind: CONFLICT and the like.
    """

    path: str
    line: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A record with texts that read like instructions to a model; found: one for each mark."""

    entry: Entry
    found: tuple[Found, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The size of one version; tokens: estimated, of a search that shows everything."""

    records: int
    principles: int
    topics: int
    tokens: int
    size: int

    @property
    def logs(self) -> int:
        """The records that are no principles."""
        return self.records - self.principles


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that a report says of two revisions.

    secrets: in lines that they bring. passing: in lines that a commit on the way brought and a
    later one took out again. earlier: how many were there before and still are.
    """

    revisions: Revisions
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
        return not (self.revisions.before.is_there or self.revisions.after.is_there)


def report_on(revisions: Revisions, *, threshold: int) -> Report:
    """Look at two revisions; threshold: records above which to compact."""
    before, after = revisions.before.log, revisions.after.log
    secrets = list(in_lines(revisions.path, revisions.fresh))
    there: dict[tuple[str, str, str], set[str]] = {}
    for found in secrets:
        there.setdefault(_place(found), set()).update(_values(found))
    records = compare(before, after, revisions.passed, revisions.replaced)
    return Report(
        revisions=revisions,
        secrets=secrets,
        passing=[it for it in revisions.passing if not _is_there(it, there)],
        earlier=sum(1 for _ in in_lines(revisions.path, revisions.kept)),
        damage=list(_damage(revisions)),
        marked=list(_marked(revisions, records)),
        records=records,
        before=_figures(revisions.before),
        after=_figures(revisions.after),
        need=need_of(after.records, after.count, threshold),
        threshold=threshold,
    )


def _is_there(found: Found, there: Mapping[tuple[str, str, str], set[str]]) -> bool:
    """Return whether only other words of its record changed; another value is another secret."""
    values = _values(found)
    return bool(values) and values <= there.get(_place(found), set())


def _place(found: Found) -> tuple[str, str, str]:
    return found.record.id if found.record else "", found.field, found.kind


def _values(found: Found) -> set[str]:
    """Return the secrets of this kind in the field, none where no text of a record holds them."""
    if not found.record or found.field not in LIMITS_BYTES:
        return set()
    text = getattr(found.record, found.field)
    secrets = find(text, values_in(found.record.texts))
    return {text[it.start : it.end] for it in secrets if it.kind == found.kind}


def _damage(revisions: Revisions) -> Iterator[Damage]:
    """Yield what is broken and was not before; a line that is there once more counts as well."""
    before, after = revisions.before, revisions.after
    if revisions.link:
        yield Damage(path=revisions.link, line=1, kind=LINK)
    if after.is_wide and not before.is_wide:
        yield Damage(path=revisions.path, line=1, kind=UTF_16)
        return  # its lines are broken for that reason alone
    known = Counter(content for _, content, _ in _broken(before.log))
    for line, content, kind in _broken(after.log):
        if known[content]:
            known[content] -= 1
        else:
            yield Damage(path=revisions.path, line=line, kind=kind)


def _broken(log: MemoryLog) -> Iterator[tuple[int, bytes, str]]:
    """Yield the lines that no reader can read, or that another line hides, counted from 1.

    Of an open conflict the line where it begins.
    """
    hidden = {id(record) for record, _ in log.hidden}
    begun = [at for at in sorted(log.conflict) if CONFLICT_BEGIN.match(log.content(at))]
    conflicts = frozenset(begun or sorted(log.conflict)[:1])
    for at, entry in enumerate(log.entries):
        content = log.content(at).rstrip(b"\r\n")
        if at in conflicts:
            yield at + 1, content, CONFLICT
        elif entry is None and at not in log.conflict and content.strip():
            yield at + 1, content, UNREADABLE
        elif id(entry) in hidden:
            yield at + 1, content, HIDDEN


def _marked(revisions: Revisions, records: Comparison) -> Iterator[Marked]:
    log = revisions.after.log
    places = (at for at, _ in log.all_records() if at not in log.leftovers)
    line_of = {id(record): at + 1 for at, record in zip(places, log.records, strict=True)}
    for record, known in records.touched:
        line = line_of[id(record)]
        place = Found(path=revisions.path, line=line, kind="", record=record, is_mark=True)
        found = tuple(
            replace(place, kind=mark, field=name)
            for name in LIMITS_BYTES
            if getattr(record, name) not in known
            for mark in marks_of(getattr(record, name))
        )
        if found:
            yield Marked(entry=Entry.of(record), found=found)


def _figures(side: Side) -> Figures:
    records = side.log.records
    # Neither the name of a directory nor a setting of this machine may change a figure.
    settings = Settings(budget_tokens=BOUNDLESS, budget_chars=BOUNDLESS)
    frame = Frame(project="", settings=settings)
    return Figures(
        records=len(records),
        principles=sum(record.type == "principle" for record in records),
        topics=len(side.log.topics),
        tokens=estimate_tokens(search_answer(side.log, frame, query="")) if records else 0,
        size=len(side.data),
    )
