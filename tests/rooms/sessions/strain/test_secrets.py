"""Tests that no byte of a secret reaches the disk, by whatever field it comes."""

import random
from pathlib import Path
from typing import Any

import pytest

from core.settings import Settings
from rooms.sessions.config import Config
from rooms.sessions.errors import SessionsError
from rooms.sessions.session import Approach, Blocker, Changes, Decision, Draft
from rooms.sessions.store import SessionStore
from tests.support.secret_corpus import Case, cases

FIELDS = ("goal", "summary", "tags", "decisions", "approaches", "blockers", "codeChanges")
SAMPLE, SEED = 140, 20261123
LEAST_CHARS = 12  # of a secret, or its bytes could be somebody else's by chance


def with_text(field: str, text: str) -> Draft:
    """A draft that says this in one field."""
    fields: dict[str, Any] = {
        "goal": {"goal": text},
        "summary": {"summary": text},
        "tags": {"tags": (text,)},
        "decisions": {"decisions": (Decision(what="w", why=text),)},
        "approaches": {"approaches": (Approach(description=text, result="failed"),)},
        "blockers": {"blockers": (Blocker(description="b", resolved=True, resolution=text),)},
        "codeChanges": {"changes": Changes(modified_files=("a.py",), summary=text)},
    }
    return Draft(**{"goal": "g", **fields[field]})


def sample() -> list[tuple[str, Case, list[str]]]:
    """A field for each of some cases, and the secrets in it."""
    chance = random.Random(SEED)
    found = []
    for case in cases(SEED):
        secrets = [case.text[start:end] for start, end in case.secret_spans]
        if secrets and min(map(len, secrets)) >= LEAST_CHARS and case.family == "token":
            found.append((case, secrets))
    return [(chance.choice(FIELDS), *it) for it in chance.sample(found, SAMPLE)]


def on_disk(root: Path) -> bytes:
    """Every byte below a directory: the database, its journals, the projection."""
    return b"\n".join(path.read_bytes() for path in root.rglob("*") if path.is_file())


def fresh(root: Path, **settings: bool) -> SessionStore:
    return SessionStore(root, Config(), Settings(**settings))  # type: ignore[arg-type]


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T86")
def test_no_byte_of_a_secret_is_on_disk(tmp_path: Path) -> None:
    """Sampled: a text that the redactor misses is its own business, and none is here."""
    store, told = fresh(tmp_path), list[tuple[str, str, str]]()
    for at, (field, case, secrets) in enumerate(sample()):
        if field == "tags" and len(case.text) > 200:
            field = "summary"
        try:
            saved = store.save(with_text(field, case.text), agent="a", process=f"p{at}")
        except SessionsError as error:  # too long for its field, tags most of all
            assert error.key == "too_long", error
            continue
        assert saved.redacted, (field, case.kind, case.placement)
        told += [(field, case.kind, secret) for secret in secrets]
    assert len(told) > SAMPLE / 2 and {field for field, _, _ in told} == set(FIELDS)
    for data in (on_disk(tmp_path), _after_closing(store, tmp_path)):
        assert [it for it in told if it[2].encode() in data] == []


def _after_closing(store: SessionStore, root: Path) -> bytes:
    store.database.close()
    return on_disk(root)


@pytest.mark.long  # it costs much
def test_a_refused_secret_leaves_nothing_on_disk(tmp_path: Path) -> None:
    store = fresh(tmp_path, strict=True)
    for field, case, _ in sample()[:40]:
        with pytest.raises(SessionsError) as caught:
            store.save(with_text(field, case.text), agent="a", process="p")
        assert str(caught.value).startswith(f"{field}: this looks like a secret (")
    assert list(tmp_path.iterdir()) == []


VALUE = "Xk29vQp7LmR4tZ"


@pytest.mark.parametrize("telling", FIELDS)
def test_a_value_that_one_field_tells_is_in_none(tmp_path: Path, telling: str) -> None:
    others = {field: f"tried {VALUE} again" for field in FIELDS if field != telling}
    split = f"{VALUE[:6]}\u200b{VALUE[6:]}"
    draft = Draft(
        goal=others.get("goal", f"password={VALUE}"),
        summary=others.get("summary", f"password={VALUE}"),
        tags=(others.get("tags", f"password={VALUE}"), split),
        decisions=(Decision(what=others.get("decisions", f"password={VALUE}"), why=split),),
        approaches=(Approach(description=others.get("approaches", f"password={VALUE}")),),
        blockers=(Blocker(description=others.get("blockers", f"password={VALUE}")),),
        changes=Changes(modified_files=(others.get("codeChanges", f"password={VALUE}"),)),
    )
    store = fresh(tmp_path)
    assert store.save(draft, agent=VALUE and "client", process="p").redacted
    data = on_disk(tmp_path)
    assert VALUE.encode() not in data and split.encode() not in data and b"vQp7LmR4" not in data


def test_a_secret_that_hidden_characters_split_is_in_no_byte(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    store = fresh(tmp_path)
    for at, field in enumerate(FIELDS):
        split = "\u200b".join((token[:9], token[9:21], token[21:]))
        assert store.save(with_text(field, split), agent="a", process=f"p{at}").redacted
    data = on_disk(tmp_path)
    assert not [part for part in (token[4:9], token[9:21], token[21:]) if part.encode() in data]
