import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.store import MEMORY_LOG_PATH, count, delete_by_ids, read_all, upsert_log
from tests.contract.given import (
    CREATED,
    GAP,
    LESSON,
    LOG,
    QUESTION,
    digest,
    lines,
    log,
    on_disk,
    principle,
    stored,
    write,
)

LIMITS = {"topic": 64, "missing_context": 1024, "lesson": 1024, "ask_next_time": 512}


def filled(size: int, sign: str) -> str:
    width = len(sign.encode("utf-8"))
    return "a" * (size % width) + sign * (size // width)


@pytest.mark.row("001 5-1.m")
def test_the_path_is_relative() -> None:
    assert Path(MEMORY_LOG_PATH) == LOG


@pytest.mark.row("001 2-2.c")
def test_the_path_follows_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        upsert_log(log(lesson=f"lesson of {name}"))
        assert [record["lesson"] for record in read_all()] == [f"lesson of {name}"]
    assert (tmp_path / "one" / LOG).is_file()
    assert (tmp_path / "two" / LOG).is_file()


@pytest.mark.row("001 5-1.k", "001 5-1.m")
def test_the_path_may_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "far" / "away" / "notes.jsonl"
    monkeypatch.setattr("core.store.MEMORY_LOG_PATH", elsewhere)
    upsert_log(log())
    assert elsewhere.is_file()
    assert not LOG.exists()
    assert count() == len(read_all()) == 1
    delete_by_ids([digest("payment" + GAP)])
    assert count() == 0


@pytest.mark.row("001 5-1.a")
def test_the_first_write_makes_the_folder() -> None:
    assert not LOG.parent.exists()
    upsert_log(log())
    assert LOG.is_file()


def test_reading_creates_nothing(project: Path) -> None:
    assert read_all() == []
    assert read_all("payment") == []
    assert count() == 0
    assert list(project.iterdir()) == []


@pytest.mark.row("001 3-2.g")
def test_a_log_has_the_id_of_its_topic_and_gap() -> None:
    upsert_log(log("결제", "국가별 부가세 😀", "세율표를 확인"))
    assert read_all()[0]["id"] == digest("결제" + "국가별 부가세 😀")


@pytest.mark.row("001 3-2.k")
def test_a_principle_has_the_id_of_its_topic_and_lesson() -> None:
    upsert_log(principle("payment", "check the rates"))
    assert read_all()[0]["id"] == digest("payment" + "check the rates")


@pytest.mark.row("001 3-2.g")
def test_an_id_that_is_given_is_computed_all_the_same() -> None:
    upsert_log({"id": "0123456789abcdef", **log()})
    assert [record["id"] for record in read_all()] == [digest("payment" + GAP)]


@pytest.mark.row("001 5-1.h")
@pytest.mark.parametrize("record", [log(ask_next_time=QUESTION), principle(ask_next_time="A?")])
def test_a_whole_record_comes_out_as_it_went_in(record: dict[str, Any]) -> None:
    upsert_log(stored(record))
    assert read_all() == [stored(record)] == on_disk()


@pytest.mark.row("001 4-1.e")
def test_the_smallest_record_gets_a_time_of_creation_in_utc() -> None:
    before = datetime.now(UTC) - timedelta(seconds=2)
    upsert_log(log())
    created = datetime.fromisoformat(read_all()[0]["meta"]["created"])
    assert created.utcoffset() == timedelta(0)
    assert before <= created <= datetime.now(UTC) + timedelta(seconds=1)


def test_a_record_without_a_question_has_none() -> None:
    upsert_log(log())
    assert not read_all()[0].get("ask_next_time")


def test_a_principle_may_leave_out_what_was_missing() -> None:
    upsert_log({"type": "principle", "topic": "payment", "lesson": LESSON})
    assert read_all()[0]["missing_context"] == ""


@pytest.mark.row("001 5-1.h")
def test_what_is_returned_has_the_form_of_the_file() -> None:
    upsert_log(log(ask_next_time=QUESTION))
    upsert_log(principle())
    assert read_all() == on_disk()
    assert all(type(record) is dict and type(record["meta"]) is dict for record in read_all())


@pytest.mark.row("001 1-2.c")
def test_one_record_is_one_line_with_its_keys_in_order() -> None:
    upsert_log(log("결제", "부가세 😀", "한 줄\n두 줄", ask_next_time="어느 나라?"))
    assert len(lines()) == 1
    assert "결제" in lines()[0] and "부가세 😀" in lines()[0]
    keys = ["id", "type", "topic", "missing_context", "lesson", "ask_next_time", "meta"]
    assert list(on_disk()[0]) == keys
    assert b"\r" not in LOG.read_bytes()


def test_signs_that_look_like_line_ends_stay_in_the_text() -> None:
    lesson = "one\u2028two\u2029three\u0085four\rfive\x0bsix\x0cseven\r\neight"
    upsert_log(log(lesson=lesson))
    assert len(lines()) == 1
    assert read_all()[0]["lesson"] == lesson


@pytest.mark.row("001 3-2.h")
def test_the_same_id_replaces_and_keeps_its_place_and_its_creation() -> None:
    write(log(), log("auth", "gap", "lesson"))
    upsert_log(log(lesson="read the tax table"))
    assert [record["lesson"] for record in read_all()] == ["read the tax table", "lesson"]
    assert read_all()[0]["meta"]["created"] == CREATED
    assert datetime.fromisoformat(read_all()[0]["meta"]["updated"]).utcoffset() == timedelta(0)
    assert read_all()[0]["meta"]["seen"] >= 1
    assert count() == 2


@pytest.mark.row("001 3-2.h")
def test_each_recurrence_is_counted() -> None:
    seen = []
    for lesson in ("first", "second", "third"):
        upsert_log(log(lesson=lesson))
        seen.append(read_all()[0]["meta"].get("seen"))
    assert seen[2] == seen[1] + 1


@pytest.mark.row("001 3-2.i")
def test_the_same_text_within_a_day_is_no_recurrence() -> None:
    upsert_log(log())
    first = read_all()[0]["meta"].get("seen")
    upsert_log(log())
    assert read_all()[0]["meta"].get("seen", first) == first
    assert count() == 1


@pytest.mark.row("001 3-2.i")
def test_the_same_text_after_days_is_a_recurrence() -> None:
    write(log())
    upsert_log(log())
    assert read_all()[0]["meta"]["seen"] >= 1


@pytest.mark.row("001 3-2.l")
def test_the_same_principle_is_saved_once() -> None:
    upsert_log(principle())
    upsert_log(principle())
    assert count() == 1


@pytest.mark.row("001 5-1.j")
def test_a_topic_is_matched_exactly() -> None:
    for topic in ("auth", "auth-login", "Auth", "결제"):
        upsert_log(log(topic))
    assert [record["topic"] for record in read_all("auth")] == ["auth"]
    assert [record["topic"] for record in read_all(topic="결제")] == ["결제"]
    assert read_all("aut") == []
    assert len(read_all(None)) == 4


def test_a_topic_is_trimmed_and_composed() -> None:
    apart = "\u1100\u1167\u11af\u110c\u1166"
    upsert_log(log(f"  {apart}\t"))
    assert read_all()[0]["topic"] == "결제"
    assert read_all()[0]["id"] == digest("결제" + GAP)
    assert len(read_all(apart + " ")) == 1


@pytest.mark.parametrize("sign", ["a", "가", "😀"])
@pytest.mark.parametrize("field", LIMITS)
def test_a_field_may_fill_its_limit_and_no_byte_more(field: str, sign: str) -> None:
    full = filled(LIMITS[field], sign)
    upsert_log(log(**{}) | {field: full})
    assert read_all()[0][field] == full
    before = LOG.read_bytes()
    with pytest.raises(ValueError, match=str(LIMITS[field]).replace("1024", "1,?024")) as refusal:
        upsert_log(log() | {field: full + "b"})
    assert field in str(refusal.value)
    assert str(LIMITS[field] + 1) in str(refusal.value).replace(",", "")
    assert LOG.read_bytes() == before


@pytest.mark.row("001 9.b")
def test_the_store_does_not_shorten_the_question_of_a_principle() -> None:
    with pytest.raises(ValueError, match="ask_next_time"):
        upsert_log(principle(ask_next_time="가" * 171))
    assert count() == 0


@pytest.mark.row("001 3-2.a", "001 3-2.d")
@pytest.mark.parametrize(
    "wrong",
    [
        {"topic": ""},
        {"topic": " \t\n"},
        {"topic": "\u3000"},
        {"topic": 5},
        {"missing_context": "  "},
        {"lesson": ""},
        {"lesson": "\n"},
        {"lesson": None},
        {"lesson": ["a"]},
        {"type": "note"},
        {"type": "principle", "lesson": " "},
        {"type": ""},
        {"lesson": "half a sign \ud83d"},
        {"missing_context": "\udc00"},
        {"topic": "a\ud800"},
        {"ask_next_time": "\ud800"},
    ],
)
def test_what_cannot_be_a_record_is_refused(wrong: dict[str, Any], project: Path) -> None:
    with pytest.raises(ValueError) as refusal:
        upsert_log(log() | wrong)
    assert str(refusal.value).encode("utf-8")
    assert count() == 0


@pytest.mark.parametrize("field", ["topic", "missing_context", "lesson"])
def test_a_log_without_a_required_field_is_refused(field: str) -> None:
    record = log()
    del record[field]
    with pytest.raises(ValueError, match=field):
        upsert_log(record)
    assert count() == 0


@pytest.mark.row("001 3-2.j")
@pytest.mark.parametrize(
    "second", [log("auth-log", "in missing"), principle("auth", "-login missing")]
)
def test_two_records_with_one_id_do_not_overwrite_each_other(second: dict[str, Any]) -> None:
    upsert_log(log("auth", "-login missing"))
    before = LOG.read_bytes()
    with pytest.raises(ValueError, match=re.compile("word", re.I)):
        upsert_log(second)
    assert LOG.read_bytes() == before


@pytest.mark.row("001 3-2.h", "001 4-1.g")
def test_extra_keys_survive_a_rewrite() -> None:
    extra = log(owner="kim") | {"meta": {"created": CREATED, "ticket": 7}}
    write(extra, log("auth", "gap", "lesson"))
    upsert_log(log(lesson="a newer lesson"))
    delete_by_ids([digest("auth" + "gap")])
    (record,) = read_all()
    assert record["owner"] == "kim"
    assert record["meta"]["ticket"] == 7
    assert record["lesson"] == "a newer lesson"


@pytest.mark.row("001 5-1.i")
def test_ids_are_deleted_and_the_others_stay() -> None:
    write(log("a", "1"), log("b", "2"), log("c", "3"))
    delete_by_ids([digest("a1"), digest("c3")])
    assert [record["topic"] for record in read_all()] == ["b"]
    assert count() == 1


def test_unknown_ids_delete_nothing() -> None:
    write(log())
    before = LOG.read_bytes()
    delete_by_ids(["0123456789abcdef", "nonsense"])
    delete_by_ids([])
    assert LOG.read_bytes() == before


def test_deleting_from_no_file_is_no_error() -> None:
    delete_by_ids([digest("payment" + GAP)])
    assert count() == 0


def test_a_record_that_was_updated_is_deleted_by_its_id() -> None:
    upsert_log(log())
    upsert_log(log(lesson="a newer lesson"))
    delete_by_ids([read_all()[0]["id"]])
    assert count() == 0


@pytest.mark.row("001 5-1.i")
def test_every_version_of_an_id_is_deleted() -> None:
    write(log(lesson="one way"), log(lesson="another way"))
    delete_by_ids([digest("payment" + GAP)])
    assert read_all() == []
    assert LOG.read_bytes() == b""
