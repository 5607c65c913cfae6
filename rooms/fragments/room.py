"""The one door to the fragments: each operation is a function that takes the room.

    room = open_room(Settings(), os.environ)
    remember(room, Draft(content="The shop runs on Node 20"), agent="", session="s1")
    recall(room, Query(text="node version"))

Only operations that save create anything. Each raises FragmentsError where it refuses, and
DatabaseError or WaitEndedError where the database fails or the caller ended its wait.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

from core.config import DEFAULT_AGENT, NAME_CHARS, REFUSED_AGENTS, Settings
from core.lessons.record import utc_now
from core.program import NO_CANCELLATION, Cancellation
from core.room.database import DatabaseError
from core.sanitizer import find, has_secret
from core.text.plain import SURROGATE
from rooms.fragments.config import Config, read_config
from rooms.fragments.errors import FragmentsError, NoSuchFragmentError, SavingError
from rooms.fragments.fragment import Fragment
from rooms.fragments.storage import Engine
from rooms.fragments.storage.rows import Rows
from rooms.fragments.texts import plain_id

AGENT_VARIABLE = "SENTINEL_MEMORY_AGENT"  # who calls where no credential says it
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


@dataclass(frozen=True, kw_only=True)
class Room:
    """The database and settings of one caller."""

    engine: Engine
    config: Config
    settings: Settings
    clock: Callable[[], str] = utc_now  # returns now, ISO 8601 in UTC
    agent: str = ""  # "" for a person on one machine, the upkeep, or the operator of a server

    def for_agent(self, agent: str) -> "Room":
        """Return the room of an agent; itself where all is one person's."""
        if not self.engine.keeps_agents_apart:
            return self
        name = own_name(agent)
        return replace(self, engine=self.engine.for_agent(name), agent=name)

    def for_caller(self, agent: str, environment: Mapping[str, str]) -> "Room":
        """Return the room of a caller. agent: of the credential, "" for the environment's."""
        if self.engine.keeps_agents_apart:
            name = environment.get(AGENT_VARIABLE, "")
            return self.for_agent(agent or own_name(name, AGENT_VARIABLE))
        if agent not in ("", DEFAULT_AGENT):
            raise FragmentsError("agents_together", name=agent)
        return self

    @property
    def own(self) -> tuple[str, ...]:
        """Whose fragments may be changed here, () for everybody's."""
        return (self.agent,) if self.agent else ()

    def owns(self, fragment: Fragment) -> bool:
        """Return whether a visible fragment may be changed here."""
        return self.agent in ("", fragment.agent)

    def for_all(self) -> "Room":
        """Return the room of every agent, for the upkeep."""
        return replace(self, engine=self.engine.for_agent(""), agent="") if self.agent else self


def open_room(
    settings: Settings, environment: Mapping[str, str], cancellation: Cancellation = NO_CANCELLATION
) -> Room:
    """Return the room of this user or team. Raises ConfigError, PlaceError, FragmentsError."""
    return _opened(read_config(environment), settings, cancellation)


@lru_cache(maxsize=8)  # keeps connections for the next call
def _opened(config: Config, settings: Settings, cancellation: Cancellation) -> Room:
    engine: Engine
    timeout_s = settings.lock_timeout_s
    if config.server:
        from rooms.fragments.storage.postgres import PostgresEngine
        from rooms.fragments.storage.redis import Cache

        cache = Cache(config.cache, config.server.name) if config.cache else None
        engine = PostgresEngine(
            config.server, timeout_s=timeout_s, cancellation=cancellation, cache=cache
        )
    else:
        from rooms.fragments.storage.sqlite import SqliteEngine

        engine = SqliteEngine(config.path, timeout_s=timeout_s, cancellation=cancellation)
    return Room(engine=engine, config=config, settings=settings)


def writer(room: Room, agent: str) -> str:
    """Return the owner of a new fragment. agent: a name, "" for its own; another's is refused."""
    name = own_name(agent) if agent.strip() else ""
    if room.agent and name not in ("", room.agent):
        raise FragmentsError("other_agent", name=name, own=room.agent)
    return name or room.agent or DEFAULT_AGENT


def readers(room: Room, agent: str) -> tuple[str, ...]:
    """Return the agents whose fragments a caller sees, () for all: a name only narrows."""
    if room.agent and agent.strip() == DEFAULT_AGENT:
        return (DEFAULT_AGENT,)
    name = writer(room, agent)
    return tuple(dict.fromkeys((name, DEFAULT_AGENT))) if agent.strip() or room.agent else ()


def own_name(agent: str, field: str = "agentId") -> str:
    """Return a valid name of an agent, DEFAULT_AGENT for ""."""
    name = named(field, agent)
    if name.lower() in REFUSED_AGENTS:
        raise FragmentsError("agent_refused", field=field, name=name.lower())
    return name or DEFAULT_AGENT


def named(field: str, name: str) -> str:
    """Return a name without blanks around it; refuse a long, an unwritable or a secret one."""
    name = name.strip()
    if SURROGATE.search(name) or "\0" in name:
        raise FragmentsError("lone_surrogate", field=field)
    if (over := len(name) - NAME_CHARS) > 0:
        facts = {"chars": len(name), "over": over, "most": NAME_CHARS}
        raise FragmentsError("too_long", field=field, **facts)
    if has_secret(name):
        kinds = ", ".join(sorted({it.kind for it in find(name)}))
        raise FragmentsError("secret_refused", field=field, kinds=kinds)
    return name


# What a caller may see and change


def changing(room: Room, id_: str) -> AbstractContextManager[Rows]:
    """Return the transaction of a change, which makes no database."""
    if not room.engine.exists():
        raise NoSuchFragmentError(id=plain_id(id_))
    return room.engine.writing()


def visible(rows: Rows, id_: str, agents: Sequence[str]) -> Fragment:
    """Return a fragment of these agents, () for all; from the bin, too."""
    key = plain_id(id_)
    if len(key) <= NAME_CHARS and not SURROGATE.search(key):
        for found in rows.by_ids([key]):
            if not agents or found.agent in agents:
                return found
    raise NoSuchFragmentError(id=key)


def kept(rows: Rows, id_: str, agents: Sequence[str]) -> Fragment:
    """Return a visible fragment outside the bin."""
    found = visible(rows, id_, agents)
    if found.deleted_at:
        raise SavingError("in_bin", id=found.id)
    return found


def changeable(
    rows: Rows, room: Room, id_: str, agents: Sequence[str], *, in_bin: bool = False
) -> Fragment:
    """Return a visible fragment that this room may change; in_bin: from the bin, too."""
    found = visible(rows, id_, agents)
    if not room.owns(found):
        raise SavingError("shared", id=found.id, owner=found.agent)
    return found if in_bin else kept(rows, found.id, agents)


def repeats_when_cut(read: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Repeat a whole read if its connection was cut. Not for changes: their caller decides."""

    @wraps(read)
    def twice(*values: _Given.args, **named: _Given.kwargs) -> _Result:
        try:
            return read(*values, **named)
        except DatabaseError as error:
            from core.postgres.server import ConnectionCutError  # most fragments are in a file

            if not isinstance(error, ConnectionCutError):
                raise
        return read(*values, **named)

    return twice
