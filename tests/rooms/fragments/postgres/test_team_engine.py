"""Tests that the fragments on a PostgreSQL server keep the contract of engines."""

import importlib.util
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from tests.support.team_engines import PostgresEngines, TeamServer
from tests.support.team_engines import team_server as team_server


def loaded_again(name: str) -> ModuleType:
    """A module with functions of its own: hypothesis runs one function in one class only."""
    spec = importlib.util.find_spec(name)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from tests.support import engine_contract as contract
else:
    contract = loaded_again("tests.support.engine_contract")


@pytest.fixture
def engines(team_server: TeamServer) -> Iterator[PostgresEngines]:
    made = PostgresEngines(team_server)
    yield made
    made.close()


class TestFinding(contract.Finding):
    pass


@pytest.mark.row("002 2.10.c")
class TestStoring(contract.Storing):
    pass


class TestNoting(contract.Noting):
    pass


@pytest.mark.row("002 2.13.h")
class TestSearching(contract.Searching):
    pass


class TestTransacting(contract.Transacting):
    pass
