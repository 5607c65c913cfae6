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
from core.lessons.draft import redact_fields
from core.lessons.file import ASIDE_NAME
from core.lessons.log import MemoryLog, cached_log
from core.lessons.record import Record, id_in, normalise_topic, record_of
from core.lessons.record_text import record_name, topic_text, version_id_text
from core.messages import Facts, say
from core.sanitizer import redact, safe_name
from core.store import MemoryStore
from core.text.plain import day_of, minute_of, seconds_of, utc_now
from rooms import room
from rooms.room import LESSONS, Item, Matches, Memory, Refusal, Restoration, Room

if TYPE_CHECKING:  # a list needs none of it
    from core.lessons.history import Version as Past
    from core.lessons.upkeep import Finding

MOST_SECRETS_BYTES = 2_000_000  # to look through as many takes a second
MOST_UNMATCHED_PATHS = 8
# Korean is spaced freely; of a shorter word, two others may hold an end and a beginning.
_COMPOUND, _SPACE = "[가-힣]{4}", "(?<=[가-힣]) (?=[가-힣])"
_DATA_KEYS = (
    "type topic missing_context lesson ask_next_time created updated seen compacted_at"
    " source_count source_ids marks paths when"
).split()
_PLACE_KEYS = ("log", "kept_since", "replaced_by", "commit", "committed_at")  # of a version


class ForPeople(Room):
    """The records of a project; see `rooms.room.Room`."""

    name = LESSONS
    kinds = ("log", "principle")

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self._store = memory.store
        self._redactions: dict[int, tuple[Record, Record, list[tuple[str, str]]]] = {}

    def is_there(self) -> bool:
        return True

    def find(self, filter_: room.Filter) -> Matches:
        """Return records; with words, only records with every word."""
        matches, items = self._select(filter_), list[Item]()
        for _, record, date in matches[: filter_.limit]:
            source = record
            if filter_.is_brief and not record_text.is_usable(record):  # a hand can write megabytes
                source = record_text.shorten_record(record, record_text.LARGEST_CHARS)
            items.append(item_of(record, date, clean=self._redact(source)[1]))
        return Matches(items, len(matches))

    def _select(self, filter_: room.Filter) -> list[tuple[int, Record, str]]:
        log = self._store.read()
        records = [*log.records]
        dates = [record.updated or record.created for record in records]
        if filter_.forgotten:
            present_ids = {record.id for record in records}
            by_id = {entry.record.id: entry for entry in reversed(self._store.read_side_records())}
            entries = [entry for id_, entry in by_id.items() if id_ not in present_ids]
            records, dates = [entry.record for entry in entries], [entry.at for entry in entries]
        if filter_.words:
            order = find_matches(filter_.words, records)
        else:  # within a second the one further down in the file comes first
            downwards = range(len(records))[::-1]
            order = sorted(downwards, key=lambda index: seconds_of(dates[index]), reverse=True)
        topics = {normalise_topic(topic) for topic in filter_.topics}
        since_s = seconds_of(filter_.since) if filter_.since else float("-inf")
        return [
            (index, records[index], dates[index])
            for index in order
            if (not topics or records[index].topic in topics)
            and filter_.kind in ("", records[index].type)
            and seconds_of(dates[index]) >= since_s
        ]

    def explain_no_match(self, filter_: room.Filter) -> list[str]:
        if filter_.forgotten:
            return [say("lessons.none_forgotten")]
        log = self._store.read()
        if not log.count:
            return [say("records.empty")]
        lines = [say("records.none_fits", count=log.count)]
        if filter_.words:
            by_word = places_by_word(filter_.words, log.records)
            counts = ", ".join(f"{word} {len(places):,}" for word, places in by_word.items())
            lines = [say("records.no_hit", count=log.count)]
            lines += [say("records.each_word", counts=counts)] if len(by_word) > 1 else []
        topics = map(normalise_topic, filter_.topics)
        return [*lines, *room.lines_on_unknown("records.no_topic", topics, log.topics)]

    def find_by_name(self, name: str) -> list[Item]:
        """Return the records of an id, its beginning or a version id. Raises HistoryError."""
        from core.lessons.history import find_records

        log = self._store.read()
        try:
            return [item_of(record) for record in find_records(name, log)]
        except HistoryError as error:
            candidates = [record for record in log.records if record.id.startswith(name)]
            if error.key == "ambiguous":
                return [item_of(record) for record in candidates]
            if error.key not in ("not_there", "too_short") or candidates:
                raise
        return []

    def versions(self, name: str) -> room.Versions:
        """Return the versions in the log, the file beside it and git. Raises HistoryError."""
        from core.lessons.history import History, find_reference, former_ids_of, principles_listing

        history = History(self._store.path, self._store.read(), self._store.read_side_records())
        id_ = find_reference(name, history).id
        versions = history.versions({id_})
        if not versions:
            raise HistoryError("unknown", *history.notes(), name=id_)
        former_ids = {id_in(old_id) for past in versions for old_id in former_ids_of(past.record)}
        if former_ids - {id_}:
            versions = history.versions({id_, *former_ids})
        notes = list[str]()
        for principle, version_id in principles_listing(id_, history.log):
            facts = {"by": record_name(principle), "topic": topic_text(redact(principle.topic)[0])}
            notes.append(say("records.replaced_by", token=version_id, **facts))
        try:
            notes += [say(f"git.{note}") for note in history.notes()]
        except HistoryError as error:  # there is no repository, or it has no commit
            notes.append(str(error))
        make_version = partial(_version_of, has_git=history.has_git)
        return room.Versions([*map(make_version, versions)], notes)

    def preview_forget(self, items: Sequence[Item], *, hard: bool) -> str:
        """Raise RefusedError for `hard`."""
        if hard:
            raise RefusedError("rooms.no_hard", id=items[0].id)
        return say("records.would_forget", count=len(items))

    def forget(self, items: Sequence[Item], *, hard: bool) -> room.ForgetOutcome:
        outcome = self._store.delete_by_ids([item.version for item in items])
        gone_ids = {record.version_id for record in outcome.removed_records}
        forgotten = [item for item in items if item.version in gone_ids]
        notes = [say("records.forgotten", count=len(forgotten))]
        if forgotten:
            notes += [say("records.kept", id=forgotten[0].id), *commit_lines(self._store)]
        return room.ForgetOutcome(notes, [item for item in items if item.version not in gone_ids])

    def restore(self, name: str, *, originals: bool) -> Restoration:
        """Plan to bring back a version, or the originals of a principle. Raises HistoryError."""
        from core.lessons.history import History, find_reference, principles_listing

        history = History(self._store.path, self._store.read(), self._store.read_side_records())
        parts = find_reference(name, history)
        if originals:
            principle = history.find_principle(parts)
            records, left_alone = history.find_originals(principle)
            notes = [say("records.left_alone", tokens=", ".join(left_alone))] if left_alone else []
            return self._plan_restoration(history.log, records, principle, notes, originals=True)
        record = next(iter(history.log.find_by_id(parts.id).values()), None)
        if record and not parts.version_id:
            raise HistoryError("already_there", id=parts.id, token=record.version_id)
        if record and parts.version_id == record.version_id:
            return Restoration([], [], [say("records.nothing_to_do", token=record.version_id)])
        version = history.find_version(parts)
        principles = principles_listing(parts.id, history.log)
        notes = [say("records.from_version", token=version.version_id)]
        replaced_ids = [name for record, name in principles if record.type == "principle"]
        if replaced_ids and not parts.version_id and version.version_id not in replaced_ids:
            notes.append(say("records.not_the_replaced", token=replaced_ids[-1]))
        names = [record_name(principle) for principle, _ in principles]
        notes += [say("records.replacing_stays", by=name) for name in names]
        return self._plan_restoration(history.log, [version], record, notes)

    def _plan_restoration(
        self,
        log: MemoryLog,
        versions: Sequence[Record],
        occupant: Record | None,
        notes: Sequence[str],
        *,
        originals: bool = False,
    ) -> Restoration:
        """Return the plan of a write over `occupant`. originals: of this principle."""
        instead_of = occupant.version_id if occupant and originals else ""

        def run(*, dry_run: bool) -> Restoration:
            outcome = self._store.bring_back(
                versions, base=log, version_id=instead_of, dry_run=dry_run
            )
            lines = [*notes]
            ids = {record.id for record in (*outcome.log.records, *outcome.removed_records)}
            if hidden_ids := [record.version_id for record in log.records if record.id not in ids]:
                lines.append(say("records.hides", tokens=", ".join(hidden_ids)))
            if outcome.secret_kinds:
                lines.append(say("records.redacted_back", **room.count_kinds(outcome.secret_kinds)))
            lines += [] if dry_run else commit_lines(self._store)
            items = [item_of(record, is_stored=not dry_run) for record in outcome.records]
            carry_out = partial(run, dry_run=False) if dry_run else None
            return Restoration(items, [item_of(occupant)] if occupant else [], lines, carry_out)

        return run(dry_run=True)

    def export_rows(
        self, filter_: room.Filter, *, only_public: bool, notes: list[str]
    ) -> Iterator[room.ExportRow]:
        log, kinds = self._store.read(), list[str]()
        for _, record, _ in sorted(self._select(filter_), key=lambda item: item[0]):
            _, clean, findings = self._redact(record)
            kinds += [kind for _, kind in findings]
            yield room.ExportRow(clean.as_json())
        conflicts, skipped = log.conflict_count, log.unreadable_count
        notes += [say("documents.conflicts", conflicts=conflicts)] if conflicts else []
        notes += [say("documents.skipped", skipped=skipped)] if skipped else []
        notes += [say("documents.redacted", **room.count_kinds(kinds))] if kinds else []

    def _redact(self, record: Record) -> tuple[Record, Record, list[tuple[str, str]]]:
        """Redact a record once: an export asks for it as a row, then as an item."""
        redaction = self._redactions.get(id(record)) or (record, *redact_fields(record))
        return self._redactions.setdefault(id(record), redaction)  # no other gets the id now

    def plan_import(self, intake: room.Intake, progress: room.Progress) -> room.ImportPlan:
        values = [row.data for row in intake.rows]
        entries = [record_of(value) if isinstance(value, dict) else None for value in values]
        source = MemoryLog([b"-\n"] * len(entries), entries)
        places = [str(row.number) for row in intake.rows]
        reason, pairs = say("import.passed_not_a_record"), zip(places, entries, strict=True)
        refusals = [Refusal(place, reason) for place, entry in pairs if not entry]
        trial, offers = self._store.add_all(source.records, dry_run=True, progress=progress)
        places = [places[i] for i, _ in source.all_records() if i not in source.leftover_lines]
        new_records, redacted_kinds = list[Record](), list[str]()
        for place, offer in zip(places, offers, strict=True):
            if offer.error:
                reason = say(f"import.passed_{offer.error.key}", **offer.error.facts)
                refusals.append(Refusal(place, reason))
            elif offer.status != "added":
                refusals.append(Refusal(place, say(f"import.passed_{offer.status}")))
            else:
                new_records.append(offer.record)
                redacted_kinds += offer.secret_kinds

        def save(progress: room.Progress) -> list[str]:
            from core.lessons.answers import need_of

            outcome, _ = self._store.add_all(offers)
            lines = [say("import.saved", count=len(outcome.records)), *commit_lines(self._store)]
            count, threshold = outcome.log.count, self._memory.settings.threshold
            if need_of(outcome.log.records, count, threshold) == "required":
                lines.append(say("import.compact", count=count, threshold=threshold))
            return lines

        return room.ImportPlan(
            items=[*map(item_of, new_records[: room.MOST_PLAN_ITEMS])],
            count=len(new_records),
            secret_kinds=redacted_kinds,
            notes=_import_notes(new_records, trial),
            refusals=refusals,
            save=save if new_records else None,
        )

    def findings(self) -> "list[Finding]":
        from core.lessons.reach import find_unmatched_records
        from core.lessons.upkeep import Finding, check_lines, examine

        data = self._store.read_bytes()
        log = cached_log(data)
        findings = list[Finding]()
        for flaw in examine(log, now=utc_now(), threshold=self._memory.settings.threshold):
            facts = dict(flaw.facts)
            if reason := facts.get("reason"):
                facts["reason"] = say(f"doctor.{reason}", key=facts["key"])
            findings += [replace(flaw, facts=facts, fix=self._repair if flaw.fixable else None)]
        if sum(map(len, log.lines)) > MOST_SECRETS_BYTES:
            findings.append(Finding("secrets_not_looked_for", "note"))
        else:  # only a hand or another program can have put them there
            for spot in (spot for group in check_lines(log) for spot in group.spots):
                secret: Facts = {"secret": spot.kind}
                findings.append(Finding("secret", "error", lines=(spot.line + 1,), facts=secret))
        unmatched_paths = find_unmatched_records(log, self._memory.project.root)
        for lines, path_facts in unmatched_paths[:MOST_UNMATCHED_PATHS]:
            findings.append(Finding("path_nowhere", "note", lines=lines, facts=path_facts))
        if (more := len(unmatched_paths) - MOST_UNMATCHED_PATHS) > 0:
            findings.append(Finding("more_path_nowhere", "note", facts={"more": more}))
        if os.path.exists(self._store.path):
            counts = {"count": log.count, "lines": len(log.lines), "bytes": len(data)}
            findings.append(Finding("lessons_ok", "ok", facts=counts))
        return findings

    def _repair(self) -> None:
        self._store.repair(aside_name=f"{ASIDE_NAME}-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}.txt")

    def figures(self) -> room.Figures:
        from core.lessons.answers import need_of  # nothing else here needs what a model is told

        content = self._store.read_bytes()
        log = cached_log(content)
        principles = [record for record in log.records if record.type == "principle"]
        merges = [record for record in principles if record.source_count]  # an import has none
        last = max((record.compacted_at for record in merges), key=seconds_of, default="")
        threshold = self._memory.settings.threshold
        need = need_of(log.records, log.count, threshold)
        topics = Counter(safe_name(record.topic) for record in log.records)
        counts = {"logs": log.count - len(principles), "principles": len(principles)}
        replaced = sum(record.source_count or 0 for record in merges)
        questions = sum(bool(record.ask_next_time.strip()) for record in log.records)
        lines = [say("lessons.flaws", **log.flaws)] if any(log.flaws.values()) else []
        if log.count:
            lines.append(say("lessons.questions", count=questions, topics=len(topics)))
        key = need if log.count else "empty"
        lines.append(say(f"lessons.{key}", count=log.count, threshold=threshold))
        lines += [say("lessons.replaced", replaced=replaced, day=day_of(last))] if merges else []
        data = {
            "bytes": len(content),
            "records": log.count,
            **counts,
            "replaced": replaced,
            "questions": questions,
            "topics": dict(topics.most_common()),
            **log.flaws,
            "compaction": {"threshold": threshold, "need": need, "last": last or None},
        }
        headline = say("lessons.records", count=log.count, size=len(content), **counts)
        return room.Figures(headline, lines, data)


def _import_notes(new_records: Sequence[Record], trial: Outcome) -> list[str]:
    from core.text.wording import find_similar, usable_topics

    notes, topics = list[str](), list(trial.before.topics)
    for topic in dict.fromkeys(record.topic for record in new_records):
        if topic not in topics and (matches := usable_topics(find_similar(topic, topics))):
            similar = ", ".join(map(topic_text, matches[:3]))
            notes.append(say("import.like_topic", topic=topic_text(topic), similar=similar))
    if suspicious := sum(bool(record.marks) for record in new_records):
        notes.append(say("import.suspicious", count=suspicious))
    version_ids = {record.version_id for versions in trial.log.rivals for record in versions}
    if count := sum(record.version_id in version_ids for record in new_records if version_ids):
        notes.append(say("import.beside", count=count))
    if hidden_records := trial.hidden_records:
        notes.append(say("import.hides", count=len(hidden_records)))
        for record in hidden_records:
            topic, lesson = topic_text(redact(record.topic)[0]), redact(record.lesson)[0]
            notes.append(f"  {version_id_text(record)} [{topic}] {lesson}")
    return notes


def commit_lines(store: MemoryStore) -> list[str]:
    """Return the advice to commit where git has another state of the log."""
    return [say("records.look_and_commit")] if is_uncommitted(store.path, store.read_bytes) else []


def item_of(
    record: Record, date: str = "", *, is_stored: bool = True, clean: Record | None = None
) -> Item:
    """Return a record for people, without secrets. date: by default its last one.

    is_stored: False for a planned record, whose version id comes with its write. clean: the record,
    or its beginning, where somebody has taken the secrets out.
    """
    if record.type == "principle" and record.source_count:
        saved = say("documents.compacted", date=day_of(record.compacted_at or record.created))
        dates = [saved, say("answers.merged", count=record.source_count)]
    else:
        dates = [say("documents.saved", date=day_of(record.created))]
    if record.seen > 1:
        last = day_of(record.updated or record.created)
        dates.append(say("answers.seen", seen=record.seen, date=last))
    clean, version = clean or redact_fields(record)[0], record.version_id
    texts = {
        "lesson": clean.lesson,
        "missing": clean.missing_context,
        "ask": clean.ask_next_time,
        "paths": ", ".join(clean.paths),
        "when": ", ".join(f"`{piece}`" for piece in clean.when),
        "warning": record_text.warning_on(clean),
    }
    data = {"id": clean.id, "token": version, **{key: getattr(clean, key) for key in _DATA_KEYS}}
    data |= {name: data[name] or None for name in ("ask_next_time", "updated", "compacted_at")}
    data |= {name: [*data[name]] for name in ("source_ids", "paths", "when")}
    data["marks"] = [*current_marks(clean.marks, clean.texts)]
    return Item(
        room=LESSONS,
        id=record.id,
        version=version,
        date=date or record.updated or record.created,
        kind=record.type,
        topic=topic_text(clean.topic),
        mark="*" if record.type == "principle" else "",
        texts=tuple((say(f"lessons.{name}"), text) for name, text in texts.items() if text.strip()),
        facts=(*dates, *([version_id_text(record)] if is_stored else ())),
        data=data,
    )


def _version_of(version: "Past", *, has_git: bool) -> room.Version:
    entry, commit, places = version.replaced_record, version.commit, list[str]()
    data: dict[str, Any] = dict.fromkeys(_PLACE_KEYS)
    if version.is_shown:
        places.append(say("records.in_log"))
        data["log"] = "shown"
    if version.is_hidden:
        places.append(say("records.in_hidden_line"))
        data["log"] = data["log"] or "hidden"
    if entry:
        places.append(say("records.in_side_file", date=minute_of(entry.at)))
        data |= {"kept_since": entry.at, "replaced_by": entry.by or None}
    if commit:
        facts = {"commit": commit.short_id, "date": minute_of(commit.date)}
        places.append(say("records.in_commit", **facts))
        data |= {"commit": commit.id, "committed_at": commit.date}
    elif has_git:
        places.append(say("records.in_no_commit"))
    return room.Version(item_of(version.record), "; ".join(places), data)


def find_matches(words: str, records: Sequence[Record]) -> list[int]:
    """Return the places of the records that have all words, the most relevant first."""
    from core.text.ranking import Ranking  # a list without words goes without it

    places = [*places_by_word(words, records).values()]
    hits = set.intersection(*places) if places else set[int]()
    order = Ranking(words, list(map(_text_of, records))).order() if hits else []
    return [index for index in order if index in hits]


def places_by_word(words: str, records: Sequence[Record]) -> dict[str, set[int]]:
    """Return the places of records by word; a word that says nothing is left out.

    The beginning of an id, version id or date counts, too.
    """
    from core.text.ranking import Ranking  # as above

    texts = list(map(_text_of, records))
    unspaced_texts = [f"{text}\n{re.sub(_SPACE, '', text)}" for text in texts]
    places = {}
    for word in dict.fromkeys(words.split()):
        name_hits = {i for i, record in enumerate(records) if _is_named(record, word.lower())}
        ranking = Ranking(word, unspaced_texts if re.search(_COMPOUND, word) else texts)
        entries = [entry for entry in ranking.coverage().terms if not entry.term.is_spare]
        hits = [set(entry.numbers or ()) for entry in entries]
        if hits or name_hits:
            places[word] = name_hits | (set.intersection(*hits) if hits else set())
    return places


def _text_of(record: Record) -> str:
    return "\n".join((*record.texts, *record.paths, *record.when))


def _is_named(record: Record, word: str) -> bool:
    names = (record.id, record.created, record.updated, *record.source_ids)
    is_token = "@" in word and record.version_id == word
    return is_token or any(name.lower().startswith(word) for name in names)
