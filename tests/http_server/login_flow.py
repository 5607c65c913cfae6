"""Goes through OAuth as a client and a person do, in this process or against a real server."""

import base64
import hashlib
import html
import secrets
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from core.postgres.pool import Pool
from http_server.access_keys import Keys
from http_server.limits import Bodies, Guard
from http_server.login import Access
from http_server.papers import Papers, postgres_papers, sqlite_papers
from tests.support.consent_browser import NEXT, TXN
from tests.support.team_engines import a_server

URL, BACK = "http://localhost:8123", "http://127.0.0.1:7777/callback"


@dataclass
class Clock:
    """A clock that a test sets."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def papers_at(place: Path | str, clock: Clock) -> Papers:
    if isinstance(place, Path):
        return sqlite_papers(place, clock=clock)
    return postgres_papers(Pool(a_server(place), path="agent_memory"), clock=clock)


def question(client: str, **given: str | None) -> dict[str, str]:
    """Return the fields with which a client asks for a code. given: other values, None for none."""
    query = {
        "client_id": client,
        "redirect_uri": BACK,
        "response_type": "code",
        "code_challenge": "a" * 43,
        "code_challenge_method": "S256",
        "state": "s&1",
        **given,
    }
    return {name: value for name, value in query.items() if value is not None}


@dataclass
class Site:
    """An application with a site, and a client with a browser before it, which both ask.

    path: of the file of its papers, or the address of a database.
    """

    path: Path | str
    clock: Clock = field(default_factory=Clock)
    master: str = ""
    url: str = URL
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    def __post_init__(self) -> None:
        self.papers = papers_at(self.path, self.clock)
        self.keys = Keys(self.papers, self.master)
        self.access = Access(self.papers, self.keys, url=self.url)
        documents = AnyHttpUrl(f"{self.url}/.well-known/oauth-protected-resource/mcp")
        guarded = RequireAuthMiddleware(PlainTextResponse("in"), ["memory"], documents)
        routes = [*self.access.get_routes("/mcp"), Route("/mcp", endpoint=guarded)]
        app = Starlette(routes=routes, middleware=self.access.get_middleware())
        self.http: Any = TestClient(
            Guard(app, Bodies(), lambda *_: None, self.access.tries, self.access.with_current_url),
            base_url=self.url,
            follow_redirects=False,
        )

    def register(self, **given: Any) -> Any:
        body = {"client_name": "Test Client", "redirect_uris": [BACK], **given}
        return self.http.post("/register", json=body)

    def client(self) -> str:
        """Register a client and return its id."""
        return str(self.register().json()["client_id"])

    def authorize(self, client: str, **given: str | None) -> Any:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        usual = {"code_challenge": challenge, "resource": f"{URL}/mcp"}
        return self.http.get("/authorize", params=question(client, **{**usual, **given}))

    def page(self, client: str, **given: str | None) -> Any:
        return self.http.get(self.authorize(client, **given).headers["location"])

    def answer(self, page: Any, key: str, answer: str = "allow") -> Any:
        [txn] = TXN.findall(page.text)
        return self.http.post("/consent", data={"txn": txn, "key": key, "answer": answer})

    def code(self, client: str, key: str, **given: str | None) -> str:
        """Come by a code as a person with a key gives it."""
        return sent_back(self.answer(self.page(client, **given), key))["code"]

    def token(self, client: str, **given: str) -> Any:
        data = {"client_id": client, "resource": f"{URL}/mcp", **given}
        return self.http.post("/token", data=data)

    def exchange(self, client: str, code: str, **given: str) -> Any:
        fields = {"code": code, "redirect_uri": BACK, "code_verifier": self.verifier, **given}
        return self.token(client, grant_type="authorization_code", **fields)

    def renew(self, client: str, refresh: str) -> Any:
        return self.token(client, grant_type="refresh_token", refresh_token=refresh)

    def tokens(self, client: str, key: str) -> dict[str, Any]:
        """Come in as a person with a key, and return the tokens."""
        return dict(self.exchange(client, self.code(client, key)).json())

    def beside(self, **given: Any) -> "Site":
        """Return another process over the same database for the same client. given: fields."""
        return replace(self, **given, verifier=self.verifier)

    def call(self, secret: str) -> Any:
        return self.http.get("/mcp", headers={"Authorization": f"Bearer {secret}"})

    def is_open(self, secret: str) -> bool:
        return bool(self.call(secret).status_code == 200)


def sent_back(response: Any) -> dict[str, str]:
    """Return the parameters that the page of an answer hands to the client."""
    [address] = NEXT.findall(response.text)
    query = parse_qs(urlsplit(html.unescape(address)).query)
    return {name: values[0] for name, values in query.items()}
