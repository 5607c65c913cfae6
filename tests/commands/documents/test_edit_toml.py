"""Tests that an edit of TOML changes one table and leaves every other byte."""

import tomllib

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from commands.documents.edit_toml import (
    BrokenTomlError,
    FixedFormError,
    table_text,
    with_table,
    without_table,
)
from tests.support.tables import table

ROWS = table("commands/edit_toml")

OURS = ("mcp_servers", "sentinel-memory")
ENTRY = {
    "command": "/x y/python",
    "args": ["/서버/server.py", "--project"],
    "startup_timeout_sec": 30,
}
BLOCK = (
    "[mcp_servers.sentinel-memory]\n"
    'command = "/x y/python"\n'
    'args = ["/서버/server.py", "--project"]\n'
    "startup_timeout_sec = 30\n"
)
PIECES = ROWS["pieces"]
TEXTS = st.builds(
    lambda head, pieces, tail, newline, bom: (
        bom + (head + "".join(pieces) + tail).replace("\n", newline)
    ),
    st.sampled_from(["", 'model = "o"\n', "a.b = 1\n"]),
    st.lists(st.sampled_from(PIECES), max_size=5, unique=True),
    st.sampled_from(["", "# the end", "[last]\nc = 1"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
)


def data_of(text: str) -> dict[str, object]:
    return tomllib.loads(text.removeprefix("\ufeff"))


@given(TEXTS)
def test_taking_out_what_was_put_in_gives_the_text_back(text: str) -> None:
    put_in = with_table(text, OURS, ENTRY)
    assert put_in.startswith(text)
    assert data_of(put_in)["mcp_servers"]["sentinel-memory"] == ENTRY  # type: ignore[index]
    assert with_table(put_in, OURS, ENTRY) == put_in
    assert without_table(put_in, OURS) == text


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(TEXTS, TEXTS)
def test_what_was_written_behind_it_stays(text: str, more: str) -> None:
    newline = "\r\n" if "\r\n" in text else "\n"
    text += "" if text.endswith("\n") else newline
    more = more.removeprefix("\ufeff").replace("\r\n", "\n").replace("\n", newline)
    behind = newline + more
    try:
        tomllib.loads(text.removeprefix("\ufeff") + behind)
    except tomllib.TOMLDecodeError:
        assume(False)
    assume(not more.startswith(("model", "a.b")))
    assert without_table(with_table(text, OURS, ENTRY) + behind, OURS) == text + behind


def test_a_new_table_goes_to_the_end_after_a_blank_line() -> None:
    assert with_table('model = "o"\n', OURS, ENTRY) == f'model = "o"\n\n{BLOCK}'
    assert with_table("", OURS, ENTRY) == BLOCK
    assert table_text(OURS, ENTRY) + "\n" == BLOCK


def test_values_change_in_place_and_other_keys_stay() -> None:
    text = (
        "a = 1\n[mcp_servers.sentinel-memory] # ours\n  \"command\" = 'old' # the old one\n"
        'args = [\n  "one", # first\n]\nenabled = false\n\n'
        "[mcp_servers.sentinel-memory.env]\nSENTINEL_MEMORY_LANG = 'ko'\n# end\n"
    )
    assert with_table(text, OURS, ENTRY) == (
        'a = 1\n[mcp_servers.sentinel-memory] # ours\n  "command" = "/x y/python" # the old one\n'
        'args = ["/서버/server.py", "--project"]\nenabled = false\nstartup_timeout_sec = 30\n\n'
        "[mcp_servers.sentinel-memory.env]\nSENTINEL_MEMORY_LANG = 'ko'\n# end\n"
    )


def test_the_tables_below_it_go_with_it() -> None:
    below = "\n[mcp_servers.sentinel-memory.env]\nA = 'b'\n"
    text = f"[mcp_servers.other]\ncommand = 'x'\n\n{BLOCK}{below}\n# next\n[tools]\n"
    rest = "[mcp_servers.other]\ncommand = 'x'\n\n# next\n[tools]\n"
    assert without_table(text, OURS) == rest


def test_a_name_that_needs_quotes_gets_them() -> None:
    text = with_table("", ("mcp_servers", "내 서버"), {"command": 'C:/a "b"\x7f'})
    assert text == '[mcp_servers."내 서버"]\ncommand = "C:/a \\"b\\"\\u007f"\n'
    assert data_of(text) == {"mcp_servers": {"내 서버": {"command": 'C:/a "b"\x7f'}}}


def test_a_text_without_the_table_stays_as_it_is() -> None:
    assert without_table("[mcp_servers.other]\n", OURS) == "[mcp_servers.other]\n"


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { other = { command = "x" } }\n',
        "mcp_servers = 1\n",
        "[[mcp_servers]]\n",
        "[mcp_servers]\nsentinel-memory = 3\n",
    ],
)
def test_a_file_in_which_there_is_no_room_for_the_table_is_an_error(text: str) -> None:
    with pytest.raises(FixedFormError):
        with_table(text, OURS, ENTRY)


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers]\nsentinel-memory = { command = "x" }\n',
        '[mcp_servers]\nsentinel-memory.command = "x"\n',
        'mcp_servers.sentinel-memory.command = "x"\n',
    ],
)
def test_a_table_in_another_form_is_not_touched(text: str) -> None:
    with pytest.raises(FixedFormError):
        with_table(text, OURS, ENTRY)
    with pytest.raises(FixedFormError):
        without_table(text, OURS)


@pytest.mark.parametrize("text", ["a = \n", "a = 1\na = 2\n", "[a]\n[a]\n", "a = " + "[" * 100_000])
def test_a_text_that_is_no_toml_is_an_error(text: str) -> None:
    with pytest.raises(BrokenTomlError):
        with_table(text, OURS, ENTRY)
    with pytest.raises(BrokenTomlError):
        without_table(text, OURS)
