"""Checks the memory log against its specification where no story can: the functions of the store as
other programs call them, and the files of the repository.
"""

import hashlib
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core.sanitizer import sanitize
from core.store import count, delete_by_ids, read_all, upsert_log
from tests.support.cli_process import without_settings
from tests.support.tables import table

Record = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
LOG = Path(".context/memory_log.jsonl")
GAP = "VAT calculation differs by country, not stated in initial instructions"
LESSON = "Always check the country-code tax rate file when modifying the payment module"
QUESTION = "What is the country scope for this modification?"
CREATED = "2026-02-27T10:30:00+00:00"
STEPS = table("agent_rules")["steps"]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    without_settings(monkeypatch)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def log(topic: str = "payment", gap: str = GAP, lesson: str = LESSON, **more: Any) -> Record:
    return {"type": "log", "topic": topic, "missing_context": gap, "lesson": lesson, **more}


def principle(topic: str = "payment", **more: Any) -> Record:
    return log(topic, "", **{"type": "principle", **more})


def stored(record: Record) -> Record:
    key = record["missing_context"] if record["type"] == "log" else record["lesson"]
    meta: Record = {"created": CREATED}
    if record["type"] == "principle":
        meta |= {"compacted_at": CREATED, "source_count": 7}
    return {"id": digest(record["topic"] + key), **record, "meta": meta}


@pytest.mark.row("001 2-2.c", "001 5-1.k", "001 5-1.m")
def test_the_path_follows_the_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        upsert_log(log(lesson=f"lesson of {name}"))
        assert [record["lesson"] for record in read_all()] == [f"lesson of {name}"]
        assert (tmp_path / name / LOG).is_file()
    elsewhere = tmp_path / "far" / "away" / "notes.jsonl"
    monkeypatch.setattr("core.store.MEMORY_LOG_PATH", elsewhere)
    upsert_log(log(gap="another"))
    assert elsewhere.is_file() and count() == len(read_all()) == 1
    delete_by_ids([digest("paymentanother")])
    assert count() == 0


@pytest.mark.row("001 3-2.g", "001 5-1.h", "001 5-1.i", "001 5-1.j", "001 3-1.d", "I6")
def test_records_come_out_as_they_went_in_by_topic_too_and_go_in_every_version() -> None:
    whole = [stored(log(ask_next_time=QUESTION)), stored(principle(ask_next_time="A?"))]
    for record in whole:
        upsert_log(record)
    lines = LOG.read_text("utf-8").splitlines()
    assert read_all() == whole == list(map(json.loads, lines))
    upsert_log({"id": "0123456789abcdef", **log("pay")})  # an id that is given is computed
    upsert_log({"type": "principle", "topic": "Payment", "lesson": LESSON})  # nothing was missing
    given = [(record["id"], record["missing_context"]) for record in read_all()[2:]]
    assert given == [(digest("pay" + GAP), GAP), (digest("Payment" + LESSON), "")]
    assert (read_all(" payment "), read_all("paymen"), count()) == (whole, [], 4)
    assert sanitize(f"password: '{'aB3' * 4}'") == "password: '[REDACTED]'"
    twice = [json.dumps(stored(log(lesson=f"{word} way"))) for word in ("one", "another")]
    LOG.write_text("\n".join(twice) + "\n")
    delete_by_ids([digest("payment" + GAP)])
    assert (read_all(), LOG.read_bytes()) == ([], b"")
    with ThreadPoolExecutor() as threads:  # and whoever updates it meanwhile
        updates = threads.submit(lambda: [upsert_log(log(lesson=f"{it}")) for it in range(99)])
        while not updates.done():
            assert not count() or delete_by_ids(digest("payment" + GAP)) == 1


WRONG: tuple[dict[str, Any], ...] = (
    *({"topic": it} for it in ("", " \t\n", "\u3000", 5, "a\ud800")),
    *({"missing_context": it} for it in ("  ", "\udc00")),
    *({"lesson": it} for it in ("", "\n", None, ["a"], "half a sign \ud83d")),
    *({"type": "note"}, {"type": "principle", "lesson": " "}, {"type": ""}),
    {"ask_next_time": "\ud800"},
    *({it: ...} for it in ("topic", "missing_context", "lesson")),  # it is left out
)


@pytest.mark.row("001 3-2.a", "001 3-2.d", "001 9.b")
def test_an_object_that_cannot_be_a_record_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in WRONG:
        record = {key: it for key, it in (log() | wrong).items() if it is not ...}
        named = next(iter(wrong)) if ... in wrong.values() else None
        with pytest.raises(ValueError, match=named) as no:
            upsert_log(record)
        assert str(no.value).encode("utf-8")
    with pytest.raises(ValueError, match="ask_next_time"):
        upsert_log(principle(ask_next_time="가" * 171))  # nor is a question shortened
    monkeypatch.setenv("SENTINEL_MEMORY_STRICT", "1")
    with pytest.raises(ValueError, match="lesson: this looks like a secret"):
        upsert_log(log(lesson=f"use ghp_{'a1B2' * 9} here"))
    assert count() == 0


@pytest.mark.row("001 1-3.c", "001 7-3.a", "001 10.a", "001 6.a")
def test_the_files_of_the_structure_exist_and_the_rules_hold_the_workflow_in_eleven_steps() -> None:
    of_core = ("core/__init__.py", "core/sanitizer.py", "core/store.py", "server.py")
    others = ("docs/design.md", "requirements.txt", ".cursorrules", ".gitignore")
    assert [path for path in (*of_core, *others) if not (ROOT / path).is_file()] == []
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    stated = [line.split("#")[0].strip() for line in lines]
    names = [re.split(r"[^\w.-]", line)[0].lower() for line in stated if line]
    assert sorted(names) == ["fastmcp", "filelock"]
    rules = (ROOT / ".cursorrules").read_text("utf-8")
    assert re.findall(r"^(\d+)\. ", rules, re.M) == [str(number) for number in range(1, 12)]
    assert re.search(r"(?i)original", rules.split('type="principle"')[-1])  # until it is saved
    rules = rules.replace('"', "").replace("`", "")
    for step in STEPS:
        found = re.search(step.replace('"', ""), rules)
        assert found, step
        rules = rules[found.start() :]
