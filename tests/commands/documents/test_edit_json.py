"""Tests that an edit of JSON changes the data as asked and leaves every other byte."""

import copy
import json
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from commands.documents.edit_json import with_value, without
from commands.documents.json_tree import (
    DEEPEST,
    BrokenJsonError,
    OtherKindError,
    check_taken,
    data_of,
)

KEYS = ["a", "b", "c", "서버", "my server", 'quo"te', ""]
SCALARS = st.sampled_from(
    [None, True, False, 0, -1.5, 1e30, "", "가 나", "http://x//y", "}/*", "\\"]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4)
BLANKS = ["", " ", "\n", "\n  ", "\n\t", " \n\n    "]
NOTES = ["// note, { [", "/* it's \" */", "/* two\nlines */", "// 'x\n// 주석"]


@st.composite
def texts(draw: st.DrawFn, objects: st.SearchStrategy[dict[str, Any]] = OBJECTS) -> str:
    """A document as a person might have written it, comments and all."""
    style = Random(draw(st.integers(0, 2**32)))  # draws of its own would take longer than the test
    comments = style.random() < 0.5

    def blank() -> str:
        text = style.choice(BLANKS)
        if comments and style.random() < 0.2:
            note = style.choice(NOTES)
            text += note + ("\n" if "//" in note else "") + style.choice(BLANKS)
        return text

    def written(value: Any) -> str:
        if not isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=style.random() < 0.5)
        if isinstance(value, dict):
            parts = [f"{json.dumps(key)}{blank()}:{blank()}{written(value[key])}" for key in value]
        else:
            parts = [written(item) for item in value]
        inside = ",".join(f"{blank()}{part}{blank()}" for part in parts)
        if parts and comments and style.random() < 0.25:
            inside += f",{blank()}"
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return opening + inside + closing

    text = style.choice(["", "\ufeff"]) + blank() + written(draw(objects)) + blank()
    return text.replace("\n", style.choice(["\n", "\r\n"]))


@st.composite
def places(draw: st.DrawFn, data: Any) -> tuple[str | int, ...]:
    """A place in a document, or one that an edit would make."""
    keys: list[str | int] = []
    for _ in range(draw(st.integers(1, 4))):
        if isinstance(data, dict):
            keys.append(draw(st.sampled_from(KEYS)))
            data = data.get(keys[-1], {})
        elif isinstance(data, list):
            position = draw(st.integers(0, len(data)))
            keys.append(position)
            data = data[position] if position < len(data) else {}
        else:
            break
    return tuple(keys)


def edited(data: Any, path: tuple[str | int, ...], value: object) -> Any:
    """The edit done to the data."""
    if not path:
        return value
    data = copy.deepcopy(data)
    key, rest = path[0], path[1:]
    if isinstance(key, str):
        data[key] = edited(data.get(key, {}), rest, value)
    elif key < len(data):
        data[key] = edited(data[key], rest, value)
    else:
        data.append(edited({}, rest, value))
    return data


def emptied(data: Any, path: tuple[str | int, ...]) -> Any:
    """The removal done to the data, where nothing around is empty afterwards."""
    data = copy.deepcopy(data)
    around = data
    for key in path[:-1]:
        around = around[key]
    del around[path[-1]]
    return data


@given(OBJECTS, st.sampled_from([None, "\t"]))
def test_json_is_read_as_what_it_says(data: dict[str, Any], indent: str | None) -> None:
    assert data_of(json.dumps(data, indent=indent)) == data


@given(texts(), st.data(), VALUES)
def test_an_edit_of_the_text_is_the_edit_of_the_data(
    text: str, drawn: st.DataObject, value: object
) -> None:
    before = data_of(text)
    path = drawn.draw(places(before))
    after = with_value(text, path, value)
    assert data_of(after) == edited(before, path, value)
    assert with_value(after, path, value) == after


def is_new(data: Any, path: tuple[str | int, ...]) -> bool:
    for key in path:
        if isinstance(data, dict) and key not in data:
            return True
        if isinstance(data, list) and key == len(data):
            return True
        data = data[key]
    return False


def fills_what_is_empty(data: Any, path: tuple[str | int, ...]) -> bool:
    for key in path:
        if not data:
            return True
        if key not in (data if isinstance(data, dict) else range(len(data))):
            return False
        data = data[key]
    return False


@given(texts(), st.data(), VALUES)
def test_taking_out_what_was_put_in_gives_the_text_back(
    text: str, drawn: st.DataObject, value: object
) -> None:
    data = data_of(text)
    path = drawn.draw(places(data))
    assume(is_new(data, path) and not fills_what_is_empty(data, path))
    assert without(with_value(text, path, value), path) == text


@given(OBJECTS, st.sampled_from([(", ", ": "), (",", ":")]), st.data(), VALUES)
def test_what_was_empty_in_a_document_of_one_line_is_so_again(
    data: dict[str, Any], separators: tuple[str, str], drawn: st.DataObject, value: object
) -> None:
    text = json.dumps(data, separators=separators)
    path = drawn.draw(places(data))
    assume(is_new(data, path))
    assert without(with_value(text, path, value), path) == text


@given(texts(), st.data())
def test_a_removal_from_the_text_is_the_removal_from_the_data(
    text: str, drawn: st.DataObject
) -> None:
    data = data_of(text)
    places_in = [
        (*path, key)
        for path, value in walked(data)
        if isinstance(value, dict | list) and len(value) > 1
        for key in (value if isinstance(value, dict) else range(len(value)))
    ]
    if places_in:
        path = drawn.draw(st.sampled_from(places_in))
        assert data_of(without(text, path)) == emptied(data, path)


def walked(data: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    inner = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    return [(path, data), *(it for key, value in inner for it in walked(value, (*path, key)))]


ENTRY = {"command": "/x/python", "args": ["/a b/server.py", "--project"]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "",
            '{\n  "servers": {\n    "s": {\n      "command": "/x/python",\n'
            '      "args": ["/a b/server.py", "--project"]\n    }\n  }\n}\n',
        ),
        (
            '{\r\n\t"a": [], // why\r\n}\r\n',
            '{\r\n\t"a": [], // why\r\n\t"servers": {\r\n\t\t"s": {\r\n'
            '\t\t\t"command": "/x/python",\r\n\t\t\t"args": ["/a b/server.py", "--project"]\r\n'
            "\t\t}\r\n\t},\r\n}\r\n",
        ),
        (
            '{"servers":{"a":{}}}',
            '{"servers":{"a":{}, "s": {"command": "/x/python",'
            ' "args": ["/a b/server.py", "--project"]}}}',
        ),
    ],
    ids=["empty", "tabs, a comment and windows line ends", "one line"],
)
def test_what_is_put_in_takes_the_style_around_it(before: str, after: str) -> None:
    assert with_value(before, ("servers", "s"), ENTRY) == after


@pytest.mark.parametrize("empty", ["{}", "{ }", "{\n}", "{\r\n\t\r\n}", "{\t}"])
@pytest.mark.parametrize("around", ["{}", "{}\n", ' {{"a": {}, "b": 1}}', '{{\n  "a" : {} }}'])
def test_blanks_in_what_was_empty_are_given_back(empty: str, around: str) -> None:
    text = around.format(empty)
    path = ("a", "b", "c") if "a" in text else ("c",)
    assert without(with_value(text, path, {"d": [1]}), path) == text


def test_a_list_with_a_line_for_each_item_keeps_its_form_when_it_is_replaced() -> None:
    text = '{\n  "args": [\n    "a",\n    "b"\n  ]\n}\n'
    assert with_value(text, ("args",), ["c"]) == '{\n  "args": [\n    "c"\n  ]\n}\n'


def test_what_held_only_the_value_goes_with_it() -> None:
    text = '{\n  "a": 1,\n  "hooks": {\n    "stop": [{"command": "x"}]\n  }\n}\n'
    assert without(text, ("hooks", "stop", 0)) == '{\n  "a": 1\n}\n'


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ('{"hooks": {\n  "stop": [{"command": "x"}]\n}}', '{"hooks": {}}'),
        ('{\n  "hooks": {"stop": [\n    {}\n  ]}\n}\n', '{\n  "hooks": {"stop": []}\n}\n'),
        ('{"hooks":{"stop":[{"command":"x"}]}}', '{"hooks":{"stop":[]}}'),
        ('{\n  "hooks": {\n    "stop": [{}],\n  }\n}\n', '{\n  "hooks": {}\n}\n'),
    ],
)
def test_what_stands_in_another_form_than_an_edit_makes_stays_though_empty(
    text: str, after: str
) -> None:
    assert without(text, ("hooks", "stop", 0)) == after


def test_what_is_to_be_kept_stays_though_empty() -> None:
    text = '{\n  "hooks": {\n    "stop": [{"command": "x"}]\n  }\n}\n'
    kept = '{\n  "hooks": {\n    "stop": []\n  }\n}\n'
    assert without(text, ("hooks", "stop", 0), kept=2) == kept
    assert without(text, ("hooks", "stop", 0), kept=1) == '{\n  "hooks": {}\n}\n'


def test_an_object_with_a_comment_is_not_empty() -> None:
    text = '{\n  "servers": {\n    // ours\n    "s": {}\n  }\n}\n'
    assert without(text, ("servers", "s")) == '{\n  "servers": {\n    // ours\n  }\n}\n'


def test_a_comment_does_not_swallow_what_stood_behind_the_value() -> None:
    text = '{"a": 1, // why\n  "s": 2, "b": 3}'
    assert data_of(without(text, ("s",))) == {"a": 1, "b": 3}


def test_a_text_without_the_place_stays_as_it_is() -> None:
    assert without('{"a": {"b": 1}}', ("a", "c")) == '{"a": {"b": 1}}'
    assert without("\n", ("a",)) == "\n"


@pytest.mark.parametrize("text", ["", " \n", "\ufeff"])
def test_a_blank_text_is_no_document(text: str) -> None:
    assert data_of(text) is None


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("{", "syntax", 1),
        ('{"a": 1\n "b": 2}', "syntax", 2),
        ('{"a": }', "syntax", 1),
        ('{"a": NaN}', "syntax", 1),
        ('{"a": "\\q"}', "syntax", 1),
        ('{"a": "x\ny"}', "syntax", 1),
        ("{} {}", "syntax", 1),
        ("{,}", "syntax", 1),
        ("// only a comment", "syntax", 1),
        ('{"a": 1,\n"a": 2}', "twice", 2),
        ("[" * (DEEPEST + 1), "depth", 1),
        ("/* two\nlines */ {,}", "syntax", 2),
        ("// one\n[,]", "syntax", 2),
        ('{"a": NaN}', "syntax", 1),
        ('{"a":' * 100_000, "depth", 1),
    ],
)
def test_a_text_that_cannot_be_edited_is_an_error(text: str, kind: str, line: int) -> None:
    for change in (data_of, lambda it: with_value(it, ("z",), 1), lambda it: without(it, ("z",))):
        with pytest.raises(BrokenJsonError) as raised:
            change(text)
        assert (raised.value.kind, raised.value.line) == (kind, line)


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ('{\n"a": 1 // why\n}', "comments", 2),
        ("/* */ {}", "comments", 1),
        ('{\n"a": 1, /* , */ }', "commas", 2),
        ("[\n1\n,\n]", "commas", 3),
        ("\ufeff{}", "mark", 1),
    ],
)
def test_what_a_reader_takes_beside_json_is_an_error_for_others(
    text: str, kind: str, line: int
) -> None:
    data_of(text)
    check_taken(text, ("comments", "commas", "mark"))
    with pytest.raises(BrokenJsonError) as raised:
        check_taken(text, {"comments", "commas", "mark"} - {kind})
    assert (raised.value.kind, raised.value.line) == (kind, line)


@pytest.mark.parametrize("text", ['{"a": "// , } /*", "b": [[], {}]}', "{,}", '"//', '{"a": 1 /'])
def test_what_looks_like_it_is_none(text: str) -> None:
    check_taken(text, ())


@pytest.mark.parametrize(
    ("text", "path"),
    [("[]", ()), ('{"s": []}', ("s",)), ('{"s": null}', ("s",)), ('{"s": {"t": 1}}', ("s", "t"))],
)
def test_what_is_no_object_is_not_replaced_by_one(text: str, path: tuple[str, ...]) -> None:
    with pytest.raises(OtherKindError) as put_in:
        with_value(text, (*path, "x"), 1)
    with pytest.raises(OtherKindError) as taken_out:
        without(text, (*path, "x"))
    assert (put_in.value.path, taken_out.value.path) == (path, path)
