"""Lays out the routes of OAuth, and asks a person on a page whether a client may come in.

Only the browser that was sent to the page can answer. The answer is a page that goes on by itself:
a browser would hold the addresses behind a redirect against the page's `form-action`. No page has a
script or loads anything.
"""

import base64
import hashlib
import math
import secrets
from collections.abc import Awaitable, Callable
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import urlsplit

from anyio.to_thread import run_sync
from fastmcp.server.auth.auth import TokenHandler
from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.middleware.client_auth import ClientAuthenticator
from mcp.server.auth.provider import construct_redirect_uri
from mcp.server.auth.routes import build_metadata
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import ProtectedResourceMetadata
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from pydantic import AnyHttpUrl
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route, request_response

from core.messages import Language, language, say, use_language
from core.program import NAME
from http_server.grants import CONSENT_S, Facts, client_key
from http_server.limits import WRONG_KEY, address_of
from http_server.provider import BROWSER, SCOPE, Provider
from http_server.settings import is_loopback

COOKIE, RESOURCE = "sentinel_memory_door", "/.well-known/oauth-protected-resource"
_RETRY_S = 2
_PAGE_PATHS, _PROGRAM_PATHS = ("/authorize", "/consent"), ("/token", "/register", "/revoke")
_STATUS = {"": 200, "too_many": 429, "too_many_questions": 429, "no_storage": 503}
_QUESTION_WORDS = "wants client claims back server grants granted unsure key allow deny".split()
_Endpoint = Callable[[Request], Awaitable[Response]]


class Access(Provider):
    """The `Provider` with its routes, all that an application needs."""

    def get_routes(self, mcp_path: str | None = None) -> list[Route]:
        self.set_mcp_path(mcp_path or self.path)
        server, paths = "/.well-known/oauth-authorization-server", ("", mcp_path or self.path)
        return [
            *(_build_route(server + path, self._server_document, "GET") for path in paths),
            *(_build_route(RESOURCE + path, self._resource_document, "GET") for path in paths),
            _build_route("/register", self._register, "POST"),
            _build_route("/token", self._token, "POST"),
            _build_route("/revoke", self._revoke, "POST"),
            Route("/authorize", _with_language(self._authorize), methods=["GET"]),
            Route("/consent", _with_language(self._consent), methods=["GET", "POST"]),
        ]

    async def _authorize(self, request: Request) -> Response:
        if wait_s := self.questions.take(address_of(request.scope)):
            return _render_failure("too_many_questions", wait_s=math.ceil(wait_s))
        query = request.query_params
        if query.get("code_challenge") and not query.get("code_challenge_method"):
            # Without a method it would be plain (RFC 7636), which the SDK takes for S256.
            text = request.scope["query_string"] + b"&code_challenge_method=plain"
            request = Request({**request.scope, "query_string": text}, request.receive)
        browser = request.cookies.get(self._cookie, "") or secrets.token_urlsafe(32)
        BROWSER.set(browser)  # each request is a task of its own
        response = await AuthorizationHandler(self).handle(request)
        location = response.headers.get("location", "")
        parts = urlsplit(location)
        is_here = parts.scheme == "http" and is_loopback(parts.hostname or "")
        if location.startswith(f"{self.current_url}/consent?"):
            # Lax: the cookie comes with a link of another page, and not with its form.
            is_secure = self.url.startswith("https:")
            options: Any = {"httponly": True, "samesite": "lax", "secure": is_secure}
            response.set_cookie(self._cookie, browser, max_age=int(CONSENT_S), path="/", **options)
        elif location and not is_here:
            # Anybody may register: this server's name would lead wherever a stranger wants.
            return _render_failure("faulty_request")
        elif location:
            issuer = f"{self.current_url}/"
            response.headers["location"] = construct_redirect_uri(location, iss=issuer)
        elif response.status_code == 400 and "text/html" in request.headers.get("accept", ""):
            return _render_failure("unknown_client")
        return response

    async def _consent(self, request: Request) -> Response:
        form = await request.form() if request.method == "POST" else request.query_params
        txn, browser = str(form.get("txn", "")), request.cookies.get(self._cookie, "")
        question = await run_sync(self.grants.find_question, txn, browser) if browser else None
        if question is None:
            return _render_failure("gone")
        if request.method != "POST":
            return _render_question(self, question, txn)
        if form.get("answer") != "allow":
            return _render_redirect(self, question, error="access_denied")
        key = str(form.get("key", "")).strip()
        credential = await run_sync(self.keys.check, key)
        if credential is None:
            wait_s = math.ceil(self.tries.take(address_of(request.scope))) if key else 0
            fault = "too_many" if wait_s else "wrong_key" if key else "no_key_given"
            request.scope[WRONG_KEY] = fault == "wrong_key"
            return _render_question(self, question, txn, fault=fault, wait_s=wait_s)
        code = await run_sync(self.grants.allow, question, credential)
        return _render_redirect(self, question, code=code) if code else _render_failure("gone")

    @property
    def _cookie(self) -> str:
        """Over TLS a name that no other host can set."""
        return f"__Host-{COOKIE}" if self.url.startswith("https:") else COOKIE

    async def _register(self, request: Request) -> Response:
        if wait_s := self.registrations.take(address_of(request.scope)):
            headers = {"Retry-After": str(math.ceil(wait_s))}
            return JSONResponse({"error": "temporarily_unavailable"}, 429, headers=headers)
        options = ClientRegistrationOptions(default_scopes=[SCOPE])
        return await RegistrationHandler(self, options).handle(request)

    async def _token(self, request: Request) -> Response:
        resource = (await request.form()).get("resource")
        if resource and not self.is_ours(str(resource)):
            error = {"error": "invalid_target", "error_description": "It is not this server."}
            return JSONResponse(error, status_code=400)
        response: Response = await TokenHandler(self, ClientAuthenticator(self)).handle(request)
        return response

    async def _revoke(self, request: Request) -> Response:
        """Ask public clients for no secret, as the SDK's own handler does."""
        form = await request.form()
        token, client_id = str(form.get("token", "")), str(form.get("client_id", ""))
        is_known = await self.get_client(client_id) is not None
        if not (token and is_known):
            error = "invalid_request" if is_known else "invalid_client"
            return JSONResponse({"error": error}, status_code=400)
        await run_sync(self.grants.take_back, token, client_key(client_id))
        return Response(status_code=200)  # also for what is no token: RFC 7009

    async def _server_document(self, _request: Request) -> Response:
        options = ClientRegistrationOptions(enabled=True), RevocationOptions(enabled=True)
        document = build_metadata(AnyHttpUrl(self.current_url), None, *options)
        document.scopes_supported = [SCOPE]
        document.token_endpoint_auth_methods_supported = ["none"]
        document.revocation_endpoint_auth_methods_supported = ["none"]
        facts = document.model_dump(mode="json", exclude_none=True)
        return JSONResponse({**facts, "authorization_response_iss_parameter_supported": True})

    async def _resource_document(self, request: Request) -> Response:
        path = request.url.path.removeprefix(RESOURCE) or self.path
        document = ProtectedResourceMetadata(
            resource=AnyHttpUrl(self.current_url + path),
            authorization_servers=[AnyHttpUrl(self.current_url)],
            scopes_supported=[SCOPE],
        )
        return JSONResponse(document.model_dump(mode="json", exclude_none=True))


def answer_without_database(request: Request) -> Response | None:
    """Return the answer to a login while the database is away; None for other requests."""
    with use_language(_language_of(request)):
        if request.url.path in _PAGE_PATHS:
            return _render_failure("no_storage", wait_s=_RETRY_S)
        text = say("http.page.no_storage")
    if request.url.path not in _PROGRAM_PATHS:
        return None
    error = {"error": "temporarily_unavailable", "error_description": text}
    return JSONResponse(error, 503, headers={"Retry-After": str(_RETRY_S)})


def _build_route(path: str, endpoint: _Endpoint, method: str) -> Route:
    """Let a client in any page use the route: it reads no cookie."""
    methods = [method, "OPTIONS"]

    async def handle(request: Request) -> Response:
        if request.method == "OPTIONS":  # a browser's go no further than CORS
            return Response(status_code=204, headers={"Allow": ", ".join(methods)})
        return await endpoint(request)

    app = CORSMiddleware(
        request_response(handle),
        allow_origins=["*"],
        allow_methods=methods,
        allow_headers=[MCP_PROTOCOL_VERSION_HEADER, "Authorization", "Content-Type"],
    )
    return Route(path, endpoint=app, methods=methods)


def _with_language(endpoint: _Endpoint) -> _Endpoint:
    async def handle(request: Request) -> Response:
        with use_language(_language_of(request)):
            return await endpoint(request)

    return handle


def _render_question(
    access: Provider, question: Facts, txn: str, *, fault: str = "", wait_s: int = 0
) -> Response:
    """fault: the key of a sentence on the former answer, after which the focus is in the field."""
    facts = {word: say(f"http.page.{word}") for word in _QUESTION_WORDS}
    facts |= {"fault": "", "focus": 'aria-describedby="hint"'}
    if fault:
        text = say(f"http.page.{fault}", wait_s=wait_s)
        facts["fault"] = f'<p class="fault" id="fault">{text}</p>'
        facts["focus"] = 'aria-describedby="fault hint" aria-invalid="true" autofocus'
    parts = urlsplit(question["redirect_uri"])
    is_here = parts.scheme not in ("http", "https") or is_loopback(parts.hostname or "")
    body = _read_template("question").substitute(
        facts,
        name=escape(question["client_name"]) or say("http.page.nameless"),
        place=escape(f"{parts.scheme}://{parts.netloc}")
        + (f"<small>{say('http.page.here')}</small>" if is_here else ""),
        url=escape(access.current_url),
        txn=escape(txn),
        hint=say("http.page.key_hint", command=f"<code>{escape(NAME)} keys add</code>"),
    )
    return _fill(say("http.page.title"), body, status=_STATUS.get(fault, 403), wait_s=wait_s)


def _render_redirect(access: Provider, question: Facts, **answer: str) -> Response:
    """Lead back to the client, by itself or by a link."""
    answer["iss"] = f"{access.current_url}/"  # so that a client knows who answers it (RFC 9207)
    address = construct_redirect_uri(question["redirect_uri"], **answer, state=question["state"])
    words = {word: say(f"http.page.{word}") for word in ("going_on", "go_on")}
    body = _read_template("going_on").substitute(words, address=escape(address))
    head = f'<meta http-equiv="refresh" content="0;url={escape(address)}">'
    return _fill(say("http.page.allowed" if "code" in answer else "http.page.denied"), body, head)


def _render_failure(key: str, *, wait_s: int = 0) -> Response:
    body = f"<p>{say(f'http.page.{key}', wait_s=wait_s)}</p>"
    return _fill(say("http.page.gone_title"), body, status=_STATUS.get(key, 400), wait_s=wait_s)


def _fill(title: str, body: str, head: str = "", *, status: int = 200, wait_s: int = 0) -> Response:
    style = _read_template("style").template
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    headers = {
        "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{digest}';"
        " form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        "Referrer-Policy": "same-origin",  # without one a browser posts as nobody, and is refused
        **({"Retry-After": str(wait_s)} if wait_s else {}),
    }
    facts = {"lang": language(), "title": title, "head": head, "style": style, "body": body}
    html = _read_template("page").substitute(facts)
    return HTMLResponse(html, status_code=status, headers=headers)


@cache
def _read_template(name: str) -> Template:
    """Return a part of `page.html`, which begins at a line `<!-- name -->`."""
    text = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    parts = dict(part.split(" -->\n", 1) for part in text.split("<!-- ")[1:])
    return Template(parts[name].strip("\n"))


def _language_of(request: Request) -> Language:
    for part in request.headers.get("accept-language", "").lower().split(","):
        tag = part.partition(";")[0].strip().partition("-")[0]
        if tag in ("ko", "en"):
            return "ko" if tag == "ko" else "en"
    return "en"
