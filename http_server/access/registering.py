"""Decides which clients may register, and where to they may have somebody sent back.

Anybody may register, so a registration is a claim and opens nothing: what counts is the key that a
person types on the page of consent. All clients are public ones: no secret is given to them, as
one in a program on a person's machine would be none.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from mcp.server.auth.provider import RegistrationError
from mcp.shared.auth import InvalidRedirectUriError, OAuthClientInformationFull
from pydantic import AnyUrl

from core.guard.characters import UNSEEN
from http_server.hosts import is_loopback

SCOPE = "memory"
MOST_URIS, URI_CHARS, CLIENT_NAME_CHARS = 10, 1_000, 100
_GRANTS = ["authorization_code", "refresh_token"]
_PRIVATE_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,60}")
# Schemes that a browser or a system acts on by itself: none is a client's own.
_SYSTEM_SCHEMES = frozenset(
    "about blob chrome content data edge file filesystem ftp intent jar javascript ldap mailto"
    " market resource search search-ms sftp shell sms smb ssh tel telnet vbscript view-source"
    " ws wss".split()
)
_SYSTEM_PREFIXES = "ms-", "chrome-", "moz-", "x-apple", "itms"


class Client(OAuthClientInformationFull):
    """A client that has registered."""

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """Return where to go back to: on this machine at any port, as a program takes a free one.

        https://www.rfc-editor.org/rfc/rfc8252#section-7.3
        """
        try:
            return super().validate_redirect_uri(redirect_uri)
        except InvalidRedirectUriError:
            wanted = _without_port(str(redirect_uri))
            if wanted and any(wanted == _without_port(str(it)) for it in self.redirect_uris or ()):
                assert redirect_uri is not None
                return redirect_uri
            raise

    def validate_scope(self, requested_scope: str | None) -> list[str] | None:
        """Return the one scope there is, whatever else was asked for: the answer names it."""
        return [SCOPE]


def checked(given: OAuthClientInformationFull) -> None:
    """Raise RegistrationError for what is refused, and leave of the rest what we keep."""
    uris = [str(it) for it in given.redirect_uris or ()]
    if not uris or len(uris) > MOST_URIS:
        raise RegistrationError("invalid_redirect_uri", f"Give 1 to {MOST_URIS} redirect URIs.")
    for uri in uris:
        if fault := redirect_fault(uri):
            raise RegistrationError("invalid_redirect_uri", fault)
    name = given.client_name or ""
    if len(name) > CLIENT_NAME_CHARS:
        most = f"client_name: at most {CLIENT_NAME_CHARS} characters."
        raise RegistrationError("invalid_client_metadata", most)
    for field in OAuthClientInformationFull.model_fields:
        if field not in ("client_id", "client_id_issued_at", "redirect_uris", "response_types"):
            setattr(given, field, None)
    given.client_name, given.scope, given.grant_types = _shown(name) or None, SCOPE, _GRANTS
    given.token_endpoint_auth_method = "none"


def body_of(client: OAuthClientInformationFull) -> dict[str, Any]:
    """Return what is kept of a client that was checked."""
    uris = [str(it) for it in client.redirect_uris or ()]
    return {"name": client.client_name or "", "redirect_uris": uris}


def client_of(client_id: str, body: Mapping[str, Any]) -> Client:
    """Return the client of which this was kept."""
    return Client(
        client_id=client_id,
        client_name=body["name"] or None,
        redirect_uris=[AnyUrl(it) for it in body["redirect_uris"]],
        token_endpoint_auth_method="none",
        grant_types=_GRANTS,
        scope=SCOPE,
    )


def redirect_fault(uri: str) -> str:
    """Return why nobody is sent to this address, "" for one that may be registered."""
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


def _without_port(uri: str) -> str:
    """Return an address on this machine without its port, "" for another, or one with a user."""
    parts = urlsplit(uri)
    host = parts.hostname or ""
    if parts.scheme != "http" or not is_loopback(host) or "@" in parts.netloc:
        return ""
    return parts._replace(netloc=host).geturl()


def _shown(name: str) -> str:
    """Return a name without what moves or hides letters: it is shown to a person."""
    seen = re.sub(f"[{UNSEEN}]", " ", name)
    return " ".join("".join(it if it.isprintable() else " " for it in seen).split())
