"""Tests what models cost whoever has none, and what is said of their settings."""

import os
import sys
from pathlib import Path

import pytest

from rooms.fragments.models import check, missing
from tests.support.cli_process import Run
from tests.support.sentences import in_language
from tests.support.stdio_client import ROOT

WITHOUT = """
import sys
from pathlib import Path
from rooms.fragments.judging.judge import judge_of
from rooms.fragments.meaning.embedder import embedder_of
from rooms.fragments.meaning.filling import fill_in_background
from rooms.fragments.models import check
from tests.support.fragments_room import a_room
fill_in_background(a_room(Path(sys.argv[1])))
print(check({}), embedder_of({}), judge_of({}))
heavy = "urllib.request ssl subprocess numpy onnxruntime tokenizers fastembed".split()
print([name for name in heavy if name in sys.modules])
"""


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.80.a")
def test_without_a_model_nothing_is_loaded_that_only_models_need(tmp_path: Path) -> None:
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


def test_a_package_that_is_missing_is_told_before_it_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    [error] = missing({"SENTINEL_MEMORY_EMBEDDINGS": "fastembed"})
    assert error.facts["package"] == "fastembed"
    assert "pip install fastembed" in in_language("ko", str, error)
    assert missing({"SENTINEL_MEMORY_EMBEDDINGS": "https://x.test"}) == []
