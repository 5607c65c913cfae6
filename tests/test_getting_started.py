"""Types what the document for beginners says, and compares what is printed with what it shows."""

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.support.documents import text_of
from tests.support.stdio_client import ROOT

BLOCKS = re.compile(r"^```(sh|bash|text|json)\n(.*?)^```", re.M | re.S)
DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2} [A-Z][a-z]{2}\b|\d{1,2}월 \d{1,2}일")
LEFT_OUT = "…"
NOT_TYPED = ("uv tool", "git init")  # another test installs; the project is there
ANSWERED = {"setup claude-code": "setup claude-code --yes", "memory add": "memory add --yes"}


def shell_of(folder: Path, home: Path, locale: str) -> dict[str, str]:
    """An environment with both commands of this checkout, in which nothing is configured."""
    python = folder / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    for name, file in (("sentinel-memory", "cli.py"), ("sentinel-memory-server", "server.py")):
        script = python.with_name(name)
        script.write_text(f'#!/bin/sh\nexec "{python}" "{ROOT / file}" "$@"\n')
        script.chmod(0o755)
    packages = sysconfig.get_path("purelib")
    names = "AUTHOR", "COMMITTER"
    persons = {f"GIT_{name}_{key}": "dev" for name in names for key in ("NAME", "EMAIL")}
    none = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    return {
        "PATH": path,
        "HOME": str(home),
        "LANG": locale,
        "PYTHONPATH": packages,
        **persons,
        **none,
    }


def without_what_differs(text: str, project: Path) -> str:
    """The text as it would be on the day and in the place of the document, without blanks.

    A long path moves the ends of lines.
    """
    text = text.replace(str(project), "/home/dev/shop").replace("python cli.py", "sentinel-memory")
    text = re.sub(r"@[0-9a-f]{6}\b", "@VERSION", text)  # it follows from the date as well
    return "".join(DATE.sub("DATE", text).split())


def typed(block: str, project: Path, environment: dict[str, str]) -> str:
    """What a shell prints for the commands of a block."""
    if block.startswith(NOT_TYPED):
        return ""
    for asks, answered in ANSWERED.items():
        block = block.replace(asks, answered)
    done = subprocess.run(
        block, shell=True, cwd=project, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return without_what_differs(done.stdout, project)


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX types the commands")
@pytest.mark.parametrize(
    ("name", "locale"),
    [
        ("docs/getting-started.md", "C.UTF-8"),
        pytest.param("docs/getting-started.ko.md", "ko_KR.UTF-8", marks=pytest.mark.long),
    ],
)
def test_every_output_is_what_its_command_prints(name: str, locale: str, tmp_path: Path) -> None:
    project, home = tmp_path / "shop", tmp_path / "home"
    for folder in (project, home):
        folder.mkdir()
    environment = shell_of(tmp_path, home, locale)
    subprocess.run(["git", "init", "--quiet"], cwd=project, env=environment, check=True)
    printed, compared = "", 0
    for language, block in BLOCKS.findall(text_of(name)):
        if language in ("sh", "bash"):
            printed = typed(block, project, environment)
            continue
        shown = block if language == "text" else json.dumps(json.loads(block))
        at = 0
        for part in re.split(rf"^{LEFT_OUT}$", shown, flags=re.M):
            wanted = without_what_differs(part, project)
            assert wanted in printed[at:]
            at = printed.index(wanted, at) + len(wanted)
        compared += 1
    assert compared == 5
