"""Tests the form of the faults in tests/mutants.toml, which `python -m tests.mutate` plants.

Each row names a property that users or operators rely on, and a fault that breaks it. Whoever
rewrites a file plants each of its faults anew in the new text, under the same property, in the same
commit; the number of properties never falls, and LEAST only rises.
"""

import re
from collections import Counter
from functools import cache

from tests.mutate import ROOT, TABLE, Mutant, mutants_of
from tests.support.tables import none_of

LEAST = 258  # properties

MUTANTS = mutants_of((ROOT / TABLE).read_text(encoding="utf-8"))


def test_each_property_is_a_sentence_of_its_own_and_none_is_gone() -> None:
    counted = Counter(mutant.property for mutant in MUTANTS)
    assert len(MUTANTS) >= LEAST
    none_of(it for it, count in counted.items() if count > 1)
    none_of(it for it in counted if not (it[:1].isupper() and it.endswith(".")))


def test_each_fault_can_be_planted_in_one_place_changes_it_and_names_tests_that_exist() -> None:
    for mutant in MUTANTS:
        text = _text(mutant.file)
        assert mutant.planted_in(text) not in (None, text), mutant.property
        assert mutant.tests and all(map(_exists, mutant.tests)), mutant.property


def test_a_test_that_is_not_there_is_told_from_one_that_is() -> None:
    here, contract = "tests/test_mutants.py", "tests/rooms/fragments/test_engines.py"
    there = [
        f"{here}::test_a_text_in_two_places_takes_no_fault[x::y]",
        f"{contract}::test_terms_of_both_languages_are_found",
    ]
    gone = [here, f"{here}::test_a_text", f"{here}::TestStoring", "tests/gone.py::test_a_text"]
    assert [_exists(test) for test in (*there, *gone)] == [True] * 2 + [False] * 4


def test_a_text_in_two_places_takes_no_fault() -> None:
    mutant = Mutant(property="It holds.", file="a.py", old="a", new="b", tests=("t.py::test_a",))
    assert [mutant.planted_in(text) for text in ("a", "aa", "")] == ["b", None, None]


def _exists(test: str) -> bool:
    """Return whether a node id, with or without its parameters, names a function or a class.

    The lines are looked at, since to parse so many files takes a second. A class that inherits its
    tests is taken at its word.
    """
    file, *names = test.partition("[")[0].split("::")
    if not names or not (ROOT / file).is_file():
        return False
    if file == "tests/stories/test_stories.py":  # its classes come from files of stories
        stories, _, name = test.partition("[")[2].removesuffix("]").partition(": ")
        heading = rf"^## {re.escape(name)}(?:  \[.+\])?$"
        return re.search(heading, _text(f"tests/stories/{stories}.txt"), re.MULTILINE) is not None
    text, (first, *rest) = _text(file), names
    if not rest:
        return re.search(rf"^(?:def {first}\(|class {first}\b)", text, re.MULTILINE) is not None
    found = re.search(rf"^class {first}\b(\()?.*:\n((?:(?:    .*)?\n)*)", text, re.MULTILINE)
    return bool(found and (found[1] or re.search(rf"^    def {rest[0]}\(", found[2], re.MULTILINE)))


@cache
def _text(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")
