"""Makes projects with sessions: single ones, and those that people and agents leave.

The samples are in both languages, always the same ones. Their dates run up to NEWEST; the short
names are 1, 2, 3 …
"""

import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from core.config import Settings
from rooms.sessions.draft import with_warning_flag
from rooms.sessions.rows import INTO_ACTIONS, values_of_action, write_session
from rooms.sessions.session import ACTION, POINTS, Action, Draft, Point, Session, read_session
from rooms.sessions.store import SessionStore, open_sessions
from tests.support.tables import table

NEWEST = datetime(2026, 11, 20, 17, 30, tzinfo=UTC)
AGENTS = ("claude-code", "cursor-vscode", "codex", "gemini-cli")
THINGS = ("orders", "invoices", "refunds", "sign-up", "search", "billing", "carts", "exports")
KOREAN_THINGS = ("주문", "송장", "환불", "회원 가입", "검색", "청구", "장바구니", "내보내기")

SampleSession = tuple[Session, list[Action]]
# One session as an export has it, before it has a date; in its goal `{thing}` is filled in.
Story = dict[str, Any]
CHAINS: list[list[Story]] = table("session_words")


def sample_sessions(count: int = 24) -> list[SampleSession]:
    """That many sessions with their actions, oldest first, each chain in its order."""
    chance = random.Random(7)
    stories = list(_choose_stories(count, chance))
    moment, sessions = NEWEST, list[SampleSession]()
    for number in range(count, 0, -1):
        story, parent = stories[number - 1]
        session = _session(story, number, parent, moment, chance)
        sessions.append((session, list(_actions(story, session, moment))))
        moment -= timedelta(minutes=chance.randrange(90, 3_000))
    return sessions[::-1]


def make_sample_store(root: Path, count: int = 24) -> SessionStore:
    store = open_sessions(root, Settings())
    keep(store, sample_sessions(count))
    return store


def keep(store: SessionStore, sessions: Sequence[SampleSession]) -> None:
    """Write sessions and actions as they are, without the changes of a save."""
    with store.writing() as connection:
        for session, actions in sessions:
            write_session(connection, session)
            connection.executemany(
                f"INSERT {INTO_ACTIONS}",
                [values_of_action(replace(action, context_id=session.id)) for action in actions],
            )


def _choose_stories(count: int, chance: random.Random) -> Iterator[tuple[Story, int]]:
    """Stories with the number of the session before, 0 for none; some chains run side by side."""
    open_chains: list[tuple[Sequence[Story], int, int]] = []  # a chain, its stories told, the last
    for number in range(1, count + 1):
        if open_chains and chance.random() < 0.6:
            chain, position, parent = open_chains.pop(0)
        else:
            stories = CHAINS[number - 1] if number <= len(CHAINS) else chance.choice(CHAINS)
            i = chance.randrange(len(THINGS))
            chain, position, parent = [_fill(story, i) for story in stories], 0, 0
        yield chain[position], parent
        if position + 1 < len(chain):
            open_chains.append((chain, position + 1, number))


def _fill(story: Story, i: int) -> Story:
    is_korean = any("가" <= char <= "힣" for char in story["goal"])
    thing = (KOREAN_THINGS if is_korean else THINGS)[i]
    return {**story, "goal": story["goal"].replace("{thing}", thing)}


def _session(
    story: Story, number: int, parent: int, moment: datetime, chance: random.Random
) -> Session:
    started, now = _iso(moment - timedelta(minutes=chance.randrange(10, 85))), _iso(moment)
    agent = chance.choice(AGENTS)
    session = replace(
        read_session(story),
        number=number,
        id=f"ctx_{number:012x}",
        parent_id=f"ctx_{parent:012x}" if parent else "",
        agent=agent,
        started_at=started,
        ended_at=now if story["status"] in ("completed", "paused") else "",
        created_at=started,
        updated_at=now,
    )
    points: Any = {
        name: tuple(
            replace(
                point,
                at=started if name == "blockers" else now,
                made_by=agent if name == "decisions" else "",
                resolved_at=now if point.is_resolved else "",
            )
            for point in getattr(session, name)
        )
        for name in POINTS
    }
    return with_warning_flag(replace(session, **points))


def _actions(story: Story, session: Session, moment: datetime) -> Iterator[Action]:
    for i, data in enumerate(story["actions"]):
        action = ACTION.read(data)
        yield replace(
            action,
            id=f"act_{session.number:06x}{i:06x}",
            context_id=session.id,
            file_path=action.content if action.kind == "edit" else "",
            created_at=_iso(moment - timedelta(minutes=len(story["actions"]) - i)),
        )


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


OLD, LATER = "2024-03-01T10:00:00+00:00", "2026-05-01T10:00:00+00:00"


def a_room(root: Path, lock_timeout_s: int = 5) -> SessionStore:
    """The sessions of a project of this directory, which is made."""
    root.mkdir(parents=True, exist_ok=True)
    return open_sessions(root, Settings(lock_timeout_s=lock_timeout_s))


def saved(store: SessionStore, goal: str, now: str = LATER, **fields: Any) -> Session:
    """A session that was saved at this moment and has ended, unless `status` says otherwise."""
    draft = Draft(**{"goal": goal, "status": "completed", **fields})
    return store.save(draft, agent="cursor", process=f"process of {goal}", now=now).session


def failed(text: str, reason: str = "") -> Point:
    return Point(text=text, result="failed", why=reason)


def act(store: SessionStore, session: Session, *commands: str) -> None:
    with store.writing() as connection:
        for i, command in enumerate(commands):
            connection.execute(
                "INSERT INTO actions (id, context_id, type, content, result, created_at)"
                " VALUES (?, ?, 'command', ?, 'success', ?)",
                (f"act_{session.id}_{i}", session.id, command, f"{session.date}T1{i}:00:00"),
            )


def store_unchecked(store: SessionStore, **fields: Any) -> Session:
    """A session as another program would have put it there, with unchecked texts."""
    dates = dict.fromkeys(("started_at", "ended_at", "created_at", "updated_at"), LATER)
    values = {"number": 0, "id": f"ctx_{os.urandom(6).hex()}", **dates, **fields}
    with store.writing() as connection:
        return write_session(connection, Session(**values))


def every_byte(*folders: Path) -> bytes:
    """The content of all files below these folders, one behind the other."""
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return b"\0".join(path.read_bytes() for path in files)
