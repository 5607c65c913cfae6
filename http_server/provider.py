"""Answers the SDK's handlers of OAuth 2.1.

Anybody may register, so only the key counts that a person types on the page of consent. All clients
are public: a secret in a program on a person's machine would be none. Objects for the SDK hold
hashes, never secrets.
"""

import re
from contextvars import ContextVar
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from anyio.to_thread import run_sync
from fastmcp.server.auth import AccessToken, OAuthProvider
from mcp.server.auth import provider as sdk
from mcp.server.auth.settings import ClientRegistrationOptions
from mcp.shared.auth import InvalidRedirectUriError, OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl

from core.guard.characters import UNSEEN_CLASS
from http_server.access_keys import Credential, Keys
from http_server.grants import ACCESS_PREFIX, Grants, Refresh, Tokens, client_key
from http_server.limits import Allowance, current_host
from http_server.papers import Papers
from http_server.settings import is_loopback

SCOPE = "memory"
MOST_URIS, URI_CHARS, CLIENT_NAME_CHARS, CLIENT_CHARS = 10, 1_000, 100, 4_000
STATE_CHARS, _CHALLENGE_CHARS = 2_000, 43
_CLIENT_FACTS: dict[str, Any] = {
    "grant_types": ["authorization_code", "refresh_token"],
    "scope": SCOPE,
    "token_endpoint_auth_method": "none",
}
_PRIVATE_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,60}")
# Schemes that a browser or a system acts on by itself: none is a client's own.
_SYSTEM_SCHEMES = frozenset(
    "about blob chrome content data edge file filesystem ftp intent jar javascript ldap mailto"
    " market resource search search-ms sftp shell sms smb ssh tel telnet vbscript view-source"
    " ws wss".split()
)
_SYSTEM_PREFIXES = "ms-", "chrome-", "moz-", "x-apple", "itms"

_QUESTION_FIELDS = {"state", "code_challenge", "redirect_uri", "redirect_uri_provided_explicitly"}

BROWSER: ContextVar[str] = ContextVar("browser")  # the secret of the browser that asks


class Client(OAuthClientInformationFull):
    """A client that has registered."""

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """Accept this machine at any port, as a program takes a free one (RFC 8252, 7.3)."""
        try:
            return super().validate_redirect_uri(redirect_uri)
        except InvalidRedirectUriError:
            known_uris = {_without_port(str(uri)) for uri in self.redirect_uris or ()} - {""}
            if redirect_uri and _without_port(str(redirect_uri)) in known_uris:
                return redirect_uri
            raise

    def validate_scope(self, requested_scope: str | None) -> list[str] | None:
        """Return the only scope, whatever was asked for: the answer names it."""
        return [SCOPE]


class _RefreshToken(sdk.RefreshToken):
    refresh: Refresh


class Provider(OAuthProvider):
    """Checks keys and tokens, and gives tokens to clients whose person types a key.

    url: the server's address for clients; on this machine its other names are as good.
    """

    def __init__(self, papers: Papers, keys: Keys, *, url: str, path: str = "/mcp") -> None:
        self.url, self.path, self.keys = url.rstrip("/"), path, keys
        super().__init__(
            base_url=self.url,
            client_registration_options=ClientRegistrationOptions(enabled=True),
            required_scopes=[SCOPE],
        )
        self.tries = Allowance(20, 6.0)  # wrong secrets
        self.questions, self.registrations = Allowance(30, 4.0), Allowance(20, 60.0)
        self.grants = Grants(papers, keys, self.url + path)
        parts = urlsplit(self.url)
        self._names = {parts.netloc.lower(): self.url}  # the server's addresses by their Host
        if parts.scheme == "http" and is_loopback(parts.hostname or ""):
            port = f":{parts.port}" if parts.port else ""
            hosts = [f"{name}{port}" for name in ("localhost", "127.0.0.1", "[::1]")]
            self._names |= {host: f"http://{host}" for host in hosts}
        paths = ("", path, f"{path}/", "/sse", "/message")
        self._resources = {_canonical(url + path) for url in self._names.values() for path in paths}

    @property
    def current_url(self) -> str:
        """The address in the current request: cookies go to no other, documents name no other."""
        return self._names.get(current_host(), self.url)

    def with_current_url(self, text: str) -> str:
        """Return the text with `current_url` in place of `url`."""
        return text.replace(self.url, self.current_url)

    def is_ours(self, resource: str | None) -> bool:
        """Return whether a resource (RFC 8707) is this server."""
        return resource is None or _canonical(resource) in self._resources

    async def verify_token(self, token: str) -> AccessToken | None:
        """Accept a key or an access token. The claims are the `Credential`."""
        if token.startswith(ACCESS_PREFIX):
            return await self.load_access_token(token)
        key = await run_sync(self.keys.check, token)
        return _token_of(key, f"key:{key.paper[:16]}", key.paper) if key else None

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        facts = await run_sync(self.grants.find_client, client_id)
        if facts is None:
            return None
        name, uris = facts["name"] or None, facts["redirect_uris"]
        return Client(client_id=client_id, client_name=name, redirect_uris=uris, **_CLIENT_FACTS)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Give a client its id. Raises sdk.RegistrationError."""
        uris = [str(uri) for uri in client_info.redirect_uris or ()]
        fault = next(filter(None, map(find_redirect_fault, uris)), "")
        if not 0 < len(uris) <= MOST_URIS:
            fault = f"Give 1 to {MOST_URIS} redirect URIs."
        if fault:
            raise sdk.RegistrationError("invalid_redirect_uri", fault)
        name = client_info.client_name or ""
        if len(name) > CLIENT_NAME_CHARS:
            limit = f"client_name: at most {CLIENT_NAME_CHARS} characters."
            raise sdk.RegistrationError("invalid_client_metadata", limit)
        text = re.sub(f"[{UNSEEN_CLASS}]", " ", name)  # what moves or hides letters on the page
        name = " ".join("".join(char if char.isprintable() else " " for char in text).split())
        facts = {"name": name, "redirect_uris": uris}
        client_id = await run_sync(self.grants.seal.sign, "client", facts)
        if len(client_id) > CLIENT_CHARS:
            raise sdk.RegistrationError("invalid_redirect_uri", "The redirect URIs are too long.")
        values = {"client_id": client_id, "client_name": name or None, **_CLIENT_FACTS}
        for field in OAuthClientInformationFull.model_fields:
            if field not in ("client_id_issued_at", "redirect_uris", "response_types"):
                setattr(client_info, field, values.get(field))

    async def authorize(
        self, client: OAuthClientInformationFull, params: sdk.AuthorizationParams
    ) -> str:
        """Return the address of the page of consent, for the browser of `BROWSER` alone."""
        if not self.is_ours(params.resource):
            raise sdk.AuthorizeError("invalid_target", "The resource is not this server.")
        if len(params.code_challenge) != _CHALLENGE_CHARS:
            raise sdk.AuthorizeError("invalid_request", "code_challenge: it must be one of S256.")
        if params.state and (len(params.state) > STATE_CHARS or "\0" in params.state):
            fault = f"state: at most {STATE_CHARS} characters, no NUL among them."
            raise sdk.AuthorizeError("invalid_request", fault)
        names = {"client": client_key(client.client_id), "client_name": client.client_name or ""}
        question = {**params.model_dump(mode="json", include=_QUESTION_FIELDS), **names}
        txn = await run_sync(self.grants.ask, question, BROWSER.get())
        return f"{self.current_url}/consent?txn={txn}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> sdk.AuthorizationCode | None:
        key = client_key(client.client_id)
        paper = await run_sync(self.grants.find_code, authorization_code, key)
        if paper is None:
            return None
        code: Any = {name: paper.body[name] for name in _QUESTION_FIELDS - {"state"}}
        code |= {"code": paper.key, "scopes": [SCOPE], "expires_at": paper.expires_at}
        return sdk.AuthorizationCode(client_id=client.client_id, **code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: sdk.AuthorizationCode
    ) -> OAuthToken:
        return _oauth_token_of(await run_sync(self.grants.exchange, authorization_code.code))

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> sdk.RefreshToken | None:
        key = client_key(client.client_id)
        refresh = await run_sync(self.grants.check_refresh, refresh_token, key)
        if refresh is None:
            return None
        token: Any = {"token": refresh.family.key, "expires_at": int(refresh.family.expires_at)}
        return _RefreshToken(client_id=client.client_id, scopes=[SCOPE], refresh=refresh, **token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: sdk.RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        assert isinstance(refresh_token, _RefreshToken)
        return _oauth_token_of(await run_sync(self.grants.rotate, refresh_token.refresh))

    async def load_access_token(self, token: str) -> AccessToken | None:
        access = await run_sync(self.grants.check_access, token)
        if access is None:
            return None
        paper, credential = access
        expires_at, client = int(paper.expires_at), str(paper.body["client"])
        return _token_of(credential, client, paper.key, expires_at=expires_at)

    async def revoke_token(self, token: object) -> None:
        """Never called: /revoke uses `Grants.take_back`."""
        raise NotImplementedError


def find_redirect_fault(uri: str) -> str:
    """Return why a redirect URI is refused; "" for a good URI."""
    if len(uri) > URI_CHARS:
        return f"A redirect URI may have {URI_CHARS} characters."
    if not uri.isprintable() or " " in uri:
        return "A redirect URI holds no blanks or control characters."
    try:
        parts = urlsplit(uri)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return "A redirect URI must be a URI."
    if "#" in uri:
        return "A redirect URI has no fragment."
    if parts.username is not None or parts.password is not None:
        return "A redirect URI holds no user or password."
    if parts.scheme == "https":
        return "" if host else "A redirect URI with https names a host."
    if parts.scheme == "http":
        return "" if is_loopback(host) else "http is for this machine alone; use https."
    is_system = parts.scheme in _SYSTEM_SCHEMES or parts.scheme.startswith(_SYSTEM_PREFIXES)
    if is_system or not _PRIVATE_SCHEME.fullmatch(parts.scheme):
        return "Use https, http on this machine, or a scheme of the client's own."
    return ""


def _token_of(credential: Credential, client: str, key: str, *, expires_at: int = 0) -> AccessToken:
    """key: stands in the place of the secret."""
    return AccessToken(
        token=key,
        client_id=client,
        scopes=[SCOPE],
        expires_at=expires_at or None,
        subject=credential.paper,
        claims=asdict(credential),
    )


def _oauth_token_of(tokens: Tokens | None) -> OAuthToken:
    if tokens is None:
        description = "It was used, or what it goes back to was taken back."
        raise sdk.TokenError("invalid_grant", description)
    access, refresh, lasts_s = tokens
    return OAuthToken(access_token=access, refresh_token=refresh, expires_in=lasts_s, scope=SCOPE)


def _without_port(uri: str) -> str:
    """Return "" for another machine, or a URI with a user."""
    parts = urlsplit(uri)
    host = parts.hostname or ""
    is_here = parts.scheme == "http" and is_loopback(host) and "@" not in parts.netloc
    return parts._replace(netloc=host).geturl() if is_here else ""


def _canonical(resource: str) -> str:
    """Return an address for comparison, without a last slash."""
    try:
        parts = urlsplit(resource)
    except ValueError:
        return ""
    return parts._replace(netloc=parts.netloc.lower()).geturl().rstrip("/")
