"""Decides which records a reader sees when a git merge or a hand leaves several lines of one id.

Pure. A version lists the ones it follows (`former`). Versions of which none follows the other were
written on two branches: where their words are the same they are one record, the later date wins;
where their words differ all of them stay until a save settles it, so that no lesson is lost.

A principle hides the originals that it lists (`source_ids`), and a record under changed texts the
one that it was. Anybody can write such a list into a line, so that it counts only for what stood
before that line, and not for more lines at once than a compaction replaces.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from core.lessons.record import MOST_COUNTED, MOST_FORMER, Record, id_in, ids_in, seconds_of

MOST_HIDDEN = 100  # an answer of compact_memory shows no more records at their usual size
MOST_REDACTIONS = 50  # a millisecond each, which a stranger's lines could ask for without end
LEAST_LINE = 12  # characters; shorter ones are alike by chance

_Lines = Mapping[int, Record]


class Merged(NamedTuple):
    """What a reader sees of the records of one file.

    changed: by line, the records that inherited from others; the next change writes them. several:
    by id, the lines of one that has more than one. leftovers: lines that no reader sees. hidden:
    those of them that a principle hides, with this principle. unsettled: lines of different
    versions of one gap, all of them seen. replaced: by id, the version ids that some record has
    replaced.
    """

    changed: Mapping[int, Record]
    several: Mapping[str, Sequence[int]]
    leftovers: frozenset[int]
    hidden: Mapping[int, Record]
    unsettled: Sequence[Sequence[int]]
    replaced: Mapping[str, frozenset[str]]


def merged(entries: Sequence[Record | None]) -> Merged:
    """Decide for every id of these lines; None stands for a line without a record."""
    ids = [record.id for record in entries if record]
    lists = _Lists({at: it for at, it in enumerate(entries) if it and it.source_ids}, ids)
    questioned: dict[str, dict[int, Record]] = {}
    if asked := lists.tokens.keys() | _repeated(ids):
        for at, record in enumerate(entries):
            if record and record.id in asked:
                questioned.setdefault(record.id, {})[at] = record
    leftovers: set[int] = set()
    hidden: dict[int, Record] = {}
    unsettled: list[list[int]] = []
    changed: dict[int, Record] = {}
    for lines in questioned.values():
        kept: dict[int, Record] = {}
        for versions in _gaps(lines, lists, hidden):
            survivors = _survivors(versions)
            kept |= {at: record for at, record in survivors.items() if not lists.hider(at, record)}
            if len(survivors) > 1:
                unsettled.append(sorted(survivors))
        leftovers.update(at for at in lines if at not in kept)
        changed |= {at: record for at, record in kept.items() if record is not lines[at]}
    return Merged(
        changed=changed,
        several={name: tuple(lines) for name, lines in questioned.items() if len(lines) > 1},
        leftovers=frozenset(leftovers),
        hidden=hidden,
        unsettled=sorted(unsettled),
        replaced={name: frozenset(tokens) for name, tokens in lists.tokens.items()},
    )


def _repeated(ids: Sequence[str]) -> set[str]:
    """Return the ids that stand here more than once; most logs have none."""
    if len(set(ids)) == len(ids):
        return set()
    return {name for name, count in Counter(ids).items() if count > 1}


class _Lists:
    """What the records of a file list as replaced. tokens: by id, the version ids that count."""

    def __init__(self, listing: _Lines, present: Iterable[str]) -> None:
        self.tokens: dict[str, set[str]] = {}
        self._listing: dict[str, list[int]] = {}
        self._records = listing
        self._long_lines: dict[int, frozenset[str]] = {}
        self._redactions = MOST_REDACTIONS
        present = frozenset(present) if listing else frozenset()
        for at, record in listing.items():
            if len(ids_in(record.source_ids) & present) > MOST_HIDDEN:
                continue
            for token in dict.fromkeys(record.source_ids):
                self.tokens.setdefault(id_in(token), set()).add(token)
                self._listing.setdefault(token, []).append(at)

    def hider(self, at: int, record: Record) -> Record | None:
        """Return the record that hides this line, if any does."""
        if record.id not in self.tokens:
            return None
        lines = self._listing.get(record.token, ())
        found = (line for line in lines if self._came_after(line, at, record))
        return next((self._records[line] for line in found if self._hides(line, record)), None)

    def _came_after(self, line: int, at: int, record: Record) -> bool:
        return line > at or _last_s(self._records[line]) >= _last_s(record)

    def _hides(self, line: int, original: Record) -> bool:
        """Return whether a line may hide a record: a principle any, a log only one that it was."""
        record = self._records[line]
        if record.type == "principle":
            return True
        if original.type == "principle":
            return False
        if line not in self._long_lines:  # a stranger's may have very many, and name it often
            self._long_lines[line] = frozenset(_long_lines(record))
        return self._shares_text(line, original) or self._was_redacted(line, original)

    def _shares_text(self, line: int, original: Record) -> bool:
        pairs = zip(self._records[line].texts[1:3], original.texts[1:3], strict=True)
        shared = self._long_lines[line].intersection(_long_lines(original))
        return bool(shared) or any(new == old for new, old in pairs)

    def _was_redacted(self, line: int, original: Record) -> bool:
        """Return whether the record is the original without its secrets; a few are looked at."""
        if not self._redactions:
            return False
        from core.lessons.clean_record import clean_record  # hardly any log needs these
        from core.sanitizer import MARKER

        record = self._records[line]
        if MARKER not in record.missing_context + record.lesson:
            return False
        self._redactions -= 1
        return self._shares_text(line, clean_record(original)[0])


def _last_s(record: Record) -> float:
    return max(map(seconds_of, (record.created, record.updated, record.compacted_at)))


def _long_lines(record: Record) -> Iterable[str]:
    """Return the lines of the texts that are too long to be alike by chance."""
    texts = (record.missing_context, record.lesson)
    return (line for text in texts for line in text.split("\n") if len(line) >= LEAST_LINE)


def _gaps(lines: _Lines, lists: _Lists, hidden: dict[int, Record]) -> Iterable[_Lines]:
    """Return the lines of one id by what they are about; what a record hides goes to `hidden`.

    Two gaps whose joined texts are equal share an id; they are no versions of each other.
    """
    gaps: dict[tuple[str, str, str], dict[int, Record]] = {}
    for at, record in lines.items():
        if hider := lists.hider(at, record):
            hidden[at] = hider
        else:
            gaps.setdefault(record.gap, {})[at] = record
    return gaps.values()


def following(record: Record, *earlier: Record) -> Record:
    """Return the record as one that follows these versions of it."""
    known = [fingerprint for it in earlier for fingerprint in (*it.former, it.fingerprint())]
    return replace(record, former=tuple(dict.fromkeys((*record.former, *known)))[-MOST_FORMER:])


def _survivors(versions: _Lines) -> dict[int, Record]:
    """Return by line the versions of one gap that no other follows, those in equal words as one."""
    if len(versions) == 1:
        return dict(versions)
    latest = _latest(versions)
    by_words: dict[tuple[str, str], dict[int, Record]] = {}
    for at, record in (latest or versions).items():
        by_words.setdefault((record.lesson, record.ask_next_time), {})[at] = record
    if len(by_words) == 1:
        return dict([_newest(latest or versions, versions)])
    return dict(_newest(alike, alike) for alike in by_words.values())


def _latest(versions: _Lines) -> _Lines:
    """Return by line the versions of one gap that no other follows.

    A program that does not know `former` keeps the creation date and adds that of its update.
    """
    followed = Counter(known for it in versions.values() for known in set(it.former))
    rewritten = {it.created for it in versions.values() if it.updated and not it.former}
    return {
        at: it
        for at, it in versions.items()
        if (it.updated or it.created not in rewritten)
        and followed[it.fingerprint()] == (it.fingerprint() in it.former)
    }


def follows(record: Record, other: Record) -> bool:
    """Return whether a merge takes the first of two versions of one gap for the later one."""
    return [*_latest({0: other, 1: record})] == [1]


def _newest(candidates: _Lines, versions: _Lines) -> tuple[int, Record]:
    """Return the newest candidate and its line, with what it inherits from these versions."""
    at = max(candidates, key=lambda line: (candidates[line].version(), line))
    record = candidates[at]
    changed = united(record, [it for line, it in versions.items() if line != at])
    return at, record if changed == record else changed  # its line keeps its bytes


def united(record: Record, others: Iterable[Record]) -> Record:
    """Return the record as one that follows these versions, too, and replaces what they replaced.

    A later compaction covers them all, and no merge brings one back.
    """
    known = {*record.former, record.fingerprint(), *record.source_ids}
    news = [
        it
        for it in sorted(others, key=Record.version)
        if not known.issuperset((*it.former, it.fingerprint(), *it.source_ids))
    ]
    if not news:
        return record
    source_ids = dict.fromkeys(token for it in (record, *news) for token in it.source_ids)
    added = len(ids_in(source_ids) - ids_in(record.source_ids))
    changed = replace(following(record, *news, record), source_ids=tuple(source_ids))
    if not added:
        return changed
    return replace(changed, source_count=min((record.source_count or 0) + added, MOST_COUNTED))
