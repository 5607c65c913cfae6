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

from http_server.keys import Credential, Keys
from http_server.papers import Kind, Paper, Papers, hash_of

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
    """What one server has granted. Every method raises DatabaseError.

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
        agent, parent, now = credential.agent, credential.paper, self._clock()
        body = asdict(asked)
        self._papers.put(
            _paper("code", hash_of(code), now, CODE_S, body, agent=agent, parent=parent)
        )
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

    def refresh(self, token: str, client: str) -> tuple[Paper, str] | None:
        """Return the family of a refresh token of this client, and the hash of its secret.

        It is the newest, or the one before for `TWICE_S`: that is known, but gives nothing.
        """
        key, _, secret = token.removeprefix(_REFRESH_PREFIX).partition(".")
        paper = self._papers.get("refresh", key) if secret else None
        if paper is None or paper.body["resource"] != self._resource:
            return None
        found = hash_of(secret)
        is_newest = hmac.compare_digest(str(paper.body["secret"]), found)
        is_last = hmac.compare_digest(str(paper.body["last"]), found)
        is_known = is_newest or (is_last and self._clock() - paper.used_at < TWICE_S)
        if is_known and paper.body["client"] == client:
            return paper, found
        if not (is_last and is_known):
            self._papers.drop("refresh", key)
        return None

    def rotate(self, key: str, secret: str) -> Given | None:
        """Give new tokens in the place of the newest refresh token, once.

        key, secret: as `refresh` found it. None where another was faster, or the family was taken
        back meanwhile.
        """
        family = self._papers.get("refresh", key)
        if family is None or family.body["secret"] != secret:
            return None
        credential = self._keys.of(family.parent)
        if credential is None:
            self._papers.drop("refresh", key)
            return None
        return self._tokens(key, credential, str(family.body["client"]), family)

    def revoke(self, kind: Kind, key: str) -> None:
        """Take a token back with its family. kind, key: of its paper."""
        paper = self._papers.get(kind, key)
        if paper:
            self._papers.drop("refresh", paper.parent if kind == "access" else key)

    def _tokens(
        self, family: str, credential: Credential, client: str, before: Paper | None = None
    ) -> Given | None:
        """Give tokens; None where the family is no longer as it was before."""
        access = ACCESS_PREFIX + secrets.token_urlsafe(_BYTES)
        secret = secrets.token_urlsafe(_BYTES)
        body = {"client": client, "paper": credential.paper, "resource": self._resource}
        last = str(before.body["secret"]) if before else ""
        renewed = {**body, "secret": hash_of(secret), "last": last}
        agent, parent, key, now = credential.agent, credential.paper, hash_of(access), self._clock()
        papers = (
            _paper("refresh", family, now, REFRESH_S, renewed, agent=agent, parent=parent),
            _paper("access", key, now, ACCESS_S, body, agent=agent, parent=family),
        )
        if before is None:
            for paper in papers:
                self._papers.put(paper)
        elif not self._papers.replace(before, *papers):
            return None
        self._papers.touch("client", client, used_at=now, expires_at=now + USED_CLIENT_S)
        return Given(access=access, refresh=f"{_REFRESH_PREFIX}{family}.{secret}")

    def _put(self, kind: Kind, key: str, lasts_s: float, body: Mapping[str, Any]) -> None:
        self._papers.put(_paper(kind, key, self._clock(), lasts_s, body))


def _paper(
    kind: Kind,
    key: str,
    now: float,
    lasts_s: float,
    body: Mapping[str, Any],
    *,
    agent: str = "",
    parent: str = "",
) -> Paper:
    return Paper(
        kind=kind,
        key=key,
        agent=agent,
        parent=parent,
        body=body,
        expires_at=now + lasts_s,
        made_at=now,
        used_at=0.0 if kind == "client" else now,
    )


def _asked(paper: Paper | None, browser: str) -> Asked | None:
    if paper is None or not hmac.compare_digest(paper.body["browser"], hash_of(browser)):
        return None
    return Asked(**paper.body["asked"])


def _make_room(papers: Papers, there: list[Paper], most: int) -> None:
    """Drop the oldest, so that there are fewer than `most`."""
    for paper in there[: max(0, len(there) - most + 1)]:
        papers.drop(paper.kind, paper.key)
