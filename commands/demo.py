"""Tells one story in a screenful: an agent is corrected, and the next one is told in time.

The agents' actions are written here; all answers are real.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any, NamedTuple

from commands.clients.machine import is_temporary
from commands.terminal.ask import need_packages
from commands.terminal.screen import Screen, break_text, named_lines, screen_here, shorten
from core import git
from core.config import CONTEXT_DIRECTORY, LOG_NAME, STATE_VARIABLE, VARIABLES
from core.errors import SentinelError
from core.messages import LANG_VARIABLE, language, say

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_S = 60  # for an answer; a program that needs longer hangs
MOST_LINES, MOST_REPORT_LINES = 14, 5
FILE = "migrations/0042_drop_phone.sql"
EDIT = "ALTER TABLE users DROP COLUMN phone;"
FIELDS = ("topic", "missing_context", "lesson", "ask_next_time")
ANCHORS = {"paths": ["migrations/**"], "when": ["DROP COLUMN"]}
README = "# Scratch project\n\nMade by the demo of Sentinel-Memory.\n"
GIT_SETTINGS = ("user.name=demo", "user.email=demo@example.invalid", "commit.gpgsign=false")
CLIENT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "demo", "version": "1"},
}


class Stage(NamedTuple):
    project: Path
    environment: Mapping[str, str]
    screen: Screen

    def write_head(self, text: str) -> None:
        """Print a paragraph below a blank line, its first sentence in bold."""
        first, point, rest = text.partition(". ")
        painted = self.screen.paint(first + point.rstrip(), "bold")
        print()
        self.write(painted + point[1:] + rest)

    def write(self, text: str) -> None:
        print("\n".join(break_text(text, self.screen.text_width)), flush=True)

    def write_answer(self, text: str, most_lines: int = MOST_LINES) -> None:
        """Print at most `most_lines` behind a bar, then the number of the others."""
        width = self.screen.text_width - 4
        lines = [part for line in text.splitlines() for part in break_text(line, width)]
        print("\n".join(f"  | {line}".rstrip() for line in lines[:most_lines]))
        if len(lines) > most_lines:
            print("  " + say("demo.more_lines", count=len(lines) - most_lines))

    def run(self, script: str, *words: str, stdin: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, str(ROOT / script), *words],
            input=stdin.encode(),
            capture_output=True,
            cwd=self.project,
            env=self.environment,
            timeout=PATIENCE_S,
            check=False,
        )

    def run_command(self, *words: str, stdin: str = "") -> str:
        """Return the output of our command. Raises SentinelError."""
        process = self.run("cli.py", *words, stdin=stdin)
        if process.returncode or process.stderr:
            raise SentinelError("demo.failed", reason=f"{words[0]}: {_text_of(process.stderr)}")
        return _text_of(process.stdout)


def demo(options: argparse.Namespace) -> int:
    """Tell the story in a scratch project, which is removed. Raises SentinelError."""
    need_packages()
    try:
        with tempfile.TemporaryDirectory(prefix="sentinel-demo-") as scratch:
            variables = {  # the settings of this program are not the story's
                name: value
                for name, value in os.environ.items()
                if not name.startswith("SENTINEL_MEMORY_") and name not in VARIABLES
            }
            state = str(Path(scratch, "state"))
            environment = {**variables, LANG_VARIABLE: language(), STATE_VARIABLE: state}
            stage = Stage(Path(scratch, "web-shop"), environment, screen_here())
            stage.write(stage.screen.paint(say("demo.story"), "bold"))
            stage.write(say("demo.story_is_real"))
            stage.write(stage.screen.paint(say("demo.story_place", path=str(stage.project)), "dim"))
            has_git = _make_project(stage)
            _play_monday(stage)
            _play_tuesday(stage, has_git=has_git)
            key = "next_uvx" if is_temporary(str(ROOT)) else "next"
            stage.write_head(say(f"demo.story_{key}"))
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SentinelError("demo.failed", reason=str(error)) from error
    return 0


def _make_project(stage: Stage) -> bool:
    """Make the scratch project; return whether git works there."""
    # With this directory, the server takes no outer project for this one.
    (stage.project / CONTEXT_DIRECTORY).mkdir(parents=True)
    (stage.project / "README.md").write_text(README, encoding="utf-8", newline="\n")
    settings = [part for setting in GIT_SETTINGS for part in ("-c", setting)]
    variables = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}  # none of the user's
    try:  # a new Mac has only a stub of git, which fails
        if git.run(stage.project, "--version").returncode:
            return False
    except git.HistoryError:
        return False
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "--no-verify", "-m", "Start")):
        process = git.run(stage.project, *settings, *words, variables=variables)
        if process.returncode:
            raise SentinelError("demo.failed", reason=f"git {words[0]}: {_text_of(process.stderr)}")
    return True


def _play_monday(stage: Stage) -> None:
    """Save the lesson by a call to a server, which starts and ends here."""
    lesson = {name: say(f"demo.saved_{name}") for name in FIELDS}
    anchors = {name: ", ".join(texts) for name, texts in ANCHORS.items()}
    stage.write_head(say("demo.story_monday"))
    print("\n".join(named_lines({**lesson, **anchors}, width=stage.screen.text_width)))
    call = {"name": "log_memory", "arguments": {**lesson, **ANCHORS}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": CLIENT},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    process = stage.run("server.py", "--project", str(stage.project), stdin=lines)
    try:
        answers = {reply.get("id"): reply for reply in map(json.loads, process.stdout.splitlines())}
        result = answers[2]["result"]
    except (ValueError, KeyError, AttributeError) as error:
        error_lines = _text_of(process.stderr).splitlines() or ["no answer"]
        reason = f"{ROOT / 'server.py'} gave no answer: {error_lines[-1]}"
        raise SentinelError("demo.failed", reason=reason) from error
    answer = str(result["content"][0]["text"])
    if result.get("isError"):
        raise SentinelError("demo.failed", reason=f"server.py refused log_memory: {answer}")
    records = [json.loads(line) for line in _read_log(stage).splitlines()]
    _check([{name: record.get(name) for name in FIELDS} for record in records] == [lesson], answer)
    stage.write_answer(shorten(answer.splitlines()[0], stage.screen.text_width - 4))


def _play_tuesday(stage: Stage, *, has_git: bool) -> None:
    """Warn the next agent by the hook of its client, and show the change to a reviewer."""
    stage.write_head(say("demo.story_tuesday", file=FILE))
    print(f"  {EDIT}")
    stage.write(say("demo.story_hook"))
    event = {
        "session_id": "tuesday",
        "cwd": str(stage.project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": str(stage.project / FILE), "content": f"{EDIT}\n"},
    }
    words = ("hook", "before-action", "--client", "claude-code")
    answer = stage.run_command(*words, stdin=json.dumps(event))
    context = json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""
    _check(say("demo.saved_lesson") in context, answer)
    stage.write_answer(context)
    if has_git:
        stage.write_head(say("demo.story_pull_request"))
        answer = stage.run_command("report")
    else:
        stage.write_head(say("demo.story_no_git"))
        name = f"{CONTEXT_DIRECTORY}/{LOG_NAME}"
        lines = _read_log(stage).splitlines()
        answer = "\n".join(unified_diff([], lines, f"a/{name}", f"b/{name}", lineterm=""))
    _check(say("demo.saved_lesson") in answer, answer)
    stage.write_answer("\n".join(filter(None, answer.splitlines())), MOST_REPORT_LINES)


def _read_log(stage: Stage) -> str:
    path = stage.project / CONTEXT_DIRECTORY / LOG_NAME
    return path.read_text("utf-8") if path.exists() else ""


def _check(is_so: bool, answer: str) -> None:
    if not is_so:
        raise SentinelError("demo.failed", reason=answer or "no answer")


def _text_of(output: bytes) -> str:
    return output.decode("utf-8", "replace").replace("\r\n", "\n").rstrip()
