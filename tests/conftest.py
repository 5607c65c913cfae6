"""What the tests of real processes share: a way to start servers that leaves none behind."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import settings

from tests.support.stdio_client import HANDSHAKE, Era, ServerProcess

# No deadline: other workers take the processor at times. `--hypothesis-profile full` looks longer.
settings.register_profile("short", deadline=None, max_examples=25)
settings.register_profile("full", deadline=None, max_examples=200)
settings.load_profile("short")


class StartServer(Protocol):
    """Starts `server.py` with these arguments; see ServerProcess."""

    def __call__(
        self,
        *arguments: str,
        cwd: Path,
        environment: Mapping[str, str] | None = None,
        era: Era = HANDSHAKE,
    ) -> ServerProcess: ...


@pytest.fixture(scope="module")
def start_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartServer]:
    said = tmp_path_factory.mktemp("stderr")
    numbers = count(1)
    with ExitStack() as running:

        def start(
            *arguments: str,
            cwd: Path,
            environment: Mapping[str, str] | None = None,
            era: Era = HANDSHAKE,
        ) -> ServerProcess:
            server = ServerProcess(
                *arguments,
                cwd=cwd,
                stderr_path=said / f"{next(numbers)}.txt",
                environment=environment,
                era=era,
            )
            return running.enter_context(server)

        yield start
