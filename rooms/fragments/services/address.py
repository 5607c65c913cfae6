"""Reads addresses and keys of services from the environment, and refuses what must not be asked."""

import ipaddress
import re
from collections.abc import Iterator, Mapping
from urllib.parse import SplitResult, urlsplit, urlunsplit

from core.errors import SentinelError
from rooms.fragments.errors import ServiceError

KEY_VARIABLE = "OPENAI_API_KEY"

_KEY = re.compile("[!-~]*")
_CONTROL = re.compile("[\x00-\x20\x7f]")
_VERSION = re.compile("/v[0-9][a-z0-9]*$")


def value_of(environment: Mapping[str, str], variable: str) -> str:
    """Return what a variable holds; what its reader did not expand (`${…}`) counts as unset."""
    value = environment.get(variable, "").strip()
    return "" if "${" in value else value


def check_address(environment: Mapping[str, str], variable: str) -> Iterator[SentinelError]:
    """Yield why the address of a variable must not be asked."""
    address = value_of(environment, variable)
    parts = _parts(address)
    if parts is None:
        yield ServiceError("bad_address", variable=variable)
        return
    is_open = parts.scheme == "http" and not is_local(parts.hostname or "")
    if is_open and value_of(environment, KEY_VARIABLE):
        yield ServiceError("open_key", variable=variable)


def check_key(environment: Mapping[str, str]) -> Iterator[SentinelError]:
    """Yield why the key cannot be sent: a line end in it would end its line of the request."""
    if not _KEY.fullmatch(value_of(environment, KEY_VARIABLE)):
        yield ServiceError("bad_key")


def is_local(host: str) -> bool:
    """Return whether what is sent to a host never leaves this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def endpoint(address: str, path: str) -> str:
    """Return the address of an endpoint of the OpenAI form.

    address: with or without the version, with or without the path. path: such as `/embeddings`.
    """
    parts = urlsplit(address)
    above = parts.path.rstrip("/").removesuffix(path)
    if not _VERSION.search(above):
        above += "/v1"
    return urlunsplit(parts._replace(path=above + path, fragment=""))


def _parts(address: str) -> SplitResult | None:
    """Return the parts of a usable address; None for anything else."""
    try:
        parts = urlsplit(address)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    is_web = parts.scheme in ("http", "https") and "@" not in parts.netloc
    return (
        parts if is_web and usable and address.isascii() and not _CONTROL.search(address) else None
    )
