"""No text of any length holds the redactor up, and none is cut where a secret stands."""

import random
import time
from pathlib import Path

import pytest

from core.errors import RefusedError
from core.sanitizer import MARKER, WINDOW_CHARS, find, redact
from core.store import MemoryStore
from tests.support.samples import a_draft
from tests.support.sentences import raised
from tests.support.templates import ALPHABETS, expand

TOKEN = expand("{A60}")[0] * 200  # 12,000 characters


@pytest.mark.parametrize(
    "field", ["topic", "missing_context", "lesson", "ask_next_time", "paths", "when"]
)
def test_a_text_far_above_its_limit_is_refused_before_any_rule_reads_it(
    field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unexpected(*_: object) -> None:
        raise AssertionError("a rule was run")

    monkeypatch.setattr("core.sanitizer.find", unexpected)
    with raised(RefusedError, "field_too_long") as caught:
        MemoryStore(tmp_path / "log").upsert_log(a_draft(**{field: "password = '" * 800_000}))
    assert caught.value.facts["field"] == field
    assert not (tmp_path / "log").exists()


ENDLESS: list[str | list[str]] = [
    *("{a," * 15_000 + "}" * 15_000, "{,}" * 15_000, "{" + "a," * 30_000, "," * 60_000),
    *("./" * 30_000, ["{a,b}{c,d}"] * 5_000, "[" * 60_000),
]


@pytest.mark.long  # it measures the time
@pytest.mark.parametrize("paths", ENDLESS)
def test_no_list_of_paths_holds_a_save_up(paths: str | list[str], tmp_path: Path) -> None:
    began = time.process_time()
    try:
        MemoryStore(tmp_path / "log.jsonl").upsert_log(a_draft(paths=paths))
    except RefusedError as error:
        assert error.key in ("field_too_long", "too_many_paths")
    assert time.process_time() - began < 3


@pytest.mark.long  # it costs much
def test_a_long_secret_is_found_whole_wherever_a_window_ends() -> None:
    secret = f"eyJhbGciOiJIUzI1NiJ9.eyJ{TOKEN[:8_000]}.{TOKEN[:43]}"
    for fill in ("some words in a line\n", "word ", "x/"):
        for before_end in (100, 3_000, 6_000, 7_900):
            before = (fill * WINDOW_CHARS)[: WINDOW_CHARS - before_end] + " "
            [found] = find(before + secret + " " + fill * 3_000)
            assert (found.start, found.end) == (len(before), len(before) + len(secret))


@pytest.mark.long  # it costs much
def test_many_values_are_found_again_where_nothing_names_them() -> None:
    rng = random.Random(5)
    values = ["x9" + "".join(rng.choices(ALPHABETS["A"], k=14)) for _ in range(200)]
    named = "\n".join(f"DB_PASSWORD='{value}'" for value in values)
    for gap in ("", "lorem ipsum dolor " * 5_000):  # in one window, and in two
        clean = redact(
            f"{named}\n{gap}\n" + ", ".join(values) + f", and {values[0]}tail stays"
        ).text
        assert clean.endswith(f"{', '.join([MARKER] * 200)}, and {values[0]}tail stays")


@pytest.mark.long  # it measures the time
def test_many_tokens_that_touch_others_go_with_their_words() -> None:
    chain = expand("v1.0-{h24}-{h146}")[0] * 100
    hints = " ".join(["ghp_", "glpat-", "xoxb-", "sk_live_", "npm_", "hvs.", "dop_v1_", "SG."] * 9)
    began = time.process_time()
    assert "v1.0-" not in redact(f"{hints} {chain} {hints}").text
    assert time.process_time() - began < 2
