"""Tests a hook as the process that a client starts: it ends with 0, and says JSON or nothing.

The states are those of the sweep over all doors, those that only a hook meets, events that no
client should send, and parts of the program that fail. A new trap is a row.
"""

import json
import os
import shutil
import sys
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest

from commands.clients.table import EVENTS, RECORDING
from core.lessons.log import MemoryLog
from core.messages import Language
from tests.support.cli_process import CLI, Run, without_settings
from tests.support.client_events import LESSON, LOGIN, REFUND, Desk, claude, claude_edit
from tests.support.costly import enough
from tests.support.git_clones import new_project
from tests.support.tables import ROOT, table
from tests.test_sweep import STATES

sys.path.insert(0, str(ROOT / "benchmarks"))

from hostile import EVENTS as HOSTILE_EVENTS
from hostile import HOSTILE, hooked, project_of, ten_thousand

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pipes, rights and /dev/full")

COMPLAINT, LINE = "sentinel-memory hook: ", '"$0" "$@"'  # a line as a shell gets it


# The traps: steps that prepare the project, and anything else unusual. "says" is in the line on
# standard error, in English; where it "answers", the lesson about a file comes anyway.
TRAPS: dict[str, dict[str, Any]] = {
    **table("commands/hook_traps"),
    **{f"the sweep: {name}": {"state": state} for name, state in STATES.items()},
}
# Each state is met by the process of one event, in one of the languages.
EACH = [(event, lang) for lang in ("en", "ko") for event in EVENTS]
STARTED = [(trap, *EACH[at % len(EACH)]) for at, trap in enumerate(TRAPS)]
IN_PROCESS = [name for name, trap in TRAPS.items() if "line" not in trap]


def payload(desk: Desk, event: str) -> dict[str, Any]:
    """The event as Claude Code sends it."""
    if event == "before-action":
        return claude_edit(desk.root, "src/refund.py")
    tool = {"tool_name": "Bash", "tool_input": {"command": "npm test"}, "tool_response": "ok"}
    more: dict[str, Any] = {RECORDING: tool, "prompt": {"prompt": "refunds above 500, refund.py"}}
    names = {"session-start": "SessionStart", "stop": "Stop", RECORDING: "PostToolUse"}
    name = names.get(event, "UserPromptSubmit")
    return claude(name, desk.root, **more.get(event, {"source": "startup"}))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    without_settings(monkeypatch)
    new_project(tmp_path / "shop", "one")
    desk = Desk(tmp_path / "shop", tmp_path / "elsewhere")
    desk.write(REFUND, LOGIN)
    return desk


def prepare(desk: Desk, trap: dict[str, Any]) -> None:
    """Bring the project into the state of a trap."""
    if "state" in trap:
        trap["state"](desk.root)
    for verb, *more in trap.get("steps", ()):
        path = desk.root / more[-1 if verb == "mode" else 0]
        if verb == "mode":
            path.chmod(int(more[0], 8))
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if verb == "more":
            path.write_text(path.read_text() + more[1])
            continue
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        if verb == "text":
            path.write_text(more[1] * more[2])
        elif verb == "pipe":
            os.mkfifo(path)
        elif verb == "link":
            path.symlink_to("nowhere")
        else:
            path.mkdir()


def check(desk: Desk, name: str, event: str, lang: Language, *, is_started: bool) -> None:
    """The hook ends with 0, says JSON or nothing, and at most one line about an error."""
    trap = TRAPS[name]
    given = json.dumps(payload(desk, event)).encode()
    if "given" in trap:
        head, times, more = trap["given"]
        given = (head + more * times + trap.get("end", "")).encode("latin-1")
    variables = {"HOME": str(desk.home), "SENTINEL_MEMORY_LANG": lang, **trap.get("variables", {})}
    where: dict[str, Any] = {"cwd": desk.home, "environment": desk.environment(**variables)}
    client = trap.get("client", "claude-code")
    before, words = desk.tree(), ("hook", event, "--client", client, *trap.get("words", ()))
    if is_started:
        command = ("/bin/sh", "-c", trap.get("line", LINE), sys.executable, str(CLI), *words)
        done = Run.process(*command, given=given, **where)
    else:
        done = Run.placed(*words, given=given, **where)
    assert done.code == 0
    assert not done.out or isinstance(json.loads(done.out), dict)
    assert not done.errors or done.errors.startswith(COMPLAINT)
    assert done.errors.count("\n") <= 1 and "Traceback" not in done.errors
    if lang == "en" and event != RECORDING:
        assert trap.get("says", "") in done.errors
    if "answers" in trap and lang == "en" and event in ("before-action", "session-start"):
        text = json.loads(done.out)["hookSpecificOutput"]["additionalContext"]
        assert text == LESSON or (event == "session-start" and REFUND.lesson in text)
    assert desk.tree() == before or event == RECORDING
    assert list(desk.home.iterdir()) == []


@pytest.mark.parametrize(("name", "event", "lang"), enough(STARTED, lambda *it: it[1:]))
def test_it_ends_with_0_and_says_json(desk: Desk, name: str, event: str, lang: Language) -> None:
    prepare(desk, TRAPS[name])
    check(desk, name, event, lang, is_started=True)


@pytest.mark.long
@pytest.mark.parametrize(("name", "lang"), [*zip(IN_PROCESS, cycle(("ko", "en")), strict=False)])
def test_each_event_does_so_in_each_state(desk: Desk, name: str, lang: Language) -> None:
    prepare(desk, TRAPS[name])
    for event in EVENTS:
        check(desk, name, event, lang, is_started=False)


# A part of the program that fails when it is loaded, in every way in which it may.
BROKEN = """
import runpy, sys
class Broken:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise {error}
sys.meta_path.insert(0, Broken())
sys.argv = ["cli.py", "hook", *sys.argv[1:]]
sys.path[0] = {root!r}
runpy.run_path({root!r} + "/cli.py", run_name="__main__")
"""
PARTS = {
    "core.errors": "session-start",
    "commands.hook.hook": "stop",
    "commands.hook.start": "session-start",
    "core.lessons.recall": "before-action",
    "commands.hook.after_action": RECORDING,
}
ERRORS = ("ImportError", "RuntimeError('odd')", "MemoryError", "KeyboardInterrupt")


@pytest.mark.parametrize(
    ("module", "error"), enough(product(PARTS, ERRORS), lambda *it: it[0][:4] + it[1])
)
def test_a_part_of_the_program_that_fails_is_no_veto(desk: Desk, module: str, error: str) -> None:
    event = PARTS[module]
    script = BROKEN.format(root=str(ROOT), module=module, error=error)
    command = (sys.executable, "-c", script, event, "--client", "claude-code")
    given = json.dumps(payload(desk, event)).encode()
    said = f"{COMPLAINT}{error.partition('(')[0]}\n"
    assert Run.process(*command, given=given, **desk.beside) == (0, "", said)


# A log that is large or takes long to read; benchmarks/hostile.py has the real figures.


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
def test_it_ends_soon_with_every_hostile_log(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    data = HOSTILE[name]()
    project = project_of(tmp_path / "project", data)
    is_empty = not MemoryLog.parse(data).count  # then there is nothing to say
    for event in HOSTILE_EVENTS:
        done = hooked(project, event)
        assert done.code == 0
        assert done.processor_s < 10, event  # of the processor, its start included
        assert len(done.output) < 20_000
        assert done.output or done.errors or event != "session-start" or is_empty


@pytest.mark.long
def test_it_answers_from_10000_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    project = project_of(tmp_path / "project", ten_thousand())
    # It gives up after some processor time, which other processes may make longer: one has to end.
    done = next(it for _ in range(3) if not (it := hooked(project, "session-start")).errors)
    assert done.code == 0
    assert b"10,000" in done.output or b"10000" in done.output
