import re

import pytest

from core.store import count, read_all, upsert_log
from server import compact_memory, log_memory, search_memory
from tests.contract.given import (
    GAP,
    LESSON,
    LOG,
    REPLACED,
    as_line,
    digest,
    full_disk,
    lines,
    log,
    on_disk,
    principle,
    stored,
    tokens,
    write,
)

SUMMARY = "Read the tax table before any change to payments"


def lessons() -> list[str]:
    return [record["lesson"] for record in read_all()]


def three() -> None:
    write(
        log("auth", "gap of auth", "lesson of auth"),
        log("payment", "first gap", "first lesson", ask_next_time="Which country?"),
        log("payment", "second gap", "second lesson", ask_next_time="Which provider?"),
    )


def test_records_come_grouped_by_topic() -> None:
    write(
        log("ui", "a", "lesson one"),
        log("db", "b", "lesson two"),
        log("ui", "c", "lesson three"),
        principle("db", "lesson four"),
    )
    answer = compact_memory()
    places = {name: answer.index(f"lesson {name}") for name in ("one", "two", "three", "four")}
    order = sorted(places, key=lambda name: places[name])
    assert order in (["one", "three", "two", "four"], ["two", "four", "one", "three"])


def test_every_record_has_its_token() -> None:
    three()
    found = tokens(compact_memory())
    assert [token.split("@")[0] for token in sorted(found)] == sorted(
        digest(text) for text in ("authgap of auth", "paymentfirst gap", "paymentsecond gap")
    )


def test_compaction_of_nothing_answers(capfd: pytest.CaptureFixture[str]) -> None:
    assert isinstance(compact_memory(), str)
    assert tokens(compact_memory(target_topic="payment")) == []
    assert not LOG.parent.exists()


def test_reading_for_compaction_changes_nothing() -> None:
    three()
    before = LOG.read_bytes()
    compact_memory(compact_threshold=1)
    assert LOG.read_bytes() == before


def test_a_target_narrows_the_groups() -> None:
    three()
    answer = compact_memory(target_topic="payment")
    assert "first lesson" in answer and "second lesson" in answer
    assert "lesson of auth" not in answer
    assert len(tokens(answer)) == 2


def test_a_target_is_compared_with_all_topics() -> None:
    write(log("auth", "a"), log("auth-login", "b"), log("zebra", "c"))
    answer = compact_memory(target_topic="auth")
    assert answer.count("auth-login") > answer.count("zebra")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("auth", "auth-login"),
        ("auth", "authentication"),
        ("Payment", "payment"),
        ("ui_form", "form/ui"),
        ("db.migration", "db-migration"),
        ("api gateway", "gateway"),
        ("deployment", "deploymnet"),
        ("결제", "결제모듈"),
    ],
)
def test_similar_topics_are_suggested(one: str, other: str) -> None:
    write(log(one, "a"), log(other, "b"), log("zebra", "c"))
    answer = compact_memory()
    assert "similar" in answer.lower()
    assert any(one in line and other in line for line in answer.splitlines())
    assert answer.count(other) > answer.count("zebra")
    assert len({record["topic"] for record in read_all()}) == 3


def test_the_joined_questions_are_offered() -> None:
    three()
    answer = compact_memory("payment")
    joined = [line for line in answer.splitlines() if "Which country?" in line]
    assert any("Which provider?" in line for line in joined)


def test_a_principle_alone_is_already_compact() -> None:
    write(principle())
    assert "already compact" in compact_memory().lower()


def test_a_principle_takes_the_place_of_its_originals() -> None:
    three()
    first = lines()[0]
    sources = tokens(compact_memory(target_topic="payment"))
    answer = log_memory(
        "payment", "", SUMMARY, "Which country and provider?", "principle", source_ids=sources
    )
    assert isinstance(answer, str)
    assert lessons() == ["lesson of auth", SUMMARY]
    assert lines()[0] == first
    meta = read_all()[1]["meta"]
    assert meta["source_count"] == 2
    assert "compacted_at" in meta
    assert sorted(meta["source_ids"]) == sorted(sources)


def test_the_principle_stands_where_its_first_original_stood() -> None:
    write(log("a", "1", "before"), log("b", "2", "original"), log("c", "3", "after"))
    log_memory("b", "", SUMMARY, type="principle", source_ids=tokens(compact_memory("b")))
    assert lessons() == ["before", SUMMARY, "after"]


@pytest.mark.row("001 3-3.h")
def test_the_originals_are_kept_beside_the_log() -> None:
    three()
    log_memory("payment", "", SUMMARY, type="principle", source_ids=tokens(compact_memory()))
    kept = REPLACED.read_text("utf-8")
    assert all(text in kept for text in ("first lesson", "second lesson", "lesson of auth"))


@pytest.mark.parametrize(
    "wrong", [{"lesson": "가" * 342}, {"lesson": " "}, {"topic": " "}, {"type": "summary"}]
)
def test_a_refused_principle_deletes_nothing(wrong: dict[str, str]) -> None:
    three()
    before = LOG.read_bytes()
    sources = tokens(compact_memory())
    good = {"topic": "payment", "missing_context": "", "lesson": SUMMARY, "type": "principle"}
    with pytest.raises(ValueError):
        log_memory(**(good | wrong), source_ids=sources)  # type: ignore[arg-type]
    assert LOG.read_bytes() == before


def test_a_principle_that_cannot_be_written_deletes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    three()
    before = LOG.read_bytes()
    sources = tokens(compact_memory())

    with full_disk(monkeypatch), pytest.raises((OSError, ValueError)):
        log_memory("payment", "", SUMMARY, type="principle", source_ids=sources)
    assert LOG.read_bytes() == before


def test_records_added_after_the_snapshot_survive() -> None:
    three()
    sources = tokens(compact_memory())
    log_memory("payment", "a third gap", "third lesson")
    log_memory("payment", "", SUMMARY, type="principle", source_ids=sources)
    assert sorted(lessons()) == sorted([SUMMARY, "third lesson"])


def test_a_record_changed_after_the_snapshot_stays_and_is_named() -> None:
    three()
    sources = tokens(compact_memory("payment"))
    log_memory("payment", "first gap", "a better lesson")
    answer = log_memory("payment", "", SUMMARY, type="principle", source_ids=sources)
    assert sorted(lessons()) == sorted(["lesson of auth", "a better lesson", SUMMARY])
    assert digest("paymentfirst gap") in answer
    assert next(r for r in read_all() if r["type"] == "principle")["meta"]["source_count"] == 1


def test_tokens_of_nothing_are_reported() -> None:
    three()
    strangers = ["0123456789abcdef@abcd", "nonsense"]
    answer = log_memory("payment", "", SUMMARY, type="principle", source_ids=strangers)
    assert all(stranger.split("@")[0] in answer for stranger in strangers)
    assert count() == 4


def test_a_bare_id_is_enough_for_a_record_that_was_never_updated() -> None:
    three()
    bare = [digest("paymentfirst gap"), digest("paymentsecond gap")]
    log_memory("payment", "", SUMMARY, type="principle", source_ids=bare)
    assert lessons() == ["lesson of auth", SUMMARY]


@pytest.mark.row("001 5-1.i")
def test_a_bare_id_does_not_remove_a_record_that_was_updated() -> None:
    log_memory("payment", GAP, LESSON)
    log_memory("payment", GAP, "a better lesson")
    name = digest("payment" + GAP)
    answer = log_memory("payment", "", SUMMARY, type="principle", source_ids=[name])
    assert sorted(lessons()) == sorted(["a better lesson", SUMMARY])
    assert name in answer and "token" in answer.lower()


def test_a_log_has_no_sources() -> None:
    three()
    before = LOG.read_bytes()
    with pytest.raises(ValueError, match="source_ids"):
        log_memory("payment", GAP, LESSON, source_ids=tokens(compact_memory()))
    assert LOG.read_bytes() == before


def test_a_principle_among_the_sources_counts_with_its_own() -> None:
    write(principle("payment", "An older principle"), log("payment", "gap", "A lesson"))
    log_memory("payment", "", SUMMARY, type="principle", source_ids=tokens(compact_memory()))
    (record,) = read_all()
    assert record["meta"]["source_count"] == 8


@pytest.mark.row("001 3-3.l")
def test_records_without_use_are_deleted_and_repeated_in_full() -> None:
    three()
    name = digest("paymentfirst gap")
    chosen = [token for token in tokens(compact_memory()) if token.startswith(name)]
    answer = compact_memory(delete_ids=chosen)
    assert lessons() == ["lesson of auth", "second lesson"]
    assert all(text in answer for text in ("first gap", "first lesson", "Which country?"))
    assert "first lesson" in REPLACED.read_text("utf-8")


def test_a_record_changed_since_is_not_deleted() -> None:
    three()
    found = tokens(compact_memory("payment"))
    log_memory("payment", "first gap", "a better lesson")
    compact_memory(delete_ids=found)
    assert lessons() == ["lesson of auth", "a better lesson"]


@pytest.mark.row("001 3-3.h")
def test_an_original_that_comes_back_is_hidden_and_then_removed() -> None:
    three()
    original = lines()[1] + "\n"
    log_memory(
        "payment", "", SUMMARY, type="principle", source_ids=tokens(compact_memory("payment"))
    )
    write(LOG.read_text("utf-8"), original)
    assert "first lesson" not in search_memory("")
    assert lessons() == ["lesson of auth", SUMMARY]
    answer = log_memory("ui", "gap", "A lesson")
    assert original not in LOG.read_text("utf-8")
    assert re.search(r"\b1\b", answer)


@pytest.mark.row("001 3-3.h")
def test_an_original_that_comes_back_changed_is_shown() -> None:
    three()
    original = on_disk()[1]
    log_memory(
        "payment", "", SUMMARY, type="principle", source_ids=tokens(compact_memory("payment"))
    )
    write(LOG.read_text("utf-8"), as_line(original | {"lesson": "first lesson, revised"}))
    assert "first lesson, revised" in search_memory("")
    upsert_log(log("ui", "gap", "A lesson"))
    assert "first lesson, revised" in lessons()


def test_only_whole_topics_are_offered_and_the_rest_is_named() -> None:
    filler = "word " * 190
    sizes = {"large": 12, "middle": 9, "small": 6, "tiny": 2}
    write(
        *(
            log(topic, f"{topic} gap {n}. {filler}", f"{topic} lesson {n}.{' x' * 480}")
            for topic, size in sizes.items()
            for n in range(size)
        )
    )
    answer = compact_memory()
    assert len(answer) <= 45_000
    offered = {token.split("@")[0] for token in tokens(answer)}
    whole: dict[str, set[bool]] = {topic: set() for topic in sizes}
    for record in read_all():
        shown = record["lesson"] in answer
        assert shown == (record["id"] in offered)
        whole[record["topic"]].add(shown)
    assert all(len(state) == 1 for state in whole.values())
    assert whole["large"] == {True} and {False} in whole.values()
    for topic, state in whole.items():
        assert state == {True} or re.search(rf"{topic}\D*{sizes[topic]}\b", answer)


def test_the_same_text_in_another_type_is_no_principle_yet() -> None:
    write(stored_log := as_line(stored(log("auth", "Rotate the keys", "lesson"))))
    with pytest.raises(ValueError):
        log_memory("auth", "", "Rotate the keys", type="principle")
    assert LOG.read_text("utf-8") == stored_log
