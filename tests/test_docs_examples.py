"""Runs the commands and calls of the documents, and compares the answers with theirs."""

import ast
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
import sysconfig
from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.config import Project, Settings
from core.lessons.record import Draft
from core.store import open_store
from rooms.fragments import tools
from rooms.fragments.draft import TOPIC
from tests.stories.story import clean_environment, run_command
from tests.support.cli_process import Desk
from tests.support.client_events import claude_edit, environment_of, run_hook
from tests.support.doc_shop import Shop
from tests.support.documents import blocks, text_of
from tests.support.room_tools import tokens_of
from tests.support.servers import ServerProcess
from tests.support.tables import ROOT, none_of

LANGUAGES = pytest.mark.parametrize("lang", ["en", "ko"])
# Parts that differ from day to day: the token of a version, the id of a session, a date, a day of
# this year; and in Korean the particle after an id, which depends on its last letter.
FLEETING = re.compile(
    r"(?<=@)[0-9a-f]{6}\b|(?<=-> )[0-9a-f]{16}\b|\bctx_[0-9a-f]{12}\b"
    r"|\b\d{4}-\d\d-\d\d\b|\(\d\d/\d\d\)|(?<=[a-z2-9]{8})(?:을|를|은|는)"
)


def lasting(shown: str) -> str:
    return FLEETING.sub("…", shown)


def edition(name: str, lang: str) -> str:
    return name if lang == "en" else name.replace(".md", ".ko.md")


# Commands.


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("name", ["docs/ci.md", "docs/SECURITY.md"])
def test_each_example_prints_the_lines_of_the_document(name: str, tmp_path: Path) -> None:
    found = [block for block in blocks(text_of(name), "text") if block.startswith("$ ")]
    assert found
    for number, example in enumerate(found):
        shop = Shop(tmp_path / str(number), "en")
        shop.leak()
        with clean_environment(shop.root, shop.home):
            if "sentinel-memory report" in example:  # of a branch that took a secret out again
                shop.commit(3)
                run_command(["scan", "--redact", "--yes"])
                shop.commit(4)
            lines = re.findall(r"^\$ (.+)$", example, re.M)
            printed = [run_command(shlex.split(it)[1:]).text for it in lines]
        now = "".join(f"$ {line}\n{text}" for line, text in zip(lines, printed, strict=True))
        now = re.sub(r"\(status \d\)\n", "", now).replace("python cli.py", "sentinel-memory")
        assert lasting(now) == lasting(example)


# The day of a document: calls of tools, each with its answer.

CLIENTS = "claude-code", "cursor-vscode"  # of the first conversation, and of the second
# An id of a fragment as documents show one: always with a digit, so that no word is one.
ID = re.compile(r"\b(?=[a-z2-9]*[2-9])[a-hj-km-np-z2-9]{8}\b")
# By room: how many calls the first client makes, and in which projects the two are.
FIRST_DAY = {"sessions": (1, ("shop", "shop")), "fragments": (3, ("shop", "blog"))}


def day_of(name: str) -> list[str]:
    return [it for it in blocks(text_of(name), "text") if re.match(r"\w+\(", it)]


def call_of(block: str) -> tuple[str, str, dict[str, Any]]:
    """The text of the call with which a block begins, its tool and its arguments."""
    lines = block.splitlines()
    for end in range(1, len(lines) + 1):
        text = "\n".join(lines[:end])
        try:
            call = ast.parse(text, mode="eval").body
        except SyntaxError:
            continue
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        given = {it.arg: ast.literal_eval(it.value) for it in call.keywords if it.arg}
        return text, call.func.id, given
    raise AssertionError(f"no call: {block}")


def ids_in(database: Path) -> list[str]:
    """The ids of the fragments that a caller has saved, in their order."""
    if not database.exists():
        return []
    query = "SELECT id FROM fragments WHERE topic != ? ORDER BY number"
    with closing(sqlite3.connect(database)) as connection:
        return [id_ for (id_,) in connection.execute(query, (TOPIC,))]


def renamed(text: str, names: Mapping[str, str]) -> str:
    return re.sub("|".join(names) or "(?!)", lambda found: names[found[0]], text)


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T25", "003 T67")
@pytest.mark.parametrize("room", ["sessions", "fragments"])
@LANGUAGES
def test_a_day_of_a_room_is_as_the_server_answers(room: str, lang: str, tmp_path: Path) -> None:
    """A fragment gets the id that the document names in its place."""
    shown = day_of(edition(f"docs/{room}.md", lang))
    tools = {"sessions": ["context_save", "context_warn"], "fragments": ["context", "recall"]}
    first, projects = FIRST_DAY[room]
    assert [call_of(it)[1] for it in shown][first - (room == "sessions") :][:2] == tools[room]
    database = tmp_path / "memory.db"
    ids = list(dict.fromkeys(ID.findall("\n".join(shown)))) if room == "fragments" else []
    told = []
    for client, name, calls in zip(CLIENTS, projects, (shown[:first], shown[first:]), strict=True):
        project = tmp_path / name
        (project / ".context").mkdir(parents=True, exist_ok=True)
        with ServerProcess(
            *("--project", str(project), "--rooms", f"lessons,{room}"),
            cwd=project,
            stderr_path=tmp_path / f"{client}.txt",
            environment={"SENTINEL_MEMORY_LANG": lang, "SENTINEL_MEMORY_FRAGMENTS": str(database)},
            client=client,
        ) as server:
            for block in calls:
                real = dict(zip(ids, ids_in(database), strict=False))
                text, tool, given = call_of(renamed(block, real))
                told.append(f"{text}\n\n{server.call(tool, **given)}\n")
            assert server.close() == 0
    named = dict(zip(ids_in(database), ids, strict=True))
    now = [renamed(block, named) for block in told]
    assert [*map(lasting, now)] == [*map(lasting, shown)]


def test_the_stated_cost_of_a_day_of_fragments_is_its_tokens() -> None:
    days = [day_of(edition("docs/fragments.md", lang)) for lang in ("en", "ko")]
    answers = [[it.removeprefix(call_of(it)[0]).strip() for it in day] for day in days]
    paid = "; ".join(str(sum(map(tokens_of, day))) for day in answers)
    assert paid in text_of("docs/fragments.md")


def test_the_keys_of_the_objects_are_those_that_the_tools_give() -> None:
    """The answers are those that a story has recorded."""
    told = defaultdict[str, set[str]](set)
    row = r"^[|-] ((?:`\w+`(?:, )?)+)(?: \||:) (.+)$"
    for names, keys in re.findall(row, text_of("docs/fragments.md"), re.M):
        for tool in re.findall(r"`(\w+)`", names):
            told[tool] |= {*re.findall(r"`(\w+)`", keys)}
    given = defaultdict[str, set[str]](set)
    step = r"^([a-z_]+)(?: .*)?\n\| (\{.*)$"
    for tool, answer in re.findall(step, text_of("tests/stories/fragments_json.txt"), re.M):
        given[tool] |= {*json.loads(answer)} - {"success"}
    assert given.keys() == {it.function.__name__ for it in tools.TOOLS}
    none_of((tool, keys - told[tool]) for tool, keys in given.items() if keys - told[tool])


# The README.


@LANGUAGES
def test_the_readme_shows_the_text_of_a_hook_and_the_files_that_the_program_makes(
    lang: str, tmp_path: Path
) -> None:
    text = text_of("README.md" if lang == "en" else "docs/README.ko.md")
    lesson, tree = blocks(text, "text")[:2]
    project = tmp_path / "shop"
    (project / ".context").mkdir(parents=True)
    [shown] = blocks(text, "json")
    (project / ".context/memory_log.jsonl").write_text(json.dumps(json.loads(shown)) + "\n")
    [edited] = set(re.findall(r"`(migrations/[^`*]+)`", text))
    said = run_hook(
        *("before-action", "--client", "claude-code", "--lang", lang),
        given=claude_edit(project, edited, ""),
        cwd=project,
        environment=environment_of(tmp_path / "state"),
    )
    assert "".join(lesson.split()) == "".join(said.text.split())  # a README sets other lines
    other = tmp_path / "other"
    store = open_store(Project(str(other), "--project"), Settings())
    for words in ("the first words", "better words"):
        store.upsert_log(Draft(topic="payment", missing_context="VAT", lesson=words))
    made = sorted(path.name for path in (other / ".context").iterdir())
    assert sorted(re.findall(r"── (\S+)", tree)) == made


# Getting started.

DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2} [A-Z][a-z]{2}\b|\d{1,2}월 \d{1,2}일")
ANSWERED = {
    "uv tool install .": "",  # another test installs
    "git init shop && cd shop": "git init --quiet",  # the project is where the block is typed
    "setup claude-code": "setup claude-code --yes",
    "memory add": "memory add --yes",
}


@pytest.mark.parametrize(
    ("name", "locale"),
    [
        ("docs/getting-started.md", "C.UTF-8"),
        pytest.param("docs/getting-started.ko.md", "ko_KR.UTF-8", marks=pytest.mark.long),
    ],
)
def test_every_output_of_getting_started_is_printed_by_its_command(
    name: str, locale: str, tmp_path: Path
) -> None:
    project, home = tmp_path / "shop", tmp_path / "home"
    # Both commands of this checkout are there, and nothing is configured.
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    for command, file in (("sentinel-memory", "cli.py"), ("sentinel-memory-server", "server.py")):
        script = python.with_name(command)
        script.write_text(f'#!/bin/sh\nexec "{python}" "{ROOT / file}" "$@"\n')
        script.chmod(0o755)
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    who = {f"GIT_{it}": "dev" for it in ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME")}
    who |= {"GIT_COMMITTER_EMAIL": "dev", "PYTHONPATH": sysconfig.get_path("purelib")}
    environment = Desk(project, home).environment(PATH=path, LANG=locale, **who)

    def packed(text: str) -> str:
        """The text as on the day and in the place of the document; a long path moves line ends."""
        text = text.replace(str(project), "/home/dev/shop")
        text = text.replace("python cli.py", "sentinel-memory")
        text = re.sub(r"@[0-9a-f]{6}\b", "@VERSION", text)  # it follows from the date as well
        return "".join(DATE.sub("DATE", text).split())

    printed, compared = "", 0
    found = re.findall(r"^```(sh|bash|text|json)\n(.*?)^```", text_of(name), re.M | re.S)
    for language, block in found:
        if language in ("sh", "bash"):
            for asks, answered in ANSWERED.items():
                block = block.replace(asks, answered)
            done = subprocess.run(block, shell=True, cwd=project, env=environment,
                                  capture_output=True, text=True)  # fmt: skip
            assert (done.returncode, done.stderr) == (0, "")
            printed = packed(done.stdout)
            continue
        shown = block if language == "text" else json.dumps(json.loads(block))
        parts = re.split(r"^…$", shown, flags=re.M)
        pattern = ".*".join(re.escape(packed(part)) for part in parts)
        assert re.fullmatch(pattern.replace("…", r"\w?…"), printed)  # a short date leaves room
        compared += 1
    assert compared == 5
