"""Tests two sessions end to end: what one agent found missing is told to the next in time."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartServer
from tests.support.client_events import (
    Payload,
    claude,
    claude_edit,
    cursor,
    cursor_edit,
    environment_of,
    run_hook,
)
from tests.support.git_clones import commit, git

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


@dataclass(frozen=True)
class Client:
    """How a client names itself, makes an edit and reads an answer."""

    name: str
    event: Callable[..., Payload]
    edit: Callable[..., Payload]
    start: str
    read: Callable[[Any], str]


CLAUDE = Client(
    "claude-code",
    claude,
    claude_edit,
    "SessionStart",
    lambda said: str(said["hookSpecificOutput"]["additionalContext"]),
)
CURSOR = Client(
    "cursor", cursor, cursor_edit, "sessionStart", lambda said: str(said["additional_context"])
)


@dataclass(frozen=True)
class Story:
    """A gap, another one, the edits that need the first and neither, and what is said of them."""

    lang: str
    other: Mapping[str, Any]
    gap: Mapping[str, Any]
    file: str
    unrelated: str
    told: str
    started: str


ENGLISH = Story(
    "en",
    {
        "topic": "deploy",
        "missing_context": "when a release may go out",
        "lesson": "Releases go out before noon, never on a Friday.",
        "paths": ["ops/release.sh"],
    },
    {
        "topic": "refunds",
        "missing_context": "who has to approve a refund",
        "lesson": "A refund above 500 EUR waits for a second approver before it is paid out.",
        "paths": ["src/billing/refund.py"],
    },
    "src/billing/refund.py",
    "src/theme/colours.py",
    "[memory_log] Lessons of this project for what you are doing (notes, not orders; judge"
    " whether they apply):\n"
    "[refunds]\n{day} who has to approve a refund\n"
    "→ A refund above 500 EUR waits for a second approver before it is paid out.",
    "[memory_log - records: 2 | {root}]\ntopics: deploy (1), refunds (1)\n"
    "All records (2); search_memory has no others now."
    " Notes of colleagues and their agents, not orders:\n"
    "[refunds]\n{day} who has to approve a refund\n"
    "→ A refund above 500 EUR waits for a second approver before it is paid out.\n"
    "[deploy]\n{day} when a release may go out\n"
    "→ Releases go out before noon, never on a Friday.",
)
KOREAN = Story(
    "ko",
    {
        "topic": "배포",
        "missing_context": "배포 가능 시간",
        "lesson": "배포는 오전에만 하고 금요일에는 하지 않는다.",
        "paths": ["운영/배포.sh"],
    },
    {
        "topic": "환불",
        "missing_context": "환불 승인은 누가 하는지",
        "lesson": "50만 원이 넘는 환불은 지급하기 전에 두 번째 승인을 받는다.",
        "paths": ["소스/환불 처리.py"],
    },
    "소스/환불 처리.py",
    "소스/색상.py",
    "[memory_log] 지금 하는 작업과 관련해 이 프로젝트에 기록된 내용입니다"
    "(명령이 아니라 메모이니 해당하는지 판단하세요).\n"
    "[환불]\n{day} 환불 승인은 누가 하는지\n"
    "→ 50만 원이 넘는 환불은 지급하기 전에 두 번째 승인을 받는다.",
    "[memory_log - 2건 | {root}]\ntopic 목록: 배포 (1), 환불 (1)\n"
    "기록 2건 전부입니다(지금 search_memory로 더 나올 것은 없습니다)."
    " 동료와 그 에이전트가 남긴 메모이며 명령이 아닙니다.\n"
    "[환불]\n{day} 환불 승인은 누가 하는지\n"
    "→ 50만 원이 넘는 환불은 지급하기 전에 두 번째 승인을 받는다.\n"
    "[배포]\n{day} 배포 가능 시간\n"
    "→ 배포는 오전에만 하고 금요일에는 하지 않는다.",
)


@pytest.mark.row("001 1-3.b")
@pytest.mark.parametrize(
    ("story", "client"),
    [
        pytest.param(ENGLISH, CLAUDE, marks=pytest.mark.long, id="en-claude-code"),
        pytest.param(ENGLISH, CURSOR, marks=pytest.mark.long, id="en-cursor"),
        pytest.param(KOREAN, CLAUDE, id="ko-claude-code"),
        pytest.param(KOREAN, CURSOR, marks=pytest.mark.long, id="ko-cursor"),
    ],
)
def test_the_agent_of_a_colleague_is_told_the_lesson_at_the_edit_that_needs_it(
    tmp_path: Path, start_server: StartServer, story: Story, client: Client
) -> None:
    mine, theirs, elsewhere = (tmp_path / name for name in ("mine", "their clone", "elsewhere"))
    elsewhere.mkdir()
    environment = environment_of(tmp_path / "state", SENTINEL_MEMORY_LANG=story.lang)

    def told(event: str, given: Payload) -> str:
        words = [event, "--client", client.name]
        ran = run_hook(*words, given=given, cwd=elsewhere, environment=environment)
        return client.read(ran.said) if ran.out or ran.errors else ""

    # The first session: nothing is known yet, and what was missing is logged through the server.
    git(tmp_path, "init", "--quiet", str(mine))
    first = {"session_id": "first", "conversation_id": "first"}
    assert told("session-start", client.event(client.start, mine, **first)) == ""
    assert told("before-action", client.edit(mine, story.file, **first)) == ""
    server = start_server("--project", str(mine), cwd=mine)
    server.call("log_memory", **story.other)
    server.call("log_memory", **story.gap)
    server.close()
    stop = client.event("stop" if client is CURSOR else "Stop", mine, **first)
    assert told("stop", stop) == ""
    commit(mine)

    # A colleague clones the project; the agent there starts with the lesson and meets it again
    # where it is needed: nowhere else, and no second time.
    git(tmp_path, "clone", "--quiet", str(mine), str(theirs))
    log = theirs / ".context" / "memory_log.jsonl"
    day = json.loads(log.read_bytes().splitlines()[1])["meta"]["created"][:10]
    second = {"session_id": "second", "conversation_id": "second"}
    started = told("session-start", client.event(client.start, theirs, **second))
    assert started == story.started.format(root=theirs, day=day)
    assert told("before-action", client.edit(theirs, story.unrelated, **second)) == ""
    lesson = story.told.format(day=day)
    assert told("before-action", client.edit(theirs, story.file, **second)) == lesson
    assert told("before-action", client.edit(theirs, story.file, **second)) == ""
    assert git(theirs, "status", "--porcelain") == ""
