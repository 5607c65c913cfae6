"""Tests the answers of a search and a compaction: how they are read back, and how long they get.

Every line is ours or belongs to exactly one record.
"""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.config import Settings
from core.lessons.answers import Frame, search_answer
from core.lessons.briefing import session_briefing
from core.lessons.compaction import compaction_answer, deletion_answer, fit_deletion
from core.lessons.log import MemoryLog
from core.lessons.record import Draft, Record, new_record, normalise_topic
from core.lessons.record_text import topic_text
from core.text.plain import LINE_ENDS, Budget, estimate_tokens, printable
from core.text.wording import similar_topics
from tests.support.changes import delete, log_of
from tests.support.fitting import whole_records
from tests.support.growth import calls
from tests.support.rows import none_of
from tests.support.samples import NOW, a_record
from tests.support.tables import table

TABLES = table("reading_back")

ROOMY = Settings(budget_tokens=10**6, budget_chars=10**7)
FRAME = Frame(project="/tmp/project", settings=ROOMY)

SIGNS = TABLES["signs"]
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
texts = st.lists(st.sampled_from(SIGNS) | any_text, max_size=8).map("".join)
topics = texts.map(normalise_topic).filter(bool)

TOPIC = r'(?P<topic>"(?:[^"\\]|\\.)*"…?|[^"\[\](),:;]+)'
LISTED = re.compile(TOPIC + r" \((?P<count>[0-9]+)\)(?:, |$)")
HEAD = re.compile(
    r"(?:[0-9a-f]{16}@[0-9a-f]{6} )?(?P<type>principle )?2026-03-01"
    r"(?: \((?P<notes>[^()]*)\))?(?P<text>(?:: | (?!\()).*)?"
)


@st.composite
def logs(draw: st.DrawFn) -> MemoryLog:
    records: dict[str, Record] = {}
    for number in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["log", "log", "principle"]))
        gap = f"{draw(texts)}{number}" if kind == "log" else ""
        draft = Draft(
            topic=draw(topics),
            missing_context=gap,
            lesson=f"{draw(texts)}{number}",
            ask_next_time=draw(texts),
            type=kind,
        )
        record = new_record(draft, now=NOW)
        records[record.id] = replace(record, seen=draw(st.integers(1, 2)))
    return MemoryLog.parse(b"".join(record.to_line() for record in records.values()))


def name_of(shown: str) -> str:
    return str(json.loads(shown.removesuffix("…"))) if shown.startswith('"') else shown


def listed_in(line: str) -> list[tuple[str, int]]:
    found, at = [], 0
    while at < len(line):
        item = LISTED.match(line, at)
        assert item, line[at:]
        found.append((name_of(item["topic"]), int(item["count"])))
        at = item.end()
    return found


def read_back(lines: list[str]) -> list[tuple[str, ...]]:
    """What a strict reader takes the records of an answer to be."""
    found: list[list[str]] = []
    topic = ""
    for line in lines:
        head = HEAD.fullmatch(line)
        if line.startswith("  "):
            found[-1][-1] += "\n" + line[2:]
        elif head:
            text = head["text"] or ""
            found.append([topic, head["type"] or "", text[2:] if text[:1] == ":" else text[1:]])
        elif line.startswith(("→ ", "ask: ")):
            found[-1].append(line.partition(" ")[2])
        else:
            shown = re.fullmatch(rf"\[{TOPIC}\]|## {TOPIC.replace('topic', 'group')} \(.*\)", line)
            assert shown, line
            topic = name_of(shown["topic"] or shown["group"])
    return [tuple(record) for record in found]


def texts_of(record: Record) -> tuple[str, ...]:
    """The texts of a record as an answer may show them."""
    kind = "principle " if record.type == "principle" else ""
    shown = [record.missing_context, record.lesson, record.ask_next_time]
    shown = [printable(LINE_ENDS.sub("\n", text.strip("\r\n"))) for text in shown]
    parts = [shown[0] if record.missing_context.strip() else "", shown[1]]
    parts += [shown[2]] if record.ask_next_time.strip() else []
    return (record.topic[:64], kind, *parts)


def grouped(records: list[Record]) -> list[tuple[str, ...]]:
    names = list(dict.fromkeys(record.topic for record in records))
    return [texts_of(it) for name in names for it in records if it.topic == name]


def counts_of(log: MemoryLog) -> list[tuple[str, int]]:
    return [(name[:64], count) for name, count in log.topics.most_common()]


@pytest.mark.long  # it costs much
@given(logs())
def test_an_answer_is_read_back_as_records_and_topics_that_there_are(log: MemoryLog) -> None:
    head, line, *lines = search_answer(log, FRAME, query="").split("\n")
    assert head == f"[memory_log - records: {log.count} | /tmp/project]"
    assert listed_in(line.removeprefix("topics: ")) == counts_of(log)
    assert read_back(lines) == grouped(log.records)

    briefing = session_briefing(log, project="/tmp/project", settings=Settings(hook_tokens=10**6))
    own = re.compile(
        r"topics: |Left out here, |All records \(|Records: |\d+ of \d+ records, princip"
    )
    _, *lines = briefing.text.split("\n")
    told = [line.removeprefix("topics: ") for line in lines if line.startswith("topics: ")]
    assert {it for line in told for it in listed_in(line)} <= {*counts_of(log)}
    found = read_back([line for line in lines if not own.match(line)])
    assert {*found} <= {*map(texts_of, log.records)}

    lines = compaction_answer(log, FRAME).split("\n")
    start = next(at for at, line in enumerate(lines) if line.startswith("## "))
    joined = ("joined ask_next_time", "ask: ")
    found = read_back([line for line in lines[start:] if not line.startswith(joined)])
    assert len(found) == log.count
    assert {it[:4] for it in found} == {texts_of(it)[:4] for it in log.records}


@example("auth (9), payment", "auth")
@example("а", "a")
@example("x" * 64, "x" * 65)
@given(topics, topics)
def test_two_topics_never_look_the_same(one: str, other: str) -> None:
    assert (topic_text(one) == topic_text(other)) <= (one[:64] == other[:64])
    assert not re.search(r"[\n\r\v\f\x1b\x85\u2028\u2029\xa0\u2003\u2800]", topic_text(one))


@pytest.mark.parametrize(
    ("topic", "shown"), TABLES["a topic that could be ours or another is quoted"]
)
def test_a_topic_that_could_be_ours_or_another_is_quoted(topic: str, shown: str) -> None:
    assert topic_text(topic) == shown
    assert shown.endswith("…") or json.loads(shown) == topic  # a model can send it back
    none_of(it for it in TABLES["a usual topic stays as it is"] if topic_text(it) != it)


USUAL = Frame(project="/shop", settings=Settings())
LARGE = 200_000


def large(field: str, char: str = "vat ") -> MemoryLog:
    fields = {**a_record().as_json(), field: char * (LARGE // len(char))}
    return MemoryLog.parse(json.dumps(fields, ensure_ascii=False).encode())


def is_within(answer: str) -> bool:
    settings = USUAL.settings
    most = settings.budget_chars, settings.budget_tokens
    return (len(answer), estimate_tokens(answer)) <= most


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("field", ["missing_context", "lesson", "ask_next_time"])
@pytest.mark.parametrize("char", ["vat ", "환", "\u200b"])
def test_a_record_larger_than_an_answer_is_begun_and_keeps_its_token(field: str, char: str) -> None:
    log = large(field, char)
    [record] = log.records
    offered = compaction_answer(log, USUAL)
    assert is_within(offered)
    assert record.token in offered
    assert "shortened" in offered
    assert is_within(search_answer(log, USUAL, query="vat"))
    assert len(whole_records([record], "vat", Budget(1_500, 45_000))) < 10_000


def test_a_large_record_that_is_deleted_is_repeated_as_far_as_there_is_room() -> None:
    log = large("lesson")
    tokens, put_off = fit_deletion(log, [log.records[0].token], USUAL)
    after, outcome = delete(log, tokens)
    answer = deletion_answer(outcome, USUAL, put_off)
    assert (after.count, put_off) == (0, [])
    assert is_within(answer)
    assert "shortened" in answer


@pytest.mark.long  # it costs much
def test_topics_that_are_all_made_of_the_same_letters_do_not_hold_a_call() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz012345"
    topics = [f"{letters[at % 32 :]}{letters[: at % 32]}{at:04d}" for at in range(250)]
    assert calls(lambda: similar_topics(topics)) < 10_000_000  # some 4; without a bound 20


@pytest.mark.long  # it costs much
def test_a_search_of_four_times_the_records_takes_about_four_times_as_long() -> None:
    def searching(count: int) -> int:
        records = (a_record(f"VAT of {at}", topic=f"topic {at % 50}") for at in range(count))
        log = log_of(*records)
        assert log.count == count
        return calls(lambda: search_answer(log, USUAL, query="VAT rounding"))

    assert searching(2_000) < 6 * searching(500)
