"""Knows by whose credential a request came in."""

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.types import Scope

from core.settings import DEFAULT_AGENT
from http_server.keys import Credential

NOBODY = Credential(agent=DEFAULT_AGENT, paper="", name="")  # of a server that is open


def credential_of(scope: Scope) -> Credential | None:
    """Return the credential of a request, None where it has none that is good."""
    user = scope.get("user")
    if not isinstance(user, AuthenticatedUser):
        return None
    claims = getattr(user.access_token, "claims", None) or {}
    facts = {name: str(claims.get(name, "")) for name in ("agent", "paper", "name")}
    return Credential(**facts) if facts["agent"] and facts["paper"] else None
