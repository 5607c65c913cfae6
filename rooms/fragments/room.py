"""The one door to the fragments: what every operation of the room works with.

    room = open_room(Settings(), os.environ)
    remember(room, Draft(content="The shop runs on Node 20"), agent="", session="s1")
    recall(room, Query(text="node version"))

Operations are functions that take the room; only those that save create anything.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from core.cancellation import NO_CANCELLATION, Cancellation
from core.lessons.record import utc_now
from core.settings import Settings
from core.text.printable import SURROGATE
from core.text_redaction import has_secret, secrets_in
from rooms.fragments.config import Config, read_config
from rooms.fragments.engine import Engine
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import DEFAULT_AGENT, NAME_CHARS, REFUSED_AGENTS


@dataclass(frozen=True, kw_only=True)
class Room:
    """What an operation works with. clock: returns this moment, ISO 8601 in UTC."""

    engine: Engine
    config: Config
    settings: Settings
    clock: Callable[[], str] = utc_now


def open_room(
    settings: Settings,
    environment: Mapping[str, str],
    cancellation: Cancellation = NO_CANCELLATION,
) -> Room:
    """Return the fragments of this user. Raises ConfigError."""
    return _opened(read_config(environment), settings, cancellation)


@lru_cache(maxsize=8)  # keeps connections for the next call
def _opened(config: Config, settings: Settings, cancellation: Cancellation) -> Room:
    from rooms.fragments.sqlite.adapter import SqliteEngine

    timeout_s = settings.lock_timeout_s
    engine = SqliteEngine(config.path, timeout_s=timeout_s, cancellation=cancellation)
    return Room(engine=engine, config=config, settings=settings)


def writer(agent: str) -> str:
    """Return the agent whose a new fragment is. Raises FragmentsError for a name of no caller."""
    name = named("agentId", agent)
    if name.lower() in REFUSED_AGENTS:
        raise FragmentsError("agent_refused", name=name.lower())
    return name or DEFAULT_AGENT


def readers(agent: str) -> tuple[str, ...]:
    """Return the agents whose fragments a caller sees, () for all: a name only narrows.

    Raises FragmentsError.
    """
    name = writer(agent)
    return tuple(dict.fromkeys((name, DEFAULT_AGENT))) if agent.strip() else ()


def named(field: str, name: str) -> str:
    """Return the name of an agent or a session without blanks around it.

    Raises FragmentsError for one that is too long, cannot be written or holds a secret.
    """
    name = name.strip()
    if SURROGATE.search(name) or "\0" in name:
        raise FragmentsError("lone_surrogate", field=field)
    over = len(name) - NAME_CHARS
    if over > 0:
        facts = {"chars": len(name), "over": over, "most": NAME_CHARS}
        raise FragmentsError("too_long", field=field, **facts)
    if has_secret(name):
        kinds = ", ".join(sorted({it.kind for it in secrets_in(name)}))
        raise FragmentsError("secret_refused", field=field, kinds=kinds)
    return name
