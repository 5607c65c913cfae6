"""Says in what conditions a file of a user may be, and which of them a client reads.

Each condition makes the bytes from a plain text. What it needs is a word of `Target.takes`; "" for
what every client reads, None for what none does or what nobody can edit.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.support.client_files import NOWHERE, Target, theirs

Condition = tuple[Callable[[str], str | bytes], str | None]
BEGIN, END = "<!-- sentinel-memory rules: begin -->", "<!-- sentinel-memory rules: end -->"


def conditions(target: Target) -> Iterator[tuple[str, Condition]]:
    """All that can be the matter with a file of this form."""
    yield from ANY.items()
    if BEGIN in target.fresh:
        yield from BLOCKS.items()
    yield from {"json": JSON, "toml": TOML, "text": TEXT}[target.kind].items()
    if '"version": 1' in target.fresh:
        yield from VERSIONED.items()
    if target.kind == "json":
        yield from _kinds(target)
        needs = None if target.name.endswith(".codex/hooks.json") else ""
        yield "a key of another schema", (_with('"inputs": [{"id": "x"}]'), needs)


def _kinds(target: Target) -> Iterator[tuple[str, Condition]]:
    """Something of another kind in each place that ours comes through, and beside ours."""
    for path, value in _places(json.loads(target.fresh), json.loads(theirs(target))):
        for other in ("[]", "{}", '"x"', "1", "null", "true"):
            if type(json.loads(other)) is not type(value):
                needs = None if path != ("version",) or other != "1" else ""
                yield f"{other} at {'.'.join(path)}", (_put(path, json.loads(other)), needs)
        odd: Any = [3, "x", None, [], {}, {"hooks": 7}, {"hooks": [1, {}]}, {"command": ["cli.py"]}]
        if isinstance(value, dict) and path[-1:] != ("hooks",):
            odd = {f"odd {at}": it for at, it in enumerate(odd)}
        if len(path) > 0 and path[-1:] != ("hooks",) and not isinstance(value, int):
            yield f"odd ones at {'.'.join(path)}", (_put(path, odd), "")


def _places(ours: Any, user: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """The places that ours has in common with what others have."""
    if path:
        yield path, user
    if isinstance(ours, dict) and isinstance(user, dict):
        for key in ours.keys() & user.keys() - {str(NOWHERE.root)}:
            yield from _places(ours[key], user[key], (*path, key))


def _put(path: tuple[str, ...], value: Any) -> Callable[[str], str]:
    def changed(text: str) -> str:
        data = json.loads(text)
        holder = data
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = value
        return json.dumps(data, indent=2, ensure_ascii=False)

    return changed


def _lines(ends: tuple[str, ...]) -> Callable[[str], str]:
    """Other line ends, one after the other."""

    def changed(text: str) -> str:
        lines = text.split("\n")
        made = (line + ends[at % len(ends)] for at, line in enumerate(lines[:-1]))
        return "".join([*made, lines[-1]])

    return changed


def _with(member: str) -> Callable[[str], str]:
    """Another first member."""
    return lambda text: text.replace("{", "{\n  " + member + ",", 1)


def _is(text: str | bytes) -> Callable[[str], str | bytes]:
    return lambda _: text


def _ragged(text: str) -> str:
    return "".join(
        " " * (at * 7 % 5) + line.lstrip() for at, line in enumerate(text.splitlines(True))
    )


def _spelled(text: str) -> str:
    """Every key with an escape for its first letter."""
    return re.sub(r'"(\w)([^"]*)":', lambda it: f'"\\u{ord(it[1]):04x}{it[2]}":', text)


ANY: Mapping[str, Condition] = {
    "as it is": (str, ""),
    "CRLF": (_lines(("\r\n",)), ""),
    "mixed line ends": (_lines(("\r\n", "\n")), ""),
    "mixed the other way": (_lines(("\n", "\n", "\r\n")), ""),
    "no final newline": (str.rstrip, ""),
    "CRLF, no final newline": (lambda text: _lines(("\r\n",))(text).rstrip(), ""),
    "many final newlines": (lambda text: text + "\n\n\n", ""),
    "blanks at line ends": (lambda text: text.replace("\n", " \t\n"), ""),
    "blanks at the end": (lambda text: text + " \t ", ""),
    "empty": (_is(""), ""),
    "a line end": (_is("\n"), ""),
    "blanks": (_is("  \n\t\r\n "), ""),
    "CP949": (lambda text: ("가" + text).encode("cp949"), None),
    "UTF-16": (lambda text: text.encode("utf-16"), None),
    "UTF-16 without a mark": (lambda text: text.encode("utf-16-le"), None),
    "cut within a character": (lambda text: text.encode() + "가".encode()[:2], None),
    "half a surrogate": (lambda text: text.encode() + b"\xed\xa0\x80", None),
}
JSON: Mapping[str, Condition] = {
    "mark": (lambda text: "\ufeff" + text, "mark"),
    "mark alone": (_is("\ufeff"), "mark"),
    "line comments": (lambda text: text.replace("\n", ' // it\'s { [ "메모"\n'), "comments"),
    "block comments": (lambda text: text.replace('": ', '" /* why? */: /* "x", */ '), "comments"),
    "comments around": (lambda text: f"// 머리\n/* two\nlines */\n{text}// tail", "comments"),
    "a comment, no line end": (lambda text: text.rstrip() + " // x", "comments"),
    "only a comment": (_is("// later\n"), None),
    "trailing commas": (lambda text: re.sub(r"\n(\s*[}\]])", r",\n\1", text), "commas"),
    "CR": (_lines(("\r",)), ""),
    "tabs": (lambda text: text.replace("  ", "\t"), ""),
    "three spaces": (lambda text: text.replace("  ", "   "), ""),
    "no indentation": (lambda text: re.sub(r"^ +", "", text, flags=re.M), ""),
    "ragged": (_ragged, ""),
    "one line": (lambda text: json.dumps(json.loads(text), ensure_ascii=False), ""),
    "tight": (lambda text: json.dumps(json.loads(text), separators=(",", ":")), ""),
    "brackets on lines of their own": (lambda text: re.sub(r": ([{\[])", r":\n\1", text), ""),
    "commas before lines": (lambda text: re.sub(r",\n( *)", r"\n\1, ", text), ""),
    "sorted": (lambda text: json.dumps(json.loads(text), indent=4, sort_keys=True), ""),
    "escaped keys": (_spelled, ""),
    "escaped texts": (lambda text: json.dumps(json.loads(text), indent=2), ""),
    **{
        f"an empty object {text!r}": (_is(text), "")
        for text in ("{}", "{ }", "{}\r\n", "{\n}\n", "{\r\n\t\r\n}", "\n{}", "{}\n\n")
    },
    "odd numbers": (_with('"description": [-0, 1E400, 12345678901234567890.10, 1e-9]'), ""),
    "odd texts": (_with('"description": "\\u0000 \\" \\\\ // /* , ] \u2028\u0085\x7f"'), ""),
    "an odd key": (_with('"description": {"": 1, "__proto__": {}, "한 글\\n": []}'), ""),
    "half a character": (_with('"description": "\\ud83d and \\udE00\\uD83D"'), ""),
    "nested": (_with(f'"description": {"[" * 90}{"]" * 90}'), ""),
    "nested too deeply": (_with(f'"description": {"[" * 5000}{"]" * 5000}'), None),
    "a key twice": (_with('"description": 1, "description": 2'), None),
    "a key twice below": (_with('"description": [{"a": {"b": 1, "b": 1}}]'), None),
    **{f"{it} at the top": (_is(it), None) for it in ("[]", '"{}"', "7", "null", "true")},
    "cut off": (lambda text: text[: len(text) // 2], None),
    "two documents": (lambda text: text + text, None),
    "no quotes": (_is("{mcpServers: {}}"), None),
    "single quotes": (_is("{'mcpServers': {}}"), None),
    "no number": (_with('"description": NaN'), None),
    "a line end in a text": (_with('"description": "a\nb"'), None),
    "a form feed": (lambda text: "\f" + text, None),
    "a no-break space": (lambda text: text + "\xa0", None),
    "NUL at the end": (lambda text: text + "\0", None),
    "a comment that is not closed": (lambda text: text + "/* ", None),
}
VERSIONED: Mapping[str, Condition] = {
    "no version": (lambda text: text.replace('"version": 1,', ""), ""),
    "version 2": (lambda text: text.replace('"version": 1', '"version": 2'), None),
    "version as text": (lambda text: text.replace('"version": 1', '"version": "1"'), None),
}
TOML: Mapping[str, Condition] = {
    "mark": (lambda text: "\ufeff" + text, ""),
    "mark alone": (_is("\ufeff"), ""),
    "comments": (lambda text: "# 머리\n" + text.replace("\n", " # [메모] \"'\n") + "# end", ""),
    "tabs": (lambda text: re.sub(r"^", "\t", text, flags=re.M), ""),
    "tight": (lambda text: text.replace(" = ", "="), ""),
    "ragged": (_ragged, ""),
    "other strings": (lambda text: text.replace('"', "'"), ""),
    "strings of several lines": (
        lambda text: (
            f'{text}[x]\na = """\n[mcp_servers.sentinel-memory]\n"""\nb = \'\'\'\n"""\'\'\'\n'
        ),
        "",
    ),
    "lists of tables": (lambda text: text + "[[list]]\na = 1\n[[list]]\n[list.b]\n", ""),
    "a list of several lines": (lambda text: text + "[x]\na = [ # one\n  1, # ]\n  [2,],\n]\n", ""),
    "inline tables": (lambda text: text + "[x]\na = { b = { c = [1] } }\n", ""),
    "quoted headers": (
        lambda text: text.replace("[mcp_servers.", '[ "mcp_servers" . ') + "[\"a.b\".'c d']\n",
        "",
    ),
    "dates and numbers": (lambda text: text + "[x]\na = 1979-05-27T07:32:00Z\nb = 0xFF\n", ""),
    "a table around": (_is('[mcp_servers]\ntheirs = { command = "x" }\n'), ""),
    "dotted keys around": (_is('mcp_servers.theirs.command = "x"\n'), ""),
    "a dotted table below it": (_is('[mcp_servers]\ntheirs.command = "x"\n'), ""),
    "nested": (lambda text: f"{text}[x]\na = {'[' * 60}{']' * 60}\n", ""),
    "nested too deeply": (lambda text: f"{text}[x]\na = {'[' * 5000}{']' * 5000}\n", None),
    "a table twice": (lambda text: text + "[x]\n[x]\n", None),
    "a key twice": (lambda text: "model = 1\n" + text, None),
    "an inline table around": (_is('mcp_servers = { theirs = { command = "x" } }\n'), None),
    **{
        f"{it} in its place": (_is(f"mcp_servers = {it}\n"), None)
        for it in ("1", '"x"', "[]", "[{}]", "{}")
    },
    "a list of tables in its place": (_is("[[mcp_servers]]\na = 1\n"), None),
    "a text as the entry": (_is('[mcp_servers]\nsentinel-memory = "x"\n'), None),
    "JSON": (_is('{"mcp_servers": {}}'), None),
    "cut off": (lambda text: text + 'a = "b', None),
    "CR": (_lines(("\r",)), None),
    "NUL": (lambda text: text + "\0", None),
}
TEXT: Mapping[str, Condition] = {
    "mark": (lambda text: "\ufeff" + text, ""),
    "mark alone": (_is("\ufeff"), ""),
    "CR": (_lines(("\r",)), ""),
    "tabs": (lambda text: text.replace("- ", "-\t"), ""),
    "odd line ends": (lambda text: text.replace("\n", "\v\f\x1c\u0085\u2028\n"), ""),
    "NUL": (lambda text: text + "\0", ""),
    "one long line": (_is("가 " * 5000), ""),
    "an open fence": (lambda text: text + "```\n", ""),
    "an open comment": (lambda text: text + "<!-- \n", ""),
    "front matter": (lambda text: f"---\na: b\n---\n{text}", ""),
    "a block of another": (lambda text: text + "<!-- other rules: begin -->\n", ""),
}
BLOCKS: Mapping[str, Condition] = {
    "an end alone": (lambda text: f"{text}{END}\n", None),
    "a beginning alone": (lambda text: f"{BEGIN}\n{text}", None),
    "two blocks": (lambda text: f"{BEGIN}\n{END}\n{text}{BEGIN}\n{END}\n", None),
    "a block upside down": (lambda text: f"{END}\n{text}{BEGIN}\n", None),
}
