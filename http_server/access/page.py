"""Builds the pages that a person sees, without a script and without anything loaded."""

import base64
import hashlib
from collections.abc import Callable
from functools import wraps
from html import escape
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse

from core.messages import Language, language, say, speaking
from core.program import NAME
from http_server.access.grants import Asked
from http_server.hosts import is_loopback

# fmt: off
_STYLE = """
:root{color-scheme:light dark;--ground:#f6f7f8;--card:#fff;--ink:#16191d;--soft:#4a525c;
  --line:#c5ccd3;--accent:#0b5563;--on:#fff;--warn:#8c2f0b;--tint:#fdf0ea}
@media (prefers-color-scheme:dark){:root{--ground:#14171a;--card:#1d2125;--ink:#edf0f2;
  --soft:#b3bbc4;--line:#59636d;--accent:#7cc7d6;--on:#0d1b1f;--warn:#ffb38f;--tint:#33231c}}
*{box-sizing:border-box}
body{margin:0;padding:1.25rem 1rem;background:var(--ground);color:var(--ink);
  font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Apple SD Gothic Neo","Malgun Gothic",
  "Noto Sans KR",sans-serif;word-break:keep-all;overflow-wrap:anywhere}
main{max-width:30rem;margin:0 auto;padding:1.5rem;background:var(--card);
  border:1px solid var(--line);border-radius:.75rem}
h1{margin:0 0 .75rem;font-size:1.375rem;line-height:1.3}
p{margin:.5rem 0}
dl{margin:1rem 0}
dt{margin-top:.75rem;font-size:.875rem;color:var(--soft)}
dd{margin:0;font-weight:600}
.name{display:block;overflow:hidden}
dd small,.hint{display:block;font-size:.875rem;font-weight:400;color:var(--soft)}
label{display:block;margin-top:1.25rem;font-weight:600}
input{width:100%;margin-top:.35rem;padding:.7rem;font:inherit;color:inherit;
  background:var(--ground);border:1px solid var(--soft);border-radius:.5rem}
.buttons{display:flex;gap:.75rem;margin-top:1.25rem}
button,.button{flex:1;min-height:2.75rem;padding:.6rem 1rem;font:inherit;font-weight:600;
  text-align:center;text-decoration:none;border:1px solid var(--accent);border-radius:.5rem;
  cursor:pointer;color:var(--accent);background:transparent}
button.main,.button{color:var(--on);background:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.fault{margin-top:1rem;padding:.7rem .9rem;color:var(--warn);background:var(--tint);
  border:1px solid var(--warn);border-radius:.5rem}
code{font-size:.9em}
@media (max-width:26rem){body{padding:.5rem}main{padding:1.1rem}}
"""
# fmt: on
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",  # without one a browser posts as nobody, and is refused
    "Vary": "Accept-Language",
}


_Page = TypeVar("_Page", bound=Callable[..., HTMLResponse])


def _in_language_of_browser(page: _Page) -> _Page:
    """Make a page in the language that its request prefers."""

    @wraps(page)
    def made(request: Request, *given: Any, **more: Any) -> HTMLResponse:
        with speaking(language_of(request)):
            return page(request, *given, **more)

    return cast(_Page, made)


@_in_language_of_browser
def question(
    request: Request, asked: Asked, txn: str, *, server: str, fault: str = "", wait_s: int = 0
) -> HTMLResponse:
    """Return the page that asks. fault: the key of a sentence on what was wrong before.

    The focus begins at the question, which a small window or a voice would else pass over; where
    the key was wrong it is in the field, and the sentence stands above that and is read with it.
    """
    name = f'<span class="name">{escape(asked.client_name) or say("http.page.nameless")}</span>'
    told, focus = "", 'aria-describedby="hint"'
    if fault:
        told = f'<p class="fault" id="fault">{say("http.page." + fault, wait_s=wait_s)}</p>'
        focus = 'aria-describedby="fault hint" aria-invalid="true" autofocus'
    hint = say("http.page.key_hint", command=f"<code>{escape(NAME)} keys add</code>")
    facts = [
        (say("http.page.client"), f"{name}<small>{say('http.page.claims')}</small>"),
        (say("http.page.back"), _place(asked.redirect)),
        (say("http.page.server"), escape(server)),
        (say("http.page.grants"), say("http.page.granted")),
    ]
    listed = "".join(f"<dt>{term}</dt><dd>{text}</dd>" for term, text in facts)
    body = (
        f"<p>{say('http.page.wants')}</p><dl>{listed}</dl><p>{say('http.page.unsure')}</p>"
        '<form method="post" action="consent">'
        f'<input type="hidden" name="txn" value="{escape(txn)}">'
        f'<label for="key">{say("http.page.key")}</label><span class="hint" id="hint">{hint}</span>'
        f'{told}<input type="password" id="key" name="key" autocomplete="current-password"'
        f' {focus} spellcheck="false" autocapitalize="off">'
        '<div class="buttons">'
        f'<button class="main" name="answer" value="allow">{say("http.page.allow")}</button>'
        f'<button name="answer" value="deny">{say("http.page.deny")}</button></div></form>'
    )
    status = {"": 200, "too_many": 429}.get(fault, 403)
    return _page(say("http.page.title"), body, status=status, wait_s=wait_s)


@_in_language_of_browser
def going_on(request: Request, address: str, *, is_allowed: bool) -> HTMLResponse:
    """Return the page that leads back to the client, by itself or by a link."""
    head = f'<meta http-equiv="refresh" content="0;url={escape(address)}">'
    link = f'<a class="button" href="{escape(address)}">{say("http.page.go_on")}</a>'
    body = f'<p>{say("http.page.going_on")}</p><p class="buttons">{link}</p>'
    return _page(say("http.page.allowed" if is_allowed else "http.page.denied"), body, head=head)


@_in_language_of_browser
def failed(request: Request, key: str, *, status: int, wait_s: int = 0) -> HTMLResponse:
    """Return a page that says why there is nothing to answer. wait_s: until there may be."""
    body = f"<p>{say(f'http.page.{key}', wait_s=wait_s)}</p>"
    return _page(say("http.page.gone_title"), body, status=status, wait_s=wait_s)


def language_of(request: Request) -> Language:
    """Return the language that the browser prefers of those we have."""
    for part in request.headers.get("accept-language", "").lower().split(","):
        tag = part.partition(";")[0].strip().partition("-")[0]
        if tag == "ko":
            return "ko"
        if tag == "en":
            return "en"
    return "en"


def _place(redirect: str) -> str:
    """Return where a person is sent back to: host and port, or the scheme of a program."""
    parts = urlsplit(redirect)
    is_web = parts.scheme in ("http", "https")
    shown = escape(f"{parts.scheme}://{parts.netloc}")
    is_here = not is_web or is_loopback(parts.hostname or "")
    return f"{shown}<small>{say('http.page.here')}</small>" if is_here else shown


def _page(
    title: str, body: str, *, head: str = "", status: int = 200, wait_s: int = 0
) -> HTMLResponse:
    html = (
        f'<!doctype html><html lang="{language()}"><head><meta charset="utf-8">'
        f"<title>{title}</title>"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{head}<style>{_STYLE}</style></head><body><main><h1>{title}</h1>{body}</main></body></html>"
    )
    headers = {**_HEADERS, **({"Retry-After": str(wait_s)} if wait_s else {})}
    return HTMLResponse(html, status_code=status, headers=headers)
