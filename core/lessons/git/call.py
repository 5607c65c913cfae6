"""Calls git to read: no pager, no question, no lock, no other repository.

It overrides every setting of the repository that would start another program.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

TIMEOUT_S = 120

_SAFE = (
    *("core.quotepath=off", "core.fsmonitor=false", "log.showSignature=false"),
    *("i18n.logOutputEncoding=UTF-8", "core.warnAmbiguousRefs=true"),
    *("log.showRoot=true", "log.diffMerges=separate", f"diff.orderFile={os.devnull}"),
)
# A hook of git runs with these set, and they would name another repository or other files.
_FOREIGN = re.compile(
    "GIT_(DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|NAMESPACE|PREFIX|.*_PATHSPECS"
    "|ALTERNATE_OBJECT_DIRECTORIES|EXTERNAL_DIFF|DIFF_OPTS)"
)


def command(*arguments: str) -> list[str]:
    """Return the words of one call. Raises FileNotFoundError where git is not installed."""
    program = shutil.which("git")
    if not program:
        raise FileNotFoundError("git is not installed")
    settings = [part for setting in _SAFE for part in ("-c", setting)]
    return [program, "--no-pager", *settings, *arguments]


def environment() -> dict[str, str]:
    """Return this process's environment, in English and without what a hook of git has set."""
    kept = {name: value for name, value in os.environ.items() if not _FOREIGN.fullmatch(name)}
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


def run(
    folder: Path, *arguments: str, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Call git in `folder`; the return code says whether it failed.

    variables: added to the environment. Raises FileNotFoundError where git is not installed, and
    subprocess.TimeoutExpired after TIMEOUT_S seconds.
    """
    return subprocess.run(
        command(*arguments),
        cwd=folder,
        env={**environment(), **(variables or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
