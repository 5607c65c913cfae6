"""Tests that a part can be put into a text and taken out, and that the rest of it stays."""

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.clients.merge import (
    BEGIN,
    END,
    MARK,
    CannotEditError,
    block_in,
    data_in,
    hooks_in,
    json_data,
    json_text,
    toml_data,
    with_block,
    with_hooks,
    with_ignored_paths,
    with_items,
    with_table,
    with_value,
    without_block,
    without_ignored_paths,
)
from commands.clients.table import value_at
from tests.support.tables import table

ROWS = table("commands/merge")
KEYS = ["a", "mcpServers", "서버", 'quo"te', ""]
SCALARS = st.sampled_from([None, True, 0, -1.5, "", "가 나", "http://x//y", "}/*", "\\", "\ud800"])
NAMES = st.sampled_from(KEYS)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)


OBJECTS = st.dictionaries(NAMES, st.recursive(SCALARS, containers, max_leaves=8), max_size=4)
ENTRY = {"command": "/t/python", "args": ["/t/server.py"]}
PLACE = "mcp_servers", "sentinel-memory"


@st.composite
def texts(draw: st.DrawFn, objects: st.SearchStrategy[dict[str, Any]] = OBJECTS) -> str:
    """A document as a person or a program may have laid it out."""
    indent = draw(st.sampled_from([None, 0, 2, "\t", 4]))
    text = json.dumps(draw(objects), indent=indent, ensure_ascii=draw(st.booleans()))
    text = draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", "\n"]))
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(json_data(text))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def has_place(data: dict[str, Any]) -> bool:
    return isinstance(data.get("mcpServers", {}), dict) and data.get("mcpServers") != {}


@given(texts())
def test_json_keeps_its_text_where_its_data_stay(text: str) -> None:
    assert json_text(json_data(text), text) == text


@given(texts(OBJECTS.filter(has_place)))
def test_an_entry_put_into_json_is_taken_out_and_the_rest_stays(text: str) -> None:
    before, place = json_data(text), ("mcpServers", "sentinel-memory")
    made = json_text(with_value(before, place, ENTRY), text)
    made.encode()
    after = json_data(made)
    assert value_at(after, place) == ENTRY
    assert [key for key in after if key in before] == list(before)
    assert made.endswith("\n") == text.endswith("\n")
    assert ("\r\n" in text) <= ("\r\n" in made)
    assert json_text(with_value(after, place, None), made) == text


def test_json_keeps_its_step_and_its_order() -> None:
    text = '{\n    "b": {\n        "c": 1\n    },\n    "a": 2\n}\n'
    made = json_text(with_value(json_data(text), ("e", "f"), ["g"]), text)
    assert made.startswith(text.removesuffix("\n}\n") + ',\n    "e": {\n        "f": [\n')
    assert json_text({"env": {}}, "") == '{\n  "env": {}\n}\n'


@pytest.mark.parametrize(("kind", "text", "times", "key"), ROWS["refused"])
def test_an_uneditable_text_is_refused(kind: str, text: str, times: int, key: str) -> None:
    """So are marks of a block that do not pair, whether it is read, put in or taken out."""
    edits: dict[str, list[Any]] = {
        "json": [json_data],
        "toml": [lambda it: with_table(it, PLACE, {"command": "c"})],
        "block": [block_in, without_block, lambda it: with_block(it, "x")],
    }
    text = text.replace("{BEGIN}", BEGIN).replace("{END}", END) * times
    for edit in edits[kind]:
        with pytest.raises(CannotEditError) as raised:
            edit(text)
        assert raised.value.key == key


def test_comments_are_read_and_a_string_that_looks_like_one_stays() -> None:
    text = '{"a": "/* // */", // one\n "b": [1, 2, ], /* two\n */ "c": ",}"}'
    assert data_in(text, ".json") == {"a": "/* // */", "b": [1, 2], "c": ",}"}


def test_nothing_is_put_where_something_else_stands() -> None:
    cases: list[dict[str, Any]] = [{"a": 1}, {"a": {"b": "x"}}, {"a": []}]
    for data in cases:
        with pytest.raises(CannotEditError):
            with_value(data, ("a", "b", "c"), 1)
    with pytest.raises(CannotEditError):
        with_items({"a": {"b": 1}}, ("a", "b"), ["x"])


@given(st.lists(st.sampled_from(["Bash(ls)", "ours 1", "ours 2"]), max_size=3))
def test_items_join_a_list_and_leave_it(listed: list[str]) -> None:
    keys, ours = ("permissions", "allow"), ["ours 1", "ours 2"]
    data = {"permissions": {"allow": listed}} if listed else {}
    made = with_items(data, keys, ours)
    assert {*ours, *listed} <= set(value_at(made, keys))
    assert with_items(made, keys, ours) == made
    left = [it for it in listed if it not in ours]
    assert (value_at(with_items(made, keys, [], ours), keys) or []) == left


# Hooks.


@given(data=st.data(), grouped=st.booleans())
def test_our_hooks_join_those_of_a_user_and_leave_them(data: st.DataObject, grouped: bool) -> None:
    def wanted(line: str) -> dict[str, dict[str, Any]]:
        handler = {"type": "command", "command": f"{line} hook stop --client cursor || :"}
        return {"Stop": {"stop": {"hooks": [handler]} if grouped else handler}}

    theirs = st.sampled_from(ROWS["theirs"])
    groups = st.fixed_dictionaries(
        {"hooks": st.lists(theirs, min_size=1, max_size=2)}, optional={"matcher": st.just("Bash")}
    )
    items = st.lists(groups if grouped else theirs, min_size=1, max_size=2)
    events = st.dictionaries(st.sampled_from(["Stop", "other"]), items, min_size=1)
    document = data.draw(st.fixed_dictionaries({"model": st.just("x")}, optional={"hooks": events}))
    made = with_hooks(document, wanted("/ours/cli.py"))
    assert len(hooks_in(made)) == 1
    assert with_hooks(made, wanted("/ours/cli.py")) == made
    assert with_hooks(made, {}) == document
    moved = with_hooks(made, wanted("/new/cli.py"))
    assert len(hooks_in(moved)) == 1 and "/ours/cli.py" not in json.dumps(moved)


@pytest.mark.parametrize("case", ROWS["hooks"])
def test_our_hooks_are_replaced_and_hooks_of_others_stay(case: str) -> None:
    before, ours, after = ROWS["hooks"][case]
    there, expected = ({"hooks": {"Stop": it}} if it else {} for it in (before, after))
    assert with_hooks(there, {"Stop": ours}) == expected


# TOML.


@pytest.mark.parametrize("text", ROWS["toml"])
def test_a_table_is_put_in_changed_and_taken_out_to_the_byte(text: str) -> None:
    first = {"command": "c", "args": ['a "b"', "\\", "가\x7f"], "on": True}
    made = with_table(text, PLACE, first)
    assert text.rstrip("\r\n") in made
    assert with_table(made, PLACE, first) == made
    more = {"command": "d", "args": ["e"], "n": 3, "env": {"A": "b"}}
    changed = with_table(with_table(made, PLACE, {**first, "env": {"A": "c"}}), PLACE, more)
    assert value_at(toml_data(changed), PLACE) == more
    assert with_table(changed, PLACE, None) in (text, text.removesuffix("\n"), text + "\n")


@pytest.mark.parametrize("text", ROWS["our table in another form"])
def test_a_table_of_another_form_is_found(text: str) -> None:
    made = with_table(text, PLACE, {"command": "c", "args": ["2"]})
    assert value_at(toml_data(made), PLACE) == {"command": "c", "args": ["2"]}
    left = with_table(made, PLACE, None)
    assert "# mine" in left and "sentinel" not in left


@given(st.lists(st.sampled_from(ROWS["toml"][3:]), max_size=3, unique=True).map("".join))
def test_a_table_leaves_the_other_tables(text: str) -> None:
    try:
        before = tomllib.loads(text)
    except ValueError:
        return
    after = tomllib.loads(with_table(text, PLACE, {"command": "c"}))
    del after["mcp_servers"]["sentinel-memory"]
    assert {**after, "mcp_servers": after["mcp_servers"] or None} == {
        **before,
        "mcp_servers": before.get("mcp_servers"),
    }


# A block, and the list of git.


@pytest.mark.parametrize("text", ["", "\ufeff", "# 우리\n", "a", "a\n\n", "a\r\nb\r\n"])
def test_a_block_is_put_in_renewed_and_taken_out_to_the_byte(text: str) -> None:
    made = with_block(text, "one\ntwo\n")
    assert (block_in(made) or "").split() == ["one", "two"]
    assert with_block(made, "one\r\ntwo") == made
    renewed = with_block(made, "three")
    assert block_in(renewed) == "three"
    assert without_block(renewed) == text
    assert without_block(f"{made}behind") != made


@pytest.mark.parametrize(
    "text", ["", "# mine\n", "*.log", "*.log\r\n", f"{MARK}\n", "/.mcp.json\n"]
)
def test_lines_that_keep_files_out_are_taken_out_to_the_byte(text: str) -> None:
    names = [".mcp.json", "a b/.cursor/mcp.json", "#x", "끝 "]
    kept = with_ignored_paths(text, names)
    assert with_ignored_paths(kept, names) == kept
    assert without_ignored_paths(kept, names) == text
    assert without_ignored_paths(text, names) == text
