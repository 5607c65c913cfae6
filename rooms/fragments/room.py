"""The one door to the fragments: each operation is a function that takes the room.

    room = open_room(Settings(), os.environ)
    remember(room, Draft(content="The shop runs on Node 20"), agent="", session="s1")
    recall(room, Query(text="node version"))

Only operations that save create anything. Each raises FragmentsError where it refuses, and
DatabaseError or WaitEndedError where the database fails or the caller ended its wait.

The settings name the database; figures of order and age stand in `config.json` beside it, with the
keys of the specification's MEMORY_CONFIG. A bad value is refused, with its key.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

from core import config as core_config
from core.config import DEFAULT_AGENT, FRAGMENTS_VARIABLE, NAME_CHARS, REFUSED_AGENTS, Settings
from core.postgres.address import ConnectionCutError, Server, is_server, server_of
from core.program import NO_CANCELLATION, Cancellation
from core.room.documents import CONFIG_NAME, Expected, Keys, unknown_keys_in, values_in, wrong_value
from core.sanitizer import find_secrets, has_secret
from core.text.plain import SURROGATE, utc_now
from rooms.fragments.fragment import Fragment, FragmentsError, NoSuchFragmentError
from rooms.fragments.storage.redis import RedisServer, redis_server_of
from rooms.fragments.storage.rows import Engine, Rows
from rooms.fragments.texts import Text, check_size, plain_id

FILE_NAME = "memory.db"
MOST_DAYS, MOST_LINKED = 36_500, 100
_DIGITS = 9  # to which two weights must make 1
AGENT_VARIABLE = "SENTINEL_MEMORY_AGENT"  # who calls where no credential says it
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class Config(NamedTuple):
    """The settings of the room."""

    path: Path  # of the database, which need not exist
    importance_weight: float = 0.6  # against recency, among equally relevant fragments
    activation_threshold: int = 100  # fragments, from which on the weights count
    stale_days: tuple[tuple[str, int], ...] = ()  # by type word, in place of `TYPES`
    linked_limit: int = 10  # linked fragments of a recall
    doubtful_days: int | None = None  # of a verified procedure, None for `TYPES`, 0 for ever
    least_cosine: float | None = None  # of what a vector alone finds, None for the measured one
    server: Server | None = None  # keeps the fragments instead
    cache: RedisServer | None = None  # a Redis before that server


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
        name = check_agent(agent)
        return replace(self, engine=self.engine.for_agent(name), agent=name)

    def for_caller(self, agent: str, environment: Mapping[str, str]) -> "Room":
        """Return the room of a caller. agent: of the credential, "" for the environment's."""
        if self.engine.keeps_agents_apart:
            name = environment.get(AGENT_VARIABLE, "")
            return self.for_agent(agent or check_agent(name, AGENT_VARIABLE))
        if agent not in ("", DEFAULT_AGENT):
            raise FragmentsError("agents_together", name=agent)
        return self

    @property
    def own_agents(self) -> tuple[str, ...]:
        """The agents whose fragments may be changed here, () for all."""
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
    """Return the room of this user or team. Raises ConfigError, FragmentsError."""
    return _open(read_config(environment), settings, cancellation)


@lru_cache(maxsize=8)  # keeps connections for the next call
def _open(config: Config, settings: Settings, cancellation: Cancellation) -> Room:
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


def owner_for(room: Room, agent: str) -> str:
    """Return the owner of a new fragment. agent: a name, "" for its own; another's is refused."""
    name = check_agent(agent) if agent.strip() else ""
    if room.agent and name not in ("", room.agent):
        raise FragmentsError("other_agent", name=name, own=room.agent)
    return name or room.agent or DEFAULT_AGENT


def agents_for(room: Room, agent: str) -> tuple[str, ...]:
    """Return the agents whose fragments a caller sees, () for all: a name only narrows."""
    if room.agent and agent.strip() == DEFAULT_AGENT:
        return (DEFAULT_AGENT,)
    name = owner_for(room, agent)
    return tuple(dict.fromkeys((name, DEFAULT_AGENT))) if agent.strip() or room.agent else ()


def check_agent(agent: str, field: str = "agentId") -> str:
    """Return a valid name of an agent, DEFAULT_AGENT for ""."""
    name = check_name(field, agent)
    if name.lower() in REFUSED_AGENTS:
        raise FragmentsError("agent_refused", field=field, name=name.lower())
    return name or DEFAULT_AGENT


def check_name(field: str, name: str) -> str:
    """Return a name without blanks around it; refuse a long, an unwritable or a secret one."""
    name = name.strip()
    if SURROGATE.search(name) or "\0" in name:
        raise FragmentsError("lone_surrogate", field=field)
    check_size(Text(field, name, NAME_CHARS), name)
    if has_secret(name):
        kinds = ", ".join(sorted({secret.kind for secret in find_secrets(name)}))
        raise FragmentsError("secret_refused", field=field, kinds=kinds)
    return name


def open_change(room: Room, id_: str) -> AbstractContextManager[Rows]:
    """Return the transaction of a change, which makes no database."""
    if not room.engine.exists():
        raise NoSuchFragmentError(id=plain_id(id_))
    return room.engine.writing()


def find_visible(rows: Rows, id_: str, agents: Sequence[str], *, in_bin: bool = False) -> Fragment:
    """Return a fragment of these agents, () for all; in_bin: from the bin, too."""
    key = plain_id(id_)
    for fragment in rows.by_ids([key]):
        if not agents or fragment.agent in agents:
            if fragment.deleted_at and not in_bin:
                raise FragmentsError("in_bin", id=fragment.id)
            return fragment
    raise NoSuchFragmentError(id=key)


def find_changeable(
    rows: Rows, room: Room, id_: str, agents: Sequence[str], *, in_bin: bool = False
) -> Fragment:
    """Return a visible fragment that this room may change; in_bin: from the bin, too."""
    fragment = find_visible(rows, id_, agents, in_bin=True)
    if not room.owns(fragment):
        raise FragmentsError("shared", id=fragment.id, owner=fragment.agent)
    return fragment if in_bin else find_visible(rows, fragment.id, agents)


def repeats_when_cut(read: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Repeat a whole read if its connection was cut. Not for changes: their caller decides."""

    @wraps(read)
    def read_again(*values: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        with suppress(ConnectionCutError):
            return read(*values, **options)
        return read(*values, **options)

    return read_again


def read_config(environment: Mapping[str, str]) -> Config:
    """Return the settings. Raises ConfigError, FragmentsError."""
    path, server = database_path(environment), database_server(environment)
    cache = redis_server_of(environment) if server else None
    config = path.with_name(CONFIG_NAME)
    values = values_in(config, _KEYS)
    words = ("fact", "decision", "relation")
    values["stale_days"] = tuple((word, values.pop(word)) for word in words if word in values)
    recency = values.pop("recency_weight", None)
    if recency is not None:
        rest = round(1 - recency, _DIGITS)
        if round(values.setdefault("importance_weight", rest) - rest, _DIGITS):
            raise wrong_value(config, "ranking.recencyWeight", "fragments.room.expects_rest")
    return Config(path, **values, server=server, cache=cache)


def database_server(environment: Mapping[str, str]) -> Server | None:
    """Return the server of the fragments, None for a file."""
    place = environment.get(FRAGMENTS_VARIABLE, "").strip()
    return server_of(place, environment) if place and is_server(place) else None


def database_path(environment: Mapping[str, str]) -> Path:
    """Return the path of the database, with a server the default: `config.json` is beside it."""
    place = os.path.expanduser(environment.get(FRAGMENTS_VARIABLE, "").strip())
    if not place or is_server(place):
        if base := core_config.data_directory(environment):
            return Path(base, FILE_NAME)
        raise FragmentsError("no_place")
    if not os.path.isabs(place) or "://" in place:
        raise FragmentsError("bad_place")
    is_folder = os.path.isdir(place) or not os.path.basename(place)  # a slash ends one to be made
    return Path(place, FILE_NAME) if is_folder else Path(place)


def unknown_config_keys(database: Path) -> list[str]:
    """Return keys of `config.json` that are no settings. Raises ConfigError."""
    return unknown_keys_in(database.with_name(CONFIG_NAME), _KEYS)


def _expect_whole(unit: str, most: int) -> Expected:
    sentence = f"fragments.room.expects_{unit}"
    return Expected(sentence, lambda value: type(value) is int and 0 <= value <= most)


_WEIGHT = Expected(
    "fragments.room.expects_weight", lambda value: type(value) in (int, float) and 0 <= value <= 1
)
_DAYS = _expect_whole("days", MOST_DAYS)

# fmt: off
_KEYS: Keys = {
    "ranking.importanceWeight": ("importance_weight", _WEIGHT),
    "ranking.recencyWeight": ("recency_weight", _WEIGHT),
    "ranking.activationThreshold": ("activation_threshold", _expect_whole("count", 10**9)),
    "staleThresholds.procedure": ("doubtful_days", _DAYS),
    "staleThresholds.fact": ("fact", _DAYS),
    "staleThresholds.decision": ("decision", _DAYS),
    "staleThresholds.default": ("relation", _DAYS),  # nothing else is left that may go stale
    "embeddings.leastCosine": ("least_cosine", _WEIGHT),
    "linkedFragmentLimit": ("linked_limit", _expect_whole("linked", MOST_LINKED)),
}
# fmt: on
