"""A service on loopback that answers as a test wants, and keeps the requests.

`service` stands in for one of embeddings: the same text always has the same numbers.
"""

import hashlib
import json
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rooms.fragments.fragment import ServiceError
from rooms.fragments.models.vectors import PROBES, Embedder, embedder_of

SECRET, KEY = "ghp_" + "a1B2" * 9, "sk-" + "x9Y8" * 8
DISCONNECT, CUT_OFF = "disconnect", "cut off"  # in the place of a status


class Answer(NamedTuple):
    """The answer of a service. body: bytes as they are, anything else as JSON."""

    body: Any = None
    status: int | str = 200
    headers: Mapping[str, str] = {}


class Asked(NamedTuple):
    """One request: its path, its headers with names in lower case, its JSON."""

    path: str
    headers: Mapping[str, str]
    body: Any


class StandIn:
    """The running service. answer: returns the answer; a test may put another in its place."""

    def __init__(self, answer: Callable[[Asked], Answer]) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        self.address = ""

    def says(self, body: Any = None, status: int | str = 200, **headers: str) -> None:
        """Answer this from now on. headers: with _ for the sign within their names."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = Answer(body, status, named)
        self.answer = lambda _: answer

    @property
    def bodies(self) -> list[Any]:
        return [it.body for it in self.asked]


@contextmanager
def stand_in(
    answer: Callable[[Asked], Answer], context: ssl.SSLContext | None = None
) -> Iterator[StandIn]:
    """Run a service until the block ends. context: for one over TLS."""
    service = StandIn(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            service.asked.append(Asked(self.path, headers, json.loads(text or "null")))
            given = service.answer(service.asked[-1])
            if given.status == DISCONNECT:
                self.close_connection = True
                return
            body = given.body if isinstance(given.body, bytes) else json.dumps(given.body).encode()
            self.send_response(200 if given.status == CUT_OFF else int(given.status))
            longer = 100 if given.status == CUT_OFF else 0
            headers = {"Content-Length": str(len(body) + longer), **given.headers}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST  # which has no body

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that goes away
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    service.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def self_signed(folder: Path) -> ssl.SSLContext:
    """A context for localhost whose certificate, `certificate.pem`, nobody vouches for."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    made += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def failure(ask: Callable[..., object], *arguments: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        ask(*arguments)
    return caught.value


def numbers_of(text: str) -> list[float]:
    return [byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()[:8]]


def embeddings(asked: Asked) -> Answer:
    """Answer as vLLM does: backwards, and not for a model whose dimensions are asked for."""
    if "dimensions" in asked.body:
        return Answer({"error": "matryoshka is not supported"}, 400)
    rows = [{"object": "embedding", "index": at, "embedding": numbers_of(text)}
            for at, text in enumerate(asked.body["input"])]  # fmt: skip
    return Answer({"object": "list", "data": rows[::-1], "model": asked.body["model"]})


@pytest.fixture
def service() -> Iterator[StandIn]:
    """A running one; a file imports it."""
    with stand_in(embeddings) as running:
        yield running


def environment_of(service: StandIn, **more: str) -> dict[str, str]:
    given = {"SENTINEL_MEMORY_EMBEDDINGS": service.address, "EMBEDDING_MODEL": "bge-m3"}
    return {**given, **more}


def embedder(service: StandIn, **more: str) -> Embedder:
    """An embedder of this service, which no other test has seen."""
    found = embedder_of(environment_of(service, **more))
    assert found
    return found


def texts_of(service: StandIn) -> list[str]:
    """Every text that the service was asked for, but for the questions that measure nearness."""
    batches = [body["input"] for body in service.bodies]
    return [text for batch in batches if batch != list(PROBES) for text in batch]
