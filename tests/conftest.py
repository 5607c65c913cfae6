"""What the tests of real processes share: a way to start servers that leaves none behind."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import settings

from tests.support.stdio_client import HANDSHAKE, Era, ServerProcess

settings.register_profile("shared", deadline=None)  # other workers take the processor at times
settings.load_profile("shared")


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
