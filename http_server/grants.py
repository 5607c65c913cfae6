"""Gives codes and tokens, each tied to the key that a person typed, and takes them back.

Nothing is kept for a stranger: client ids and questions are sealed values. A refresh token names
its family, a paper below the key; access tokens are papers below the family. So a key goes with all
its tokens. Late reuse of a refresh token drops the family: one of two clients is a thief.
"""

import base64
import hashlib
import hmac
import json
import secrets
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from http_server.access_keys import Credential, Keys
from http_server.papers import Paper, Papers, hash_of

ACCESS_PREFIX, REFRESH_PREFIX, CODE_PREFIX = "smt_", "smr_", "smc_"
CONSENT_S, CODE_S, ACCESS_S, REFRESH_S = 600.0, 120.0, 3_600.0, 30 * 86_400.0
TWICE_S = 30.0  # in which a repeated refresh gets the same answer: the first one may be lost
CLIENT_S = 90 * 86_400.0  # unused for so long, a client from before 0.11 is forgotten

Facts = Mapping[str, Any]


class Tokens(NamedTuple):
    """A new pair, shown this once."""

    access: str
    refresh: str
    lasts_s: int  # of the access token


class Refresh(NamedTuple):
    family: Paper
    secret: str
    is_repeated: bool  # it was used just before


class Seal:
    """Signs values that others keep for the server. Its secret opens nothing: all may register."""

    def __init__(self, papers: Papers) -> None:
        self._papers, self._clock, self._secret = papers, papers.clock, b""

    def sign(self, use: str, facts: Facts, *, lasts_s: float = 0.0) -> str:
        """Return signed facts, which anybody can read, for one use. lasts_s: 0 for ever."""
        expiry = int(self._clock() + lasts_s) if lasts_s else 0
        nonce = secrets.token_urlsafe(12)  # no two texts are the same
        value = json.dumps([expiry, nonce, dict(facts)], ensure_ascii=False, separators=(",", ":"))
        text = _encode(zlib.compress(value.encode(), 9))
        return f"{text}.{self.signature(use, text)}"

    def verify(self, use: str, token: str) -> Facts | None:
        """Return the facts; None for a foreign or expired text."""
        text, _, signature = token.partition(".")
        if not hmac.compare_digest(signature.encode(), self.signature(use, text).encode()):
            return None
        value = zlib.decompress(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        expiry, _, facts = json.loads(value)
        return dict(facts) if not expiry or expiry > self._clock() else None

    def signature(self, use: str, text: str) -> str:
        if not self._secret:
            paper = self._papers.get("seal", "1")
            if paper is None:  # the first of all processes makes it
                new_paper = Paper(kind="seal", key="1", body={"secret": secrets.token_hex(32)})
                self._papers.put(new_paper, only_new=True)
                paper = self._papers.get("seal", "1") or new_paper
            self._secret = bytes.fromhex(paper.body["secret"])
        message = f"{use}.{text}".encode("utf-8", "surrogatepass")
        return _encode(hmac.new(self._secret, message, hashlib.sha256).digest())


class Grants:
    """Every method raises DatabaseError. resource: where grants are worth something."""

    def __init__(self, papers: Papers, keys: Keys, resource: str) -> None:
        self._papers, self._keys, self._resource = papers, keys, resource
        self._clock, self.seal = papers.clock, Seal(papers)

    def find_client(self, client_id: str) -> Facts | None:
        """Return the client's `name` and `redirect_uris`."""
        if "." in client_id:
            return self.seal.verify("client", client_id)
        paper = self._papers.get("client", client_id)  # it registered before 0.11
        if paper is None:
            return None
        if paper.used_at and paper.expires_at - self._clock() < CLIENT_S / 2:
            self._papers.replace(paper, replace(paper, expires_at=self._clock() + CLIENT_S))
        return paper.body

    def ask(self, question: Facts, browser: str) -> str:
        """Return the secret of a question. browser: a secret of the only one that may answer."""
        facts = {**question, "browser": hash_of(browser), "once": secrets.token_urlsafe(16)}
        facts["resource"] = self._resource
        return self.seal.sign("question", facts, lasts_s=CONSENT_S)

    def find_question(self, txn: str, browser: str) -> Facts | None:
        """Return a question; None if answered, expired, or another's."""
        question = self.seal.verify("question", txn)
        if question is None or not hmac.compare_digest(question["browser"], hash_of(browser)):
            return None
        is_ours = question["resource"] == self._resource
        return question if is_ours and not self._papers.get("answered", question["once"]) else None

    def allow(self, question: Facts, credential: Credential) -> str | None:
        """Return a code for the client; None if the question was answered meanwhile."""
        if not self._papers.keep("answered", question["once"], CONSENT_S):
            return None
        code = CODE_PREFIX + secrets.token_urlsafe(32)
        self._papers.keep("code", hash_of(code), CODE_S, body=question, parent=credential.paper)
        return code

    def find_code(self, code: str, client: str) -> Paper | None:
        """Return a code's paper; a used code takes its tokens with it."""
        paper = self._papers.get("code", hash_of(code))
        if paper is None:
            self._papers.drop("refresh", hash_of(code))
            return None
        is_ours = paper.body["client"] == client and paper.body.get("resource") == self._resource
        return paper if is_ours else None

    def exchange(self, key: str) -> Tokens | None:
        """Return tokens, once. key: of the code's paper."""
        paper = self._papers.take("code", key)
        credential = self._keys.find_credential(paper.parent) if paper else None
        if paper is None or credential is None:
            return None
        body = {"client": paper.body["client"], "paper": paper.parent, "resource": self._resource}
        secret = secrets.token_urlsafe(32)
        body |= {"secret": hash_of(secret), "last": ""}
        family = self._papers.make("refresh", key, REFRESH_S, body=body, parent=paper.parent)
        tokens = self._tokens_of(family, secret)
        self._papers.put(family)
        self._papers.put(self._access_paper_of(family, tokens))
        return tokens

    def check_access(self, token: str) -> tuple[Paper, Credential] | None:
        paper = self._papers.get("access", hash_of(token))
        if paper is None or paper.body["resource"] != self._resource:
            return None
        credential = self._keys.find_credential(str(paper.body["paper"]))
        return (paper, credential) if credential else None

    def check_refresh(self, token: str, client: str) -> Refresh | None:
        """Return the newest token of this client, for `TWICE_S` the one before; else drop all."""
        family, secret = self._family_of(token), token.partition(".")[2]
        if family is None:
            return None
        secret_hash = hash_of(secret)
        is_newest = hmac.compare_digest(str(family.body["secret"]), secret_hash)
        is_last = hmac.compare_digest(str(family.body["last"]), secret_hash)
        is_repeated = is_last and self._clock() - family.used_at < TWICE_S
        if family.body["client"] == client and (is_newest or is_repeated):
            return Refresh(family, secret, is_repeated)
        self._papers.drop("refresh", family.key)  # somebody else has it, too
        return None

    def rotate(self, token: Refresh) -> Tokens | None:
        """Return the next tokens; None if they were taken back meanwhile.

        They are derived from the former secret: a repeated or simultaneous refresh gets the same
        ones, and none is kept readable.
        """
        family, client = token.family, str(token.family.body["client"])
        if self._keys.find_credential(family.parent) is None:
            self._papers.drop("refresh", family.key)
            return None
        next_secret = self.seal.signature("refresh", f"{family.key}.{token.secret}")
        if token.is_repeated:
            return self._tokens_of(family, next_secret)
        body = {**family.body, "secret": hash_of(next_secret), "last": hash_of(token.secret)}
        fields = {"body": body, "parent": family.parent}
        new_family = self._papers.make("refresh", family.key, REFRESH_S, **fields)
        tokens = self._tokens_of(new_family, next_secret)
        # In one transaction: a revocation finds both or neither.
        if self._papers.replace(family, new_family, self._access_paper_of(new_family, tokens)):
            return tokens
        retry = self.check_refresh(f"{REFRESH_PREFIX}{family.key}.{token.secret}", client)
        return self._tokens_of(retry.family, next_secret) if retry and retry.is_repeated else None

    def take_back(self, token: str, client: str) -> None:
        """Drop the family of an access or a refresh token of this client."""
        access, family = self._papers.get("access", hash_of(token)), self._family_of(token)
        if access and access.body["client"] == client:
            self._papers.drop("refresh", access.parent)
        elif family and family.body["client"] == client:
            self._papers.drop("refresh", family.key)

    def _family_of(self, token: str) -> Paper | None:
        """Return a refresh token's family, without a look at its secret."""
        key = token.removeprefix(REFRESH_PREFIX).partition(".")[0]
        family = self._papers.get("refresh", key)
        return family if family and family.body["resource"] == self._resource else None

    def _tokens_of(self, family: Paper, secret: str) -> Tokens:
        access = ACCESS_PREFIX + self.seal.signature("access", f"{family.key}.{secret}")
        lasts_s = int(family.used_at + ACCESS_S - self._clock())
        return Tokens(access, f"{REFRESH_PREFIX}{family.key}.{secret}", lasts_s)

    def _access_paper_of(self, family: Paper, tokens: Tokens) -> Paper:
        body = {name: family.body[name] for name in ("client", "paper", "resource")}
        key = hash_of(tokens.access)
        return self._papers.make("access", key, ACCESS_S, body=body, parent=family.key)


def client_key(client_id: str) -> str:
    """Return the client's name in papers."""
    return hash_of(client_id) if "." in client_id else client_id


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
