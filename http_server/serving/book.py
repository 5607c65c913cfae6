"""Keeps the sessions of clients as papers, so that any process serves any session."""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from core.errors import SentinelError
from core.messages import say
from core.program import LOGGER
from http_server.keys import Credential
from http_server.papers import Paper, Papers, hash_of

TOUCH_S = 60.0  # a session in use is written no more often than this
LOOK_S = 30.0  # between two looks for sessions that have ended
SWEEP_S = 3600.0
_ID_BYTES = 24
_NAME_CHARS, _MOST_ID_CHARS = 80, 200

_log = logging.getLogger(LOGGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session that a client has begun. name: what it is called inside, unlike its secret id."""

    name: str
    agent: str
    client: str


class Book:
    """The sessions of all processes. Every method of it may raise DatabaseError.

    ttl_s: seconds without a request after which a session has ended. on_end: called with the agent
    and the name of a session that has ended, perhaps twice.
    """

    def __init__(
        self,
        papers: Papers,
        *,
        ttl_s: float,
        on_end: Callable[[str, str], None],
    ) -> None:
        self._papers, self._ttl_s, self._on_end = papers, ttl_s, on_end

    def begin(self, who: Credential, client: Mapping[str, str]) -> str:
        """Begin a session and return its id. client: what it says of itself."""
        session_id, now = secrets.token_urlsafe(_ID_BYTES), time.time()
        self._papers.put(
            Paper(
                kind="session",
                key=_name(session_id),
                agent=who.agent,
                parent=who.paper,
                body={key: value[:_NAME_CHARS] for key, value in client.items()},
                made_at=now,
                used_at=now,
                expires_at=now + self._ttl_s,
            )
        )
        return session_id

    def use(self, session_id: str, who: Credential) -> Session | None:
        """Return the session of this id and note its use; None where it is not this caller's."""
        paper = self._paper(session_id, who)
        if paper is None:
            return None
        now = time.time()
        if now - paper.used_at >= min(TOUCH_S, self._ttl_s / 4):
            is_there = self._papers.touch(
                "session", paper.key, used_at=now, expires_at=now + self._ttl_s
            )
            if not is_there:
                return None
        client = str(paper.body.get("client", ""))
        return Session(name=paper.key, agent=paper.agent, client=client)

    def end(self, session_id: str, who: Credential) -> Session | None:
        """End a session at the word of its client; None where it is not this caller's."""
        paper = self._paper(session_id, who)
        if paper is None:
            return None
        self._end(paper)
        return Session(name=paper.key, agent=paper.agent, client="")

    def end_expired(self) -> int:
        """End the sessions that nobody has used for long enough; return how many there were."""
        expired = self._papers.expired("session")
        for paper in expired:
            self._end(paper)
        return len(expired)

    def count(self) -> int:
        """Return how many sessions there are."""
        return self._papers.count("session")

    def sweep(self) -> None:
        """Remove what has expired, sessions not before they were ended."""
        self.end_expired()
        self._papers.sweep()

    def _end(self, paper: Paper) -> None:
        self._on_end(paper.agent, paper.key)  # before: a process that dies in between loses nothing
        self._papers.drop("session", paper.key)

    def _paper(self, session_id: str, who: Credential) -> Paper | None:
        if len(session_id) > _MOST_ID_CHARS:
            return None
        paper = self._papers.get("session", _name(session_id))
        is_theirs = paper and (paper.agent, paper.parent) == (who.agent, who.paper)
        return paper if is_theirs else None


class Upkeep:
    """A thread that does steps again and again until `stop`; one that fails is tried again."""

    def __init__(self, steps: Mapping[Callable[[], object], float]) -> None:
        """steps: each with the seconds between two of its turns."""
        self._steps = steps
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="http-upkeep", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, within_s: float) -> None:
        """End after the step that is under way, if that takes no longer."""
        self._is_over.set()
        self._thread.join(within_s)

    def _run(self) -> None:
        due = {step: time.monotonic() + seconds for step, seconds in self._steps.items()}
        while not self._is_over.wait(max(0.0, min(due.values()) - time.monotonic())):
            step = min(due, key=lambda it: due[it])
            try:
                step()
            except SentinelError as error:
                _log.warning("%s", say("http.serving.failed_step", error=str(error)))
            except Exception as error:
                _log.error("%s", say("http.serving.failed_step", error=type(error).__name__))
            due[step] = time.monotonic() + self._steps[step]


def _name(session_id: str) -> str:
    """Return what a session is called in papers and fragments: its id opens it, this does not."""
    return hash_of(session_id)[:32]
