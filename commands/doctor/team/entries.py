"""Says how clients reach a server that others run, and asks it whether it answers."""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from urllib.parse import urlsplit

from commands.setup.client_machine import Machine
from commands.setup.files import Tree
from commands.setup.remote.address import AddressError, checked_url, is_readable_on_the_way
from commands.setup.team_entries import TeamEntry, team_entries
from core.lessons.upkeep import Finding, Severity
from core.messages import Facts

_WAIT_S, _MOST_BYTES = 5.0, 100_000


def entry_findings(machine: Machine, tree: Tree | None) -> Iterator[Finding]:
    """Yield what somebody should know of each entry; no key and no odd address is shown."""
    for it in team_entries(machine):
        facts: Facts = {"client": it.client.name, "path": str(it.path)}
        if it.has_key:
            kind = "team_key_tracked" if _is_tracked(it, machine, tree) else "team_key_in_file"
            yield Finding(kind, "error", facts=facts)
        try:
            url = checked_url(it.url)
        except AddressError:
            yield Finding("team_bad_url", "error", facts=facts)
            continue
        facts = {**facts, "url": url}
        if is_readable_on_the_way(url):
            yield Finding("team_plain_http", "warning", facts=facts)
        if it.variable and not machine.variable(it.variable):
            yield Finding("team_key_unset", "warning", facts={**facts, "variable": it.variable})
        elif not it.has_key:
            yield Finding("team_ok", "ok", facts=facts)


def server_findings(machine: Machine) -> Iterator[Finding]:
    """Ask each server once whether it answers, and yield what it says of itself."""
    urls = dict[str, None]()
    for it in team_entries(machine):
        try:
            urls[checked_url(it.url)] = None
        except AddressError:
            continue
    for url in urls:
        kind, reason = health_of(url)
        severity: Severity = "ok" if kind == "team_answers" else "error"
        yield Finding(kind, severity, facts={"url": url, "reason": reason})


def health_of(url: str) -> tuple[str, str]:
    """Return what `/health` beside a URL says: the kind of the finding, and why.

    No redirect is followed, no key is sent.
    """
    parts = urlsplit(url)
    place = f"{parts.scheme}://{parts.netloc}/health"
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(place, timeout=_WAIT_S) as answer:
            return _told(answer.read(_MOST_BYTES), answer.status)
    except urllib.error.HTTPError as error:
        return _told(error.read(_MOST_BYTES), error.code)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLCertVerificationError):
            return "team_not_proven", reason.verify_message.rstrip(".")
        return "team_silent", getattr(reason, "strerror", None) or type(reason).__name__


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def _told(body: bytes, code: int) -> tuple[str, str]:
    try:
        said = json.loads(body)
        state = str(said["status"]).lower()
    except (ValueError, KeyError, TypeError, RecursionError):
        return "team_silent", f"HTTP {code}"
    is_well = code == 200 and state in ("ok", "healthy", "up")
    return ("team_answers", "") if is_well else ("team_unwell", f"HTTP {code}: {state[:80]}")


def _is_tracked(it: TeamEntry, machine: Machine, tree: Tree | None) -> bool:
    root = machine.root
    name = it.path.relative_to(root).as_posix() if it.path.is_relative_to(root) else ""
    return bool(tree and name in tree.tracked)
