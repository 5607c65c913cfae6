"""Tests that the document on sessions says what the program does, and plays its day."""

import re
from pathlib import Path

import pytest

from commands.clients.table import CLIENTS, RECORDING
from rooms.sessions import session
from rooms.sessions.rows import statements
from rooms.sessions.tools import TOOLS
from tests.support.doc_sessions import call_of, played
from tests.support.documents import blocks, names_in, rows_of, tables_and_indexes, text_of

ENGLISH, KOREAN = "docs/sessions.md", "docs/sessions.ko.md"
# What differs from day to day: an id, a date, a day of this year.
FLEETING = re.compile(r"\bctx_[0-9a-f]{12}\b|\b\d{4}-\d\d-\d\d\b|\(\d\d/\d\d\)")


def test_the_tools_of_the_profile_are_the_first_of_the_table() -> None:
    told = [names_in(row[0])[0] for row in rows_of(ENGLISH, 4) if len(row) == 3]
    core = [tool.function.__name__ for tool in TOOLS if tool.is_core]
    assert told[: len(core)] == core


def test_the_words_of_a_parameter_are_those_that_it_takes() -> None:
    rows = {
        named: names_in(row[1]) for row in rows_of(ENGLISH, 4) for named in names_in(row[0])[:1]
    }
    assert tuple(rows["status"]) == session.STATUSES
    assert tuple(rows["approaches"][2:5]) == session.OUTCOMES


@pytest.mark.row("003 T7")
def test_the_tables_and_indexes_are_those_of_the_database() -> None:
    columns, indexes = tables_and_indexes((statements(),), but="contexts_fts_")
    told = {names_in(row[0])[0]: names_in(row[1]) for row in rows_of(ENGLISH, 13)}
    assert told == columns
    assert sorted(re.findall(r"`(idx_\w+)`", text_of(ENGLISH))) == sorted(indexes)
    assert "`PRAGMA user_version`" in text_of(ENGLISH)


def test_every_client_has_its_events_after_an_action() -> None:
    rows = [row for row in rows_of(ENGLISH, 7) if len(row) == 3]
    for client in CLIENTS:
        events = (
            {it.name for it in client.hooks.events if it.ours == RECORDING}
            if client.hooks
            else set()
        )
        [told] = [row[1] for row in rows if client.name in row[0].split(", ")]
        assert set(names_in(told)) == events, client.name


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T25", "003 T67")
@pytest.mark.parametrize(
    ("name", "lang"), [(ENGLISH, "en"), pytest.param(KOREAN, "ko", marks=pytest.mark.long)]
)
def test_the_day_is_what_the_server_answers(name: str, lang: str, tmp_path: Path) -> None:
    shown = [it for it in blocks(text_of(name), "text") if it.startswith("context_")]
    assert [call_of(it)[1] for it in shown][:2] == ["context_save", "context_warn"]
    now = played(shown, tmp_path / "shop", lang)
    assert [FLEETING.sub("…", it) for it in now] == [FLEETING.sub("…", it) for it in shown]
