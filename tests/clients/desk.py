"""Starts the real clients as scripts and CI do: without anybody to ask, and with no model but ours.

In a row of a client, URL stands for the stand-in model, PROJECT for the directory at work, and
PROMPT for the task. A desk is a project and a home of somebody who has used no client yet.
"""

import contextlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.clients.stand_in_model import Call, Request, Script, StandInModel
from tests.support.cli_process import Run
from tests.support.node_packages import needs_packages, packages_of
from tests.support.samples import a_line, a_record
from tests.support.tables import table

WAIT_S = 100.0
LESSON = "Refunds are rounded half up, see refund.py"
_FOLDER = "tests/clients"
NEEDS_CLIENTS = [pytest.mark.night, needs_packages(_FOLDER)]


class Client(NamedTuple):
    """How a client is started, as tests/data/clients.json says.

    program: a pattern below node_modules; node runs a .js file. arguments: some of them skip
    dialogs that need a terminal, or set a wait of more than five seconds for a server. writing:
    the call that writes refund.py. settings: a file that it expects in the home, and its text.
    shell: the tool that runs a command with its parameter, and the words that let it run unasked.
    failed: the note of a failed command. of_user: the arguments that a setup for all projects
    leaves to the user: to wait for the server, which would keep Codex from every project once
    the server is gone, and an approval for each repository.
    """

    key: str
    program: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    writing: Call
    settings: Sequence[str]
    shell: tuple[str, str, Sequence[str]]
    failed: str
    of_user: Sequence[str]

    @property
    def command(self) -> list[str]:
        """The words that start it. Raises AssertionError where it is not installed."""
        found = sorted(packages_of(_FOLDER).glob(self.program))
        assert found, f"no {self.program} in {packages_of(_FOLDER)}; .ci/night installs it"
        node = [shutil.which("node") or "node"] if found[0].suffix == ".js" else []
        return [*node, str(found[0])]

    def edit(self, project: Path) -> Call:
        """Return the step of a script that makes it write refund.py in a project."""
        signs = {"PROJECT": str(project)}
        given = {key: filled(text, signs) for key, text in self.writing.given.items()}
        return Call(self.writing.tool, given)

    def settle(self, home: Path) -> None:
        """Write into a home the file that it expects there."""
        name, text = self.settings
        if name:
            (home / name).parent.mkdir()
            (home / name).write_text(text, encoding="utf-8")

    def with_words(self, *words: str) -> "Client":
        """Return this client with further arguments."""
        return self._replace(arguments=(*self.arguments, *words))

    def with_variables(self, **variables: str) -> "Client":
        """Return this client with further variables of the environment."""
        return self._replace(environment={**self.environment, **variables})


CLIENTS = CLAUDE_CODE, CODEX, GEMINI, COPILOT = tuple(
    Client(key, **{**row, "writing": Call(*row["writing"])})
    for key, row in table("clients").items()
)

each_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.key)


def filled(text: str, signs: Mapping[str, str]) -> str:
    """Return a text of a row with its signs replaced."""
    for sign, value in signs.items():
        text = text.replace(sign, value)
    return text


def offered(request: Request) -> list[str]:
    """Return the tools of our server, without the prefix of a client before their names."""
    named = [f"{tool.space}_{tool.name}" for tool in request.tools]
    assert len({*named}) == len(named)
    before = r".*sentinel[-_]memory(?:[-_]team)?[-_]+"
    return sorted(re.sub(before, "", name) for name in named if "sentinel" in name)


def rows_of(database: Path, query: str, *given: object) -> list[tuple[Any, ...]]:
    """Ask a database of SQLite that a client's server has written."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return connection.execute(query, given).fetchall()


class Desk:
    """A git project with one record, below `top`, and a home beside it.

    cache: of programs that unpack themselves, for all homes. setups: words of `cli.py setup`.
    """

    def __init__(self, top: Path, cache: Path, *setups: str) -> None:
        self.project, self.home, self.cache = top / "shop", top / "home", cache
        self.log = self.project / ".context" / "memory_log.jsonl"
        for folder in (self.project / "src", self.home, self.log.parent):
            folder.mkdir(parents=True)
        for client in CLIENTS:
            client.settle(self.home)
        subprocess.run(["git", "init", "--quiet", self.project], check=True)
        record = a_record("how refunds are rounded", lesson=LESSON, paths=("refund.py",))
        self.log.write_bytes(a_line(record))
        for words in setups:
            self.set_up(words)

    def environment(self) -> dict[str, str]:
        """The variables that a client and the commands of this program get."""
        own = {"HOME": str(self.home), "TMPDIR": str(self.home), "XDG_CACHE_HOME": str(self.cache)}
        return {"PATH": os.environ["PATH"], "NO_COLOR": "1", **own}

    def set_up(self, words: str) -> None:
        """Carry out `cli.py setup` with these words."""
        given = ("setup", *words.split(), "--yes")
        done = Run.started(*given, cwd=self.project, environment=self.environment())
        assert done.code == 0, done

    def run(self, client: Client, script: Script, below: str = "") -> list[Request]:
        """Give a client a task, and return its requests to the model; below: where it is started.

        It must come to a good end, within WAIT_S, and reach for no other host.
        """
        with StandInModel(script) as model:
            proxies = {name: "URL" for it in ("HTTP", "HTTPS")
                       for name in (f"{it}_PROXY", f"{it}_PROXY".lower())}  # fmt: skip
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
                    with contextlib.suppress(ProcessLookupError):  # and its children
                        os.killpg(process.pid, signal.SIGKILL)
        assert process.returncode == 0, printed.decode()
        assert model.elsewhere == [], f"reached for {model.elsewhere}"
        return model.requests


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where Copilot CLI unpacks 250 MB."""
    cache = tmp_path_factory.mktemp("cache")
    yield cache
    shutil.rmtree(cache)
