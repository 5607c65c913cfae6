"""Makes a store of sessions as people and agents leave them, in both languages, from a seed.

    store = make_sample_store(tmp_path, 40)
    sample_sessions(3)[0][0].goal

The same seed makes the same sessions. Dates run up to NEWEST; the short names are 1, 2, 3 …
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from core.config import Settings
from rooms.sessions.draft import with_flag
from rooms.sessions.session import Action, Changes, Point, Session
from rooms.sessions.store import SessionStore, insert, open_sessions
from tests.support.stdio_client import ROOT

NEWEST = datetime(2026, 11, 20, 17, 30, tzinfo=UTC)
AGENTS = ("claude-code", "cursor-vscode", "codex", "gemini-cli")
ARCHIVE = "archive-2025.db"
THINGS = ("orders", "invoices", "refunds", "sign-up", "search", "billing", "carts", "exports")
KOREAN_THINGS = ("주문", "송장", "환불", "회원 가입", "검색", "청구", "장바구니", "내보내기")

SampleSession = tuple[Session, list[Action]]


class Story(NamedTuple):
    """One session before it has a date; in its goal `{thing}` is filled in.

    decided: what, why. tried: description, result, reason. blocked: description, and how it was
    resolved, "" while it is open. done: kind, content, result.
    """

    goal: str
    summary: str
    status: str
    tags: Sequence[str]
    decided: Sequence[tuple[str, str]]
    tried: Sequence[tuple[str, str, str]]
    blocked: Sequence[tuple[str, str]]
    files: Sequence[str]
    changed: str
    done: Sequence[tuple[str, str, str]]


_WORDS = ROOT / "tests/data/session_words.json"
CHAINS = [[Story(**it) for it in chain] for chain in json.loads(_WORDS.read_text("utf-8"))]


def sample_sessions(count: int = 24, *, seed: int = 7, archived: int = 0) -> list[SampleSession]:
    """That many sessions with their actions, oldest first, each chain in its order.

    archived: so many of the oldest have only what an archive leaves of them.
    """
    chance = random.Random(seed)
    told = list(_told(count, chance))
    moment, sessions = NEWEST, list[SampleSession]()
    for number in range(count, 0, -1):
        story, parent = told[number - 1]
        session = _session(story, number, parent, moment, chance)
        sessions.append((session, list(_actions(story, session, moment))))
        moment -= timedelta(minutes=chance.randrange(90, 3_000))
    sessions.reverse()
    return [(_archived(it), []) for it, _ in sessions[:archived]] + sessions[archived:]


def make_sample_store(
    root: Path,
    count: int = 24,
    *,
    seed: int = 7,
    archived: int = 0,
    settings: Settings | None = None,
) -> SessionStore:
    """The store of a project with these sessions."""
    store = open_sessions(root, settings or Settings())
    keep(store, sample_sessions(count, seed=seed, archived=archived))
    return store


def keep(store: SessionStore, sessions: Sequence[SampleSession]) -> None:
    """Write sessions and actions as they are, without what a save does to them."""
    with store.writing() as connection:
        for session, actions in sessions:
            insert(connection, session)
            connection.executemany(
                "INSERT INTO actions VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (it.id, session.id, it.kind, it.content, it.result, it.file_path, it.created_at)
                    for it in actions
                ],
            )


def _told(count: int, chance: random.Random) -> Iterator[tuple[Story, int]]:
    """Stories with the number of the session before, 0 for none; some chains run side by side."""
    number = 0
    waiting: list[tuple[Sequence[Story], int, int]] = []  # a chain, what is told of it, the last
    while number < count:
        if waiting and chance.random() < 0.6:
            chain, done, last = waiting.pop(0)
        else:
            fresh = CHAINS[number % len(CHAINS)] if number < len(CHAINS) else chance.choice(CHAINS)
            at = chance.randrange(len(THINGS))
            chain, done, last = [_filled(story, at) for story in fresh], 0, 0
        number += 1
        yield chain[done], last
        if done + 1 < len(chain):
            waiting.append((chain, done + 1, number))


def _filled(story: Story, at: int) -> Story:
    is_korean = any("가" <= char <= "힣" for char in story.goal)
    thing = (KOREAN_THINGS if is_korean else THINGS)[at]
    return story._replace(goal=story.goal.replace("{thing}", thing))


def _session(
    story: Story, number: int, parent: int, moment: datetime, chance: random.Random
) -> Session:
    started, now = _iso(moment - timedelta(minutes=chance.randrange(10, 85))), _iso(moment)
    agent = chance.choice(AGENTS)
    session = Session(
        number=number,
        id=id_of(number),
        parent_id=id_of(parent) if parent else "",
        goal=story.goal,
        summary=story.summary,
        status=story.status,
        tags=tuple(story.tags),
        agent=agent,
        decisions=tuple(
            Point(text=what, why=why, made_by=agent, at=now) for what, why in story.decided
        ),
        approaches=tuple(
            Point(text=what, result=result, why=reason, at=now)
            for what, result, reason in story.tried
        ),
        blockers=tuple(
            Point(
                text=what,
                is_resolved=bool(how),
                why=how,
                at=started,
                resolved_at=now if how else "",
            )
            for what, how in story.blocked
        ),
        changes=Changes(modified_files=tuple(story.files), summary=story.changed),
        started_at=started,
        ended_at=now if story.status in ("completed", "paused") else "",
        created_at=started,
        updated_at=now,
    )
    return with_flag(session)


def _actions(story: Story, session: Session, moment: datetime) -> Iterator[Action]:
    for at, (kind, content, result) in enumerate(story.done):
        before = timedelta(minutes=len(story.done) - at)
        yield Action(
            id=f"act_{session.number:06x}{at:06x}",
            context_id=session.id,
            kind=kind,
            content=content,
            result=result,
            file_path=content if kind == "edit" else "",
            created_at=_iso(moment - before),
        )


def _archived(session: Session) -> Session:
    return replace(
        session,
        goal=session.goal_short,
        summary=session.summary_short,
        decisions=(),
        approaches=(),
        blockers=(),
        changes=Changes(),
        archive=ARCHIVE,
    )


def id_of(number: int) -> str:
    """The id of the sample session of this number."""
    return f"ctx_{number:012x}"


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
