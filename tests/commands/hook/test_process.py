"""Tests a hook as the process that a client starts: it ends with 0, and says JSON or nothing.

The states are those of the sweep over all doors, those that only a hook meets, what no client
should send, and parts of the program that fail. A new trap is a row.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from commands.clients.table import EVENTS, RECORDING
from core.messages import Language
from tests.support.cli_process import CLI, Run, without_settings
from tests.support.client_events import claude, claude_edit
from tests.support.costly import enough
from tests.support.git_clones import new_project
from tests.support.hook_desk import LESSON, LOGIN, REFUND, Desk
from tests.support.stdio_client import ROOT
from tests.test_sweep import STATES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pipes, rights and /dev/full")

LOG, COMPLAINT = ".context/memory_log.jsonl", "sentinel-memory hook: "


class Trap(NamedTuple):
    """What a hook meets."""

    prepare: Callable[[Desk], object] = lambda desk: None
    given: bytes | None = None  # in the place of what the client sends
    line: str = '"$0" "$@"'  # as a shell gets it
    words: Sequence[str] = ("--client", "claude-code")
    variables: Mapping[str, str] = {}
    says: str = ""  # what its line on standard error has, in English
    answers: bool = False  # the lesson about a file comes all the same


def placed(make: Callable[[Path], object], path: str = LOG, **more: Any) -> Trap:
    """Something else stands in the place of the log, or of another file of the project."""

    def prepare(desk: Desk) -> None:
        place = desk.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        make(place)

    return Trap(prepare, **more)


def text(data: str, path: str) -> Trap:
    return placed(lambda place: place.write_text(data), path, answers=path != LOG)


def swept(state: Callable[[Path], object]) -> Trap:
    return Trap(lambda desk: state(desk.root))


def bare(desk: Desk) -> None:
    shutil.rmtree(desk.log.parent)
    desk.log.parent.write_text("")


def read_only(desk: Desk) -> None:
    desk.log.parent.chmod(0o500)
    desk.root.chmod(0o500)


ODD = ("BUDGET", "HOOK_BUDGET", "ROOMS", "STRICT", "THRESHOLD", "PROJECT")
RELATIVE = dict.fromkeys(("SENTINEL_MEMORY_STATE", "XDG_STATE_HOME", "HOME"), "there")
NO_JSON = "the input is no JSON"
TRAPS = {
    "a log that nobody may read": Trap(lambda desk: desk.log.chmod(0), says=LOG),
    "a pipe for a log": placed(os.mkfifo, says=LOG),
    "a link to nowhere for a log": placed(lambda path: path.symlink_to("nowhere"), says=LOG),
    "a log above the limit": text("x" * 8_000_001, LOG),
    "a lock that somebody holds": text("held", f"{LOG}.lock"),
    "a file for a .context": Trap(bare, says=LOG),
    "no project": Trap(words=("--client", "claude-code", "-p", "/nowhere")),
    "a read-only project": Trap(read_only, answers=True),
    "a read-only state": Trap(lambda desk: desk.state.mkdir(mode=0o500), answers=True),
    "a file for the state": Trap(lambda desk: desk.state.write_text(""), answers=True),
    "no git to ask": Trap(variables={"PATH": ""}, answers=True),
    "a torn repository": text("nonsense", ".git/HEAD"),
    "a torn index": text("nonsense", ".git/index"),
    "odd settings": Trap(variables={f"SENTINEL_MEMORY_{it}": "${odd}\x01" for it in ODD}),
    "torn settings of sessions": text("[]", ".context/sessions/config.json"),
    "a torn database": text("no database " * 99, ".context/sessions/history.db"),
    "a pipe for a database": placed(os.mkfifo, ".context/sessions/history.db"),
    "a torn entry": text('{"mcpServers": [', ".mcp.json"),
    "a pipe for an entry": placed(os.mkfifo, ".mcp.json"),
    "a long name in an entry": text("a." * 20_000 + "a = 1", ".codex/config.toml")._replace(
        words=("--client", "codex")
    ),
    "a nest for an entry": text("[" * 200_000, ".mcp.json"),
    "a state from where it is": Trap(variables=RELATIVE, answers=True),
    "no home": Trap(variables={"HOME": "", "SENTINEL_MEMORY_STATE": ""}, answers=True),
    "nothing comes in": Trap(given=b"", says=NO_JSON),
    "bytes come in": Trap(given=b"\xff\xfe\0", says=NO_JSON),
    "half of it comes in": Trap(given=b'{"session_id": "', says=NO_JSON),
    "a list comes in": Trap(given=b"[]", says="the input is no JSON object"),
    "an empty object comes in": Trap(given=b"{}"),
    "a nest comes in": Trap(given=b"[" * 100_000, says=NO_JSON),
    "a long number comes in": Trap(given=b'{"a": ' + b"9" * 5_000 + b"}", says=NO_JSON),
    "33 MB come in": Trap(given=b'{"a": "' + b"x" * 33_000_000, says=COMPLAINT),
    "other types come in": Trap(given=b'{"session_id": [], "cwd": {}, "tool_input": [1]}'),
    "a name that no system takes": Trap(given=b'{"session_id": "s", "cwd": "/a\\u0000b"}'),
    "stdin closed": Trap(line='"$0" "$@" <&-', says="standard input is closed"),
    "stdout closed": Trap(line='"$0" "$@" >&-'),
    "stdout full": Trap(line='"$0" "$@" >/dev/full'),
    "stderr closed": Trap(line='"$0" "$@" <&- 2>&-'),
    "stderr full": Trap(line='"$0" "$@" <&- 2>/dev/full'),
    "all closed": Trap(line='"$0" "$@" <&- >&- 2>&-'),
    "no folder to be in": Trap(line='mkdir a; cd a; rmdir ../a; exec "$0" "$@"', answers=True),
    **{f"the sweep: {name}": swept(state) for name, state in STATES.items()},
}  # fmt: skip
# Each state is met by the process of one event, in one of the languages.
EACH = [(event, lang) for lang in ("en", "ko") for event in EVENTS]
STARTED = [(trap, *EACH[at % len(EACH)]) for at, trap in enumerate(TRAPS)]
IN_PROCESS = [name for name, trap in TRAPS.items() if trap.line == Trap().line]


def payload(desk: Desk, event: str) -> dict[str, Any]:
    """What Claude Code sends."""
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


def check(desk: Desk, name: str, event: str, lang: Language, *, is_started: bool) -> None:
    """The hook ends with 0, says JSON or nothing, and one line at most of what went wrong."""
    trap = TRAPS[name]
    given = json.dumps(payload(desk, event)).encode() if trap.given is None else trap.given
    variables = {"HOME": str(desk.home), "SENTINEL_MEMORY_LANG": lang, **trap.variables}
    where: dict[str, Any] = {"cwd": desk.elsewhere, "environment": desk.environment(**variables)}
    before, words = desk.tree(), ("hook", event, *trap.words)
    if is_started:
        command = ("/bin/sh", "-c", trap.line, sys.executable, str(CLI), *words)
        done = Run.process(*command, given=given, **where)
    else:
        done = Run.placed(*words, given=given, **where)
    assert done.code == 0
    assert not done.out or isinstance(json.loads(done.out), dict)
    assert not done.errors or done.errors.startswith(COMPLAINT)
    assert done.errors.count("\n") <= 1 and "Traceback" not in done.errors
    if lang == "en" and event != RECORDING:
        assert trap.says in done.errors
    if trap.answers and lang == "en" and event in ("before-action", "session-start"):
        text = json.loads(done.out)["hookSpecificOutput"]["additionalContext"]
        assert text == LESSON or (event == "session-start" and REFUND.lesson in text)
    assert desk.tree() == before or event == RECORDING
    assert list(desk.elsewhere.iterdir()) == []


@pytest.mark.parametrize(("name", "event", "lang"), enough(STARTED, lambda *it: it[1:], names=3))
def test_a_hook_ends_with_0_and_says_json_or_nothing(
    desk: Desk, name: str, event: str, lang: Language
) -> None:
    TRAPS[name].prepare(desk)
    check(desk, name, event, lang, is_started=True)


@pytest.mark.long
@pytest.mark.parametrize(("name", "lang"), [*zip(IN_PROCESS, cycle(("ko", "en")), strict=False)])
def test_each_event_does_so_in_each_state(desk: Desk, name: str, lang: Language) -> None:
    TRAPS[name].prepare(desk)
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
    "commands.hook.actions": RECORDING,
}
ERRORS = ("ImportError", "RuntimeError('odd')", "MemoryError", "KeyboardInterrupt")


@pytest.mark.parametrize(
    ("module", "error"),
    enough(
        [(part, error) for part in PARTS for error in ERRORS],
        lambda *it: it[0][:4] + it[1],
        names=2,
    ),
)
def test_a_part_of_the_program_that_fails_vetoes_nothing(
    desk: Desk, module: str, error: str
) -> None:
    event = PARTS[module]
    script = BROKEN.format(root=str(ROOT), module=module, error=error)
    command = (sys.executable, "-c", script, event, "--client", "claude-code")
    given = json.dumps(payload(desk, event)).encode()
    assert Run.process(*command, given=given, **desk.beside) == (
        *(0, ""),
        f"{COMPLAINT}{error.partition('(')[0]}\n",
    )
