"""Tests that an agent meets every duty of the workflow, though its rules in a project are short."""

import json

import pytest

from core.lessons.briefing import language_of, rules
from core.messages import Language
from tests.support.sentences import sentence
from tests.support.tables import ROOT, table

SURFACE = json.loads((ROOT / "tests" / "data" / "tool_surface.json").read_text("utf-8"))
TOOLS = {tool["name"]: json.dumps(tool, ensure_ascii=False) for tool in SURFACE}
TABLES = table("agent_rules")


def missing(words: list[str], text: str) -> list[str]:
    return [word for word in words if word not in text]


@pytest.mark.row("001 6.b", "001 6.f")
def test_a_tool_says_when_to_call_it_and_an_answer_what_else_the_rules_leave_out() -> None:
    for tool, said in TABLES["tools"].items():
        assert missing(said.split("|"), TOOLS[tool]) == []
    for lang, key, said in TABLES["answers"]:
        assert missing(said.split("|"), sentence(lang, f"answers.{key}")) == []


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_each_room_has_rules_of_its_own_and_their_order_is_fixed(lang: Language) -> None:
    log, sessions = rules(lang), rules(lang, ["sessions:core"])
    fragments = rules(lang, ["fragments:core"])
    assert rules(lang, ["lessons"]) == log
    for rooms in (["lessons", "sessions"], ["sessions", "lessons"]):
        assert rules(lang, rooms) == f"{log}\n{sessions}"
    every = rules(lang, ["fragments", "lessons", "sessions"])
    assert every == f"{log}\n{sessions}\n{fragments}"
    assert missing(["context_warn", "context_save", "summary", "status"], sessions) == []
    assert missing(["context", "recall", "remember", "amend", "forget", "reflect"], fragments) == []
    assert "_memory" not in sessions + fragments
    assert "context_" not in log
    assert language_of(sessions) == language_of(fragments) == lang
