"""Knows who calls: the agent of the credential, the session, the client.

Over stdio that is the process. Over HTTP the server says it for each request; nothing is told by
the protocol's session alone, for under the stateless protocol each call has a new one.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime

PROCESS = os.urandom(8).hex()  # over stdio a session is a process


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls over HTTP.

    agent: of the credential. session: opened for a client of the older protocol,
    "" for one that names none. client: what the client calls itself, where it said so.
    """

    agent: str
    session: str = ""
    client: str = ""


_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


def caller() -> Caller | None:
    """Return who makes this call over HTTP; None over stdio."""
    return _caller.get()


@contextmanager
def calling(who: Caller) -> Iterator[None]:
    """Say who makes the calls inside."""
    token = _caller.set(who)
    try:
        yield
    finally:
        _caller.reset(token)


def session_of(given: str | None = None) -> str:
    """Return the session of this call. given: what the caller names.

    Over stdio that wins over the process. Over HTTP the server's session comes first, since most
    tools take no name; without either it is the client and the day, so that the work of a day is
    one session.
    """
    named, who = (given or "").strip(), _caller.get()
    if who is None:
        return named or PROCESS
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    return who.session or named or " ".join(filter(None, (who.client, day)))


def process_of() -> str:
    """Return what tells the work of this caller from that of every other one.

    Over stdio that is the process. Over HTTP it is the server's session; a caller without one is
    told from others with the same client by the agent of its credential.
    """
    who = _caller.get()
    if who is None or who.session:
        return session_of()
    return f"{who.agent} {session_of()}"
