"""The memory log as a room for people."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from core.errors import RefusedError
from core.git import HistoryError, is_uncommitted
from core.guard.injection import current_marks
from core.lessons import record_text
from core.lessons.changes import Outcome
from core.lessons.draft import clean_record
from core.lessons.file import ASIDE_NAME
from core.lessons.log import MemoryLog
from core.lessons.record import Record, id_in, normalise_topic, record_of, seconds_of, utc_now
from core.lessons.record_text import (
    day_of,
    minute_of,
    record_name,
    topic_text,
    version_id_text,
    warning_on,
)
from core.messages import Facts, say
from core.sanitizer import redact, safe_name
from core.store import MemoryStore
from rooms import room
from rooms.room import LESSONS, Item, Matches, Memory, Refusal, Restoration, Room

if TYPE_CHECKING:  # a list needs none of it
    from core.lessons.history import Version as Past
    from core.lessons.upkeep import Finding

MOST_SECRETS_BYTES = 2_000_000  # to look through as many takes a second
MOST_ASTRAY = 8
# Korean is spaced freely; of a shorter word, two others may hold an end and a beginning.
_COMPOUND, _SPACE = "[가-힣]{4}", "(?<=[가-힣]) (?=[가-힣])"
_DATA = (
    "id token type topic missing_context lesson ask_next_time created updated seen compacted_at"
    " source_count source_ids marks paths when"
).split()
_PLACES = ("log", "kept_since", "replaced_by", "commit", "committed_at")  # of a version


class ForPeople(Room):
    """The records of a project; see `rooms.room.Room`."""

    name = LESSONS
    kinds = ("log", "principle")

    def __init__(self, opened: Memory) -> None:
        super().__init__(opened)
        self._store = opened.store

    def is_there(self) -> bool:
        return True

    def find(self, wanted: room.Filter) -> Matches:
        """Return records; with words, only records with every word."""
        found, brief = self._fitting(wanted), wanted.is_brief
        first = [item_of(it, date, is_brief=brief) for _, it, date in found[: wanted.limit]]
        return Matches(first, len(found))

    def _fitting(self, wanted: room.Filter) -> list[tuple[int, Record, str]]:
        log = self._store.read()
        records, dates = [*log.records], [it.updated or it.created for it in log.records]
        if wanted.forgotten:
            there = {record.id for record in records}
            gone = {it.record.id: it for it in reversed(self._store.read_side_records())}
            kept = [it for id_, it in gone.items() if id_ not in there]
            records, dates = [it.record for it in kept], [it.at for it in kept]
        if wanted.words:
            order = matching(wanted.words, records)
        else:  # within a second the one further down in the file comes first
            downwards = range(len(records))[::-1]
            order = sorted(downwards, key=lambda at: seconds_of(dates[at]), reverse=True)
        topics = {normalise_topic(topic) for topic in wanted.topics}
        since_s = seconds_of(wanted.since) if wanted.since else float("-inf")
        return [
            (at, records[at], dates[at])
            for at in order
            if (not topics or records[at].topic in topics)
            and wanted.kind in ("", records[at].type)
            and seconds_of(dates[at]) >= since_s
        ]

    def explain_no_match(self, wanted: room.Filter) -> list[str]:
        if wanted.forgotten:
            return [say("lessons.none_forgotten")]
        log = self._store.read()
        if not log.count:
            return [say("records.empty")]
        lines = [say("records.none_fits", count=log.count)]
        if wanted.words:
            holders = holders_of(wanted.words, log.records)
            counts = ", ".join(f"{word} {len(found):,}" for word, found in holders.items())
            lines = [say("records.no_hit", count=log.count)]
            lines += [say("records.each_word", counts=counts)] if len(holders) > 1 else []
        topics = map(normalise_topic, wanted.topics)
        return [*lines, *room.lines_on_unknown("records.no_topic", topics, log.topics)]

    def find_by_name(self, name: str) -> list[Item]:
        """Return the records of an id, its beginning or a version id. Raises HistoryError."""
        from core.lessons.history import find_records

        log = self._store.read()
        try:
            return [item_of(record) for record in find_records(name, log)]
        except HistoryError as error:
            begun = [record for record in log.records if record.id.startswith(name)]
            if error.key == "ambiguous":
                return [item_of(record) for record in begun]
            if error.key not in ("not_there", "too_short") or begun:
                raise
        return []

    def versions(self, name: str) -> room.Versions:
        """Return the versions in the log, the file beside it and git. Raises HistoryError."""
        from core.lessons.history import History, former_ids_of, named, principles_listing

        history = History(self._store.path, self._store.read(), self._store.read_side_records())
        id_ = named(name, history).id
        found = history.versions({id_})
        if not found:
            raise HistoryError("unknown", *history.notes(), name=id_)
        former = {id_in(token) for it in found for token in former_ids_of(it.record)}
        if former - {id_}:
            found = history.versions({id_, *former})
        notes = [
            say(
                "records.replaced_by",
                token=token,
                by=record_name(it),
                topic=topic_text(redact(it.topic)[0]),
            )
            for it, token in principles_listing(id_, history.log)
        ]
        try:
            notes += [say(f"git.{note}") for note in history.notes()]
        except HistoryError as error:  # there is no repository, or it has no commit
            notes.append(str(error))
        return room.Versions([_version(it, has_git=history.has_git) for it in found], notes)

    def preview_forget(self, items: Sequence[Item], *, hard: bool) -> str:
        """Raise RefusedError for `hard`."""
        if hard:
            raise RefusedError("rooms.no_hard", id=items[0].id)
        return say("records.would_forget", count=len(items))

    def forget(self, items: Sequence[Item], *, hard: bool) -> room.ForgetOutcome:
        outcome = self._store.delete_by_ids([it.version for it in items])
        gone = {record.version_id for record in outcome.removed}
        going = [it for it in items if it.version in gone]
        notes = [say("records.forgotten", count=len(going))]
        if going:
            notes += [say("records.kept", id=going[0].id), *commit_lines(self._store)]
        return room.ForgetOutcome(notes, [it for it in items if it.version not in gone])

    def restore(self, name: str, *, originals: bool) -> Restoration:
        """Plan to bring back a version, or the originals of a principle. Raises HistoryError."""
        from core.lessons.history import History, named, principles_listing

        history = History(self._store.path, self._store.read(), self._store.read_side_records())
        wanted = named(name, history)
        if originals:
            principle = history.find_principle(wanted)
            found, left_alone = history.find_originals(principle)
            tokens = ", ".join(left_alone)
            notes = [say("records.left_alone", tokens=tokens)] if left_alone else []
            return self._restoring(history.log, found, principle, notes, originals=True)
        there = next(iter(history.log.with_id(wanted.id).values()), None)
        if there and not wanted.version_id:
            raise HistoryError("already_there", id=wanted.id, token=there.version_id)
        if there and wanted.version_id == there.version_id:
            return Restoration([], [], [say("records.nothing_to_do", token=there.version_id)])
        version = history.find_version(wanted)
        principles = principles_listing(wanted.id, history.log)
        notes = [say("records.from_version", token=version.version_id)]
        replaced = [token for _, token in principles]
        if replaced and not there and not wanted.version_id and version.version_id not in replaced:
            notes.append(say("records.not_the_replaced", token=replaced[-1]))
        notes += [say("records.replacing_stays", by=record_name(it)) for it, _ in principles]
        return self._restoring(history.log, [version], there, notes)

    def _restoring(
        self,
        log: MemoryLog,
        versions: Sequence[Record],
        replaced: Record | None,
        notes: Sequence[str],
        *,
        originals: bool = False,
    ) -> Restoration:
        """Return the plan of a write. originals: in the place of `replaced`."""
        instead_of = replaced.version_id if replaced and originals else ""

        def run(*, dry_run: bool) -> Restoration:
            done = self._store.bring_back(
                versions, since=log, instead_of=instead_of, dry_run=dry_run
            )
            lines, seen = [*notes], {record.id for record in (*done.log.records, *done.removed)}
            if hidden := [record.version_id for record in log.records if record.id not in seen]:
                lines.append(say("records.hides", tokens=", ".join(hidden)))
            if done.redacted:
                lines.append(say("records.redacted_back", **room.count_kinds(done.redacted)))
            if not dry_run:
                lines += commit_lines(self._store)
            items = [item_of(record, is_stored=not dry_run) for record in done.records]
            carry_out = partial(run, dry_run=False) if dry_run else None
            return Restoration(items, [item_of(replaced)] if replaced else [], lines, carry_out)

        return run(dry_run=True)

    def export_rows(
        self, wanted: room.Filter, *, only_public: bool, notes: list[str]
    ) -> Iterator[room.ExportRow]:
        log, kinds = self._store.read(), list[str]()
        for _, record, _ in sorted(self._fitting(wanted), key=lambda it: it[0]):
            clean, found = clean_record(record)
            kinds += [kind for _, kind in found]
            yield room.ExportRow(clean.as_json())
        if log.conflicts:
            notes.append(say("documents.conflicts", conflicts=log.conflicts))
        if log.skipped:
            notes.append(say("documents.skipped", skipped=log.skipped))
        if kinds:
            notes.append(say("documents.redacted", **room.count_kinds(kinds)))

    def plan_import(self, given: room.Intake, progress: room.Progress) -> room.ImportPlan:
        entries = [record_of(it.data) if isinstance(it.data, dict) else None for it in given.rows]
        source = MemoryLog([b"-\n"] * len(entries), entries)
        places = [str(row.place) for row in given.rows]
        passed = [
            Refusal(place, say("import.passed_not_a_record"))
            for place, entry in zip(places, entries, strict=True)
            if not entry
        ]
        trial, offers = self._store.add_all(source.records, dry_run=True, progress=progress)
        places = [places[at] for at, _ in source.all_records() if at not in source.leftover_lines]
        new, redacted = list[Record](), list[str]()
        for place, offer in zip(places, offers, strict=True):
            if offer.error:
                why = say(f"import.passed_{offer.error.key}", **offer.error.facts)
                passed.append(Refusal(place, why))
            elif offer.status != "added":
                passed.append(Refusal(place, say(f"import.passed_{offer.status}")))
            else:
                new.append(offer.record)
                redacted += offer.redacted

        def save(progress: room.Progress) -> list[str]:
            from core.lessons.answers import need_of

            added, _ = self._store.add_all(offers)
            lines = [say("import.saved", count=len(added.records)), *commit_lines(self._store)]
            count, threshold = added.log.count, self._memory.settings.threshold
            if need_of(added.log.records, count, threshold) == "required":
                lines.append(say("import.compact", count=count, threshold=threshold))
            return lines

        return room.ImportPlan(
            items=[*map(item_of, new[: room.MOST_PLAN_ITEMS])],
            count=len(new),
            redacted=redacted,
            notes=_import_notes(new, trial),
            refusals=passed,
            save=save if new else None,
        )

    def findings(self) -> "list[Finding]":
        from core.lessons.reach import find_unmatched_paths
        from core.lessons.upkeep import Finding, check_lines, examine

        data = self._store.read_bytes()
        log = MemoryLog.parse(data)
        found = list[Finding]()
        for it in examine(log, now=utc_now(), threshold=self._memory.settings.threshold):
            facts = dict(it.facts)
            if reason := facts.get("reason"):
                facts["reason"] = say(f"doctor.{reason}", key=facts["key"])
            found.append(replace(it, facts=facts, fix=self._repair if it.fixable else None))
        if sum(map(len, log.lines)) > MOST_SECRETS_BYTES:
            found.append(Finding("secrets_not_looked_for", "note"))
        else:  # only a hand or another program can have put them there
            for spot in (spot for looked in check_lines(log) for spot in looked.spots):
                secret: Facts = {"secret": spot.kind}
                found.append(Finding("secret", "error", lines=(spot.line + 1,), facts=secret))
        astray = find_unmatched_paths(log, self._memory.project.root)
        for lines, about in astray[:MOST_ASTRAY]:
            found.append(Finding("path_nowhere", "note", lines=lines, facts=about))
        if (more := len(astray) - MOST_ASTRAY) > 0:
            found.append(Finding("more_path_nowhere", "note", facts={"more": more}))
        if os.path.exists(self._store.path):
            about = {"count": log.count, "lines": len(log.lines), "bytes": len(data)}
            found.append(Finding("lessons_ok", "ok", facts=about))
        return found

    def _repair(self) -> None:
        """Repair the log; lines that leave it go into a new file beside it."""
        self._store.repair(aside_name=f"{ASIDE_NAME}-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}.txt")

    def figures(self) -> room.Figures:
        from core.lessons.answers import need_of  # nothing else here needs what a model is told

        data = self._store.read_bytes()
        log = MemoryLog.parse(data)
        principles = [it for it in log.records if it.type == "principle"]
        merged = [it for it in principles if it.source_count]  # an import has none
        last = max((it.compacted_at for it in merged), key=seconds_of, default="")
        threshold = self._memory.settings.threshold
        need = need_of(log.records, log.count, threshold)
        topics = Counter(safe_name(it.topic) for it in log.records)
        counts = {"logs": log.count - len(principles), "principles": len(principles)}
        facts: Facts = {
            "replaced": sum(it.source_count or 0 for it in merged),
            "questions": sum(bool(it.ask_next_time.strip()) for it in log.records),
        }
        lines = [say("lessons.flaws", **log.flaws)] if any(log.flaws.values()) else []
        if log.count:
            lines.append(say("lessons.questions", count=facts["questions"], topics=len(topics)))
        key = need if log.count else "empty"
        lines.append(say(f"lessons.{key}", count=log.count, threshold=threshold))
        if merged:
            lines.append(say("lessons.replaced", replaced=facts["replaced"], day=day_of(last)))
        told = {
            "bytes": len(data),
            "records": log.count,
            **counts,
            **facts,
            "topics": dict(topics.most_common()),
            **log.flaws,
            "compaction": {"threshold": threshold, "need": need, "last": last or None},
        }
        headline = say("lessons.records", count=log.count, size=len(data), **counts)
        return room.Figures(headline, lines, told)


def _import_notes(new: Sequence[Record], trial: Outcome) -> list[str]:
    from core.text.wording import find_similar, usable_topics

    notes, known = list[str](), list(trial.before.topics)
    for topic in dict.fromkeys(record.topic for record in new):
        if topic not in known and (near := usable_topics(find_similar(topic, known))):
            similar = ", ".join(map(topic_text, near[:3]))
            notes.append(say("import.like_topic", topic=topic_text(topic), similar=similar))
    if suspicious := sum(bool(record.marks) for record in new):
        notes.append(say("import.suspicious", count=suspicious))
    tokens = {record.version_id for versions in trial.log.unsettled for record in versions}
    if beside := sum(record.version_id in tokens for record in new if tokens):
        notes.append(say("import.beside", count=beside))
    if hidden := trial.hidden:
        lessons = [
            f"{version_id_text(it)} [{topic_text(redact(it.topic)[0])}] {redact(it.lesson)[0]}"
            for it in hidden
        ]
        notes += [say("import.hides", count=len(hidden)), *(f"  {line}" for line in lessons)]
    return notes


def commit_lines(store: MemoryStore) -> list[str]:
    """Return the advice to commit where git has another state of the log."""
    is_new = is_uncommitted(store.path, store.read_bytes)
    return [say("records.look_and_commit")] if is_new else []


def item_of(
    record: Record, date: str = "", *, is_stored: bool = True, is_brief: bool = False
) -> Item:
    """Return a record for people, without secrets. date: by default its last one.

    is_stored: False for a planned record, whose version id comes with its write. is_brief: leave
    out the end of texts that no save takes.
    """
    if record.type == "principle" and record.source_count:
        saved = say("documents.compacted", date=day_of(record.compacted_at or record.created))
        dates = [saved, say("answers.merged", count=record.source_count)]
    else:
        dates = [say("documents.saved", date=day_of(record.created))]
    if record.seen > 1:
        last = day_of(record.updated or record.created)
        dates.append(say("answers.seen", seen=record.seen, date=last))
    is_cut = is_brief and not record_text.is_usable(record)  # a hand can write megabytes
    read = record_text.shorten_record(record, record_text.LARGEST_CHARS) if is_cut else record
    clean, version = clean_record(read)[0], record.version_id
    texts = {
        "lesson": clean.lesson,
        "missing": clean.missing_context,
        "ask": clean.ask_next_time,
        "paths": ", ".join(clean.paths),
        "when": ", ".join(f"`{piece}`" for piece in clean.when),
        "warning": warning_on(clean),
    }
    data = {name: version if name == "token" else getattr(clean, name) for name in _DATA}
    data |= {name: data[name] or None for name in ("ask_next_time", "updated", "compacted_at")}
    data |= {name: [*data[name]] for name in ("source_ids", "paths", "when")}
    data |= {"marks": [*current_marks(clean.marks, clean.texts)]}
    return Item(
        room=LESSONS,
        id=record.id,
        version=version,
        date=date or record.updated or record.created,
        kind=record.type,
        topic=topic_text(clean.topic),
        mark="*" if record.type == "principle" else "",
        texts=tuple((say(f"lessons.{it}"), text) for it, text in texts.items() if text.strip()),
        facts=(*dates, *([version_id_text(record)] if is_stored else ())),
        data=data,
    )


def _version(version: "Past", *, has_git: bool) -> room.Version:
    kept, commit, places = version.kept, version.commit, list[str]()
    data: dict[str, Any] = dict.fromkeys(_PLACES)
    if version.is_shown:
        places.append(say("records.in_log"))
        data["log"] = "shown"
    if version.is_hidden:
        places.append(say("records.in_hidden_line"))
        data["log"] = data["log"] or "hidden"
    if kept:
        places.append(say("records.in_side_file", date=minute_of(kept.at)))
        data |= {"kept_since": kept.at, "replaced_by": kept.by or None}
    if commit:
        facts = {"commit": commit.short, "date": minute_of(commit.date)}
        places.append(say("records.in_commit", **facts))
        data |= {"commit": commit.id, "committed_at": commit.date}
    elif has_git:
        places.append(say("records.in_no_commit"))
    return room.Version(item_of(version.record), "; ".join(places), data)


def matching(words: str, records: Sequence[Record]) -> list[int]:
    """Return the places of the records that have all words, the most relevant first."""
    from core.text.ranking import Ranking  # a list without words goes without it

    having = [*holders_of(words, records).values()]
    hits = set.intersection(*having) if having else set[int]()
    order = Ranking(words, list(map(_text_of, records))).order() if hits else []
    return [at for at in order if at in hits]


def holders_of(words: str, records: Sequence[Record]) -> dict[str, set[int]]:
    """Return the places of records by word; a word that says nothing is left out.

    The beginning of an id, version id or date counts, too.
    """
    from core.text.ranking import Ranking  # as above

    texts = list(map(_text_of, records))
    unspaced = [f"{it}\n{re.sub(_SPACE, '', it)}" for it in texts]
    holders = {}
    for word in dict.fromkeys(words.split()):
        named = {at for at, record in enumerate(records) if _is_named(record, word.lower())}
        ranking = Ranking(word, unspaced if re.search(_COMPOUND, word) else texts)
        terms = [it for it in ranking.coverage().terms if not it.term.is_spare]
        having = [set(it.numbers or ()) for it in terms]
        if having or named:
            holders[word] = named | (set.intersection(*having) if having else set())
    return holders


def _text_of(record: Record) -> str:
    return "\n".join((*record.texts, *record.paths, *record.when))


def _is_named(record: Record, word: str) -> bool:
    names = (record.id, record.created, record.updated, *record.source_ids)
    is_token = "@" in word and record.version_id == word
    return is_token or any(name.lower().startswith(word) for name in names)
