"""Tests what each tool of the fragments does and answers, in both languages."""

import json
import re
from pathlib import Path

import pytest

from core.messages import Language
from protocol.caller import PROCESS
from rooms.fragments import tools
from rooms.fragments.answers.words import say
from rooms.fragments.engine import Wanted
from rooms.fragments.fragment import Activity, Fragment, TaskFeedback, ToolFeedback
from rooms.fragments.room import Room
from rooms.fragments.saving.words import WORDS
from tests.support.session_tools import Call

NOAUTH = "Redis Sentinel answers NOAUTH where REDIS_PASSWORD is missing"
CURE = "Set REDIS_PASSWORD in the unit file of the staging server"
ID = re.compile(r": (\w{8})\.")


def id_in(said: str) -> str:
    found = ID.search(said)
    assert found, said
    return found[1]


def stored(room: Room) -> list[Fragment]:
    with room.engine.reading() as reading:
        return reading.find(Wanted(state="all"), limit=100)


def linked(call: Call) -> tuple[str, str]:
    """The ids of an error and of its cure, which are linked."""
    error = id_in(call("remember", content=NOAUTH, type="error", topic="redis"))
    cure = id_in(call("remember", content=CURE, type="procedure", topic="staging"))
    call("link", fromId=error, toId=cure, relationType="resolved_by")
    return error, cure


def test_remember_with_its_content_alone_fills_in_every_default(call: Call, room: Room) -> None:
    said = call("remember", content=NOAUTH)
    [it] = stored(room)
    assert said == f"Remembered: {it.id}."
    assert (it.kind, it.lifetime, it.importance, it.is_anchor) == ("fact", "semantic", 0.5, False)
    assert (it.topic, it.source, it.agent, it.session) == ("general", "shop", "default", "")
    assert (it.privacy, it.keywords != ()) == ("private", True)


@pytest.mark.row("004 4.1.a")
def test_remember_takes_every_parameter_of_both_specifications(call: Call, room: Room) -> None:
    other = id_in(call("remember", content=CURE))
    said = call(
        "remember",
        content=NOAUTH,
        topic="redis",
        type="ERROR",
        keywords=["noauth"],
        tags="sentinel, staging",
        importance="0.95",
        source="runbook",
        linkedTo=other,
        scope="session",
        isAnchor=True,
        agentId="reviewer",
        privacy_scope="public",
    )
    [it] = [it for it in stored(room) if it.id == id_in(said)]
    assert (it.kind, it.topic, it.importance, it.source) == ("error", "redis", 0.95, "runbook")
    assert it.keywords == ("noauth", "sentinel", "staging")
    assert (it.lifetime, it.session) == ("working", PROCESS)
    assert (it.is_anchor, it.agent, it.privacy) == (True, "reviewer", "public")
    with room.engine.reading() as reading:
        [link] = reading.links([it.id])
    assert (link.from_id, link.to_id, link.relation) == (it.id, other, "related")


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.37.a")
def test_the_same_again_is_known_and_nearly_the_same_is_a_ready_call(call: Call) -> None:
    first = id_in(call("remember", content=NOAUTH, type="error", topic="redis"))
    assert call("remember", content=NOAUTH, type="error") == f"Known already: {first}."
    second = call("remember", content=f"{NOAUTH}!", type="error", topic="redis")
    call_ = f'link(fromId="{first}", toId="{id_in(second)}", relationType="superseded_by")'
    told = say("en", "may_supersede", id=first, call=call_)
    assert second.splitlines() == [f"Remembered: {id_in(second)}.", told]
    [made] = re.findall(r'"(\w+)", toId="(\w+)"', second)
    call("link", fromId=made[0], toId=made[1], relationType="superseded_by")
    assert first not in call("recall", text="redis noauth")


def test_a_long_one_and_a_secret_are_said(call: Call, room: Room) -> None:
    token = "ghp_" + "a1B2" * 9
    said = call("remember", content=f"{'The token of the bot stays in the vault. ' * 8}{token}")
    assert "up to 300 are found best" in said
    assert "Secrets were redacted: " in said
    assert token not in stored(room)[0].content + said


@pytest.mark.long  # it costs much
def test_recall_shows_lines_with_what_is_linked_below(call: Call) -> None:
    error, cure = linked(call)
    found = call("recall", text="sentinel noauth")
    day = stored_day(found)
    assert found.splitlines() == [
        f"{error} {day} error/redis: {NOAUTH}",
        f"  resolved_by {cure} {day} procedure/staging: {CURE}",
    ]
    assert call("recall", query="sentinel noauth", includeLinks=False).splitlines() == [
        f"{error} {day} error/redis: {NOAUTH}"
    ]
    assert "resolved_by" not in call("recall", text="noauth", linkRelationType="part_of")
    [_, back] = call("recall", topic="staging").splitlines()
    assert back == f"  resolved_by ← {error} {day} error/redis: {NOAUTH}"


def stored_day(found: str) -> str:
    return found.split()[1]


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.13.c")
def test_recall_narrows_by_each_filter(call: Call) -> None:
    error, cure = linked(call)
    lone = {"includeLinks": False}
    for narrowed, kept in (
        ({"type": "error"}, [error]),
        ({"topic": "staging"}, [cure]),
        ({"filters": {"type": "procedure"}}, [cure]),
        ({"filters": '{"date": "2020-01-01..2020-12-31"}'}, []),
        ({"filters": {"date": {"from": "2020-01-01"}}, "limit": 1}, [cure]),  # the newest
        ({"type": "procedural"}, [cure]),
        ({"agentId": "nobody"}, [cure, error]),  # the default's are everybody's
    ):
        said = call("recall", **lone, **narrowed)
        assert re.findall(r"^(\w{8}) \d", said, re.M) == kept, narrowed


@pytest.mark.long  # it costs much
def test_fragments_of_an_agent_are_its_own(call: Call) -> None:
    call("remember", content=NOAUTH, agentId="reviewer")
    assert NOAUTH in call("recall", text="redis", agentId="reviewer")
    assert NOAUTH in call("recall", text="redis")
    assert NOAUTH not in call("recall", text="redis", agentId="tester")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("agent", ["system", "Admin"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("remember", {"content": NOAUTH}),
        ("recall", {"text": "redis"}),
        ("forget", {"topic": "redis"}),
        ("context", {}),
        ("graph_explore", {"startId": "aaaaaaaa"}),
        ("reflect", {"summary": "Done"}),
    ],
)
def test_nobody_may_be_the_system(
    tool: str, arguments: dict[str, object], agent: str, refused: Call
) -> None:
    assert refused(tool, agentId=agent, **arguments).startswith(f"agentId: {agent.lower()} is no")


def test_what_nothing_is_known_of_brings_nothing(call: Call) -> None:
    assert call("recall") == say("en", "found_empty")
    call("remember", content=NOAUTH)
    assert call("recall", text="how to bake bread") == say("en", "found_none")


@pytest.mark.long  # it costs much
def test_whole_fragments_fill_the_budget_and_the_others_are_counted(call: Call) -> None:
    for at in range(30):
        call(
            "remember",
            content=f"Rule {at} of the release: the version stands in one file",
            type="fact",
        )
    said = call("recall", text="release version file", tokenBudget=200).splitlines()
    assert len(said) - 1 < 30
    assert all(line.endswith("the version stands in one file") for line in said[:-1])
    assert said[-1].startswith(f"More found: {30 - (len(said) - 1)}.")
    assert call("recall", text="release", tokenBudget=1).startswith("More found: ")


@pytest.mark.row("002 2.12.i")
def test_a_source_is_shown_where_it_is_another_project(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("remember", content=NOAUTH)
    assert "(from" not in call("recall")
    other = tmp_path / "bakery"
    other.mkdir()
    monkeypatch.setenv("SENTINEL_MEMORY_PROJECT", str(other))
    assert "fact (from shop): Redis" in call("recall")


@pytest.mark.long  # it costs much
def test_forget_moves_to_the_bin_and_hard_removes_for_good(call: Call, room: Room) -> None:
    error, cure = linked(call)
    assert call("forget", id=error).startswith(f"In the bin for 30 days: 1 ({error}).")
    assert NOAUTH not in call("recall", text="redis")
    assert call("forget", id=cure, hard=True) == f"Removed for good: 1 ({cure})."
    assert [it.id for it in stored(room)] == [error]
    assert call("remember", content=NOAUTH) == f"Back from the bin: {error}."


@pytest.mark.long  # it costs much
def test_what_is_pinned_stays_without_force(call: Call, refused: Call) -> None:
    error, cure = linked(call)
    assert call("pin", id=error) == f"Pinned: {error}. It never ages out."
    assert "error!/redis: " in call("recall", text="redis")
    assert refused("forget", id=error).startswith(f"{error}: this fragment is pinned.")
    call("amend", id=cure, topic="redis")
    said = call("forget", topic="redis")
    assert said.endswith("Pinned, so kept: 1. force=true removes them for good.")
    assert call("unpin", id=error).startswith(f"No longer pinned: {error}.")
    assert call("forget", id=error, force=True) == f"Removed for good: 1 ({error})."


def test_forget_needs_an_id_or_a_topic(call: Call, refused: Call) -> None:
    assert refused("forget") == WORDS["id_or_topic"][0]
    assert call("forget", topic="unknown") == say("en", "nothing_forgotten")


@pytest.mark.long  # it costs much
def test_amend_keeps_the_id_or_takes_the_place(call: Call, room: Room) -> None:
    error, _ = linked(call)
    said = call("amend", id=error, content=f"{NOAUTH} or wrong", importance=0.9)
    assert said == say("en", "amended", id=error)
    assert call("amend", id=error, importance=0.9) == say("en", "verified", id=error)
    said = call("amend", id=error, content="Sentinel needs a password of its own", supersedes=True)
    new = id_in(said)
    assert said == say("en", "replaced", id=new, old=error)
    found = call("recall", text="sentinel password")
    assert (new in found, error in found) == (True, False)


def test_reflect_keeps_each_item_and_how_the_work_went(call: Call, room: Room) -> None:
    said = call(
        "reflect",
        summary="The staging login works again.",
        sessionId="s7",
        decisions=["Staging uses Sentinel"],
        errors_resolved='["NOAUTH: the password was missing"]',
        new_procedures=["Restart Sentinel after a change of its password"],
        open_questions=["Who owns the vault?"],
        task_effectiveness={"overall_success": True, "tool_highlights": ["recall: fast"]},
    )
    kinds = [it.kind for it in stored(room)]
    assert said.startswith("Kept from this session: 5 (")
    assert sorted(kinds) == ["decision", "error", "fact", "fact", "procedure"]
    assert {it.source for it in stored(room)} == {"shop"}
    with room.engine.reading() as reading:
        [feedback] = reading.entries(TaskFeedback)
        [activity] = reading.entries(Activity)
    assert (feedback.overall_success, feedback.tool_highlights) == (True, ("recall: fast",))
    assert (activity.session_id, bool(activity.reflected_at)) == ("s7", True)


@pytest.mark.long  # it costs much
def test_context_gives_what_is_pinned_what_matters_and_what_this_session_keeps(call: Call) -> None:
    assert call("context") == say("en", "context_none")
    error, cure = linked(call)
    fact = id_in(call("remember", content="The shop runs on Node 20"))
    note = id_in(call("remember", content="Look at the vault next", scope="session"))
    lines = call("context").splitlines()
    assert [line.split()[0] for line in lines] == ["Known:", error, cure, "This", note]
    call("pin", id=fact)
    assert fact in call("context", types=["decision"])
    assert cure not in call("context", types="decision")
    assert note not in call("context", sessionId="another")


def test_sessions_without_reflect_are_a_hint(call: Call) -> None:
    call("remember", content=NOAUTH)
    tools.end_session()
    call("context")
    last = call("context", sessionId="another").splitlines()[-1]
    assert last.startswith("[SYSTEM HINT] Sessions that ended without reflect: 1 (the last on ")


@pytest.mark.row("002 2.91")
def test_the_end_of_a_session_takes_its_working_memory_away(call: Call, room: Room) -> None:
    call("remember", content="Look at the vault next", scope="session")
    tools.end_session()
    assert "vault" not in call("recall", text="vault next")
    assert {it.deletion for it in stored(room)} == {"ended", ""}


def test_an_unused_room_ends_without_a_trace(database: Path) -> None:
    tools._Room.is_used = False
    tools.end_session()
    assert not database.exists()


def test_feedback_is_noted_and_reported_by_the_upkeep(call: Call, room: Room) -> None:
    said = call("tool_feedback", tool_name="recall", relevant=True, sufficient=False,
                suggestion="shorter", context="login", session_id="s7")  # fmt: skip
    assert said == "Noted."
    with room.engine.reading() as reading:
        [noted] = reading.entries(ToolFeedback)
    assert (noted.session_id, noted.trigger_type, noted.suggestion) == (
        "s7",
        "voluntary",
        "shorter",
    )
    assert "recall: 1, relevant 100%, sufficient 0%" in call("memory_consolidate")


@pytest.mark.long  # it costs much
def test_upkeep_proposes_contradictions_with_the_call_that_settles_them(call: Call) -> None:
    one = id_in(call("remember", content="The shop runs on Node 18 in production", topic="node"))
    two = id_in(call("remember", content="The shop runs on Node 20 in production", topic="node"))
    said = call("memory_consolidate").splitlines()
    assert say("en", "suspected", count=1) in said
    assert f'  link(fromId="{one}", toId="{two}", relationType="contradicts")' in said
    call("link", fromId=one, toId=two, relationType="contradicts")
    assert "contradict each other" not in call("memory_consolidate")


@pytest.mark.long  # it costs much
def test_the_links_of_an_error_are_shown(call: Call) -> None:
    error, cure = linked(call)
    lines = call("graph_explore", startId=error).splitlines()
    assert (lines[0].split()[0], lines[1].split()[:2]) == (error, ["resolved_by", cure])
    lines = call("graph_explore", startId=cure).splitlines()
    assert lines[1].split()[:3] == ["resolved_by", "←", error]
    alone = id_in(call("remember", content="The vault is on the second floor"))
    assert call("graph_explore", startId=alone).endswith(say("en", "explored_none"))


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.50.a")
def test_statistics_count_what_is_there_and_say_that_no_model_embeds(call: Call) -> None:
    linked(call)
    said = call("memory_stats")
    assert said.startswith("Fragments: 2 (0 pinned)\nkinds: error 1, procedure 1\n")
    assert "links: resolved_by 1" in said
    assert say("en", "stats_no_model") in said


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_every_tool_answers_in_the_language_that_is_set(
    lang: Language, call: Call, refused: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (id_in(call("remember", content=text)) for text in ("One thing", "Another thing"))
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", lang)
    answers = [
        call("remember", content="Something else altogether"),
        call("recall", text="unheard of"),
        call("link", fromId=one, toId=two),
        call("amend", id=one, importance=0.8),
        call("reflect", summary="Finished the day"),
        call("context", types=["error"]),
        call("tool_feedback", tool_name="recall", relevant=True, sufficient=True),
        call("memory_stats"),
        call("memory_consolidate"),
        call("graph_explore", startId="".join(one)),
        call("pin", id=one),
        call("unpin", id=one),
        call("forget", id=two),
        refused("pin", id="unknown"),
    ]
    strange = [it for it in answers if bool(re.search("[가-힣]", it)) != (lang == "ko")]
    assert [it for it in strange if not it.startswith(f"{one} ")] == []


@pytest.mark.row("002 2.10.h")
def test_a_broken_place_is_a_sentence(refused: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", "relative/memory.db")
    assert refused("recall").startswith("SENTINEL_MEMORY_FRAGMENTS does not hold the absolute path")


@pytest.mark.long  # it costs much
@pytest.mark.row("004 4.12")
def test_a_fragment_is_a_resource_with_links_and_versions(call: Call) -> None:
    error, cure = linked(call)
    call("amend", id=error, content="Sentinel needs a password")
    told = json.loads(tools.fragment(error))
    assert (told["id"], told["content"]) == (error, "Sentinel needs a password")
    assert [it["to_id"] for it in told["links"]] == [cure]
    assert [it["content"] for it in told["versions"]] == [NOAUTH]
