"""Answers what the SDK's handlers of OAuth 2.1 ask: who is this, and may that be had?

What is granted is kept by `Grants`. Objects that are handed to the SDK hold hashes, never secrets.
"""

import time
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

import anyio.to_thread
from fastmcp.server.auth import AccessToken, OAuthProvider
from mcp.server.auth.provider import AccessToken as _SDKAccessToken
from mcp.server.auth.provider import (
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    RefreshToken,
    TokenError,
)
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl

from http_server.access.grants import ACCESS_PREFIX, ACCESS_S, Asked, Given, Grants
from http_server.access.registering import SCOPE, body_of, checked, client_of
from http_server.access.tries import Allowance, Tries
from http_server.access.watched import address_here
from http_server.keys import PREFIX, Credential, Keys
from http_server.papers import Paper, Papers

STATE_CHARS, _CHALLENGE_CHARS = 2_000, 43

BROWSER: ContextVar[str] = ContextVar("browser")  # the secret of the one that asks
_Result = TypeVar("_Result")


class Provider(OAuthProvider):
    """Knows keys and tokens, and gives tokens to who types a key on the page of consent.

    url: the server's own address, as clients reach it. path: of the endpoint of MCP below it.
    others: paths of other endpoints, for which a token is as good.
    """

    def __init__(
        self,
        papers: Papers,
        keys: Keys,
        *,
        url: str,
        path: str = "/mcp",
        others: tuple[str, ...] = ("/sse", "/message"),
        tries: Tries | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.url, self.path = url.rstrip("/"), path
        super().__init__(
            base_url=self.url,
            client_registration_options=ClientRegistrationOptions(enabled=True),
            revocation_options=RevocationOptions(enabled=True),
            required_scopes=[SCOPE],
        )
        self.keys, self.tries = keys, tries or Tries()
        self.registrations = Allowance(20, 60.0)
        self.questions = Allowance(30, 4.0)  # in CONSENT_S fewer than MOST_CONSENTS
        self.resource = self.url + path
        self.grants = Grants(papers, keys, self.resource, clock=clock)
        self._resources = {_canonical(self.url + it) for it in ("", path, *others)}

    def is_ours(self, resource: str | None) -> bool:
        """Return whether a resource (RFC 8707) is this server."""
        return resource is None or _canonical(resource) in self._resources

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return who comes with a key or an access token; None for what is neither.

        Its claims: agent, paper (the hash of the key that it goes back to), name (of the key).
        """
        if token.startswith(ACCESS_PREFIX):
            return await self.load_access_token(token)
        credential = await self.credential(token, address_here())
        if credential is None:
            return None
        return _token(credential, client=f"key:{credential.paper[:16]}", key=credential.paper)

    async def credential(self, secret: str, address: str) -> Credential | None:
        """Return whose key this is; None for none, and for one that must wait to be tried."""
        if secret.startswith(PREFIX):
            return await in_thread(self.keys.check, secret)
        if self.tries.wait_s(address):
            return None
        credential = await in_thread(self.keys.check, secret)
        if credential:
            self.tries.right(address)
        return credential

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        """Return a client that has registered."""
        body = await in_thread(self.grants.client, client_id[:100])
        return client_of(client_id, body) if body else None

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a client. Raises RegistrationError for one that is refused."""
        checked(client_info)
        await in_thread(self.grants.register, client_info.client_id, body_of(client_info))

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        """Return the address of the page on which a person answers. Raises AuthorizeError.

        The browser that `BROWSER` names is the one that may answer.
        """
        if not self.is_ours(params.resource):
            raise AuthorizeError("invalid_target", "The resource is not this server.")
        if len(params.code_challenge) != _CHALLENGE_CHARS:
            raise AuthorizeError("invalid_request", "code_challenge: it must be one of S256.")
        if params.state and (len(params.state) > STATE_CHARS or "\0" in params.state):
            fault = f"state: at most {STATE_CHARS} characters, no NUL among them."
            raise AuthorizeError("invalid_request", fault)
        asked = Asked(
            client=client.client_id,
            client_name=client.client_name or "",
            redirect=str(params.redirect_uri),
            is_explicit=params.redirect_uri_provided_explicitly,
            challenge=params.code_challenge,
            state=params.state,
        )
        return f"{self.url}/consent?txn={await in_thread(self.grants.ask, asked, BROWSER.get())}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        """Return a code of this client that nobody has used; it holds the hash alone."""
        paper = await in_thread(self.grants.code, authorization_code, client.client_id)
        if paper is None:
            return None
        return AuthorizationCode(
            code=paper.key,
            scopes=[SCOPE],
            expires_at=paper.expires_at,
            client_id=client.client_id,
            code_challenge=paper.body["challenge"],
            redirect_uri=AnyUrl(paper.body["redirect"]),
            redirect_uri_provided_explicitly=paper.body["is_explicit"],
            resource=self.resource,
        )

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        """Give tokens for a code. Raises TokenError where another was faster."""
        return _answer(await in_thread(self.grants.exchange, authorization_code.code))

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        """Return a refresh token of this client, also one just renewed; it names its state."""
        found = await in_thread(self.grants.refresh, refresh_token, client.client_id)
        if found is None:
            return None
        return _Family(
            token=found[0].key,
            client_id=client.client_id,
            scopes=[SCOPE],
            expires_at=int(found[0].expires_at),
            resource=self.resource,
            secret=found[1],
        )

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        """Give new tokens for a refresh token. Raises TokenError where another was faster."""
        assert isinstance(refresh_token, _Family)
        rotate = partial(self.grants.rotate, refresh_token.token, refresh_token.secret)
        return _answer(await in_thread(rotate))

    async def load_access_token(self, token: str) -> AccessToken | None:
        """Return who comes with an access token; it holds the hash alone."""
        found = await in_thread(self.grants.access, token)
        return _token_of(*found) if found else None

    async def revoke_token(self, token: _SDKAccessToken | RefreshToken) -> None:
        """Take back a token that was found here, with all that came of the same consent."""
        kind = "refresh" if isinstance(token, RefreshToken) else "access"
        await in_thread(self.grants.revoke, kind, token.token)


class _Family(RefreshToken):
    """A refresh token as it was found. secret: its hash, which tells whether it is the newest."""

    secret: str


def _token(credential: Credential, *, client: str, key: str, expires_at: int = 0) -> AccessToken:
    """Return who has come in. key: what is shown in the place of a secret."""
    claims = {"agent": credential.agent, "paper": credential.paper, "name": credential.name}
    return AccessToken(
        token=key,
        client_id=client,
        scopes=[SCOPE],
        expires_at=expires_at or None,
        subject=credential.paper,
        claims=claims,
    )


def _token_of(paper: Paper, credential: Credential) -> AccessToken:
    until, client = int(paper.expires_at), str(paper.body["client"])
    return _token(credential, client=client, key=paper.key, expires_at=until)


def _answer(given: Given | None) -> OAuthToken:
    if given is None:
        raise TokenError("invalid_grant", "It was used, or what it goes back to was taken back.")
    return OAuthToken(
        access_token=given.access,
        refresh_token=given.refresh,
        expires_in=int(ACCESS_S),
        scope=SCOPE,
    )


def _canonical(resource: str) -> str:
    """Return an address as two are compared: without a last slash, the host in small letters."""
    try:
        parts = urlsplit(resource)
    except ValueError:
        return ""
    return parts._replace(netloc=parts.netloc.lower()).geturl().rstrip("/")


async def in_thread(call: Callable[..., _Result], *given: Any) -> _Result:
    """Return what a call gives that waits for a disk or a server, while other requests go on."""
    return await anyio.to_thread.run_sync(partial(call, *given))
