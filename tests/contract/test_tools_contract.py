import inspect
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.store import count, read_all
from server import compact_memory, log_memory, search_memory
from tests.contract.given import (
    GAP,
    LESSON,
    LOG,
    QUESTION,
    SECRET,
    as_line,
    demands_compaction,
    digest,
    log,
    many,
    on_disk,
    principle,
    stored,
    write,
)

QUESTIONS = (
    "Are there core constraints for this module?",
    "Are there external library version requirements?",
    "Is there a previously attempted approach that failed?",
)
ORDERS: list[tuple[Callable[..., str], list[str]]] = [
    (search_memory, ["query", "topic"]),
    (
        log_memory,
        ["topic", "missing_context", "lesson", "ask_next_time", "type", "compact_threshold"],
    ),
    (compact_memory, ["target_topic", "compact_threshold"]),
]


@pytest.mark.parametrize(("tool", "names"), ORDERS)
def test_a_tool_has_its_parameters_in_order(tool: Callable[..., str], names: list[str]) -> None:
    assert list(inspect.signature(tool).parameters)[: len(names)] == names


def test_tools_take_their_arguments_by_place() -> None:
    answer = log_memory("payment", GAP, LESSON, QUESTION, "log", 50)
    assert isinstance(answer, str)
    assert LESSON in search_memory("payment module", "payment")
    assert LESSON in compact_memory("payment", 50)


def test_tools_take_their_arguments_by_name() -> None:
    log_memory(
        topic="payment",
        missing_context=GAP,
        lesson=LESSON,
        ask_next_time=QUESTION,
        type="log",
        compact_threshold=50,
    )
    assert LESSON in search_memory(query="payment module", topic="payment")
    assert LESSON in compact_memory(target_topic="payment", compact_threshold=50)


@pytest.mark.parametrize("topic", [None, "payment"])
def test_an_empty_memory_asks_three_questions(topic: str | None, project: Path) -> None:
    answer = search_memory("payment module", topic)
    assert all(question in answer for question in QUESTIONS)
    assert list(project.iterdir()) == []


@pytest.mark.row("001 3-1.c", "001 3-1.g", "001 9.c")
def test_a_search_returns_everything_about_every_record() -> None:
    write(log(ask_next_time=QUESTION), principle("auth", "Use the token service"), log("ui", "G"))
    answer = search_memory("something else entirely")
    for text in (GAP, LESSON, QUESTION, "Use the token service", "payment", "auth", "ui"):
        assert text in answer
    assert "principle" in answer and "2026-02-27" in answer
    assert re.search(r"\b3\b", answer)
    assert not any(question in answer for question in QUESTIONS)


@pytest.mark.row("001 3-1.b")
@pytest.mark.parametrize("query", ["", "payment", "결제", "zzz", "*.?[("])
def test_a_query_never_filters(query: str) -> None:
    write(*many(12))
    answer = search_memory(query)
    assert all(f"lesson {number}." in answer for number in range(12))


@pytest.mark.row("001 3-1.a")
def test_a_query_is_required() -> None:
    with pytest.raises(TypeError):
        search_memory()  # type: ignore[call-arg]


def test_a_search_by_topic_is_exact() -> None:
    topics = ("auth", "auth-login", "Auth")
    write(*(log(topic, "gap", f"Lesson about {n}.") for n, topic in enumerate(topics)))
    answer = search_memory("", topic=" auth ")
    assert "Lesson about 0." in answer
    assert "Lesson about 1." not in answer
    assert "Lesson about 2." not in answer


def test_a_topic_without_records_gives_the_questions_and_the_topics() -> None:
    write(log("auth-login", "a"), log("zebra", "b"), log("zebra", "c"))
    answer = search_memory("", topic="auth")
    assert all(question in answer for question in QUESTIONS)
    assert answer.index("auth-login") < answer.index("zebra")
    assert LESSON not in answer
    assert re.search(r"zebra\D*2", answer)


def test_the_answers_say_which_project_they_speak_of(project: Path) -> None:
    assert project.name in log_memory("payment", GAP, LESSON)
    assert project.name in search_memory("")
    assert project.name in compact_memory()


@pytest.mark.row("001 6.j")
def test_answers_show_the_existing_topics() -> None:
    write(log("payment"), log("payment", "another"), log("api-gateway"))
    for answer in (search_memory(""), log_memory("ui-form", GAP, LESSON)):
        assert "api-gateway" in answer
        assert re.search(r"payment\D*2", answer)


@pytest.mark.row("001 6.i")
def test_a_topic_that_resembles_another_is_saved_and_pointed_out() -> None:
    write(log("auth-login"), log("zebra"))
    answer = log_memory("authentication", GAP, LESSON)
    assert count() == 3
    assert answer.count("auth-login") > answer.count("zebra")


def test_saving_is_confirmed_with_the_number_of_records() -> None:
    write(*many(6))
    answer = log_memory("payment", GAP, LESSON)
    assert re.search(r"\b7\b", answer)
    assert digest("payment" + GAP) in answer or "saved" in answer.lower()


def test_korean_comes_back_whole() -> None:
    log_memory("결제", "국가별 부가세 규칙 😀", "세율표를 먼저 확인", "어느 나라입니까?")
    answer = search_memory("부가세")
    for text in ("결제", "국가별 부가세 규칙 😀", "세율표를 먼저 확인", "어느 나라입니까?"):
        assert text in answer
    assert "세율표" in LOG.read_text("utf-8")


@pytest.mark.row("001 3-2.n")
@pytest.mark.parametrize(
    "arguments",
    [
        ("", GAP, LESSON),
        (" \t", GAP, LESSON),
        ("가" * 22, GAP, LESSON),
        ("payment", "가" * 342, LESSON),
        ("payment", GAP, "가" * 342),
        ("payment", GAP, LESSON, "가" * 171),
        ("payment", "", LESSON),
        ("payment", GAP, " "),
        ("payment", GAP, LESSON, None, "note"),
        ("payment", GAP, LESSON, None, "principle "),
        ("payment", "", "", None, "principle"),
        ("payment", GAP, "\ud800"),
    ],
)
def test_what_cannot_be_saved_is_refused(arguments: tuple[Any, ...], project: Path) -> None:
    with pytest.raises(ValueError):
        log_memory(*arguments)
    assert count() == 0


@pytest.mark.row("001 3-2.n")
def test_a_refusal_says_field_size_limit_and_how_much_to_cut() -> None:
    with pytest.raises(ValueError) as refusal:
        log_memory("payment", GAP, "가" * 345)
    text = str(refusal.value).replace(",", "")
    assert "lesson" in text
    assert all(re.search(rf"\b{number}\b", text) for number in (1035, 1024, 11))


@pytest.mark.row("001 9.b")
def test_only_a_principle_gets_its_question_shortened() -> None:
    asked = "어느 나라입니까? " * 30
    answer = log_memory("payment", "", LESSON, asked, "principle")
    kept = on_disk()[0]["ask_next_time"]
    assert 0 < len(kept.encode("utf-8")) <= 512
    assert asked.startswith(kept.strip()[:-1])
    assert kept.rstrip().endswith("?")
    assert "ask_next_time" in answer


@pytest.mark.row("001 3-2.c")
def test_a_question_left_out_is_kept_and_an_empty_one_removes_it() -> None:
    log_memory("payment", GAP, LESSON, QUESTION)
    log_memory("payment", GAP, "another lesson")
    assert on_disk()[0]["ask_next_time"] == QUESTION
    log_memory("payment", GAP, "a third lesson", "")
    assert not on_disk()[0].get("ask_next_time")
    assert len(on_disk()) == 1


def test_a_principle_has_its_meta() -> None:
    log_memory("payment", "", LESSON, type="principle")
    (record,) = on_disk()
    assert record["type"] == "principle"
    assert record["missing_context"] == ""
    assert record["meta"]["compacted_at"].endswith(("+00:00", "Z"))
    assert record["id"] == digest("payment" + LESSON)


def test_fifty_records_are_silent_and_fifty_one_speak() -> None:
    write(*many(49))
    assert not demands_compaction(log_memory("area-0", "gap fifty", "A lesson"))
    assert not demands_compaction(search_memory(""))
    assert demands_compaction(log_memory("area-0", "gap fifty-one", "A lesson"))
    assert demands_compaction(search_memory(""))
    assert "required" in compact_memory().lower()
    assert count() == 51


@pytest.mark.row("001 3-3.b")
def test_all_records_count_whatever_their_topic() -> None:
    write(*many(51))
    assert demands_compaction(log_memory("quite-new", GAP, LESSON))
    assert demands_compaction(search_memory("", "area-1"))


def test_a_threshold_that_is_given_holds() -> None:
    write(*many(2))
    assert not demands_compaction(log_memory("area-0", "gap three", "A", compact_threshold=3))
    answer = log_memory("area-0", "gap four", "A", compact_threshold=3)
    assert demands_compaction(answer)
    assert "required" in compact_memory(compact_threshold=3).lower()
    assert "optional" in compact_memory(compact_threshold=4).lower()


@pytest.mark.row("001 3-3.b")
def test_following_a_demand_does_not_meet_a_contradiction() -> None:
    write(*many(3))
    answer = log_memory("area-0", "gap four", "A", compact_threshold=3)
    named = re.search(r"compact_threshold\W{1,3}(\d+)", answer)
    followed = compact_memory(compact_threshold=int(named[1])) if named else compact_memory()
    assert "required" in followed.lower()
    assert "optional" not in followed.lower()


@pytest.mark.row("001 3-3.b")
def test_nothing_demands_what_cannot_be_done() -> None:
    write(*(principle(f"area-{n}", f"Principle {n}.") for n in range(51)))
    assert not demands_compaction(search_memory(""))
    assert not demands_compaction(log_memory("one-more", "", LESSON, type="principle"))
    assert "already compact" in compact_memory().lower()


@pytest.mark.row("001 9.a")
@pytest.mark.parametrize("threshold", [0, -1])
def test_a_threshold_below_one_is_refused(threshold: int) -> None:
    with pytest.raises(ValueError):
        compact_memory(compact_threshold=threshold)


def test_unreadable_lines_are_told_in_the_answer() -> None:
    write(log(), "a note of Kim\n", "{torn\n")
    answer = search_memory("")
    assert LESSON in answer
    assert any(re.search(r"\b2\b", line) and "line" in line for line in answer.splitlines())


@pytest.mark.row("001 2-2.e")
def test_our_setting_goes_before_that_of_a_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path / "theirs"))
    log_memory("payment", GAP, LESSON)
    monkeypatch.setenv("SENTINEL_MEMORY_PROJECT", str(tmp_path / "ours"))
    log_memory("auth", GAP, LESSON)
    assert "payment" in (tmp_path / "theirs" / LOG).read_text("utf-8")
    assert "auth" in (tmp_path / "ours" / LOG).read_text("utf-8")
    assert not LOG.exists()


@pytest.mark.row("001 2-2.e")
def test_a_subdirectory_of_a_repository_has_the_memory_of_its_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "src" / "deep"
    inner.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "."], check=True)
    log_memory("payment", GAP, LESSON)
    monkeypatch.chdir(inner)
    log_memory("auth", GAP, LESSON)
    assert not (inner / ".context").exists()
    assert (tmp_path / LOG).read_bytes().count(b"\n") == 2


@pytest.mark.row("001 2-2.f")
def test_nothing_is_written_in_a_home_directory(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project))
    monkeypatch.setenv("USERPROFILE", str(project))
    assert isinstance(search_memory(""), str)
    with pytest.raises(ValueError, match=r"--project|SENTINEL_MEMORY_PROJECT"):
        log_memory("payment", GAP, LESSON)
    assert list(project.iterdir()) == []


def test_a_broken_sign_in_the_file_takes_nothing_down() -> None:
    broken = as_line(stored(log("auth", "gap", "half BROKEN sign"))).replace("BROKEN", "\\ud83d")
    write(broken, log())
    for answer in (search_memory(""), compact_memory(), log_memory("ui", GAP, LESSON)):
        assert answer.encode("utf-8")
    assert LESSON in search_memory("") and "half " in search_memory("")


def big(number: int) -> list[dict[str, str]]:
    filler = "word " * 190
    return [
        log(f"area-{n % 10}", f"gap {n:03}. {filler}", f"L{n:03}. {filler}") for n in range(number)
    ]


@pytest.mark.row("001 2-1.a")
def test_too_much_is_cut_in_whole_records_and_says_so() -> None:
    needle = log("ingress", "kubernetes ingress class", "Name the kubernetes ingress class.")
    write(*big(60), needle)
    answer = search_memory("kubernetes ingress class")
    assert len(answer) <= 45_000
    assert needle["lesson"] in answer
    shown = re.search(r"\b(\d+) of 61\b", answer)
    assert shown
    whole = [n for n in range(60) if f"L{n:03}. {'word ' * 190}".strip() in answer]
    assert len(whole) + 1 == int(shown[1])


def test_a_secret_in_the_file_is_not_needed_for_a_search() -> None:
    write(log(lesson=f"the key {SECRET} is old"))
    assert "is old" in search_memory("")
    assert [record["topic"] for record in read_all()] == ["payment"]
