"""Tests that the examples in the documents print what the documents show."""

import re
from pathlib import Path

import pytest

from tests.support.doc_shop import Shop
from tests.support.documents import blocks, text_of

SHOWN = ["docs/ci.md", "docs/SECURITY.md"]
CALL = re.compile(r"^\$ (.+)$", re.M)
# The token of a version that is saved now, the id of a session.
FLEETING = re.compile(r"(?<=@)[0-9a-f]{6}\b|(?<=-> )[0-9a-f]{16}\b|\bctx_[0-9a-f]{12}\b")


def examples(name: str) -> list[str]:
    return [block for block in blocks(text_of(name), "text") if block.startswith("$ ")]


def lasting(example: str) -> str:
    """The example without what differs from day to day."""
    return FLEETING.sub("…", example)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The shop that each example copies."""
    return Shop(tmp_path_factory.mktemp("shop"), "en")


def played(example: str, shop: Shop) -> str:
    """The example with what its commands print today, one after the other in one project."""
    shop.leak()
    if "sentinel-memory report" in example:  # of a branch that brought a secret and took it out
        shop.commit(3)
        shop.answer("sentinel-memory scan --redact --yes")
        shop.commit(4)
    return "".join(f"$ {line}\n{shop.answer(line)}" for line in CALL.findall(example))


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("name", SHOWN)
def test_each_example_prints_what_the_document_shows(name: str, shop: Shop, tmp_path: Path) -> None:
    found = examples(name)
    assert found
    for number, example in enumerate(found):
        now = played(example, shop.copied(tmp_path / str(number)))
        assert lasting(now) == lasting(example)
