"""Tests that no command shows a person a secret that a hand put into the log."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from core.lessons.record import Record
from tests.support.cli_process import TOKEN, DiscreetRun, without_settings
from tests.support.costly import enough
from tests.support.git_clones import commit, git, write
from tests.support.samples import a_record

GAP = "how a refund is booked"


def with_secret(field: str) -> Record:
    """A record that says TOKEN in one field, as an editor leaves it: its id follows no text."""
    base = a_record(GAP, topic="refunds", lesson="Book it twice.", ask_next_time="Who books it?")
    values = {name: getattr(base, name) for name in ("topic", "missing_context", "lesson")}
    values |= {"ask_next_time": base.ask_next_time}
    more: dict[str, Any] = {"paths": ["src/a.py"], "when": ["book_refund("]}
    if field in more:
        more[field] = [*more[field], f"x {TOKEN}"]
    else:
        values[field] = f"{values[field]} {TOKEN}"
    gap = values.pop("missing_context")
    return a_record(gap, **values, **more)


FIELDS = ("topic", "missing_context", "lesson", "ask_next_time", "paths", "when")


@pytest.fixture(params=FIELDS)
def shop(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a version of a record in git, and one with a secret in the log."""
    without_settings(monkeypatch)
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "--quiet")
    former = with_secret(request.param)
    write(root, former, a_record("who answers", topic="support"))
    commit(root)
    later = a_record(
        former.missing_context,
        topic=former.topic,
        lesson=f"{former.lesson} And tell the customer.",
        ask_next_time=former.ask_next_time,
        paths=list(former.paths),
        when=list(former.when),
    )
    write(root, later, a_record("who answers", topic="support"))
    monkeypatch.chdir(root)
    return root


def record_id(shop: Path) -> str:
    line = (shop / ".context/memory_log.jsonl").read_text("utf-8").splitlines()[0]
    return str(json.loads(line)["id"])


COMMANDS: list[tuple[str, ...]] = [
    ("list",),
    ("list", "--questions"),
    ("list", "--json"),
    ("list", "--topic", "refund"),
    ("search", "book"),
    ("search", "book", "--json"),
    ("search", "refunds", "book"),
    ("search", "a.py"),
    ("search", "book_refund"),
    ("show", "ID"),
    ("show", "ID", "--json"),
    ("topics",),
    ("topics", "--json"),
    ("topics", "rename", "support", "refund", "--dry-run"),
    ("show", "ID", "--versions"),
    ("show", "ID", "--versions", "--json"),
    ("add", "--topic", "refund", "--missing", GAP, "--lesson", "Never.", "--dry-run"),
    ("add", "--topic", "refund", "--missing", GAP, "--lesson", "Never.", "--yes"),
    ("add", "--topic", "refund", "--missing", "b", "--lesson", f"Use {TOKEN}.", "--yes"),
    ("stats",),
    ("stats", "--json"),
    ("export",),
    ("export", "--format", "json"),
    ("scan",),
    ("report",),
    ("doctor",),
    ("view", "-o", "page.html"),
    ("forget", "ID", "--dry-run"),
    ("forget", "ID", "--yes"),
]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("shop", "lang"),
    enough(product(FIELDS, ["en", "ko"]), lambda field, _: field, lambda _, lang: lang, names=2),
    indirect=["shop"],
)
def test_no_command_shows_it(
    shop: Path, lang: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", lang)
    monkeypatch.setenv("LANG", "ko_KR.UTF-8" if lang == "ko" else "C.UTF-8")
    name = record_id(shop)
    for words in COMMANDS:
        done = DiscreetRun.of(capsys, *(name if word == "ID" else word for word in words))
        assert done.code in (0, 1), (words, done)
    assert TOKEN not in (shop / "page.html").read_text("utf-8")


@pytest.mark.long  # it costs much
def test_the_token_that_is_shown_names_the_version_in_the_log(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [told] = DiscreetRun.of(capsys, "show", record_id(shop), "--json").told["records"]
    assert told["token"] in DiscreetRun.of(capsys, "show", record_id(shop)).out
    assert DiscreetRun.of(capsys, "forget", told["token"], "--yes").code == 0
    assert [it["topic"] for it in DiscreetRun.of(capsys, "list", "--json").told["records"]] == [
        "support"
    ]
