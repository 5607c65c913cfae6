"""The sessions of a project as a room for people."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from core.config import CONTEXT_DIRECTORY
from core.errors import RefusedError
from core.lessons.record_text import minute_of
from core.messages import say
from core.sanitizer import safe_name
from rooms import room
from rooms.room import Item

if TYPE_CHECKING:  # nothing of the room is loaded where it is not asked
    from core.lessons.upkeep import Finding
    from rooms.sessions.session import Action, Session
    from rooms.sessions.store import SessionStore

NAME = "sessions"
WARNING = "!"
_ALL = 1_000_000_000
_ONLY_HERE = re.compile(r"#[0-9]+|ctx_\S*")  # names that only sessions have


class ForPeople(room.Room):
    """The sessions of a project; see `rooms.room.Room`."""

    name = NAME

    def __init__(self, memory: room.Memory) -> None:
        super().__init__(memory)
        self._root = memory.project.root

    @property
    def kinds(self) -> tuple[str, ...]:
        from rooms.sessions.session import STATUSES

        return STATUSES

    @property
    def store(self) -> "SessionStore":
        """The store of the project. Raises ConfigError, SessionsError."""
        from rooms.sessions.store import open_sessions

        return open_sessions(self._root, self._memory.settings)

    def is_there(self) -> bool:
        return os.path.isdir(self._root / CONTEXT_DIRECTORY / NAME)

    def find(self, wanted: room.Filter) -> room.Matches:
        """Return the matches; a forgotten session is gone for good."""
        from rooms.sessions.search import Criteria, search

        if wanted.forgotten:
            return room.Matches([], 0)
        criteria = Criteria(
            query=wanted.words, tags=wanted.topics, status=wanted.kind, since=wanted.since
        )
        page = search(self.store, criteria, limit=_ALL if wanted.limit is None else wanted.limit)
        return room.Matches([item_of(hit.session) for hit in page.hits], page.total)

    def explain_no_match(self, wanted: room.Filter) -> list[str]:
        from rooms.sessions.search import tags_of_all

        if wanted.forgotten:
            return [_say("gone_for_good")]
        count, tags = self.find(room.Filter(limit=1)).count, tags_of_all(self.store)
        if count:
            unknown = room.lines_on_unknown("session_commands.no_tag", wanted.topics, tags)
            return [_say("none_fits", count=count), *unknown]
        return [_say("none"), _say("what"), room.sentence_for_switch_on(self._memory, NAME)]

    def find_by_name(self, name: str) -> list[Item]:
        """Return a session by number or id. Raises RefusedError."""
        from rooms.sessions.session import NoSuchSessionError

        try:
            session = self.store.get(name)
        except NoSuchSessionError as error:
            if _ONLY_HERE.fullmatch(name.strip()):
                raise RefusedError("session_commands.no_session", **error.facts) from None
            return []
        return [item_of(session, self.store.actions(session), self.store.chain_of(session))]

    def preview_forget(self, items: Sequence[Item], *, hard: bool) -> str:
        return _say("would_forget", count=len(items))

    def forget(self, items: Sequence[Item], *, hard: bool) -> room.ForgetOutcome:
        """Remove sessions that have not changed since they were shown, with their actions."""
        from rooms.sessions.upkeep import forget

        versions = {it.data["id"]: it.version for it in items}
        done = forget(
            self.store,
            versions,
            is_meant=lambda session: room.state_of(session) == versions[session.id],
        )
        gone = {session.id for session in done.sessions}
        notes = [_say("forgotten", count=len(gone))]
        left = [_say("unpurged", path=str(path)) for path in done.unpurged]
        return room.ForgetOutcome(notes, [it for it in items if it.data["id"] not in gone], left)

    def restore(self, name: str, *, originals: bool) -> room.Restoration | None:
        """Return None: a forgotten session is gone. Raises RefusedError for its name."""
        if _ONLY_HERE.fullmatch(name.strip()):
            raise RefusedError("session_commands.no_restore", name=name)
        return None

    def secrets(self) -> room.Secrets:
        """Return where secrets are: database, archives, `current.json`."""
        from core.room.copies import damaged_files
        from rooms.sessions.upkeep import find_secrets

        store = self.store
        place, item = _say("place"), _say("item")
        return room.Secrets(place, item, find_secrets(store), damaged_files(store.path))

    def redact(self) -> room.RedactOutcome:
        from rooms.sessions.upkeep import redact_secrets

        changed, left, unpurged = redact_secrets(self.store)
        notes = [_say("still_in", path=str(path)) for path in unpurged]
        return room.RedactOutcome(changed, left, notes, not unpurged)

    def export_rows(
        self, wanted: room.Filter, *, only_public: bool, notes: list[str]
    ) -> Iterator[room.ExportRow]:
        from rooms.sessions.document import chosen, context_of

        is_part = replace(wanted, since="") != room.Filter()
        names = [item.data["id"] for item in self.find(wanted).items] if is_part else []
        if names or not is_part:
            with chosen(self.store, wanted.since, "", names) as (_, wholes):
                for it in wholes:
                    yield room.ExportRow(context_of(it), is_private=True)

    def plan_import(self, given: room.Intake, progress: room.Progress) -> room.ImportPlan:
        from rooms.sessions import source
        from rooms.sessions.source import carry_out, plan_import

        store, is_first = self.store, not os.path.lexists(self.store.path)
        plan = plan_import(store, room.read_intake(given, source), progress)

        def save(progress: room.Progress) -> list[str]:
            saved = carry_out(store, plan)
            lines = [say("import_sessions.saved", count=len(saved))]
            return [*lines, room.sentence_for_switch_on(self._memory, NAME)] if is_first else lines

        counts = {it: getattr(plan, it) for it in ("known", "versions", "shortened")}
        table = "import_sessions"
        return room.ImportPlan(
            items=[replace(item_of(it), id="-") for it, _ in plan.new[: room.MOST_PLAN_ITEMS]],
            count=len(plan.new),
            redacted=[*plan.redacted.elements()],
            notes=[say(f"{table}.{it}", count=n) for it, n in counts.items() if n],
            refusals=[
                room.Refusal(it.place, say(f"{table}.passed_{it.why}")) for it in plan.faults
            ],
            save=save if plan.new else None,
        )

    def findings(self) -> "list[Finding]":
        from rooms.sessions.upkeep import examine

        return examine(self._root, self._memory.settings, os.environ)

    def figures(self) -> room.Figures:
        from rooms.sessions.search import statistics_of

        counted = statistics_of(self.store)
        lines = [
            say("sessions.figures.statuses", listed=room.joined_counts(counted.by_status)),
            say("sessions.figures.warned", warned=counted.warned, failed=counted.failed),
            say("sessions.figures.continued", continued=counted.continued),
        ]
        return room.Figures(
            say("sessions.figures.sessions", count=counted.sessions),
            lines if counted.sessions else [],
            {
                "sessions": counted.sessions,
                "statuses": {safe_name(name): count for name, count in counted.by_status.items()},
                "agents": {safe_name(name): count for name, count in counted.by_agent.items()},
                "with_warnings": counted.warned,
                "failed_approaches": counted.failed,
                "continued": counted.continued,
            },
        )


def item_of(
    session: "Session", actions: "Sequence[Action]" = (), chain: "Sequence[Session]" = ()
) -> Item:
    """Return a session without its secrets. chain: with its sessions, the item is whole."""
    from rooms.sessions.draft import redact_session
    from rooms.sessions.session import ACTION, SESSION

    version = room.state_of(session)
    session, actions, _ = redact_session(session, list(actions))
    texts = list(_texts(session, actions))
    for former in session.former[::-1] if chain else ():
        label = _say("former", date=former.at[:10])
        texts += [(label, f"{name}: {text}") for name, text in former.told]
    if len(chain) > 1:
        texts.append((_say("chain"), ", ".join(f"#{it.number}" for it in chain)))
    dates = {
        "started": session.started_at,
        "saved_on": session.updated_at,
        "ended": session.ended_at,
    }
    facts = [session.agent]
    facts += [_say(key, date=minute_of(moment)) for key, moment in dates.items() if moment]
    facts += [_say("in_archive", file=session.archive) if session.archive else "", session.id]
    data = {
        "number": session.number,
        **{"parentId": None, "endedAt": None, **SESSION.as_json(session)},
        "hasWarnings": session.has_warnings,
        "updatedAt": session.updated_at,
        "archive": session.archive or None,
    }
    if chain:
        data["actions"] = [ACTION.as_json(it) for it in actions]
        data["chain"] = [
            {"number": it.number, "id": it.id, "goal": it.goal, "createdAt": it.created_at}
            for it in (redact_session(link).session for link in chain)
        ]
    return Item(
        room=NAME,
        id=f"#{session.number}",
        version=version,
        date=session.updated_at or session.created_at,
        kind=session.status,
        topic=", ".join(session.tags),
        mark=WARNING if session.has_warnings else "",
        texts=tuple((label, text) for label, text in texts if text.strip()),
        facts=tuple(filter(None, facts)),
        data=data,
    )


def _texts(session: "Session", actions: "Sequence[Action]") -> Iterator[tuple[str, str]]:
    from rooms.sessions.document import outcome

    def with_more(text: str, label: str, more: str) -> str:
        return f"{text}\n{_say(label)}: {more}" if more.strip() else text

    yield _say("goal"), session.goal
    yield _say("summary"), session.summary
    for it in session.decisions:
        yield _say("decision"), with_more(it.text, "why", it.why)
    for it in session.approaches:
        yield outcome(it.result), with_more(it.text, "why", it.why)
    for it in session.blockers:
        state = "resolved" if it.is_resolved else "open"
        yield _say(state), with_more(it.text, "solution", it.why)
    yield _say("changes"), session.changes.summary
    yield _say("files"), ", ".join(session.changes.modified_files)
    lines = list[str]()
    for action in actions:
        result = f"→ {action.result}" if action.result else ""
        words = (minute_of(action.created_at), f"{action.kind_name}:", action.done, result)
        lines.append(" ".join(filter(None, words)))
    yield _say("actions"), "\n".join(lines)


def _say(key: str, **facts: str | int) -> str:
    return say(f"session_commands.{key}", **facts)
