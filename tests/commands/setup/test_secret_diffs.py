"""Tests that no diff of setup shows what stands beside ours in a configuration."""

import json
import os
from pathlib import Path

import pytest

from commands.setup.lines import change_lines
from tests.support.client_files import Target, targets, theirs
from tests.support.costly import one_in
from tests.support.setup_bench import Bench
from tests.support.tables import table

ROWS = table("commands/secret_diffs")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the bench has paths of POSIX")

TARGETS = list({target.name: target for target in targets()}.values())
CONFIGURATIONS = [target for target in TARGETS if target.kind != "text"]
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
