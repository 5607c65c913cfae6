"""Gives the tests a place for what clients unpack."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where Copilot CLI unpacks 250 MB."""
    cache = tmp_path_factory.mktemp("cache")
    yield cache
    shutil.rmtree(cache)
