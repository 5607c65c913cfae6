"""Sets up a project and a home for the real clients, and starts a client there."""

import contextlib
import os
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.clients.headless import CLIENTS, Headless, filled
from tests.clients.stand_in_model import Request, Script, StandInModel
from tests.support.cli_process import Run
from tests.support.node_packages import needs_packages
from tests.support.samples import a_line, a_record

NEEDS_CLIENTS = [pytest.mark.night, needs_packages("tests/clients")]
WAIT_S = 100.0
LESSON = "Refunds are rounded half up, see refund.py"


class Desk(NamedTuple):
    """Where a client works: a git project, and the home of somebody who has used no client yet."""

    project: Path
    home: Path
    cache: Path  # of programs that unpack themselves; for all homes

    def environment(self) -> dict[str, str]:
        """What a client and the commands of this program find there."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "XDG_CACHE_HOME": str(self.cache),
            "NO_COLOR": "1",
        }

    def set_up(self, *words: str) -> None:
        """Carry out `cli.py setup` with these words."""
        given = ("setup", *words, "--yes")
        done = Run.started(*given, cwd=self.project, environment=self.environment())
        assert done.code == 0, done

    def run(self, client: Headless, script: Script, below: str = "") -> list[Request]:
        """Give a client a task, and return what it sent to the model; below: where it is started.

        It must come to a good end, within WAIT_S, and reach for no other host.
        """
        with StandInModel(script) as model:
            proxies = dict.fromkeys(
                ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "URL"
            )
            wanted = {**self.environment(), **client.environment, **proxies}
            wanted |= {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
            signs = {"URL": model.url, "PROJECT": str(self.project), "PROMPT": "Mend the refund."}
            with subprocess.Popen(
                [*client.command, *(filled(word, signs) for word in client.arguments)],
                cwd=self.project / below,
                env={key: filled(value, signs) for key, value in wanted.items()},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            ) as process:
                try:
                    printed, _ = process.communicate(timeout=WAIT_S)
                finally:
                    with contextlib.suppress(ProcessLookupError):  # also what it has started
                        os.killpg(process.pid, signal.SIGKILL)
        assert process.returncode == 0, printed.decode()
        assert model.elsewhere == [], f"reached for {model.elsewhere}"
        return model.requests


def rows_of(database: Path, query: str, *given: object) -> list[tuple[Any, ...]]:
    """Ask a database of SQLite that a client's server has written."""
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query, given).fetchall()


def a_desk(top: Path, cache: Path, *setups: str) -> Desk:
    """A git project with one record, and what these commands of `cli.py setup` leave there."""
    desk = Desk(top / "shop", top / "home", cache)
    for folder in (desk.project / "src", desk.home, desk.project / ".context"):
        folder.mkdir(parents=True)
    for client in CLIENTS:
        client.settle(desk.home)
    subprocess.run(["git", "init", "--quiet", desk.project], check=True)
    record = a_record("how refunds are rounded", lesson=LESSON, paths=("refund.py",))
    (desk.project / ".context" / "memory_log.jsonl").write_bytes(a_line(record))
    for words in setups:
        desk.set_up(*words.split())
    return desk
