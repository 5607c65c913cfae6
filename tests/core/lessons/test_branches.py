"""Tests versions of one gap from two branches, and the same words said twice."""

from dataclasses import replace

import pytest

from core.lessons.log import MemoryLog
from core.lessons.record import Record
from tests.support.changes import delete, upsert
from tests.support.samples import LATER, NOW, a_draft, a_principle, a_record

SOON = "2026-03-01T15:00:00+00:00"
ONE = a_record(lesson="mine", paths=("src/a.py",), when=("call(",))
TWO = replace(a_record(lesson="theirs"), created=SOON, paths=("src/b.py",))


def log_of(*records: Record) -> MemoryLog:
    return MemoryLog.parse(b"".join(record.to_line() for record in records))


def test_versions_that_do_not_know_each_other_are_both_shown() -> None:
    log = log_of(ONE, a_record("another"), TWO)
    assert [record.lesson for record in log.records if record.gap == ONE.gap] == ["mine", "theirs"]
    assert log.unsettled == [[ONE, TWO]]
    assert not log.leftovers
    assert log.count == 3


@pytest.mark.row("P11")
def test_a_save_of_the_gap_makes_one_record_of_its_versions() -> None:
    log, saved, _ = upsert(log_of(ONE, TWO), a_draft(lesson="both"), now=LATER)
    assert log.records == [saved]
    assert {ONE.fingerprint(), TWO.fingerprint()} <= set(saved.former)
    assert (saved.created, saved.seen) == (NOW, 2)
    assert set(saved.paths) == {"src/a.py", "src/b.py"}
    assert saved.when == ("call(",)
    late = MemoryLog.parse(log.to_bytes() + TWO.to_line() + ONE.to_line())
    assert late.records == [saved]


def test_a_save_in_the_words_of_one_version_settles_them_too() -> None:
    log, _, _ = upsert(log_of(ONE, TWO), a_draft(lesson="mine"), now=SOON)
    assert [record.lesson for record in log.records] == ["mine"]


def test_a_version_goes_by_its_token_and_the_other_stays() -> None:
    log, removal = delete(log_of(ONE, TWO), [ONE.token])
    assert removal.removed == (ONE,)
    assert log.records == [TWO]
    _, nothing = delete(log_of(ONE, TWO), [ONE.id])
    assert (nothing.removed, nothing.changed) == ((), (ONE.id,))


def test_a_principle_takes_both_versions() -> None:
    log, principle, removal = upsert(
        log_of(ONE, TWO), a_principle(), [ONE.token, TWO.token], now=LATER
    )
    assert removal.removed == (ONE, TWO)
    assert log.records == [principle]
    assert principle.source_count == 2


def test_versions_in_the_same_words_are_one_record() -> None:
    log = log_of(ONE, replace(ONE, created=SOON, seen=2))
    assert [(record.created, record.seen) for record in log.records] == [(SOON, 2)]
    assert log.unsettled == []


def test_the_update_of_a_program_that_keeps_no_list_follows_its_first_version() -> None:
    updated = replace(ONE, lesson="newer", updated=LATER)
    for log in (log_of(ONE, updated), log_of(updated, ONE)):
        assert [(it.lesson, it.updated) for it in log.records] == [("newer", LATER)]


def test_an_edit_by_hand_does_not_vanish_beside_an_update_on_another_branch() -> None:
    edited = replace(ONE, lesson="edited by hand")
    updated = upsert(log_of(ONE), a_draft(lesson="updated"), now=LATER)[1]
    assert {it.lesson for it in log_of(edited, updated).records} == {"edited by hand", "updated"}


def test_two_versions_that_claim_to_follow_each_other_are_both_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Record, "fingerprint", lambda it: it.lesson)  # six digits can be forged
    one, two = replace(ONE, former=("theirs",)), replace(TWO, former=("mine",))
    assert {it.lesson for it in log_of(one, two).records} == {"mine", "theirs"}


def test_the_same_words_within_a_day_change_nothing() -> None:
    log = log_of(ONE)
    again, record, _ = upsert(log, a_draft(lesson="mine"), now=SOON)
    assert again is log
    assert record == ONE


def test_a_compaction_that_is_sent_again_changes_nothing() -> None:
    draft = a_draft("", lesson="rule", type="principle")
    once, principle, _ = upsert(log_of(ONE), draft, [ONE.token], now=NOW)
    again, record, removal = upsert(once, draft, [ONE.token], now=SOON)
    assert again is once
    assert (record, removal.removed, removal.gone) == (principle, (), (ONE.token,))


def test_the_same_words_a_day_later_are_a_gap_that_came_back() -> None:
    _, record, _ = upsert(log_of(ONE), a_draft(lesson="mine"), now=LATER)
    assert (record.seen, record.updated) == (2, LATER)


def test_a_clock_that_is_far_ahead_keeps_no_gap_from_coming_back() -> None:
    ahead = replace(ONE, updated="2999-01-01T00:00:00+00:00")
    assert upsert(log_of(ahead), a_draft(lesson="mine"), now=LATER)[1].seen == 2


def test_other_words_within_a_day_are_stored() -> None:
    for changed in ({"lesson": "other"}, {"lesson": "mine", "ask_next_time": "Which?"}):
        again, record, _ = upsert(log_of(ONE), a_draft(**changed), now=SOON)
        assert again.records == [record]
        assert record.seen == 2
