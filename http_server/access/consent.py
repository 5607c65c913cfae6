"""Asks a person whether a client may come in, who says so with a key.

A question is named by a secret and bound to the browser that was sent to it. The answer is a page
that goes on by itself and not a redirect: a browser would hold the address that follows, and those
behind it, against the page's own rule of where its form may lead.
"""

import math

from mcp.server.auth.provider import construct_redirect_uri
from starlette.requests import Request
from starlette.responses import Response

from http_server.access.grants import CONSENT_S, Asked
from http_server.access.page import failed, going_on, question
from http_server.access.provider import Provider, in_thread
from http_server.access.watched import address_of

COOKIE = "sentinel_memory_door"


def new_cookie(response: Response, browser: str, *, is_secure: bool) -> None:
    """Give a browser the secret by which it is known as the one that was sent here.

    Lax: it comes along where another page leads here, and not with a form of another page.
    """
    response.set_cookie(
        COOKIE,
        browser,
        max_age=int(CONSENT_S),
        httponly=True,
        secure=is_secure,
        samesite="lax",
    )


class Consent:
    """The page of consent of one server."""

    def __init__(self, access: Provider) -> None:
        self._access = access

    async def handle(self, request: Request) -> Response:
        """Show a question, or take the answer to one."""
        form = await request.form() if request.method == "POST" else request.query_params
        txn, browser = str(form.get("txn", "")), request.cookies.get(COOKIE, "")
        asked = await in_thread(self._access.grants.asked, txn, browser) if browser else None
        if asked is None:
            return failed(request, "gone", status=400)
        if request.method == "GET":
            return question(request, asked, txn, server=self._access.url)
        if form.get("answer") != "allow":
            await in_thread(self._access.grants.deny, txn)
            return going_on(request, self._redirect(asked, error="access_denied"), is_allowed=False)
        return await self._allowed(request, asked, txn, str(form.get("key", "")).strip())

    async def _allowed(self, request: Request, asked: Asked, txn: str, key: str) -> Response:
        """Let the client in where the key is right; else show the question again."""
        address = address_of(request.scope)
        credential = await self._access.credential(key, address)
        if credential is None:
            wait_s = math.ceil(self._access.tries.wrong(address)) if key else 0
            fault = "too_many" if wait_s else "wrong_key" if key else "no_key_given"
            url = self._access.url
            return question(request, asked, txn, server=url, fault=fault, wait_s=wait_s)
        browser = request.cookies.get(COOKIE, "")
        code = await in_thread(self._access.grants.allow, txn, browser, credential)
        if code is None:
            return failed(request, "gone", status=400)
        return going_on(request, self._redirect(asked, code=code), is_allowed=True)

    def _redirect(self, asked: Asked, **answer: str) -> str:
        return construct_redirect_uri(asked.redirect, **answer, state=asked.state)
