"""Finds the packages that npm installed in a folder for a test, and the node that runs them.

`.ci/run` installs them; elsewhere a test without them is skipped with the command that does.
"""

import os
import shutil
from pathlib import Path

import pytest

from tests.support.tables import ROOT


def needs_packages(folder: str) -> pytest.MarkDecorator:
    """Skip without the packages of this folder of the checkout, but never where CI is set."""
    return pytest.mark.skipif(
        not packages_of(folder).is_dir() and not os.environ.get("CI"),
        reason=f"its packages are not installed: npm ci --prefix {folder} --ignore-scripts",
    )


def packages_of(folder: str) -> Path:
    """Where npm puts the packages of a folder."""
    return ROOT / folder / "node_modules"


def command_of(folder: str, program: str) -> list[str]:
    """The command of a script of these packages, by their own node if it is for this machine."""
    script, own_node = packages_of(folder) / program, packages_of(folder) / ".bin" / "node"
    assert script.is_file(), f"{program} is missing; .ci/run installs it"
    node = str(own_node) if own_node.exists() else shutil.which("node")
    assert node, f"no node to run {program}"
    return [node, str(script)]
