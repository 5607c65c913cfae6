"""The fragments of a user as a room of commands: list, search, show, forget, restore."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.config import FRAGMENTS_VARIABLE, data_directory
from core.errors import RefusedError
from core.lessons.record_text import day_of, minute_of
from core.messages import Facts, say
from core.sanitizer import safe_name
from rooms import room as people

if TYPE_CHECKING:  # nothing of the room is loaded where it is not asked
    from core.lessons.upkeep import Finding
    from rooms.fragments import fragment as stored
    from rooms.fragments.fragment import Fragment, Link, State
    from rooms.fragments.room import Room as FragmentsRoom

NAME = "fragments"
PIN = "*"
_FILE_NAME = "memory.db"  # as in rooms.fragments.room
_STATES: "tuple[State, ...]" = ("bin", "superseded")  # of what can be restored
_COUNTED = (  # as they are, in the figures for scripts
    *("live", "superseded", "kinds", "lifetimes", "tiers", "links", "versions", "with_vector"),
    *("suspicions", "unreflected"),
)
_TOKENS = 1_000_000  # what is found is bounded by its number


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
        given = os.path.expanduser(os.environ.get(FRAGMENTS_VARIABLE, "").strip())
        if given and not os.path.isabs(given):
            return True  # a server, or the room says what is wrong with it
        place = given or data_directory(os.environ)
        if not given or os.path.isdir(place):
            place = place and os.path.join(place, _FILE_NAME)
        return bool(place) and os.path.lexists(place)

    def find(self, wanted: people.Filter) -> people.Matches:
        """Return the fragments that fit; this counts no use."""
        if wanted.forgotten:  # the bin, and fragments with a successor
            with self.room.engine.reading() as rows:
                found = [it for state in _STATES for it in rows.find(_asked(wanted, state))]
            words = wanted.words.casefold().split()
            found = [it for it in found if all(word in it.text.casefold() for word in words)]
            found.sort(key=_left_at, reverse=True)
        elif wanted.words:
            from rooms.fragments.fragment import Query, plain_keyword
            from rooms.fragments.recall import recall

            topics = set(map(plain_keyword, wanted.topics))
            query = Query(
                text=wanted.words,
                type=wanted.kind,
                topic=wanted.topics[0] if len(topics) == 1 else "",
                since=wanted.since,
                tokens=_TOKENS,
                with_links=False,
            )
            found = recall(self.room, query, count=lambda *_: None).fragments
            found = [it for it in found if not topics or plain_keyword(it.topic) in topics]
        else:
            asked = _asked(wanted, "live")
            with self.room.engine.reading() as rows:
                count = sum(rows.count(asked).values())
                found = rows.find(asked, order="newest", limit=wanted.limit or 0)
            return people.Matches([item_of(it) for it in found], count)
        return people.Matches([item_of(it) for it in found[: wanted.limit]], len(found))

    def explain_no_match(self, wanted: people.Filter) -> list[str]:
        if wanted.forgotten:
            return [_say("bin_is_empty")]
        with self.room.engine.reading() as rows:
            topics = [*rows.count(_asked(people.Filter(), "all"), "topic")]
            live = sum(rows.count(_asked(people.Filter(), "live")).values())
        if not topics:
            return [_say("none"), _say("what"), people.sentence_for_switch_on(self._memory, NAME)]
        key = "none_found" if wanted.words else "none_fits"
        unknown = people.lines_on_unknown("fragment_commands.no_topic", wanted.topics, topics)
        return [_say(key, count=live), *unknown]

    def find_by_name(self, name: str) -> list[people.Item]:
        """Return the fragment of an id, even in the bin, with its links."""
        with self.room.engine.reading() as rows:
            found = rows.by_ids([name])
            links = rows.links([it.id for it in found])
            ends = [it.to_id if it.from_id == name else it.from_id for it in links]
            others = {it.id: it for it in rows.by_ids(set(ends)) if not it.deleted_at}
        linked = [(it, others[end]) for it, end in zip(links, ends, strict=True) if end in others]
        return [item_of(it, linked) for it in found]

    def versions(self, name: str) -> people.Versions | None:
        from rooms.fragments import fragment as stored

        with self.room.engine.reading() as rows:
            found = rows.by_ids([name])
            if not found:
                return None
            former = rows.entries(stored.Version, subject=name)
        versions = [people.Version(item_of(found[0]), "", {"amendedAt": None})]
        for it in reversed(former):
            said = {field: getattr(it, field) for field in stored.AMENDED}
            before = item_of(replace(found[0], **said, updated_at=it.amended_at))
            facts = {"date": minute_of(it.amended_at), "agent": safe_name(it.amended_by) or "?"}
            until = _say("until", **facts)
            versions.append(people.Version(before, until, {"amendedAt": it.amended_at}))
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

        room, versions, gone = self.room, {it.id: it.version for it in items}, set[str]()

        def is_meant(fragment: "Fragment") -> bool:
            return _state_of(fragment) == versions[fragment.id]

        for name in versions:
            with suppress(FragmentsError):  # it is gone, or pinned by now
                done = forget(room, id=name, hard=hard, is_meant=is_meant)
                gone |= {it.id for it in done.fragments}
        key, going = "dropped" if hard else "binned", [name for name in versions if name in gone]
        notes = [_say(key, count=len(going), id=going[0])] if going else []
        return people.ForgetOutcome(notes, [it for it in items if it.id not in gone])

    def restore(self, name: str, *, originals: bool) -> people.Restoration | None:
        from rooms.fragments.versions import restore

        with self.room.engine.reading() as rows:
            found = rows.by_ids([name])
        if not found or originals:
            return None
        [fragment] = found
        if fragment.is_live:
            return people.Restoration([], [], [_say("is_live", id=fragment.id)])

        def save_plan() -> people.Restoration:
            return people.Restoration([item_of(restore(self.room, fragment.id))], [], [])

        return people.Restoration([item_of(fragment)], [], [], save_plan)

    def export_rows(
        self, wanted: people.Filter, *, only_public: bool, notes: list[str]
    ) -> Iterator[people.ExportRow]:
        from rooms.fragments.exchange import line_of, read_rows
        from rooms.fragments.fragment import Fragment

        with self.room.engine.reading() as reading:
            for row in read_rows(reading, _asked(wanted, "all"), only_public=only_public):
                is_private = isinstance(row, Fragment) and row.privacy == "private"
                yield people.ExportRow(line_of(row), is_private, isinstance(row, Fragment))

    def plan_import(self, given: people.Intake, progress: people.Progress) -> people.ImportPlan:
        from rooms.fragments import exchange
        from rooms.fragments.exchange import plan_import, save_plan
        from rooms.fragments.room import check_agent

        source, room = people.read_intake(given, exchange), self.room
        agent = check_agent(given.agent, "--agent") if given.agent else ""
        is_first, plan = not room.engine.exists(), plan_import(room, source, progress, agent=agent)

        def save(progress: people.Progress) -> list[str]:
            saved = save_plan(room, plan, progress)
            lines = [say("import_fragments.saved", count=saved)]
            lines += [people.sentence_for_switch_on(self._memory, NAME)] if is_first else []
            if os.environ.get("SENTINEL_MEMORY_EMBEDDINGS", "").strip():
                lines.append(say("import_fragments.embed"))
            return lines

        counts = {it: getattr(plan, it) for it in ("known", "other", "in_bin", "shortened")}
        counts = {"links": len(plan.links), "entries": len(plan.entries), **counts}
        faults = [(it.place, say(f"import_fragments.passed_{it.reason}")) for it in plan.faults]
        return people.ImportPlan(
            items=[item_of(it) for it in plan.new[: people.MOST_PLAN_ITEMS]],
            count=len(plan.new),
            redacted=[*plan.redacted.elements()],
            notes=[say(f"import_fragments.{it}", count=n) for it, n in counts.items() if n],
            refusals=[people.Refusal(str(place or ""), why) for place, why in faults],
            save=save if plan.new or plan.links or plan.entries else None,
        )

    def secrets(self) -> people.Secrets:
        from core.room.copies import damaged_files
        from rooms.fragments.upkeep.health import find_secrets

        engine, key, aside = self.room.engine, "place_on_server", list[Path]()
        if not engine.keeps_agents_apart:
            key, aside = "place", damaged_files(Path(engine.name))
        return people.Secrets(_say(key), _say("item"), find_secrets(engine), aside)

    def redact(self) -> people.RedactOutcome:
        from rooms.fragments.upkeep.health import redact_secrets

        engine = self.room.engine
        changed, left, unpurged = redact_secrets(engine)
        notes = [_say("still_in", path=str(path)) for path in unpurged]
        if changed and engine.keeps_agents_apart:
            notes = [_say("still_on_server")]
        return people.RedactOutcome(changed, left, notes, not unpurged)

    def findings(self) -> "list[Finding]":
        from rooms.fragments.upkeep.health import find_faults

        return find_faults(self._memory.settings, os.environ)

    def figures(self) -> people.Figures:
        from rooms.fragments.activity import statistics_of
        from rooms.fragments.storage.rows import pages_of

        def told(key: str, **facts: str | int) -> str:
            return say(f"fragments.figures.{key}", **facts)

        room, listed = self.room, people.joined_counts
        if not room.engine.exists():
            return people.Figures(told("fragments", count=0), [], {"live": 0})
        with room.engine.reading() as rows:
            pages = pages_of(rows, _asked(people.Filter(), "live"))
            uses = [it.access_count for page in pages for it in page]
        counted = statistics_of(room)
        live, superseded, in_bin = (counted[it] for it in ("live", "superseded", "deleted"))
        purged, used = counted["figures"].get("purged", 0), sum(map(bool, uses))
        lines = list[str]()
        if counted["kinds"]:
            lines.append(told("kinds", listed=listed(counted["kinds"])))
            facts: Facts = {"pinned": counted["anchors"], "used": used, "uses": sum(uses)}
            lines.append(told("use", count=live, **facts))
        if in_bin:
            lines.append(told("bin", listed=listed(in_bin)))
        kept: Facts = {"superseded": superseded, "versions": counted["versions"]}
        lines.append(told("kept", purged=purged, **kept))
        if counted["suspicions"] or counted["unreflected"]:
            waiting = {"suspicions": counted["suspicions"], "sessions": counted["unreflected"]}
            lines.append(told("waiting", **waiting))
        key = "upkeep" if counted["upkeep_at"] else "no_upkeep"
        lines.append(told(key, day=day_of(counted["upkeep_at"])))
        data = {name: counted[name] for name in _COUNTED} | {
            "bin": in_bin,
            "purged": purged,
            "agents": {safe_name(name): count for name, count in counted["agents"].items()},
            "pinned": counted["anchors"],
            "recalled": used,
            "recalls": sum(uses),
            "model": safe_name(counted["model"]),
            "last_upkeep": counted["upkeep_at"] or None,
        }
        is_empty = not (live or superseded or in_bin)
        return people.Figures(told("fragments", count=live), [] if is_empty else lines, data)


def _asked(wanted: people.Filter, state: "State") -> "stored.Filter":
    from rooms.fragments import fragment as stored

    words = (wanted.kind,) if wanted.kind else ()
    is_lifetime = wanted.kind in stored.LIFETIMES
    return stored.Filter(
        kinds=() if is_lifetime else words,
        lifetimes=words if is_lifetime else (),
        topics=wanted.topics,
        since=wanted.since,
        state=state,
    )


def _left_at(fragment: "Fragment") -> str:
    return fragment.deleted_at or fragment.superseded_at or fragment.created_at


def _state_of(fragment: "Fragment") -> str:
    """Return a digest of a fragment that a recall does not change."""
    said = (fragment.content, fragment.topic, fragment.keywords, fragment.kind)
    state = (fragment.is_anchor, fragment.deleted_at, fragment.superseded_at, fragment.privacy)
    return people.state_of(said, state)


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
            is_back = "_back" if link.to_id == fragment.id else ""
            label = say(f"fragments.exchange.{link.relation}{is_back}")
            texts.append((label, f"{other.id}: {other.content}"))
    return people.Item(
        room=NAME,
        id=fragment.id,
        version=version,
        date=_left_at(fragment),
        kind=fragment.kind,
        topic=fragment.topic,
        mark=PIN if fragment.is_anchor else "",
        texts=tuple((label, text) for label, text in texts if text.strip()),
        facts=tuple(_facts(fragment)),
        data=data,
        privacy=fragment.privacy,
    )


def _say(key: str, **facts: str | int) -> str:
    return say(f"fragment_commands.{key}", **facts)


def _facts(fragment: "Fragment") -> Iterator[str]:
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
        how_often = _say(key, count=count, date=minute_of(fragment.accessed_at))
        yield f"{_say('recalled')} {how_often}"
    if fragment.deleted_at:
        why = _say(fragment.deletion or "forgotten")
        yield _say("in_bin", date=minute_of(fragment.deleted_at), why=why, id=fragment.id)
    elif fragment.promoted:
        facts = {"record": fragment.record_id, "id": fragment.id}
        yield _say("in_the_log", date=minute_of(fragment.superseded_at), **facts)
    elif fragment.superseded_at:
        yield _say("superseded", date=minute_of(fragment.superseded_at))
