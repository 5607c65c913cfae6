"""Keeps what is granted: questions to a person under way, codes, tokens, each tied to a key.

A refresh token names its family, which is a paper with the key that was typed as its parent; access
tokens are papers below it. So a key goes with all that was given for it, and a refresh token that
was used before takes its family with it: one of two who have it is a thief.
"""

import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from door.keys import Credential, Keys
from door.papers import Kind, Paper, Papers, hash_of

ACCESS_PREFIX, _REFRESH_PREFIX, _CODE_PREFIX = "smt_", "smr_", "smc_"
CONSENT_S, CODE_S, ACCESS_S, REFRESH_S = 600.0, 120.0, 3_600.0, 30 * 86_400.0
UNUSED_CLIENT_S, USED_CLIENT_S = 30 * 86_400.0, 90 * 86_400.0
MOST_CONSENTS, MOST_UNUSED_CLIENTS = 200, 500
TWICE_S = 10.0  # two windows of one client may come with the same token, only one of them gets in
_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a client asks a person for.

    redirect: where the person is sent back to; is_explicit: whether this request named it.
    challenge: the hash of what only the client knows (PKCE). state: what it wants back, None for
    nothing.
    """

    client: str
    client_name: str
    redirect: str
    is_explicit: bool
    challenge: str
    state: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A pair of new tokens: the only time that they are seen."""

    access: str
    refresh: str


class Grants:
    """What one door has granted. Every method raises DatabaseError.

    resource: the address of the server that tokens are for; one for another is worth nothing.
    """

    def __init__(
        self,
        papers: Papers,
        keys: Keys,
        resource: str,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._papers, self._keys, self._clock = papers, keys, clock
        self._resource = resource

    def register(self, client: str, body: Mapping[str, Any]) -> None:
        """Keep a client; of those that nobody has used, the oldest go where there are too many."""
        unused = [it for it in self._papers.listed("client") if not it.used_at]
        _make_room(self._papers, unused, MOST_UNUSED_CLIENTS)
        self._put("client", client, UNUSED_CLIENT_S, body)

    def client(self, client: str) -> Mapping[str, Any] | None:
        """Return what is kept of a client; None for one that is not known."""
        paper = self._papers.get("client", client)
        return paper.body if paper else None

    def ask(self, asked: Asked, browser: str) -> str:
        """Keep a question to a person, and return the secret that names it.

        browser: a secret of the browser that is sent to the page; no other may answer.
        """
        _make_room(self._papers, self._papers.listed("consent"), MOST_CONSENTS)
        txn = secrets.token_urlsafe(_BYTES)
        body = {"asked": asdict(asked), "browser": hash_of(browser)}
        self._put("consent", hash_of(txn), CONSENT_S, body)
        return txn

    def asked(self, txn: str, browser: str) -> Asked | None:
        """Return what is asked; None where it was answered, has expired, or is another's."""
        return _asked(self._papers.get("consent", hash_of(txn)), browser)

    def deny(self, txn: str) -> None:
        """Take the question back."""
        self._papers.drop("consent", hash_of(txn))

    def allow(self, txn: str, browser: str, credential: Credential) -> str | None:
        """Answer a question with a code for the client; None where it was answered meanwhile."""
        asked = _asked(self._papers.take("consent", hash_of(txn)), browser)
        if asked is None:
            return None
        code = _CODE_PREFIX + secrets.token_urlsafe(_BYTES)
        paper = credential.paper
        self._put("code", hash_of(code), CODE_S, asdict(asked), credential=credential, parent=paper)
        return code

    def code(self, code: str, client: str) -> Paper | None:
        """Return the paper of a code of this client. One that was used takes its tokens with it."""
        key = hash_of(code)
        paper = self._papers.get("code", key)
        if paper is None:
            self._papers.drop("refresh", key)
            return None
        return paper if paper.body["client"] == client else None

    def exchange(self, key: str) -> Given | None:
        """Give tokens for a code, once. key: of its paper."""
        paper = self._papers.take("code", key)
        credential = self._keys.of(paper.parent) if paper else None
        if paper is None or credential is None:
            return None
        return self._tokens(key, credential, str(paper.body["client"]))

    def access(self, token: str) -> tuple[Paper, Credential] | None:
        """Return the paper of an access token, and the credential that it stands for."""
        paper = self._papers.get("access", hash_of(token))
        if paper is None or paper.body["resource"] != self._resource:
            return None
        credential = self._keys.of(str(paper.body["paper"]))
        return (paper, credential) if credential else None

    def refresh(self, token: str, client: str) -> Paper | None:
        """Return the family of a refresh token of this client, which is its newest."""
        key, _, secret = token.removeprefix(_REFRESH_PREFIX).partition(".")
        paper = self._papers.get("refresh", key) if secret else None
        if paper is None or paper.body["resource"] != self._resource:
            return None
        if _holds(paper, secret, client):
            return paper
        is_last = hmac.compare_digest(str(paper.body["last"]), hash_of(secret))
        if not (is_last and self._clock() - paper.used_at < TWICE_S):
            self._papers.drop("refresh", key)
        return None

    def rotate(self, key: str, secret: str) -> Given | None:
        """Give new tokens in the place of a refresh token, once. key, secret: as it was found."""
        taken = self._papers.take("refresh", key)
        if taken is None:
            return None
        if taken.body["secret"] != secret:  # another was faster
            self._papers.put(taken)
            return None
        credential = self._keys.of(taken.parent)
        if credential is None:
            return None
        return self._tokens(key, credential, str(taken.body["client"]), secret)

    def revoke(self, kind: Kind, key: str) -> None:
        """Take a token back with its family. kind, key: of its paper."""
        paper = self._papers.get(kind, key)
        if paper:
            self._papers.drop("refresh", paper.parent if kind == "access" else key)

    def _tokens(self, family: str, credential: Credential, client: str, last: str = "") -> Given:
        access = ACCESS_PREFIX + secrets.token_urlsafe(_BYTES)
        secret = secrets.token_urlsafe(_BYTES)
        body = {"client": client, "paper": credential.paper, "resource": self._resource}
        renewed = {**body, "secret": hash_of(secret), "last": last}
        by, key = credential, hash_of(access)
        self._put("refresh", family, REFRESH_S, renewed, credential=by, parent=by.paper)
        self._put("access", key, ACCESS_S, body, credential=by, parent=family)
        now = self._clock()
        self._papers.touch("client", client, used_at=now, expires_at=now + USED_CLIENT_S)
        return Given(access=access, refresh=f"{_REFRESH_PREFIX}{family}.{secret}")

    def _put(
        self,
        kind: Kind,
        key: str,
        lasts_s: float,
        body: Mapping[str, Any],
        *,
        credential: Credential | None = None,
        parent: str = "",
    ) -> None:
        now = self._clock()
        paper = Paper(
            kind=kind,
            key=key,
            agent=credential.agent if credential else "",
            parent=parent,
            body=body,
            expires_at=now + lasts_s,
            made_at=now,
            used_at=0.0 if kind == "client" else now,
        )
        self._papers.put(paper)


def _asked(paper: Paper | None, browser: str) -> Asked | None:
    if paper is None or not hmac.compare_digest(paper.body["browser"], hash_of(browser)):
        return None
    return Asked(**paper.body["asked"])


def _holds(family: Paper, secret: str, client: str) -> bool:
    """Return whether a secret is the newest of a family, and the client is its own."""
    is_newest = hmac.compare_digest(str(family.body["secret"]), hash_of(secret))
    return is_newest and family.body["client"] == client


def _make_room(papers: Papers, there: list[Paper], most: int) -> None:
    """Drop the oldest, so that there are fewer than `most`."""
    for paper in there[: max(0, len(there) - most + 1)]:
        papers.drop(paper.kind, paper.key)
