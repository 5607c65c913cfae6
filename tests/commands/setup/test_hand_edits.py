"""Tests that setup and its removal cope with what a user changed in ours, and leave the rest."""

import copy
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from commands.setup.client_table import ENTRY
from commands.setup.lines import change_lines
from tests.support.client_files import Target, holds, targets, theirs
from tests.support.costly import enough
from tests.support.file_conditions import BEGIN, END
from tests.support.setup_bench import Bench

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the bench has paths of POSIX")

TARGETS = list({target.name: target for target in targets()}.values())
# Copilot's own list of what is allowed, by project, is no file that people edit.
OF_JSON = [it for it in TARGETS if it.kind == "json" and "permissions-config" not in it.name]
OF_TOML = [target for target in TARGETS if target.kind == "toml"]
OF_RULES = [target for target in TARGETS if BEGIN in target.fresh and target.name[-1] != "c"]

Edit = Callable[[Any], None]


def with_what_it_holds(name: str, target: Target) -> tuple[str, str]:
    """A case, with what of ours is in the file."""
    marks = {"server.py": "entry", " hook ": "hooks", "mcp__": "approvals", BEGIN: "rules"}
    return name, " ".join(part for mark, part in marks.items() if mark in target.fresh)


def target_of(_: str, target: Target) -> str:
    return str(target)


def cases_of(names: Iterable[str], tried: list[Target]) -> list[Any]:
    """Every case with every file; by default each of both, and what stands in it with each case."""
    return enough(product(names, tried), with_what_it_holds, target_of, names=2)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    made.put({})
    return made


def setup(bench: Bench, target: Target, *, remove: bool = False) -> tuple[str, list[str]]:
    """Carry it out; the file afterwards, "" for none, and the problems by name."""
    planned = target.plan(bench, remove=remove)
    bench.take(planned)
    left = bench.files().get(target.name, b"").decode()
    return left, [problem.key for problem in planned.problems]


# JSON.


def entries(data: Any) -> Iterator[dict[str, Any]]:
    """The objects in which a server of ours stands, under whatever name."""
    for key in ("mcpServers", "servers"):
        yield from ([data[key]] if key in data and any(map(is_ours, data[key].values())) else ())


def lists(data: Any) -> Iterator[list[Any]]:
    """The lists in which a handler of ours stands."""
    for listed in data.get("hooks", {}).values():
        groups = [group["hooks"] for group in listed if "hooks" in group] or [listed]
        yield from (group for group in groups if any(map(is_ours, group)))


def is_ours(value: Any) -> bool:
    said = json.dumps(value, ensure_ascii=False)
    return bool(re.search(r"/server\.py|/cli\.py'? hook |mcp__sentinel-memory__", said))


def each(change: Callable[[dict[str, Any]], None]) -> Edit:
    """The change to every entry and handler of ours."""

    def edit(data: Any) -> None:
        for holder in entries(data):
            change(next(filter(is_ours, holder.values())))
        for listed in lists(data):
            change(next(filter(is_ours, listed)))

    return edit


def renamed(data: Any) -> None:
    for holder in entries(data):
        holder["my memory"] = holder.pop(ENTRY)


def moved_first(data: Any) -> None:
    for holder in entries(data):
        ours = holder.pop(ENTRY)
        rest = dict(holder)
        holder.clear()
        holder.update({ENTRY: ours, **rest})
    for listed in lists(data):
        listed.sort(key=lambda it: not is_ours(it))


def doubled(data: Any) -> None:
    for listed in lists(data):
        listed.append(copy.deepcopy(next(filter(is_ours, listed))))


def joined(data: Any) -> None:
    """All handlers of an event in its first group, which is the user's."""
    for listed in data.get("hooks", {}).values():
        if listed and "hooks" in listed[0]:
            listed[0]["hooks"] = [it for group in listed for it in group["hooks"]]
            del listed[1:]


def other_event(data: Any) -> None:
    hooks = data.get("hooks", {})
    for event in list(hooks):
        ours = [it for it in hooks[event] if is_ours(it)]
        hooks[event] = [it for it in hooks[event] if not is_ours(it)]
        hooks.setdefault("Notification", []).extend(ours)


def other_matchers(data: Any) -> None:
    for listed in data.get("hooks", {}).values():
        for group in filter(is_ours, listed):
            group["matcher"] = "Read|Glob"


def approved(data: Any) -> None:
    allowed = data.get("permissions", {}).get("allow", [])
    allowed.reverse()
    allowed[:1] = ["Bash(ls:*)"]


def before_command(word: str) -> Edit:
    def change(value: dict[str, Any]) -> None:
        for key in ("bash", "command"):
            if " hook " in value.get(key, ""):
                value[key] = f"{word} {value[key]}"

    return each(change)


EDITS: dict[str, Edit] = {
    "nothing": lambda data: None,
    "another interpreter": each(
        lambda it: it.update(command="/gone/python" if "args" in it else it.get("command", "x"))
    ),
    "a key more": each(lambda it: it.update({"disabled": True, "env": {"A": "내 값"}})),
    "another timeout": each(lambda it: it.update(timeout=77, timeoutSec=77)),
    "an entry renamed": renamed,
    "ours first": moved_first,
    "handlers doubled": doubled,
    "handlers in the user's group": joined,
    "handlers at another event": other_event,
    "other matchers": other_matchers,
    "approvals changed": approved,
    "a word before the command": before_command("nice -n 5"),
    "a variable before the command": before_command("A='b c'"),
}


def without_ours(data: Any) -> Any:
    """The data of the user that are left."""
    data = copy.deepcopy(data)
    for holder in entries(data):
        for name in [name for name, value in holder.items() if is_ours(value)]:
            del holder[name]
    for event, listed in list(data.get("hooks", {}).items()):
        for group in listed:
            if "hooks" in group:
                group["hooks"] = [it for it in group["hooks"] if not is_ours(it)]
        data["hooks"][event] = [it for it in listed if not is_ours(it) and it.get("hooks") != []]
        if not data["hooks"][event]:
            del data["hooks"][event]
    if "permissions" in data:
        allowed = data["permissions"]["allow"]
        data["permissions"]["allow"] = [it for it in allowed if not is_ours(it)]
    return data


def ours_in(data: Any) -> list[int]:
    """How many entries, handlers and approvals of ours there are."""
    handlers = sum(sum(map(is_ours, listed)) for listed in lists(data))
    approvals = sum(map(is_ours, data.get("permissions", {}).get("allow", [])))
    return [sum(is_ours(it) for all_ in entries(data) for it in all_.values()), handlers, approvals]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("name", "target"), cases_of(EDITS, OF_JSON))
def test_what_was_edited_in_json_is_put_right_and_taken_out(
    name: str, target: Target, bench: Bench
) -> None:
    bench.put({target.name: theirs(target)})
    made = json.loads(setup(bench, target)[0])
    edited = copy.deepcopy(made)
    EDITS[name](edited)
    text = json.dumps(edited, indent=2, ensure_ascii=False) + "\n"
    user = without_ours(edited)

    bench.put({target.name: text})
    left, problems = setup(bench, target, remove=True)
    assert problems == []
    assert ours_in(json.loads(left)) == [0, 0, 0]
    assert json.loads(left) == user

    bench.put({target.name: text})
    again, problems = setup(bench, target)
    assert problems == []
    assert ours_in(json.loads(again)) == ours_in(made)
    assert holds(json.loads(again), user)
    assert setup(bench, target)[0] == again
    left, problems = setup(bench, target, remove=True)
    assert (json.loads(left), problems) == (user, [])


FORMS: dict[str, Callable[[str], str]] = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "tabs": lambda text: text.replace("  ", "\t"),
    "four spaces": lambda text: text.replace("  ", "    "),
    "one line": lambda text: json.dumps(json.loads(text), ensure_ascii=False),
    "tight": lambda text: json.dumps(json.loads(text), separators=(",", ":")),
    "other escapes": lambda text: json.dumps(json.loads(text), indent=2) + "\n",
    "no final newline": str.rstrip,
}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("form", "target"), cases_of(FORMS, OF_JSON))
def test_a_file_that_was_formatted_anew_gives_the_users_own_in_that_form(
    form: str, target: Target, bench: Bench
) -> None:
    bench.put({target.name: theirs(target)})
    bench.put({target.name: FORMS[form](setup(bench, target)[0])})
    assert setup(bench, target) == (bench.files()[target.name].decode(), [])
    assert setup(bench, target, remove=True) == (FORMS[form](theirs(target)), [])


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("target", OF_JSON, ids=str)
def test_a_comment_put_in_later_hinders_no_removal(target: Target, bench: Bench) -> None:
    bench.put({target.name: theirs(target)})
    made = setup(bench, target)[0]
    bench.put({target.name: made.replace("{", "{ // 메모", 1)})
    left, problems = setup(bench, target, remove=True)
    assert (left, problems) == (theirs(target).replace("{", "{ // 메모", 1), [])


# TOML.

HEADER = f"[mcp_servers.{ENTRY}]"
TOML_EDITS: dict[str, Callable[[str], str]] = {
    "another interpreter": lambda text: re.sub(
        rf'({re.escape(HEADER)}\ncommand = )"[^"]*"', r'\1"/gone/python"', text
    ),
    "a key more": lambda text: text.replace(HEADER, f"{HEADER}\nenabled = false"),
    "a table below": lambda text: text + f"\n[mcp_servers.{ENTRY}.env]\nA = '내 값'\n",
    "another form of the header": lambda text: text.replace(
        HEADER, f'[ "mcp_servers" . "{ENTRY}" ] # ours'
    ),
    "other strings": lambda text: text.replace('"', "'"),
    "a list of several lines": lambda text: text.replace('", "', '",\n  "'),
    "renamed": lambda text: text.replace(HEADER, '[mcp_servers."my memory"]'),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "a table behind": lambda text: text + "\n[tools]\nweb = true\n",
    "a comment behind": lambda text: text + "\n# mine\n",
    "a table before": lambda text: text.replace(HEADER, f"[tools]\nweb = true\n\n{HEADER}"),
}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("name", "target"), cases_of(TOML_EDITS, OF_TOML))
def test_what_was_edited_in_toml_is_put_right_and_taken_out(
    name: str, target: Target, bench: Bench
) -> None:
    bench.put({target.name: theirs(target)})
    made = setup(bench, target)[0]
    text = TOML_EDITS[name](made)
    user = tomllib.loads(text)
    user["mcp_servers"] = {it: of for it, of in user["mcp_servers"].items() if not is_ours(of)}
    bench.put({target.name: text})
    again, problems = setup(bench, target)
    assert problems == []
    data = tomllib.loads(again)
    assert holds(data, user)
    assert sum(map(is_ours, data["mcp_servers"].values())) == 1
    assert setup(bench, target)[0] == again
    left, problems = setup(bench, target, remove=True)
    assert (tomllib.loads(left), problems) == (user, [])
    assert ("# mine" in left) == ("# mine" in text)


@pytest.mark.parametrize("target", OF_TOML, ids=str)
def test_an_entry_in_one_line_of_toml_is_left_with_a_sentence(target: Target, bench: Bench) -> None:
    text = f'[mcp_servers]\n{ENTRY} = {{ command = "x", args = ["/t/server.py"] }}\n'
    bench.put({target.name: text})
    assert setup(bench, target) == (text, ["toml_form"])
    assert setup(bench, target, remove=True) == (text, ["toml_form_out"])


# The block of the rules.

BROKEN: dict[str, Callable[[str], str]] = {
    "no beginning": lambda text: text.replace(BEGIN, ""),
    "no end": lambda text: text.replace(END, ""),
    "the end first": lambda text: text.replace(BEGIN, "@").replace(END, BEGIN).replace("@", END),
    "twice": lambda text: text + text,
    "a second beginning": lambda text: text.replace(END, f"{BEGIN}\n{END}"),
    "a second end": lambda text: text + END,
}
WHOLE: dict[str, Callable[[str], str]] = {
    "at the top": lambda text: text[text.find(BEGIN) :] + text[: text.find(BEGIN)],
    "text behind": lambda text: text + "내 글\n",
    "text on the line of the end": lambda text: text.replace(END, f"{END} 내 글"),
    "text on the line of the beginning": lambda text: text.replace(BEGIN, f"내 글 {BEGIN}"),
    "indented": lambda text: text.replace(BEGIN, f"  {BEGIN}").replace(END, f"  {END}"),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "blank lines around": lambda text: text.replace(BEGIN, f"\n\n{BEGIN}").replace(
        END, END + "\n\n"
    ),
    "text in the block": lambda text: text.replace(END, f"Of mine, here.\n{END}"),
    "an empty block": lambda text: re.sub(f"{BEGIN}.*{END}", f"{BEGIN}\n{END}", text, flags=re.S),
    "older rules": lambda text: re.sub(
        f"{BEGIN}.*{END}", f"{BEGIN}\nOld.\n{END}", text, flags=re.S
    ),
}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("name", "target"), cases_of(BROKEN, OF_RULES))
def test_half_a_block_is_left_with_a_sentence(name: str, target: Target, bench: Bench) -> None:
    bench.put({target.name: theirs(target)})
    text = BROKEN[name](setup(bench, target)[0])
    bench.put({target.name: text})
    assert setup(bench, target) == (text, ["broken_block"])
    assert setup(bench, target, remove=True) == (text, ["broken_block"])


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("name", "target"), cases_of(WHOLE, OF_RULES))
def test_a_block_goes_from_where_the_user_put_it(name: str, target: Target, bench: Bench) -> None:
    bench.put({target.name: theirs(target)})
    made = setup(bench, target)[0]
    rules = made[made.find(BEGIN) : made.find(END)]
    text = WHOLE[name](made)
    mine = [line for line in f"{theirs(target)}내 글".splitlines() if line in text]
    bench.put({target.name: text})
    again, problems = setup(bench, target)
    assert problems == []
    assert "".join(rules.split()) in "".join(again.split())
    assert "Of mine" not in again
    assert setup(bench, target)[0] == again
    left, problems = setup(bench, target, remove=True)
    assert (problems, BEGIN in left, "search_memory" in left) == ([], False, False)
    assert [line for line in mine if line not in left] == []


def test_the_diff_names_what_goes_with_a_block(bench: Bench) -> None:
    target = next(it for it in OF_RULES if it.client == "gemini")
    bench.put({target.name: WHOLE["text in the block"](setup(bench, target)[0])})
    for remove in (False, True):
        changes = target.plan(bench, remove=remove).changes
        [change] = [it for it in changes if it.path == bench.path(target.name)]
        assert "-Of mine, here." in change_lines(change, bench.root)
