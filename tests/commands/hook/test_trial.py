"""Tests the hold-out of hooks, and what they note so that showings can be counted."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands.hook.journal import Session, checksum_of
from commands.hook.trial import ONE_IN, is_withheld
from core.project import state_directory
from tests.support.client_events import claude, claude_edit, environment_of, run_hook
from tests.support.desk import Desk as AnyDesk
from tests.support.samples import a_record

REFUND = replace(
    a_record(
        "who approves a refund",
        topic="refunds",
        lesson="Refunds above 500 EUR wait for a second approver.",
        paths=["src/refund.py"],
    ),
    when=("refund_now(",),
)
ON = {"SENTINEL_MEMORY_HOLDOUT": "1"}


class Desk(AnyDesk):
    @property
    def state(self) -> Path:
        return self.root.parent / "state"

    def edit(self, session: str, *, new: str = "x", agent: str = "", **variables: str) -> str:
        """What the model gets before an edit of src/refund.py in this session."""
        more: dict[str, Any] = {"agent_id": agent} if agent else {}
        given = claude_edit(self.root, "src/refund.py", new=new, session_id=session, **more)
        environment = environment_of(self.state, **variables)
        words = ("before-action", "--client", "claude-code")
        return run_hook(*words, given=given, cwd=self.home, environment=environment).text

    def events(self, session: str) -> list[dict[str, Any]]:
        directory = state_directory(str(self.root), environment_of(self.state))
        lines = Path(directory, f"{session}.jsonl").read_text(encoding="ascii").splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path / "shop", tmp_path / "elsewhere")
    (desk.root / ".git").mkdir()
    desk.write(REFUND)
    return desk


def name_of(*, withheld: bool) -> str:
    """A session that does not get the record, or one that does."""
    names = (f"s{at}" for at in range(1_000))
    return next(it for it in names if is_withheld(Session(f"/{it}.jsonl"), REFUND) is withheld)


def test_one_showing_in_eight_is_withheld_over_sessions_and_over_records() -> None:
    count = 4_000
    sessions = [Session(f"/state/{at}.jsonl") for at in range(count)]
    records = [replace(REFUND, id=f"{at:016x}") for at in range(count)]
    over_sessions = sum(is_withheld(it, REFUND) for it in sessions)
    over_records = sum(is_withheld(sessions[0], it) for it in records)
    for found in (over_sessions, over_records):
        assert found == pytest.approx(count / ONE_IN, abs=100)  # nearly five standard deviations
    # What is withheld of one record tells nothing about another one.
    pairs = Counter((is_withheld(it, records[1]), is_withheld(it, records[2])) for it in sessions)
    assert pairs[True, True] == pytest.approx(count / ONE_IN**2, abs=40)


def test_nothing_is_withheld_where_nobody_could_note_it() -> None:
    records = [replace(REFUND, id=f"{at:016x}") for at in range(100)]
    assert not any(is_withheld(Session(""), record) for record in records)


def test_a_withheld_record_stays_so_for_the_session_and_is_noted_once(desk: Desk) -> None:
    name = name_of(withheld=True)
    assert [desk.edit(name, **ON) for _ in range(2)] == ["", ""]
    desk.write(replace(REFUND, lesson="Three do."))
    assert desk.edit(name, agent="a1", **ON) == ""
    first, changed = desk.events(name)
    assert [len(it["withheld"]) for it in (first, changed)] == [1, 1]
    assert first["withheld"][0].startswith(f"{REFUND.id}@")
    assert "shown" not in first and first["holdout"] is True


def test_in_other_sessions_it_is_shown(desk: Desk) -> None:
    name = name_of(withheld=False)
    assert "second approver" in desk.edit(name, **ON)
    [event] = desk.events(name)
    assert (event["holdout"], "withheld" in event, len(event["shown"])) == (True, False, 1)


@pytest.mark.parametrize("variables", [{}, {"SENTINEL_MEMORY_HOLDOUT": "0"}])
def test_without_the_setting_everything_is_shown(desk: Desk, variables: dict[str, str]) -> None:
    name = name_of(withheld=True)
    assert "second approver" in desk.edit(name, **variables)
    assert "holdout" not in desk.events(name)[0]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("event", "name", "more"),
    [
        ("session-start", "SessionStart", {"source": "startup"}),
        (
            "prompt",
            "UserPromptSubmit",
            {"prompt": "Let the approver see refunds above 500: refund_now("},
        ),
    ],
)
def test_the_start_of_a_session_and_a_prompt_withhold_nothing(
    desk: Desk, event: str, name: str, more: dict[str, str]
) -> None:
    given = claude(name, desk.root, session_id=name_of(withheld=True), **more)
    environment = environment_of(desk.state, **ON)
    words = (event, "--client", "claude-code")
    ran = run_hook(*words, given=given, cwd=desk.home, environment=environment)
    assert "second approver" in ran.text
    assert (
        not {"withheld", "holdout", "triggered"} & desk.events(str(given["session_id"]))[0].keys()
    )


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("new", "stands"), [("x = refund_now(1)", True), ("refund_later(1)", False)]
)
@pytest.mark.parametrize("withheld", [True, False])
def test_a_note_says_whether_a_trigger_stood_there_and_holds_no_text(
    desk: Desk, new: str, stands: bool, withheld: bool
) -> None:
    name = name_of(withheld=withheld)
    desk.edit(name, new=new, **ON)
    [event] = desk.events(name)
    assert event["files"] == [checksum_of("src/refund.py")]
    assert event.get("triggered", []) == (
        event["withheld" if withheld else "shown"] if stands else []
    )
    assert not any(text in json.dumps(event) for text in ("src", "refund", "approver"))
