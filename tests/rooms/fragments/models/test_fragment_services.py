"""Tests that a service is asked at its own address alone, and fails within bounds."""

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rooms.fragments.errors import ServiceError
from rooms.fragments.models.services import PAUSE_S, Pause, Service, endpoint, is_local, post
from tests.support.sentences import in_language
from tests.support.stand_in_service import CUT_OFF, DISCONNECT, Answer, StandIn, stand_in

KEY = "sk-test-abcdefghijklmnop"


@pytest.fixture
def service() -> Iterator[StandIn]:
    with stand_in(lambda asked: Answer({"got": asked.body})) as running:
        yield running


def asked(address: str, timeout_s: float = 60) -> Any:
    return post(Service(address, "VARIABLE", KEY), {"text": "결제 ✓"}, timeout_s=timeout_s)


def failure(address: str, timeout_s: float = 60) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        asked(address, timeout_s)
    return caught.value


def test_json_goes_out_with_the_key_and_comes_back(service: StandIn) -> None:
    assert asked(f"{service.address}/v1/embeddings") == {"got": {"text": "결제 ✓"}}
    post(Service(service.address, "VARIABLE"), {}, timeout_s=60)
    first, second = service.asked
    assert first.path == "/v1/embeddings"
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert first.headers["user-agent"] == "sentinel-memory"
    assert "authorization" not in second.headers
    assert KEY not in repr(Service("https://x.test", "VARIABLE", KEY))


FAILURES: list[tuple[str, Any, int | str]] = [
    *(("refused", None, status) for status in (400, 422)),
    *(("no_access", None, status) for status in (401, 403)),
    *(("not_there", None, 404), ("failed", None, 500)),
    *(("overloaded", None, status) for status in (429, 503)),
    *(("broken_off", None, DISCONNECT), ("broken_off", {"a": 1}, CUT_OFF)),
    *(("bad_answer", it, 200) for it in (b"<html>", b"", b"{", b"[" * 100_000, b"\xff\xfe")),
]


def test_every_failure_is_said_in_words_without_what_the_service_wrote(service: StandIn) -> None:
    for key, body, status in FAILURES:
        service.says({"error": f"bad {KEY} 결제"} if body is None else body, status)
        error = failure(service.address)
        assert error.key == key or (status, error.key) == (CUT_OFF, "timeout")
        for text in (str(error), in_language("ko", str, error)):
            assert KEY not in text and "결제" not in text and "127.0.0.1" not in text
            assert "VARIABLE" in text
            assert status in (200, DISCONNECT, CUT_OFF) or str(status) in text


def test_a_service_says_how_long_it_wants_to_be_left_alone(service: StandIn) -> None:
    for text, seconds in (("7", 7), ("0", 0), ("99999", 3_600), ("Wed, 21 Oct", 0), ("٣", 0)):
        service.says({}, 429, Retry_After=text.encode().decode("latin-1"))
        error = failure(service.address)
        assert (error.retry_after_s, error.is_passing) == (seconds, True), text


def test_a_redirection_is_not_followed_wherever_it_leads(service: StandIn) -> None:
    with stand_in(lambda _: Answer({})) as other:
        for status in (301, 302, 303, 307, 308):
            for to in (f"{other.address}/elsewhere", f"{service.address}/again"):
                service.says({}, status, Location=to)
                assert failure(service.address).key == "elsewhere"
        assert (len(service.asked), other.asked) == (10, [])


def test_nothing_that_listens_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    error = failure(f"http://127.0.0.1:{port}")
    assert (error.key, error.is_passing) == ("unreachable", True)


DRIPS = {
    "silence": (b"", b""),
    "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n", b" "),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X"),
    "interim": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
}


@pytest.mark.parametrize("name", DRIPS)
def test_an_answer_that_drips_is_not_waited_for(name: str) -> None:
    begin, more = DRIPS[name]
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                connection.recv(65_536)
                connection.sendall(begin)
                while listener.fileno() != -1:
                    connection.sendall(more)
                    time.sleep(0.02)

        threading.Thread(target=drip, daemon=True).start()
        error = failure(f"http://127.0.0.1:{listener.getsockname()[1]}", 0.3)
    assert (error.key, error.facts["seconds"]) == ("timeout", 1)


@pytest.mark.long  # it costs much
def test_an_answer_without_an_end_is_not_read_to_it(service: StandIn) -> None:
    service.says(b" " * (64 * 1024 * 1024 + 1))
    error = failure(service.address)
    assert (error.key, error.may_be_of_these) == ("too_large", True)


def test_a_service_of_this_machine_is_never_asked_through_a_proxy(
    service: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stand_in(lambda _: Answer({"proxy": True})) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.address)
        assert "got" in asked(service.address)
        assert proxy.asked == []
        assert asked("http://models.example.test/v1/embeddings") == {"proxy": True}


ENDPOINTS = {
    **{
        f"https://api.openai.com{end}": "https://api.openai.com/v1/embeddings"
        for end in ("", "/", "/v1", "/v1/", "/v1/embeddings", "/v1/embeddings/")
    },
    "http://[::1]:1234": "http://[::1]:1234/v1/embeddings",
    "https://x.test/o/v1?api-version=3": "https://x.test/o/v1/embeddings?api-version=3",
    "https://x.test/proxy/v1beta": "https://x.test/proxy/v1beta/embeddings",
}


def test_an_address_is_taken_with_its_path_or_without() -> None:
    assert {it: endpoint(it, "/embeddings") for it in ENDPOINTS} == ENDPOINTS


def test_what_never_leaves_the_machine_is_known_by_its_address_alone() -> None:
    for host in ("localhost", "127.0.0.1", "127.8.9.1", "::1", "models.localhost"):
        assert is_local(host), host
    for host in ("10.0.0.1", "localhost.example.test", "0.0.0.0", "example.test", ""):
        assert not is_local(host), host


def test_a_service_that_failed_is_left_alone_for_a_while() -> None:
    now, tries = 100.0, list[float]()
    pausing = Pause(lambda: now)

    def ask(error: ServiceError | None) -> str:
        try:
            with pausing.asking():
                tries.append(now)
                if error:
                    raise error
        except ServiceError as raised:
            return raised.key
        return ""

    assert ask(ServiceError("unreachable", variable="V")) == "unreachable"
    assert ask(None) == "unreachable"
    now += PAUSE_S
    assert ask(ServiceError("overloaded", retry_after_s=90, variable="V", status=429))
    now += 60
    assert ask(None) == "overloaded"
    now += 30
    assert ask(ServiceError("bad_answer", variable="V")) == "bad_answer"
    assert ask(None) == ""
    assert tries == [100, 130, 220, 220]


@pytest.mark.long  # it costs much
@pytest.mark.skipif(not shutil.which("openssl"), reason="it makes the certificate")
def test_a_certificate_that_nobody_vouches_for_gets_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    made += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with stand_in(lambda _: Answer({"got": True}), context) as service:
        address = service.address.replace("http://127.0.0.1", "https://localhost")
        assert (failure(address).key, service.asked) == ("no_trust", [])
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert asked(address) == {"got": True}
