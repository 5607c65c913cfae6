"""Tests what setup writes for every client, over files of many kinds, against what was recorded."""

from pathlib import Path

import pytest

from tests.support.costly import enough
from tests.support.setup_cases import Case, cases, recorded, result_of

RECORDED = recorded()
VIEWS = (lambda it: (it.client, it.state), lambda it: (it.level, it.rooms))


def test_every_case_is_recorded() -> None:
    assert [*RECORDED] == [case.name for case in cases()]


@pytest.mark.parametrize("case", enough(cases(), *VIEWS))
def test_setup_writes_what_was_recorded(case: Case, tmp_path: Path) -> None:
    assert result_of(case, tmp_path) == RECORDED[case.name]
