import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

Record = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
LOG = Path(".context/memory_log.jsonl")
REPLACED = Path(".context/memory_log.replaced.jsonl")
SETTINGS = (
    "CLAUDE_PROJECT_DIR",
    "SENTINEL_MEMORY_PROJECT",
    "SENTINEL_MEMORY_THRESHOLD",
    "SENTINEL_MEMORY_LANG",
)
# Built here, so that no scanner takes this file for a leak.
SECRET = "gh" + "p_" + "k7Qw2ZxR9bLm4TnV8cJs1YhD6fGa3PeU5oWi"

GAP = "VAT calculation differs by country, not stated in initial instructions"
LESSON = "Always check the country-code tax rate file when modifying the payment module"
QUESTION = "What is the country scope for this modification?"
CREATED = "2026-02-27T10:30:00+00:00"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def log(topic: str = "payment", gap: str = GAP, lesson: str = LESSON, **more: Any) -> Record:
    return {"type": "log", "topic": topic, "missing_context": gap, "lesson": lesson, **more}


def principle(topic: str = "payment", lesson: str = LESSON, **more: Any) -> Record:
    return {"type": "principle", "topic": topic, "missing_context": "", "lesson": lesson, **more}


def stored(record: Record, created: str = CREATED) -> Record:
    key = record["missing_context"] if record["type"] == "log" else record["lesson"]
    meta: Record = {"created": created}
    if record["type"] == "principle":
        meta |= {"compacted_at": created, "source_count": 7}
    return {"id": digest(record["topic"] + key), **record, "meta": record.get("meta", meta)}


def as_line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def write(*lines: str | Record, end: str = "") -> None:
    LOG.parent.mkdir(exist_ok=True)
    texts = [line if isinstance(line, str) else as_line(stored(line)) for line in lines]
    LOG.write_bytes(("".join(texts) + end).encode("utf-8"))


def lines() -> list[str]:
    text = LOG.read_bytes().decode("utf-8")
    assert text.endswith("\n")
    return text[:-1].split("\n")


def on_disk() -> list[Record]:
    return [json.loads(line) for line in lines()]


def many(number: int, topics: int = 5) -> list[Record]:
    return [log(f"area-{n % topics}", f"gap {n}.", f"lesson {n}.") for n in range(number)]


def tokens(answer: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\b[0-9a-f]{16}@[0-9a-f]+\b", answer)))


def demands_compaction(answer: str) -> bool:
    return "compact_memory" in answer and "required" in answer.lower()


@contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        for name in ("replace", "rename"):
            patch.setattr(os, name, full)
        yield
