"""Shows the pages of two memories in a real browser."""

from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

import cli
from core.lessons.record import new_record
from core.messages import Language
from tests.support.samples import LATER, a_principle, a_record
from tests.support.shown_pages import LANGUAGES, Shown, html_of
from tests.support.team_memory import make_team_memory

GAPS = {
    "결제 완료는 서버가 확인한다": "승인",
    "결재 문서는 따로 둔다": "승인",
    "과일은 고객이 고른다": "주문",
    "닭은 상하기 쉽다": "주문",
    "달그락거리면 나사를 조인다": "설비",
    "Retry the Refund once": "payment",
    "A refund takes seven days": "payment",
    "Retry when the cache is cold": "cache",
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="module")
def browser(folder: Path, request: pytest.FixtureRequest) -> Iterator[Shown]:
    with Shown(folder / f"profile-{request.module.__name__}") as browser:
        yield browser


@pytest.fixture(scope="session")
def team(folder: Path) -> dict[Language, Path]:
    """The memory of a team, as the command writes it in both languages."""
    project = make_team_memory(folder / "shop")
    pages = {}
    for lang in LANGUAGES:
        pages[lang] = folder / f"team.{lang}.html"
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()):
            patch.setenv("SENTINEL_MEMORY_LANG", lang)
            assert cli.main(["view", "--project", str(project), "-o", str(pages[lang])]) == 0
    return pages


@pytest.fixture(scope="session")
def gaps(folder: Path) -> Path:
    """A page of few records, whose words are nearly the same."""
    records = [a_record(gap, topic=topic, lesson=gap) for gap, topic in GAPS.items()]
    records.append(new_record(a_principle("Refund by hand", topic="payment"), now=LATER))
    page = folder / "gaps.html"
    page.write_text(html_of(*records), encoding="utf-8")
    return page
