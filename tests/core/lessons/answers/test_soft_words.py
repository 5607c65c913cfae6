"""Tests what a save says of a forbidden topic, of code, and of a principle that replaced nothing."""

from pathlib import Path
from typing import Any

import pytest

from core.config import Settings
from core.lessons.answers import Frame, saved_answer, search_answer
from core.lessons.compaction import compaction_answer
from core.lessons.record import Draft
from core.lessons.similar_topics import SimilarTopics, similar_topics, topic_to_keep
from core.messages import Language
from core.store import MemoryStore
from tests.support.samples import a_draft, a_principle
from tests.support.sentences import in_language, sentence


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    return MemoryStore(tmp_path / "memory_log.jsonl")


def frame(threshold: int | None = None) -> Frame:
    return Frame(project="/shop", settings=Settings(), own_threshold=threshold)


def saved(store: MemoryStore, draft: Draft, lang: Language = "en", **more: Any) -> list[str]:
    sources = more.pop("sources", ())
    done = store.upsert_log(draft, sources)
    return in_language(lang, saved_answer, done, frame(**more)).splitlines()


@pytest.mark.row("001 6.h")
@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize(
    ("topic", "key", "old"),
    [
        ("fix", "topic_broad", "fix"),
        ("login_bug_fix_2026", "topic_narrow", "login_bug_fix_2026"),
        ("login bug 2026", "topic_narrow", "'login bug 2026'"),
        ("#482; rm -rf ~", "topic_narrow", "OLD"),
    ],
)
def test_a_forbidden_topic_is_saved_with_a_word_on_how_to_put_it_right(
    store: MemoryStore, lang: Language, topic: str, key: str, old: str
) -> None:
    lines = saved(store, a_draft(topic=topic), lang)
    [record] = store.read_all()
    shown = topic if old != "OLD" else f'"{topic}"'
    assert sentence(lang, f"answers.{key}", topic=shown, token=record.token, old=old) in lines
    again = saved(store, a_draft(topic=topic, lesson="another"), lang)
    assert any(
        line.startswith(sentence(lang, f"answers.{key}", topic=shown, token="", old="")[:20])
        for line in again
    )


def test_a_good_topic_and_a_plain_lesson_get_no_word(store: MemoryStore) -> None:
    assert len(saved(store, a_draft())) == 2


@pytest.mark.row("001 1-2.a")
def test_code_is_saved_as_it_came_with_a_word(store: MemoryStore) -> None:
    code = "Use this:\n```python\nprint(1)\n```"
    lines = saved(store, a_draft(lesson=code, ask_next_time="```\nx\n```?"))
    [record] = store.read_all()
    assert record.lesson == code
    fields = "lesson, ask_next_time"
    assert sentence("en", "answers.source_code", fields=fields, token=record.token) in lines


@pytest.mark.row("001 6.h")
def test_a_forbidden_topic_is_never_the_one_to_use(store: MemoryStore) -> None:
    for topic in ("login_bug_fix_2026", "login-ui", "code"):
        saved(store, a_draft(topic=topic))
    lines = saved(store, a_draft(topic="login"))
    assert sentence("en", "answers.similar_topic", topic="login", topics="login-ui") in lines
    lines = saved(store, a_draft(topic="code-review"))
    assert not any("resembles" in line for line in lines)
    lines = saved(store, a_draft(topic="login_fix"))  # itself narrow: the good ones are named
    assert (
        sentence("en", "answers.similar_topic", topic="login_fix", topics="login, login-ui")
        in lines
    )


def test_the_closest_topics_of_a_search_end_with_the_forbidden_ones(store: MemoryStore) -> None:
    for topic in ("login_bug_fix", "login", "payment"):
        saved(store, a_draft(topic=topic))
    text = search_answer(store.read(), frame(), query="", topic="login_bug")
    topics = "login (1), payment (1), login_bug_fix (1)"
    assert sentence("en", "answers.no_topic", topic="login_bug", topics=topics) in text


@pytest.mark.parametrize(
    ("one", "other", "kept"),
    [
        ("auth", "auth-login", "auth"),
        ("auth-login", "auth", "auth"),
        ("login_bug_fix_2026", "login", "login"),
        ("login-ui", "login_bug_fix_2026", "login-ui"),
        ("code", "code-review", "code-review"),
        ("결제", "결제모듈", "결제"),
        ("auth", "authentication", ""),
        ("api-gatway", "api-gateway", ""),
        ("fix", "fix-login", ""),
    ],
)
def test_of_similar_topics_the_broader_clean_one_is_kept(one: str, other: str, kept: str) -> None:
    pair = next(iter(similar_topics([one, other])), None) or SimilarTopics(
        topic=one, other=other, reason="spelling"
    )
    assert topic_to_keep(pair) == kept


def test_a_compaction_names_the_topic_to_keep(store: MemoryStore) -> None:
    for topic in ("login_bug_fix_2026", "login"):
        saved(store, a_draft(topic=topic))
    line = "login_bug_fix_2026 ~ login (shared words: login; keep login)"
    assert sentence("en", "answers.compact_similar", pairs=line) in compaction_answer(
        store.read(), frame()
    )


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_principle_without_its_originals_is_told_how_they_go(
    store: MemoryStore, lang: Language
) -> None:
    for number in range(7):
        saved(store, a_draft(f"gap {number}", lesson=f"rule {number}"))
    lines = saved(store, a_principle("all rules"), lang, threshold=5)
    call = 'target_topic="payment", compact_threshold=5'
    facts: dict[str, Any] = {"count": 7, "logs": 7, "principles": 0, "topic": "payment"}
    at = lines.index(sentence(lang, "answers.originals_stay", call=call, **facts))
    assert lines[at + 1 : at + 6] == [f"- [payment] rule {number}" for number in range(5)]


def test_a_principle_that_replaces_or_stands_alone_is_told_nothing(store: MemoryStore) -> None:
    assert not any("originals" in it for it in saved(store, a_principle("alone", topic="db")))
    saved(store, a_draft())
    saved(store, a_draft("another gap"))
    first, _ = (record.token for record in store.read_all("payment"))
    lines = saved(store, a_principle("one rule"), sources=[first])
    assert not any("No originals" in line for line in lines)
