"""Tests that setup gives back every file of a client byte for byte, or leaves it with a sentence.

The files are those of the plan, for every client on every level.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.setup.client_table import CLIENTS
from commands.setup.lines import change_lines
from core.messages import Language
from tests.support.client_files import Target, as_read, holds, targets, theirs
from tests.support.costly import one_in
from tests.support.desk import Desk
from tests.support.file_conditions import conditions
from tests.support.sentences import sentence
from tests.support.setup_bench import Bench
from tests.support.tables import table

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the bench has paths of POSIX")

TARGETS = list(targets())
# By default one file of each client in some of the conditions, and each condition for some client.
FIRST = {it.client: it for it in reversed(TARGETS)}
PARTS = range(6)
EACH = [
    pytest.param(it, part, id=f"{it}-{part}", marks=[] if is_tried else pytest.mark.long)
    for it in TARGETS
    for part in PARTS
    for is_tried in [it in FIRST.values() and part == list(FIRST).index(it.client) % len(PARTS)]
]
# What a next step of a sentence is known by.
STEPS = {"en": ("then repeat the command", "by hand"), "ko": ("다시 실행하세요", "직접")}


def faults(bench: Bench, target: Target, data: bytes, *, is_read: bool) -> Iterator[str]:
    """What is wrong when the user's file holds this, and the client reads it or does not."""
    path = bench.path(target.name)
    bench.put({target.name: data})
    made = target.plan(bench)
    bench.take(made)
    now = bench.files()[target.name]
    if not is_read:
        if [problem.facts["path"] for problem in made.problems] != [str(path)]:
            yield f"problems {made.problems}"
        for problem in made.problems:
            yield from _unclear(problem.key, problem.facts, path)
        if now != data:
            yield "written to"
    elif made.problems:
        yield f"refused: {made.problems}"
    else:
        yield from _lost(target, data, now, target.fresh_in(bench))
    again = target.plan(bench)
    if again.changes or again.problems != made.problems:
        yield f"the second run {[change.path.name for change in again.changes]} {again.problems}"
    bench.take(target.plan(bench, remove=True))
    left = bench.files()
    if left != {target.name: data}:
        yield f"left {left}, not {data!r}"
    if target.plan(bench, remove=True).changes:
        yield "more to remove"


def _unclear(key: str, facts: dict[str, str | int], path: Path) -> Iterator[str]:
    languages: tuple[Language, ...] = ("en", "ko")
    for lang in languages:
        text = sentence(lang, f"setup.{key}", **facts)
        if str(path) not in text or not any(step in text for step in STEPS[lang]):
            yield f"unclear: {text}"


def _lost(target: Target, before: bytes, after: bytes, ours: str) -> Iterator[str]:
    if target.name.endswith(".mdc") and after == before:
        return  # the rules are put elsewhere
    try:
        read = as_read(target, after)
    except ValueError as error:
        yield f"the client reads nothing: {error} {after.decode()}"
        return
    if target.kind == "text":
        if before.decode().rstrip("\r\n") not in after.decode():
            yield f"the user's text is gone: {after!r}"
        return
    user = as_read(target, before) if before.strip(b"\xef\xbb\xbf \t\r\n") else {}
    if not holds(read, user):
        yield f"the user's data are gone: {read}"
    own = as_read(target, ours.encode())
    if user and "version" not in user:  # only a new file is given one
        own.pop("version", None)
    if not holds(read, own):
        yield f"ours are not there: {read}"


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("target", "part"), EACH)
def test_every_file_is_given_back_or_left_alone(target: Target, part: int, tmp_path: Path) -> None:
    found, text = [], theirs(target)
    for at, (name, (made, needs)) in enumerate([*conditions(target)][part :: len(PARTS)]):
        data = made(text)
        is_read = needs is not None and (not needs or needs in target.takes.split())
        case = data.encode() if isinstance(data, str) else data
        said = faults(Bench(tmp_path / str(at)), target, case, is_read=is_read)
        found += [f"{name}: {fault}" for fault in said]
    assert found == [], "\n".join(found)


def large(kind: str) -> str:
    if kind == "text":
        return "# 규칙\nBe kind.\n" * 200_000
    if kind == "toml":
        return "".join(f'[p."/{at}"]\na = [1, {{ b = "#" }}]\n' for at in range(5_000))
    history = {f"/p{at}": [{"말": 'a " // {' * 9} for _ in range(20)] for at in range(2_000)}
    return json.dumps({"description": history}, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.long
@pytest.mark.parametrize("target", {it.kind: it for it in TARGETS}.values(), ids=str)
def test_a_very_large_file_is_given_back(target: Target, tmp_path: Path) -> None:
    data = large(target.kind).encode()
    assert list(faults(Bench(tmp_path), target, data, is_read=True)) == []


def test_every_file_that_is_refused_is_named_and_the_command_fails(desk: Desk) -> None:
    """All at once, as a user meets it."""
    files = {
        str(Path(desk.root if it.name.startswith("root/") else desk.home, it.name[5:]))
        for it in TARGETS
        if it.level == "project" and "/.git/" not in it.name
    }
    for file in files:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_bytes(b"\xb1\xe2\xbe\xef {")
    before = desk.files()
    code, _, errors = desk.run("setup", *(row.key for row in CLIENTS), "--yes")
    assert code == 1
    assert {line.partition(": ")[0] for line in errors.splitlines()} == files
    assert before.items() <= desk.files().items()
    code, _, errors = desk.run("setup", *(row.key for row in CLIENTS), "--remove", "--yes")
    assert code == 1
    assert desk.files() == before


ROWS = table("commands/secret_diffs")


FILES = list({target.name: target for target in targets()}.values())
CONFIGURATIONS = [target for target in FILES if target.kind != "text"]
SECRET = "Hunter2wasHere"
PIN = "48151623"

JSON_FORMS: dict[str, str] = ROWS["json_forms"]
COMMENTS: dict[str, str] = ROWS["comments"]
TOML_FORMS: dict[str, str] = ROWS["toml_forms"]


def forms(target: Target) -> list[tuple[str, str]]:
    """Files of the user with a secret in each form, beside the place of ours."""
    text = theirs(target)
    if target.kind == "toml":
        return [(name, f"{text}{form}\n") for name, form in TOML_FORMS.items()]
    place = next(it for it in ('"command": ', '"bash": ', '"allow": ', '"kind": ') if it in text)
    made = [(name, text.replace(place, f"{form},\n{place}")) for name, form in JSON_FORMS.items()]
    made += [(f"{name}, in one line", json.dumps(json.loads(text))) for name, text in made]
    if "comments" in target.takes:
        made += [(name, text.replace("\n", f" {it}")) for name, it in COMMENTS.items()]
    return made


@pytest.mark.parametrize("target", one_in(16, CONFIGURATIONS), ids=str)
def test_a_diff_shows_no_value_of_the_user(target: Target, tmp_path: Path) -> None:
    leaks = []
    for at, (name, text) in enumerate(forms(target)):
        bench = Bench(tmp_path / str(at))
        bench.put({target.name: text})
        put_in = target.plan(bench)
        assert (name, put_in.problems) == (name, ())
        bench.take(put_in)
        moved = bench.path(target.name).read_text().replace("/cli.py", "/old/cli.py")
        out = target.plan(bench, remove=True)
        bench.put({target.name: moved.replace('server.py"', 'server.py", "--old"')})
        for change in (*put_in.changes, *out.changes, *target.plan(bench).changes):
            shown = "\n".join(change_lines(change, bench.root))
            leaks += [f"{name}:\n{shown}" for it in (SECRET, PIN) if it in shown]
    assert leaks == [], "\n".join(leaks)
