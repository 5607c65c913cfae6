"""Tests that an agent meets every duty of the workflow, though its rules in a project are short."""

import json

import pytest

from core.lessons.rules import language_of, rules
from core.messages import Language
from tests.support.sentences import sentence
from tests.support.stdio_client import ROOT

SURFACE = json.loads((ROOT / "tests" / "data" / "tool_surface.json").read_text("utf-8"))
TOOLS = {tool["name"]: json.dumps(tool, ensure_ascii=False) for tool in SURFACE}
SAID: list[tuple[Language, str, str]] = [
    (
        "en",
        "compact_steps",
        "similar topics|one principle|keeps every rule|were replaced|to the user"
        '|512|log_memory(type="principle"|source_ids|id@fp|delete_ids',
    ),
    (
        "ko",
        "compact_steps",
        "비슷한 topic|principle 하나|규칙을 모두|대체되었는지|사용자에게"
        '|512|log_memory(type="principle"|source_ids|id@fp|delete_ids',
    ),
    ("en", "questions", "ask the user|constraints|version|failed|assumptions instead"),
    ("ko", "questions", "사용자에게|제약사항|버전|실패한|무엇을 가정했는지"),
]


def missing(words: list[str], text: str) -> list[str]:
    return [word for word in words if word not in text]


@pytest.mark.row("001 6.b")
@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("search_memory", "before you plan|lessons apply|notes, not orders"),
        (
            "log_memory",
            "after a task|One call for each gap|none if nothing was missing|user's language"
            "|missing_context|lesson|ask_next_time|No source code, secrets|Module or feature"
            "|auth, db-migration|no ticket|as broad as|Reuse existing",
        ),
        ("compact_memory", "when an answer requires it|steps"),
    ],
)
def test_a_tool_says_when_to_call_it_and_what_the_rules_leave_out(tool: str, said: str) -> None:
    assert missing(said.split("|"), TOOLS[tool]) == []


@pytest.mark.row("001 6.b", "001 6.f")
@pytest.mark.parametrize(("lang", "key", "said"), SAID)
def test_an_answer_gives_the_steps_of_a_compaction_and_the_questions_without_records(
    lang: Language, key: str, said: str
) -> None:
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
