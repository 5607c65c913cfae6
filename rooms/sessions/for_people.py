"""The sessions of a project as a room for people."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from core.config import CONTEXT_DIRECTORY
from core.errors import RefusedError
from core.messages import say
from core.sanitizer import safe_name
from core.text.plain import minute_of
from rooms import room
from rooms.room import Item

if TYPE_CHECKING:  # nothing of the room is loaded where it is not asked
    from core.lessons.upkeep import Finding
    from rooms.sessions.session import Action, Session
    from rooms.sessions.store import SessionStore

NAME = "sessions"
_ALL = 1_000_000_000
_ONLY_HERE = re.compile(r"#[0-9]+|ctx_\S*")  # names that only sessions have


class ForPeople(room.Room):
    """The sessions of a project; see `rooms.room.Room`."""

    name = NAME

    @property
    def kinds(self) -> tuple[str, ...]:
        from rooms.sessions.session import STATUSES

        return STATUSES

    @property
    def store(self) -> "SessionStore":
        """The store of the project. Raises ConfigError, SessionsError."""
        from rooms.sessions.store import open_sessions

        return open_sessions(self._memory.project.root, self._memory.settings)

    def is_there(self) -> bool:
        return os.path.isdir(self._memory.project.root / CONTEXT_DIRECTORY / NAME)

    def find(self, filter_: room.Filter) -> room.Matches:
        """Return the matches; a forgotten session is gone for good."""
        from rooms.sessions.search import Criteria, search

        if filter_.forgotten:
            return room.Matches([], 0)
        criteria = Criteria(
            query=filter_.words, tags=filter_.topics, status=filter_.kind, since=filter_.since
        )
        page = search(self.store, criteria, limit=_ALL if filter_.limit is None else filter_.limit)
        return room.Matches([item_of(hit.session) for hit in page.hits], page.total)

    def explain_no_match(self, filter_: room.Filter) -> list[str]:
        from rooms.sessions.search import all_tags_of

        if filter_.forgotten:
            return [_say("gone_for_good")]
        count, tags = self.find(room.Filter(limit=1)).count, all_tags_of(self.store)
        if count:
            unknown = room.lines_on_unknown("session_commands.no_tag", filter_.topics, tags)
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
        return [item_of(session, self.store.actions_of(session), self.store.chain_of(session))]

    def preview_forget(self, items: Sequence[Item], *, hard: bool) -> str:
        return _say("would_forget", count=len(items))

    def forget(self, items: Sequence[Item], *, hard: bool) -> room.ForgetOutcome:
        """Remove sessions that have not changed since they were shown, with their actions."""
        from rooms.sessions.upkeep import forget

        versions = {item.data["id"]: item.version for item in items}
        outcome = forget(
            self.store, versions, lambda _, session: room.state_of(session) == versions[session.id]
        )
        ids = {session.id for session in outcome.sessions}
        lines = [_say("unpurged", path=str(path)) for path in outcome.unpurged]
        changed_items = [item for item in items if item.data["id"] not in ids]
        return room.ForgetOutcome([_say("forgotten", count=len(ids))], changed_items, lines)

    def restore(self, name: str, *, originals: bool) -> room.Restoration | None:
        """Return None: a forgotten session is gone. Raises RefusedError for its name."""
        if _ONLY_HERE.fullmatch(name.strip()):
            raise RefusedError("session_commands.no_restore", name=name)
        return None

    def secrets(self) -> room.Secrets:
        """Return where secrets are: database, archives, `current.json`."""
        from core.room.copies import damaged_files
        from rooms.sessions.upkeep import find_secrets

        places, files = find_secrets(self.store), damaged_files(self.store.path)
        return room.Secrets(_say("place"), _say("item"), places, files)

    def redact(self) -> room.RedactOutcome:
        from rooms.sessions.upkeep import redact_secrets

        redacted_places, left_places, files = redact_secrets(self.store)
        notes = [_say("still_in", path=str(path)) for path in files]
        return room.RedactOutcome(redacted_places, left_places, notes, not files)

    def export_rows(
        self, filter_: room.Filter, *, only_public: bool, notes: list[str]
    ) -> Iterator[room.ExportRow]:
        from rooms.sessions.document import context_of, open_selection

        is_part = replace(filter_, since="") != room.Filter()
        names = [item.data["id"] for item in self.find(filter_).items] if is_part else []
        if names or not is_part:
            with open_selection(self.store, filter_.since, "", names) as (_, entries):
                for entry in entries:
                    yield room.ExportRow(context_of(entry), is_private=True)

    def plan_import(self, intake: room.Intake, progress: room.Progress) -> room.ImportPlan:
        from rooms.sessions import source
        from rooms.sessions.source import plan_import, save_plan

        store, is_first = self.store, not os.path.lexists(self.store.path)
        plan = plan_import(store, room.read_intake(intake, source), progress)

        def save(progress: room.Progress) -> list[str]:
            sessions = save_plan(store, plan)
            lines = [say("import_sessions.saved", count=len(sessions))]
            return [*lines, room.sentence_for_switch_on(self._memory, NAME)] if is_first else lines

        counts = {"known": plan.known_count, "versions": plan.version_count}
        counts["shortened"] = plan.cut_count
        first_sessions = [session for session, _ in plan.new_sessions[: room.MOST_PLAN_ITEMS]]
        table = "import_sessions"
        faults = ((place, say(f"{table}.passed_{reason}")) for place, reason in plan.faults)
        return room.ImportPlan(
            items=[replace(item_of(session), id="-") for session in first_sessions],
            count=len(plan.new_sessions),
            secret_kinds=[*plan.secret_counts.elements()],
            notes=[say(f"{table}.{name}", count=n) for name, n in counts.items() if n],
            refusals=[room.Refusal(*fault) for fault in faults],
            save=save if plan.new_sessions else None,
        )

    def findings(self) -> "list[Finding]":
        from rooms.sessions.upkeep import examine

        return examine(self._memory.project.root, self._memory.settings, os.environ)

    def figures(self) -> room.Figures:
        from rooms.sessions.search import statistics_of

        counts = statistics_of(self.store)
        lines = [
            say("sessions.figures.statuses", listed=room.joined_counts(counts.by_status)),
            say("sessions.figures.warned", warned=counts.warned_sessions, failed=counts.failures),
            say("sessions.figures.continued", continued=counts.continued_sessions),
        ]
        return room.Figures(
            say("sessions.figures.sessions", count=counts.sessions),
            lines if counts.sessions else [],
            {
                "sessions": counts.sessions,
                "statuses": {safe_name(name): n for name, n in counts.by_status.items()},
                "agents": {safe_name(name): n for name, n in counts.by_agent.items()},
                "with_warnings": counts.warned_sessions,
                "failed_approaches": counts.failures,
                "continued": counts.continued_sessions,
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
    texts = list(_texts_of(session, actions))
    for former in session.former[::-1] if chain else ():
        label = _say("former", date=former.at[:10])
        texts += [(label, f"{name}: {text}") for name, text in former.texts]
    if len(chain) > 1:
        texts.append((_say("chain"), ", ".join(f"#{link.number}" for link in chain)))
    started, ended = session.started_at, session.ended_at
    dates = {"started": started, "saved_on": session.updated_at, "ended": ended}
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
        data["actions"] = [ACTION.as_json(action) for action in actions]
        data["chain"] = [
            {"number": link.number, "id": link.id, "goal": link.goal, "createdAt": link.created_at}
            for link in (redact_session(session).session for session in chain)
        ]
    return Item(
        room=NAME,
        id=f"#{session.number}",
        version=version,
        date=session.updated_at or session.created_at,
        kind=session.status,
        topic=", ".join(session.tags),
        mark="!" if session.has_warnings else "",
        texts=tuple((label, text) for label, text in texts if text.strip()),
        facts=tuple(filter(None, facts)),
        data=data,
    )


def _texts_of(session: "Session", actions: "Sequence[Action]") -> Iterator[tuple[str, str]]:
    from rooms.sessions.document import outcome_name

    def with_more(text: str, label: str, addition: str) -> str:
        return f"{text}\n{_say(label)}: {addition}" if addition.strip() else text

    yield _say("goal"), session.goal
    yield _say("summary"), session.summary
    for point in session.decisions:
        yield _say("decision"), with_more(point.text, "why", point.why)
    for point in session.approaches:
        yield outcome_name(point.result), with_more(point.text, "why", point.why)
    for point in session.blockers:
        state = "resolved" if point.is_resolved else "open"
        yield _say(state), with_more(point.text, "solution", point.why)
    yield _say("changes"), session.changes.summary
    yield _say("files"), ", ".join(session.changes.modified_files)
    lines = list[str]()
    for action in actions:
        result = f"→ {action.result}" if action.result else ""
        words = (minute_of(action.created_at), f"{action.kind_name}:", action.full_content, result)
        lines.append(" ".join(filter(None, words)))
    yield _say("actions"), "\n".join(lines)


def _say(key: str, **facts: str | int) -> str:
    return say(f"session_commands.{key}", **facts)
