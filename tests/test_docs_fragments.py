"""Tests that the document on fragments says what the program does, and plays its day."""

import json
import re
from pathlib import Path

import pytest

import cli
from core.config import FRAGMENTS_PLACE
from core.text import ranking
from rooms.fragments import (
    config,
    context,
    fragment,
    lines,
    links,
    recall,
    tools,
)
from rooms.fragments.fragment import RELATIONS, TIERS, TYPES
from rooms.fragments.models import embedding, vectors
from rooms.fragments.models import judge as judging
from rooms.fragments.models.embedding import QUESTION_TIMEOUT_S
from rooms.fragments.models.services import KEY_VARIABLE, PAUSE_S
from rooms.fragments.storage.sqlite import migrations
from rooms.fragments.upkeep import consolidation, life, passes, suspicions
from rooms.fragments.upkeep.passes import STEPS
from tests.support.doc_fragments import answered, played
from tests.support.doc_sessions import call_of
from tests.support.documents import blocks, names_in, rows_of, text_of
from tests.support.session_tools import tokens_of

ENGLISH, KOREAN = "docs/fragments.md", "docs/fragments.ko.md"
BOTH = [ENGLISH, KOREAN]
MEASURED = "benchmarks/README.md"
LANGUAGES = [(ENGLISH, "en"), pytest.param(KOREAN, "ko", marks=pytest.mark.long)]
FLEETING = re.compile(r"\b\d{4}-\d\d-\d\d\b")
# A particle follows what is before it, and an id is another one each time.
PARTICLE = re.compile(r"(?<=[a-z2-9]{8})(?:을|를|은|는)")


def day_of(name: str) -> list[str]:
    return [it for it in blocks(text_of(name), "text") if re.match(r"\w+\(", it)]


def test_the_five_tools_of_the_profile_are_those_that_it_offers() -> None:
    core = [it.function.__name__ for it in tools.TOOLS if it.is_core]
    assert names_in(text_of(ENGLISH).split("\n## 4.")[1].split("\n\n")[1])[1:] == core


def test_the_words_and_defaults_of_a_parameter_are_those_of_the_program() -> None:
    rows = {
        named: row[1] for row in rows_of(ENGLISH, 4) for named in names_in(row[0]) if len(row) < 3
    }
    assert tuple(names_in(rows["linkRelationType"])[: len(RELATIONS)]) == RELATIONS
    assert tuple(names_in(rows["types"])[1:]) == fragment.CONTEXT_TYPES
    budgets = f"{fragment.RECALL_TOKENS:,}", f"{fragment.CONTEXT_TOKENS:,}"
    assert tuple(re.findall(r"\d,\d+", rows["tokenBudget"])) == budgets


def test_the_table_of_types_is_that_of_the_program() -> None:
    rows = {names_in(row[0])[0]: row[1:] for row in rows_of(ENGLISH, 5)}
    assert list(rows) == list(TYPES)
    for word, row in TYPES.items():
        kind, lifetime, importance, leaves = rows[word]
        assert (kind, lifetime, importance) == (row.kind, row.lifetime, str(row.importance))
        ends = row.stale_days or row.doubtful_days or (row.hours if row.hours < 72 else 90)
        assert re.findall(r"\d+", leaves) == ([str(ends)] if ends else [])
    assert TYPES["episodic"].hours == 90 * 24


def test_the_tiers_and_the_steps_of_the_upkeep_are_those_of_the_program() -> None:
    assert [names_in(row[0])[0] for row in rows_of(ENGLISH, 8)] == list(TIERS)
    assert [names_in(row[0])[0] for row in rows_of(ENGLISH, 9)] == [it.name for it in STEPS]
    told = re.findall(r"\d+", " ".join(row[1] for row in rows_of(ENGLISH, 8)))
    assert told == [str(life.HOT_DAYS), str(life.WARM_DAYS)]


def test_the_figures_in_the_sentences_are_those_of_the_program() -> None:
    alone, least = (f"{100 * it:g}" for it in (ranking._ALONE_SHARE, ranking._LEAST_SHARE))
    of_section: dict[int, tuple[object, ...]] = {
        4: (vectors.LEAST_COSINE,),
        6: (
            *(alone, least, recall._HALF_DAYS, context._TOLD_DAYS),
            *(config.Config(Path()).activation_threshold, config.Config(Path()).linked_limit),
        ),
        7: (links.LIKE, links.NEARLY_THE_SAME, TYPES["working"].hours),
        8: (
            *(life.OFTEN, life.HALVING_WEEKS, life.LEAST_IMPORTANCE, life.BIN_DAYS),
            TYPES["working"].hours,
        ),
        9: (
            *(life.BIN_DAYS, life.ANCHOR_USES, life.ANCHOR_IMPORTANCE, suspicions.COSINE),
            *(suspicions.PROPOSED_DAYS, passes.FEEDBACK_DAYS, passes.ACTIVITY_DAYS),
        ),
        10: (f"{QUESTION_TIMEOUT_S:g}", f"{PAUSE_S:g}", vectors._DEVIATIONS),
        11: (passes.MOST_JUDGED, judging.SURE),
    }
    for section, figures in of_section.items():
        [part] = re.findall(rf"^## {section}\..*?(?=^## )", text_of(ENGLISH), re.M | re.S)
        told = set(re.findall(r"\d+(?:\.\d+)?", part))
        assert {str(it) for it in figures} <= told, section
    # Said in words.
    assert (recall._LINKED_SHARE, context._WORKING_SHARE, suspicions.WORDS) == (0.2, 0.25, 0.5)
    assert (suspicions.MOST_PROPOSED, consolidation.MOST_LISTED, links._MOST_LINKS) == (10, 10, 3)


def test_how_well_it_finds_is_as_it_was_measured() -> None:
    [_, row] = re.findall(r"^\| turns of a dialogue, \w+ half.*$", text_of(MEASURED), re.M)
    ndcg, _, silent = (cell.split("; ") for cell in row.strip("| ").split(" | ")[1:])
    told = set(re.findall(r"\d+\.\d+|\d+(?= ?%)", text_of(ENGLISH)))
    parts = {f"{100 * float(it):.0f}" for it in silent[:2]}
    assert {*ndcg[:2], *parts} <= told


def test_every_variable_of_the_models_has_its_row() -> None:
    embeddings = {names_in(row[0])[0]: row[1] for row in rows_of(ENGLISH, 10)}
    assert list(embeddings) == [
        *(embedding.VARIABLE, KEY_VARIABLE),
        *(embedding.MODEL_VARIABLE, embedding.DIMENSIONS_VARIABLE),
    ]
    assert embeddings[embedding.MODEL_VARIABLE] == f"`{embedding.DEFAULT_MODEL}`"
    assert embedding.LOCAL_PACKAGE in text_of(ENGLISH)
    assert f"{embedding.MOST_DIMENSIONS:,}" in text_of(ENGLISH)
    rows = [names_in(row[0])[0] for row in rows_of(ENGLISH, 11)]
    variables = judging.VARIABLE, judging.CHAT_VARIABLE, judging.CHAT_MODEL_VARIABLE
    judges = f"{judging.ONNX}:DIRECTORY", judging.CHAT, judging.GEMINI
    assert rows == [*variables, *judges]
    assert f"`{FRAGMENTS_PLACE}`" in text_of(ENGLISH)


def test_the_version_of_the_schema_is_that_of_the_database() -> None:
    assert f"the version of the schema, {len(migrations())};" in text_of(ENGLISH)


def test_every_action_is_named() -> None:
    [told] = re.findall(r"^`fragments` has the actions (.+?)\. ", text_of(ENGLISH), re.M)
    named = {f"fragments {it}" for it in names_in(told)}
    assert named == {it for it in cli.COMMANDS if it.startswith("fragments ")}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("name", "lang"), LANGUAGES)
def test_the_day_is_what_the_server_answers(name: str, lang: str, tmp_path: Path) -> None:
    shown = day_of(name)
    assert [call_of(it)[1] for it in shown][3:5] == ["context", "recall"]
    assert [_lasting(it) for it in played(shown, tmp_path, lang)] == [_lasting(it) for it in shown]


def _lasting(block: str) -> str:
    return PARTICLE.sub("~", FLEETING.sub("…", block))


def test_the_costs_of_the_tools_are_those_that_a_client_hands_to_a_model() -> None:
    offered = json.loads(text_of("tests/data/tool_surface_fragments.json"))
    core = [it.function.__name__ for it in tools.TOOLS if it.is_core]
    few = [it for it in offered if it["name"] in core]
    costs = [f"{tokens_of(as_offered(some)):,}" for some in (offered, few)]
    assert [row[1] for row in rows_of(ENGLISH, 2)][:2] == costs


def as_offered(some: list[dict[str, object]]) -> str:
    keys = "name", "description", "inputSchema"
    kept = [{key: it[key] for key in keys if key in it} for it in some]
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def test_the_costs_of_the_day_are_those_of_its_answers() -> None:
    [row] = [row for row in rows_of(ENGLISH, 2) if "#3-" in row[0]]
    costs = [
        sum(tokens_of(it.removeprefix(call_of(it)[0]).strip()) for it in day_of(edition))
        for edition in BOTH
    ]
    assert row[1] == "; ".join(map(str, costs))


# Keys of what stands in the lists of a recall.
NESTED = ("relation_type", "linked_to", "rank", "source", "id", "text")


@pytest.mark.long
def test_the_keys_of_the_objects_are_those_that_the_tools_give(tmp_path: Path) -> None:
    calls = [
        'remember(content="The shop runs on Node 22.")',
        'remember(content="NOAUTH: REDIS_PASSWORD is missing.", type="error")',
        'recall(text="Which Node?")',
        'link(fromId="{0}", toId="{1}")',
        'amend(id="{0}", importance=0.9)',
        'reflect(summary="Nothing went wrong.")',
        "context()",
        'tool_feedback(tool_name="recall", relevant=True, sufficient=True)',
        "memory_stats()",
        "memory_consolidate()",
        'graph_explore(startId="{0}")',
        'pin(id="{0}")',
        'unpin(id="{0}")',
        'forget(id="{0}")',
    ]
    answers = {
        call_of(it)[1]: json.loads(it.removeprefix(call_of(it)[0]))
        for it in answered(calls, tmp_path, {"SENTINEL_MEMORY_ANSWERS": "json"})
    }
    assert set(answers) == {it.function.__name__ for it in tools.TOOLS}
    optional = {
        "others",
        "relations",
        "redacted",
        "too_long",
        "links",
        "proposals",
        "warning",
        "superseded",
    }
    optional |= {"lesson", "message"}  # with the log, with sessions
    [part] = re.findall(r"each with `success` and\n\n(.*?)\n\n", text_of(ENGLISH), re.S)
    rows = [line.removeprefix("- ").split(": ", 1) for line in part.splitlines()]
    told = {tool: ["success", *names_in(row[1])] for row in rows for tool in names_in(row[0])}
    told["tool_feedback"] = ["success"]
    told["recall"] = [it for it in told["recall"] if it not in NESTED]
    for tool, answer in answers.items():
        assert set(answer) <= set(told[tool]), tool
        assert set(told[tool]) <= set(answer) | optional, tool
    for key in lines.object_of(fragment.Fragment(id="", content="")):
        assert f"`{key}`" in text_of(ENGLISH)
