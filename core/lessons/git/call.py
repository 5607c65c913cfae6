"""Calls git to read: it starts no other program, asks nobody, takes no lock and fetches nothing.

The repository may be a stranger's. Every setting with which one names a program is overridden, and
of the environment git sees only what `environment` keeps.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

TIMEOUT_S = 120

# A git that is too old to know a setting passes it over.
# fmt: off
_SAFE = (
    # what would start a program
    "core.fsmonitor=false", f"core.hooksPath={os.devnull}", "log.showSignature=false",
    "core.sshCommand=", "core.askPass=", "core.alternateRefsCommand=", "credential.helper=",
    "submodule.recurse=false", "protocol.allow=never",
    # a directory of the work tree that looks like a repository is none
    "safe.bareRepository=explicit",
    # what would change what git prints
    "core.quotepath=off", "core.warnAmbiguousRefs=true", "i18n.logOutputEncoding=UTF-8",
    "log.showRoot=true", "log.diffMerges=separate", "log.follow=false",
    "diff.relative=false", "diff.renameLimit=1000", f"diff.orderFile={os.devnull}",
)
# fmt: on
# Where the user's own settings are, and how far up git looks. What else is set there, a hook of git
# for one, would name other repositories, other files or programs.
_KEPT = {
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"),
    *("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"),
}
_SET = {
    "GIT_ALLOW_PROTOCOL": "",  # beats protocol.NAME.allow, which protocol.allow does not
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


def program() -> str:
    """Return the path of git, "" where it is not installed.

    Only absolute directories of the PATH count: the current one may be a stranger's.
    """
    name = "git.exe" if os.name == "nt" else "git"
    paths = (os.path.join(folder, name) for folder in filter(os.path.isabs, os.get_exec_path()))
    return next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), "")


def environment() -> dict[str, str]:
    """Return this process's environment as git is to see it: in English, with what `_SET` sets."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT or not name.startswith("GIT_")
    }
    return {**kept, **_SET}


def run(
    folder: Path,
    *arguments: str,
    variables: Mapping[str, str] | None = None,
    timeout_s: float = TIMEOUT_S,
) -> subprocess.CompletedProcess[bytes]:
    """Call git in `folder`; the return code says whether it failed.

    variables: added to the environment. Raises FileNotFoundError where git is not installed, and
    subprocess.TimeoutExpired after this time.
    """
    return subprocess.run(
        _command(*arguments),
        cwd=folder,
        env={**environment(), **(variables or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a git in `folder` that answers what is written to it. Raises FileNotFoundError."""
    return subprocess.Popen(
        _command(*arguments),
        cwd=folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _command(*arguments: str) -> list[str]:
    found = program()
    if not found:
        raise FileNotFoundError("git is not installed")
    settings = [part for setting in (*_SAFE, *_trusted()) for part in ("-c", setting)]
    return [found, "--no-pager", *settings, *arguments]


def _trusted() -> Iterator[str]:
    """Yield what the environment has as `safe.directory`: a container may have no other place."""
    for at in count():
        key = os.environ.get(f"GIT_CONFIG_KEY_{at}")
        if key is None:
            return
        if key.lower() == "safe.directory":
            yield f"{key}={os.environ.get(f'GIT_CONFIG_VALUE_{at}', '')}"
