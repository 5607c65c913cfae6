"""Tests that the tables of the program are read line by line, and that a broken line is named."""

import json
from pathlib import Path

import pytest

from core.data import rows
from tests.support.stdio_client import ROOT

TABLES = sorted(path.stem for path in (ROOT / "core" / "data").glob("*.jsonl"))


@pytest.mark.parametrize("broken", ['{"name": "a\\d"}', "", "[1]", '{"name": "b"}}'])
def test_a_broken_line_is_named(tmp_path: Path, broken: str) -> None:
    lines = ['{"name": "first"}', broken, '{"name": "third"}']
    (tmp_path / "rules.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ValueError, match=r"^rules\.jsonl, line 2: "):
        list(rows("rules", tmp_path))


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_written_as_its_change_is_read_best(name: str) -> None:
    """One row a line, Hangul as it is, so that a diff shows the changed rows alone."""
    text = (ROOT / "core" / "data" / f"{name}.jsonl").read_text(encoding="utf-8")
    assert text == "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(name))


def test_each_list_of_words_stands_once_by_its_name_and_says_what_it_is() -> None:
    found = list(rows("word_lists"))
    names = [row["list"] for row in found]
    assert names == sorted(set(names))
    assert all(list(row) == ["list", "about", "words"] and row["about"] for row in found)
