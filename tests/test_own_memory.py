"""Tests that the project's own memory names only files that are there."""

import json
import re

from tests.support.tables import ROOT, none_of

FOLDERS = sorted(it.name for it in ROOT.iterdir() if it.is_dir() and not it.name.startswith("."))
NAMED = re.compile(
    rf"(?<![A-Za-z0-9_./*-])(?:(?:{'|'.join(FOLDERS)})/[A-Za-z0-9_./-]*[A-Za-z0-9_]|(?:server|cli)\.py)"
)


def is_there(path: str) -> bool:
    return any((ROOT / form).exists() for form in (path, f"{path}.py"))


def test_no_record_names_a_file_that_is_not_there() -> None:
    lines = (ROOT / ".context" / "memory_log.jsonl").read_text(encoding="utf-8").splitlines()
    faults = []
    for record in map(json.loads, lines):
        for field in ("missing_context", "lesson", "ask_next_time"):
            named = NAMED.findall(record.get(field, ""))
            faults += [f"{record['id']} {field}: {it}" for it in named if not is_there(it)]
        for glob in record.get("meta", {}).get("paths", ()):
            if not any(ROOT.glob(glob)):
                faults.append(f"{record['id']} paths: {glob}")
    none_of(faults)
