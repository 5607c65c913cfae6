"""Tells where a commit can be looked at on the web, for a repository whose host is known.

A remote may hold a password or a token: of its address only the host and the path are taken, and
only when they are plain.
"""

import re
from pathlib import Path

from core.lessons.git.errors import HistoryError
from core.lessons.git.work_tree import WorkTree
from core.text_redaction import redacted

_WEB = re.compile(r"https://(?:[^/@\s]*@)?(?P<host>[\w.-]+(?::\d+)?)/(?P<path>.+)", re.ASCII)
_SSH = re.compile(r"ssh://(?:[^/@\s]*@)?(?P<host>[\w.-]+)(?::\d+)?/(?P<path>.+)", re.ASCII)
_SHORT = re.compile(r"(?:[^/@:\s]+@)?(?P<host>[\w.-]+):(?!//)(?P<path>.+)", re.ASCII)
_PATH = re.compile(r"[\w.~-]+(?:/[\w.~-]+)+", re.ASCII)
_OTHER_PORT = re.compile(r"^(?:ssh|altssh)\.")  # the same host, for networks that close port 22
_COMMITS = {"github": "commit", "gitlab": "-/commit", "bitbucket": "commits", "codeberg": "commit"}


def commit_address(folder: Path) -> str:
    """Return what stands before the id in the address of a commit, "" where no host is known.

    It is that of the remote `origin`, else of the first one. Asks git only, and no host.
    """
    try:
        tree = WorkTree(folder)
        names = tree.ask("remote").decode("utf-8", "replace").split()
        name = "origin" if "origin" in names else next(iter(names), "")
        found = tree.ask("remote", "get-url", "--", name) if name else b""
    except HistoryError:
        return ""
    return address_of(found.decode("utf-8", "replace").strip())


def address_of(remote: str) -> str:
    """Return what stands before the id of a commit for the address of a remote, "" if unknown."""
    found = _WEB.fullmatch(remote) or _SSH.fullmatch(remote) or _SHORT.fullmatch(remote)
    if not found:
        return ""
    host = _OTHER_PORT.sub("", found["host"].lower())
    path = found["path"].strip("/").removesuffix(".git")
    kinds = (part for label in host.split(".") for part in _COMMITS if label.startswith(part))
    kind = next(kinds, "")
    is_plain = _PATH.fullmatch(path) and not {".", ".."} & {*path.split("/")}
    if not kind or not is_plain or redacted(path)[0] != path:
        return ""
    return f"https://{host}/{path}/{_COMMITS[kind]}/"
