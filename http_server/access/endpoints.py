"""Lays out the routes of OAuth: documents, registration, authorization, tokens, revocation."""

import math
import secrets
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from fastmcp.server.auth.auth import TokenHandler
from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.metadata import MetadataHandler, ProtectedResourceMetadataHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.middleware.client_auth import ClientAuthenticator
from mcp.server.auth.routes import build_metadata
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.shared.auth import ProtectedResourceMetadata
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from pydantic import AnyHttpUrl
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, request_response

from core.messages import say, speaking
from http_server.access.consent import COOKIE, Consent, new_cookie
from http_server.access.page import failed, language_of
from http_server.access.provider import BROWSER, Provider
from http_server.access.registering import SCOPE
from http_server.access.tries import group_of
from http_server.access.watched import TOKEN_PATH, address_of
from http_server.hosts import is_loopback

MOST_BODY_BYTES = 16_384
_RETRY_S = 2
_PAGES, _FOR_PROGRAMS = ("/authorize", "/consent"), (TOKEN_PATH, "/register", "/revoke")
_NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}
_Endpoint = Callable[[Request], Awaitable[Response]]


def routes(access: Provider) -> list[Route]:
    """Return the routes of an authorization server."""
    consent = Consent(access)
    server, resource = _server_document(access), _resource_document(access)
    paths = dict.fromkeys(("", access.path, urlsplit(access.url).path.rstrip("/")))
    prefix = "/.well-known/oauth"
    return [
        *(_open(f"{prefix}-authorization-server{it}", server, "GET") for it in paths),
        *(_open(f"{prefix}-protected-resource{it}", resource, "GET") for it in paths),
        _open("/register", _registration(access), "POST"),
        _open(TOKEN_PATH, _tokens(access), "POST"),
        _open("/revoke", _revocation(access), "POST"),
        _own("/authorize", _authorization(access), "GET"),
        _own("/consent", consent.handle, "GET", "POST"),
    ]


def without_database(request: Request) -> Response | None:
    """Return what a login is told while the database is away; None for any other request."""
    path = request.url.path
    if path in _PAGES:
        return failed(request, "no_storage", status=503, wait_s=_RETRY_S)
    if path not in _FOR_PROGRAMS:
        return None
    with speaking(language_of(request)):
        told = say("http.page.no_storage")
    return _unavailable(503, _RETRY_S, error_description=told)


def _unavailable(status: int, wait_s: float, **more: str) -> Response:
    """Return the error of OAuth after which a program tries again."""
    headers = {**_NO_STORE, "Retry-After": str(math.ceil(wait_s))}
    return JSONResponse({"error": "temporarily_unavailable", **more}, status, headers=headers)


def _authorization(access: Provider) -> _Endpoint:
    handler = AuthorizationHandler(access)

    async def handle(request: Request) -> Response:
        if wait_s := access.questions.take(group_of(address_of(request.scope))):
            return failed(request, "too_many_questions", status=429, wait_s=math.ceil(wait_s))
        given = request.query_params
        if given.get("code_challenge") and not given.get("code_challenge_method"):
            query = request.scope["query_string"]  # without a method it would be plain (RFC 7636)
            request.scope["query_string"] = query + b"&code_challenge_method=plain"
            request = Request(request.scope, request.receive)
        browser = request.cookies.get(COOKIE, "") or secrets.token_urlsafe(32)
        BROWSER.set(browser)  # each request is a task of its own
        response = await handler.handle(request)
        location = response.headers.get("location", "")
        if location.startswith(f"{access.url}/consent?"):
            new_cookie(response, browser, is_secure=access.url.startswith("https:"))
        elif location and not _is_here(location):
            return failed(request, "faulty_request", status=400)
        elif response.status_code == 400 and "text/html" in request.headers.get("accept", ""):
            return failed(request, "unknown_client", status=400)
        return response

    return handle


def _is_here(address: str) -> bool:
    """Return whether a person is sent there unasked: to a program on this machine.

    Anybody may register, so that this server's name would lead wherever a stranger wants.
    """
    parts = urlsplit(address)
    return parts.scheme == "http" and is_loopback(parts.hostname or "")


def _registration(access: Provider) -> _Endpoint:
    handler = RegistrationHandler(access, ClientRegistrationOptions(default_scopes=[SCOPE]))

    async def handle(request: Request) -> Response:
        if wait_s := access.registrations.take(group_of(address_of(request.scope))):
            return _unavailable(429, wait_s)
        response = await handler.handle(request)
        response.headers.update(_NO_STORE)
        return response

    return handle


def _tokens(access: Provider) -> _Endpoint:
    handler = TokenHandler(access, ClientAuthenticator(access))

    async def handle(request: Request) -> Response:
        resource = (await request.form()).get("resource")
        if resource and not access.is_ours(str(resource)):
            error = {"error": "invalid_target", "error_description": "It is not this server."}
            return JSONResponse(error, status_code=400, headers=_NO_STORE)
        response: Response = await handler.handle(request)
        return response

    return handle


def _revocation(access: Provider) -> _Endpoint:
    async def handle(request: Request) -> Response:
        form = await request.form()
        token, client_id = str(form.get("token", "")), str(form.get("client_id", ""))
        client = await access.get_client(client_id)
        if not token or client is None:
            return JSONResponse({"error": "invalid_request"}, status_code=400, headers=_NO_STORE)
        found = await access.load_access_token(token)
        if found and found.client_id == client_id:
            await access.revoke_token(found)
        elif not found and (family := await access.load_refresh_token(client, token)):
            await access.revoke_token(family)
        return Response(status_code=200, headers=_NO_STORE)  # also for what is no token: RFC 7009

    return handle


def _server_document(access: Provider) -> _Endpoint:
    url = AnyHttpUrl(access.url)
    registration, revocation = ClientRegistrationOptions(enabled=True), RevocationOptions()
    revocation.enabled = True
    document = build_metadata(url, None, registration, revocation)
    document.scopes_supported = [SCOPE]
    document.token_endpoint_auth_methods_supported = ["none"]
    document.revocation_endpoint_auth_methods_supported = ["none"]
    return MetadataHandler(document).handle


def _resource_document(access: Provider) -> _Endpoint:
    document = ProtectedResourceMetadata(
        resource=AnyHttpUrl(access.resource),
        authorization_servers=[AnyHttpUrl(access.url)],
        scopes_supported=[SCOPE],
    )
    return ProtectedResourceMetadataHandler(document).handle


def _open(path: str, endpoint: _Endpoint, method: str) -> Route:
    """Return a route that a client in any page may use: nothing here goes by a cookie."""
    methods = [method, "OPTIONS"]

    async def handle(request: Request) -> Response:
        if request.method == "OPTIONS":  # a browser's go no further than CORS
            return Response(status_code=204, headers={"Allow": ", ".join(methods)})
        return await endpoint(request)

    limited = RequestBodyLimitMiddleware(request_response(handle), MOST_BODY_BYTES)
    app = CORSMiddleware(
        limited,
        allow_origins=["*"],
        allow_methods=methods,
        allow_headers=[MCP_PROTOCOL_VERSION_HEADER, "Authorization", "Content-Type"],
    )
    return Route(path, endpoint=app, methods=methods)


def _own(path: str, endpoint: _Endpoint, *methods: str) -> Route:
    """Return a route for the browser of a person."""
    limited = RequestBodyLimitMiddleware(request_response(endpoint), MOST_BODY_BYTES)
    return Route(path, endpoint=limited, methods=[*methods])


class Access(Provider):
    """See `Provider`; this is the one object that an application needs.

    access = Access(papers, keys, url="https://memory.example.org")
    app = Watched(FastMCP("memory", auth=access).http_app(path="/mcp"), access.tries)
    """

    def get_routes(self, mcp_path: str | None = None) -> list[Route]:
        """Return the routes of the protocol, the page of consent and the documents about them."""
        self.set_mcp_path(mcp_path or self.path)
        return routes(self)
