"""Checks the URL that a person gives for a server that others run."""

import re
from typing import Literal
from urllib.parse import urlsplit

from core.sanitizer import has_secret

KEY_VARIABLE = "SENTINEL_MEMORY_KEY"  # holds the key, in every client's environment
KEY_MARK = "smk_"  # with which every key begins
_PATH = "/mcp"
_URL = re.compile(r"https?://[A-Za-z0-9.:\[\]_-]{1,255}(?:/[A-Za-z0-9._~/%-]{0,500})?", re.I)
_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1", re.I)

Fault = Literal["bad_url", "url_secret"]


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


def is_readable_on_the_way(url: str) -> bool:
    """Return whether others on the network can read what is sent there, the key among it."""
    parts = urlsplit(url)
    return parts.scheme.lower() == "http" and not _LOOPBACK.fullmatch(parts.hostname or "")
