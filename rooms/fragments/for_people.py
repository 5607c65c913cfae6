"""The fragments of a user as a room of commands: list, search, show, forget, restore."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.config import FRAGMENTS_VARIABLE, data_directory
from core.errors import RefusedError
from core.messages import Facts, say
from core.sanitizer import safe_name
from core.text.plain import day_of, minute_of
from rooms import room as people

if TYPE_CHECKING:  # nothing of the room is loaded where it is not asked
    from core.lessons.upkeep import Finding
    from rooms.fragments import fragment as schema
    from rooms.fragments.fragment import Fragment, Link, State
    from rooms.fragments.room import Room as FragmentsRoom

NAME = "fragments"
_STATES: "tuple[State, ...]" = ("bin", "superseded")  # of what can be restored
_FIGURE_NAMES = (  # as they are, in the figures for scripts
    *("live", "superseded", "kinds", "lifetimes", "tiers", "links", "versions", "with_vector"),
    *("suspicions", "unreflected"),
)
_MOST_TOKENS = 1_000_000  # what is found is bounded by its number


class ForPeople(people.Room):
    """The fragments of a user, over all projects; see `rooms.room.Room`."""

    name = NAME

    @property
    def kinds(self) -> tuple[str, ...]:
        from rooms.fragments.fragment import WORDS_OF_TYPE

        return WORDS_OF_TYPE

    @property
    def room(self) -> "FragmentsRoom":
        """The fragments of everybody. Raises ConfigError, FragmentsError."""
        from rooms.fragments.room import open_room

        return open_room(self._memory.settings, os.environ)

    def is_there(self) -> bool:
        """Return whether the file exists, or its setting is a server or wrong."""
        setting = os.path.expanduser(os.environ.get(FRAGMENTS_VARIABLE, "").strip())
        if setting and not os.path.isabs(setting):
            return True  # a server, or the room says what is wrong with it
        place = setting or data_directory(os.environ)
        if not setting or os.path.isdir(place):
            place = place and os.path.join(place, "memory.db")  # as in rooms.fragments.room
        return bool(place) and os.path.lexists(place)

    def find(self, choice: people.Filter) -> people.Matches:
        """Return the fragments that fit; this counts no use."""
        if choice.forgotten:  # the bin, and fragments with a successor
            with self.room.engine.reading() as rows:
                pool = [row for state in _STATES for row in rows.find(_filter_of(choice, state))]
            words = choice.words.casefold().split()
            fragments = [row for row in pool if all(word in row.text.casefold() for word in words)]
            fragments.sort(key=lambda row: row.changed_at, reverse=True)
        elif choice.words:
            from rooms.fragments.fragment import Query, plain_keyword
            from rooms.fragments.recall import recall

            topics = set(map(plain_keyword, choice.topics))
            query = Query(
                text=choice.words,
                type=choice.kind,
                topic=choice.topics[0] if len(topics) == 1 else "",
                changed_since=choice.since,
                tokens=_MOST_TOKENS,
                with_links=False,
            )
            matches = recall(self.room, query, count=lambda *_: None).fragments
            fragments = [row for row in matches if not topics or plain_keyword(row.topic) in topics]
        else:
            filter_ = _filter_of(choice, "live")
            with self.room.engine.reading() as rows:
                count = sum(rows.count(filter_).values())
                fragments = rows.find(filter_, order="changed", limit=choice.limit or 0)
            return people.Matches([item_of(row) for row in fragments], count)
        return people.Matches([item_of(row) for row in fragments[: choice.limit]], len(fragments))

    def explain_no_match(self, choice: people.Filter) -> list[str]:
        if choice.forgotten:
            return [_say("bin_is_empty")]
        with self.room.engine.reading() as rows:
            topics = [*rows.count(_filter_of(people.Filter(), "all"), "topic")]
            live_count = sum(rows.count(_filter_of(people.Filter(), "live")).values())
        if not topics:
            return [_say("none"), _say("what"), people.sentence_for_switch_on(self._memory, NAME)]
        key = "none_found" if choice.words else "none_fits"
        lines = people.lines_on_unknown("fragment_commands.no_topic", choice.topics, topics)
        return [_say(key, count=live_count), *lines]

    def find_by_name(self, name: str) -> list[people.Item]:
        """Return the fragment of an id, even in the bin, with its links."""
        with self.room.engine.reading() as rows:
            fragments = rows.by_ids([name])
            links = rows.links([row.id for row in fragments])
            ends = [link.to_id if link.from_id == name else link.from_id for link in links]
            peers = {row.id: row for row in rows.by_ids(set(ends)) if not row.deleted_at}
        pairs = [(link, peers[end]) for link, end in zip(links, ends, strict=True) if end in peers]
        return [item_of(row, pairs) for row in fragments]

    def versions(self, name: str) -> people.Versions | None:
        from rooms.fragments import fragment as schema
        from rooms.fragments.draft import RECALLABLE

        with self.room.engine.reading() as rows:
            fragments = rows.by_ids([name])
            if not fragments:
                return None
            entries = rows.entries(schema.Version, subject=name)
        versions = [people.Version(item_of(fragments[0]), "", {"amendedAt": None})]
        saved_at = ["", *(entry.amended_at for entry in entries)]  # each before the next one
        for entry, updated_at in reversed([*zip(entries, saved_at, strict=False)]):
            fields = {field: getattr(entry, field) for field in schema.VERSION_FIELDS}
            before = item_of(replace(fragments[0], **RECALLABLE, **fields, updated_at=updated_at))
            date, agent = minute_of(entry.amended_at), safe_name(entry.amended_by) or "?"
            sentence = _say("until", date=date, agent=agent)
            versions.append(people.Version(before, sentence, {"amendedAt": entry.amended_at}))
        return people.Versions(versions, [])

    def preview_forget(self, items: Sequence[people.Item], *, hard: bool) -> str:
        """Say whether they go for good. Raises RefusedError where one stays."""
        for item in items:
            if item.data["is_anchor"] or item.data["ttl_tier"] == "permanent":
                raise RefusedError("fragment_commands.pinned_refused", id=item.id)
            if item.data["deleted_at"] and not hard:
                raise RefusedError("fragment_commands.binned_before", id=item.id)
        return _say("would_drop" if hard else "would_bin", count=len(items))

    def forget(self, items: Sequence[people.Item], *, hard: bool) -> people.ForgetOutcome:
        from rooms.fragments.fragment import FragmentsError
        from rooms.fragments.versions import forget

        room, versions, ids = self.room, {item.id: item.version for item in items}, set[str]()

        def is_meant(fragment: "Fragment") -> bool:
            return _state_of(fragment) == versions[fragment.id]

        for name in versions:
            with suppress(FragmentsError):  # it is gone, or pinned by now
                result = forget(room, id=name, hard=hard, is_meant=is_meant, purges=False)
                ids |= {row.id for row in result.fragments}
        if hard and ids:
            room.engine.purge()
        key, names = "dropped" if hard else "binned", [name for name in versions if name in ids]
        notes = [_say(key, count=len(names), id=names[0])] if names else []
        return people.ForgetOutcome(notes, [item for item in items if item.id not in ids])

    def restore(self, name: str, *, originals: bool) -> people.Restoration | None:
        from rooms.fragments.versions import restore

        with self.room.engine.reading() as rows:
            fragments = rows.by_ids([name])
        if not fragments or originals:
            return None
        [fragment] = fragments
        if fragment.is_live:
            return people.Restoration([], [], [_say("is_live", id=fragment.id)])

        def bring_back() -> people.Restoration:
            return people.Restoration([item_of(restore(self.room, fragment.id))], [], [])

        return people.Restoration([item_of(fragment)], [], [], bring_back)

    def export_rows(
        self, choice: people.Filter, *, only_public: bool, notes: list[str]
    ) -> Iterator[people.ExportRow]:
        from rooms.fragments.exchange import line_of, read_rows
        from rooms.fragments.fragment import Fragment

        with self.room.engine.reading() as rows:
            for row in read_rows(rows, _filter_of(choice, "all"), only_public=only_public):
                is_private = isinstance(row, Fragment) and row.privacy == "private"
                yield people.ExportRow(line_of(row), is_private, isinstance(row, Fragment))

    def plan_import(self, intake: people.Intake, progress: people.Progress) -> people.ImportPlan:
        from rooms.fragments import exchange
        from rooms.fragments.exchange import plan_import, save_plan
        from rooms.fragments.room import check_agent

        source, room = people.read_intake(intake, exchange), self.room
        agent = check_agent(intake.agent, "--agent") if intake.agent else ""
        is_first, plan = not room.engine.exists(), plan_import(room, source, progress, agent=agent)

        def save(progress: people.Progress) -> list[str]:
            saved = save_plan(room, plan, progress)
            lines = [say("import_fragments.saved", count=saved)]
            lines += [people.sentence_for_switch_on(self._memory, NAME)] if is_first else []
            if os.environ.get("SENTINEL_MEMORY_EMBEDDINGS", "").strip():
                lines.append(say("import_fragments.embed"))
            return lines

        counts = {"links": len(plan.links), "entries": len(plan.entries), "known": plan.known_count}
        counts |= {"other": plan.other_count, "in_bin": plan.bin_count, "shortened": plan.cut_count}
        faults = [(row.place, say(f"import_fragments.passed_{row.reason}")) for row in plan.faults]
        return people.ImportPlan(
            items=[item_of(row) for row in plan.new_fragments[: people.MOST_PLAN_ITEMS]],
            count=len(plan.new_fragments),
            secret_kinds=[*plan.secret_counts.elements()],
            notes=[say(f"import_fragments.{key}", count=n) for key, n in counts.items() if n],
            refusals=[people.Refusal(str(place or ""), reason) for place, reason in faults],
            save=save if plan.new_fragments or plan.links or plan.entries else None,
        )

    def secrets(self) -> people.Secrets:
        from core.room.copies import damaged_files
        from rooms.fragments.upkeep.health import find_secrets

        engine, key, paths = self.room.engine, "place_on_server", list[Path]()
        if not engine.keeps_agents_apart:
            key, paths = "place", damaged_files(Path(engine.name))
        return people.Secrets(_say(key), _say("item"), find_secrets(engine), paths)

    def redact(self) -> people.RedactOutcome:
        from rooms.fragments.upkeep.health import redact_secrets

        engine = self.room.engine
        redacted_places, left_places, files = redact_secrets(engine)
        notes = [_say("still_in", path=str(path)) for path in files]
        if engine.keeps_agents_apart and (redacted_places or files):
            notes = [_say("still_on_server")]
        return people.RedactOutcome(redacted_places, left_places, notes, not files)

    def findings(self) -> "list[Finding]":
        from rooms.fragments.upkeep.health import examine

        return examine(self._memory.settings, os.environ)

    def figures(self) -> people.Figures:
        from rooms.fragments.activity import statistics_of
        from rooms.fragments.storage.rows import pages_of

        room, join = self.room, people.joined_counts
        if not room.engine.exists():
            return people.Figures(say("fragments.figures.fragments", count=0), [], {"live": 0})
        with room.engine.reading() as rows:
            pages = pages_of(rows, _filter_of(people.Filter(), "live"))
            uses = [row.access_count for page in pages for row in page]
        totals = statistics_of(room)
        live_count, bin_counts = totals["live"], totals["deleted"]
        purge_count, used_count = totals["figures"].get("purged", 0), sum(map(bool, uses))
        lines = list[str]()
        if totals["kinds"]:
            lines.append(say("fragments.figures.kinds", listed=join(totals["kinds"])))
            facts: Facts = {"pinned": totals["anchors"], "used": used_count, "uses": sum(uses)}
            lines.append(say("fragments.figures.use", count=live_count, **facts))
        lines += [say("fragments.figures.bin", listed=join(bin_counts))] if bin_counts else []
        kept_facts: Facts = {"superseded": totals["superseded"], "versions": totals["versions"]}
        lines.append(say("fragments.figures.kept", purged=purge_count, **kept_facts))
        if totals["suspicions"] or totals["unreflected"]:
            facts = {"suspicions": totals["suspicions"], "sessions": totals["unreflected"]}
            lines.append(say("fragments.figures.waiting", **facts))
        key = "upkeep" if totals["upkeep_at"] else "no_upkeep"
        lines.append(say(f"fragments.figures.{key}", day=day_of(totals["upkeep_at"])))
        data = {name: totals[name] for name in _FIGURE_NAMES} | {
            "bin": bin_counts,
            "purged": purge_count,
            "agents": {safe_name(name): count for name, count in totals["agents"].items()},
            "pinned": totals["anchors"],
            "recalled": used_count,
            "recalls": sum(uses),
            "model": safe_name(totals["model"]),
            "last_upkeep": totals["upkeep_at"] or None,
        }
        lines = lines if live_count or totals["superseded"] or bin_counts else []
        return people.Figures(say("fragments.figures.fragments", count=live_count), lines, data)


def _filter_of(choice: people.Filter, state: "State") -> "schema.Filter":
    from rooms.fragments import fragment as schema

    field = "lifetimes" if choice.kind in schema.LIFETIMES else "kinds"
    kinds: dict[str, Any] = {field: (choice.kind,)} if choice.kind else {}
    return schema.Filter(topics=choice.topics, changed_since=choice.since, state=state, **kinds)


def _state_of(fragment: "Fragment") -> str:
    """Return a digest of a fragment's state, which a recall does not change."""
    texts = (fragment.content, fragment.topic, fragment.keywords, fragment.kind)
    state = (fragment.is_anchor, fragment.deleted_at, fragment.superseded_at, fragment.privacy)
    return people.state_of(texts, state)


def item_of(
    fragment: "Fragment", links: "Sequence[tuple[Link, Fragment]] | None" = None
) -> people.Item:
    """Return a fragment for people, without secrets. links: with their far ends."""
    from core.room.redaction import without_secrets
    from rooms.fragments.exchange import HARMLESS, line_of

    version, ends = _state_of(fragment), tuple(other for _, other in links or ())
    (fragment, others), _ = without_secrets((fragment, ends), HARMLESS)
    data = line_of(fragment)
    del data["kind"]
    texts = [
        (_say("fragment"), fragment.content),
        (_say("keywords"), ", ".join(fragment.keywords)),
        *((_say(name), getattr(fragment, name)) for name in ("source", "agent", "session")),
        (_say("scope"), _say(fragment.privacy)),
    ]
    if links is not None:
        data["links"] = [line_of(link) for link, _ in links]
        for (link, _), other in zip(links, others, strict=True):
            suffix = "_back" if link.to_id == fragment.id else ""
            label = say(f"fragments.exchange.{link.relation}{suffix}")
            texts.append((label, f"{other.id}: {other.content}"))
    return people.Item(
        room=NAME,
        id=fragment.id,
        version=version,
        date=fragment.changed_at,
        kind=fragment.kind,
        topic=fragment.topic,
        mark="*" if fragment.is_anchor else "",
        texts=tuple((label, text) for label, text in texts if text.strip()),
        facts=tuple(_fact_lines(fragment)),
        data=data,
        privacy=fragment.privacy,
    )


def _say(key: str, **facts: str | int) -> str:
    return say(f"fragment_commands.{key}", **facts)


def _fact_lines(fragment: "Fragment") -> Iterator[str]:
    words = {name: _say(getattr(fragment, name)) for name in ("kind", "lifetime", "tier")}
    yield _say("facts", importance=f"{fragment.importance:.2f}", **words)
    if fragment.is_anchor:
        yield _say("pinned")
    yield _say("saved_on", date=minute_of(fragment.created_at))
    if fragment.updated_at > fragment.created_at:
        yield _say("changed_on", date=minute_of(fragment.updated_at))
    if fragment.verified_at > max(fragment.created_at, fragment.updated_at):
        yield _say("verified_on", date=minute_of(fragment.verified_at))
    if fragment.expires_at:
        yield _say("expires_on", date=minute_of(fragment.expires_at))
    if count := fragment.access_count:
        key = "recalled_once" if count == 1 else "recalled_often"
        sentence = _say(key, count=count, date=minute_of(fragment.accessed_at))
        yield f"{_say('recalled')} {sentence}"
    if fragment.deleted_at:
        reason = _say(fragment.deletion or "forgotten")
        yield _say("in_bin", date=minute_of(fragment.deleted_at), why=reason, id=fragment.id)
    elif fragment.promoted:
        facts = {"record": fragment.record_id, "id": fragment.id}
        yield _say("in_the_log", date=minute_of(fragment.superseded_at), **facts)
    elif fragment.superseded_at:
        yield _say("superseded", date=minute_of(fragment.superseded_at))
