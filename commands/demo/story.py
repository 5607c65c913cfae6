"""Tells one story in a screenful: an agent is corrected, and the next one is told in time.

What the agents do is written here, since no language model takes part. What they are answered is
not: the server saves, the hook speaks, the report reads the change from git.
"""

import json
from pathlib import Path
from typing import Any

from commands.clients.machine import is_passing
from commands.demo.stage import SERVER, DemoFailedError, ScratchProject, Screen, Stage, on_stage
from commands.terminal.markdown_lines import markdown_lines
from core.lessons.record import LIMITS_BYTES
from core.messages import say

FILE = "migrations/0042_drop_phone.sql"
EDIT = "ALTER TABLE users DROP COLUMN phone;"
FIELDS = "topic", "missing_context", "lesson", "ask_next_time"
ANCHORS = {"paths": ["migrations/**"], "when": ["DROP COLUMN"]}
MOST_REPORT_LINES = 5


async def tell_story(project: ScratchProject, screen: Screen, server: Path, scratch: Path) -> None:
    """Tell the story. Raises DemoFailedError when an answer is not what the story says."""
    screen.say(screen.terminal.painted(say("demo.story"), "bold"))
    screen.say(say("demo.story_is_real"))
    goes = project.root.is_relative_to(scratch)
    place = say("demo.story_place" if goes else "demo.story_kept_place", path=str(project.root))
    screen.say(screen.terminal.painted(place, "dim"))
    async with on_stage(project, screen, server, scratch) as stage:
        await _monday(stage)
        _tuesday(stage)
    _pull_request(stage)
    is_lent = is_passing(str(SERVER.parent))
    screen.head(say("demo.story_next_uvx" if is_lent else "demo.story_next"))


async def _monday(stage: Stage) -> None:
    """An agent has been corrected, and saves what it was not told."""
    lesson = {name: say(f"demo.saved_{name}") for name in FIELDS}
    stage.screen.head(say("demo.story_monday"))
    anchors = {name: ", ".join(texts) for name, texts in ANCHORS.items()}
    stage.screen.fields({**lesson, **anchors})
    answer = await stage.done("log_memory", **lesson, **ANCHORS)
    saved = [{name: it.get(name) for name in LIMITS_BYTES} for it in stage.project.records()]
    _check(saved == [{"ask_next_time": None, **lesson}], answer)
    stage.screen.show(answer.splitlines()[0], cut=True)


def _tuesday(stage: Stage) -> None:
    """Another agent is about to make the same mistake; the hook of its client speaks first."""
    stage.screen.head(say("demo.story_tuesday", file=FILE))
    stage.screen.say(f"  {EDIT}")
    stage.screen.say(say("demo.story_hook"))
    path = stage.project.root / FILE
    event = {
        "session_id": "tuesday",
        "cwd": str(stage.project.root),
        "hook_event_name": "PreToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": str(path), "content": f"{EDIT}\n"},
    }
    words = ("hook", "before-action", "--client", "claude-code")
    answer = stage.command(*words, given=json.dumps(event))
    said = _context(answer)
    _check(say("demo.saved_lesson") in said, answer)
    stage.screen.show(said)


def _context(answer: str) -> str:
    """Return what a hook hands to the model of Claude Code, "" where it hands over nothing."""
    if not answer:
        return ""
    said: dict[str, Any] = json.loads(answer)["hookSpecificOutput"]
    return str(said["additionalContext"])


def _pull_request(stage: Stage) -> None:
    """A colleague reads the report of the change, or its diff where there is no git."""
    lesson = say("demo.saved_lesson")
    key = "story_pull_request" if stage.project.has_git else "story_no_git"
    stage.screen.head(say(f"demo.{key}"))
    if stage.project.has_git:
        answer = stage.command("report")
        shown = [line for line in markdown_lines(answer, stage.screen.terminal) if line]
        _check(lesson in " ".join(shown), answer)
        stage.screen.show("\n".join(shown), at_most=MOST_REPORT_LINES)
    else:
        text = stage.project.diff()
        _check(lesson in text, text)
        stage.screen.show(text, at_most=MOST_REPORT_LINES)


def _check(is_so: bool, answer: str) -> None:
    if not is_so:
        raise DemoFailedError(reason=answer or "no answer")
