"""Checks what a person gives for a server that others run: its URL, and what names the key."""

import re
from typing import Literal
from urllib.parse import urlsplit

from core.text_redaction import has_secret

KEY_VARIABLE = "SENTINEL_MEMORY_KEY"
KEY_MARK = "smk_"  # with which every key begins
_PATH = "/mcp"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")
_URL = re.compile(r"https?://[A-Za-z0-9.:\[\]_-]{1,255}(?:/[A-Za-z0-9._~/%-]{0,500})?", re.I)
_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1", re.I)

Fault = Literal["bad_url", "url_secret", "bad_variable", "variable_is_key"]


class AddressError(ValueError):
    """What was given cannot be used. fault: the key of the sentence that says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


def checked_url(text: str) -> str:
    """Return the URL of a server's `/mcp`, which may be left out. Raises AddressError.

    It goes into files, so that it holds nothing but a place: no name, password or question.
    """
    url = text.strip()
    if has_secret(url) or KEY_MARK in url or "@" in url:
        raise AddressError("url_secret")
    try:
        parts = urlsplit(url)
        is_sound = _URL.fullmatch(url) and parts.hostname and parts.port != 0
    except ValueError:
        is_sound = False
    if not is_sound:
        raise AddressError("bad_url")
    return url.rstrip("/") + _PATH if parts.path in ("", "/") else url


def checked_variable(text: str) -> str:
    """Return the name of a variable. Raises AddressError, also where the key itself was given."""
    name = text.strip()
    if name.lower().startswith(KEY_MARK) or has_secret(name):
        raise AddressError("variable_is_key")
    if not _NAME.fullmatch(name):
        raise AddressError("bad_variable")
    return name


def is_readable_on_the_way(url: str) -> bool:
    """Return whether others on the network can read what is sent there, the key among it."""
    parts = urlsplit(url)
    return parts.scheme.lower() == "http" and not _LOOPBACK.fullmatch(parts.hostname or "")
