"""Tests which records are near to the work in git, and which a prompt is about."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.lessons.record import Record
from core.lessons.task import MOST_RANKED, Work, by_work, for_prompt
from tests.support.samples import a_record

REFUND = a_record("who approves", topic="refund", lesson="A refund needs a second approver.")
WEBHOOK = a_record(
    "retries of the provider", topic="webhook", lesson="Verify the signature of a webhook first."
)
STYLE = a_record("colours", topic="styling", lesson="Take colours from tokens.css alone.")
ANCHORED = a_record("rounding", topic="money", lesson="Round once.", paths=["src/till/**"])
KOREAN = a_record("환불 승인", topic="환불", lesson="환불 금액은 승인을 두 번 받는다.")
ALL = [REFUND, WEBHOOK, STYLE, ANCHORED, KOREAN]
OTHERS = [
    a_record(f"gap {at}", topic=f"topic{at}", lesson=f"Rule about subject{at}.") for at in range(20)
]


@pytest.mark.parametrize(
    ("work", "first"),
    [
        (Work(branch="fix/refund-approver"), REFUND),
        (Work(changed=["src/webhook/signature.py"]), WEBHOOK),
        (Work(commits=[("Take the colours of the tokens", [])]), STYLE),
        (Work(commits=[("Tidy up", ["web/tokens.css"])]), STYLE),
        (Work(changed=["src/till/sum.py"]), ANCHORED),
        (Work(commits=[("Tidy up", ["src/till/sum.py"])]), ANCHORED),
        (Work(commits=[("환불 승인을 고친다", [])]), KOREAN),
        (Work(changed=["RefundApproverTest.java"]), REFUND),
    ],
)
def test_a_record_is_near_to_work_whose_words_or_files_it_has(work: Work, first: Record) -> None:
    assert by_work([*ALL, *OTHERS], work)[0] == first


def test_what_shares_nothing_with_the_work_is_left_out_and_a_changed_file_counts_most() -> None:
    assert by_work([*ALL, *OTHERS], Work(changed=["src/webhook.py"])) == [WEBHOOK]
    assert by_work(ALL, Work()) == []
    assert by_work([], Work(branch="refund")) == []
    one, other = (replace(ANCHORED, id=name, paths=(f"{name}/**",)) for name in ("one", "other"))
    work = Work(changed=["one/a.py"], commits=[("Tidy up", ["other/b.py"])])
    assert by_work([*OTHERS, one, other], work) == [one, other]


def test_a_word_that_many_records_have_tells_little() -> None:
    common = [replace(STYLE, id=str(at), lesson="A refund again.") for at in range(10)]
    work = Work(branch="refund-signature")
    assert by_work([*common, WEBHOOK], work)[0] == WEBHOOK


def test_of_equals_the_later_comes_first_and_of_very_many_the_earlier_are_left_out() -> None:
    many = [replace(REFUND, id=str(at)) for at in range(MOST_RANKED + 1)]
    found = by_work(many, Work(branch="refund"))
    assert [it.id for it in found] == [str(at) for at in range(MOST_RANKED, 0, -1)]


def test_a_record_that_is_far_too_long_is_passed_over() -> None:
    huge = replace(REFUND, lesson="refund " * 10_000)
    assert by_work([huge, STYLE], Work(branch="refund")) == []
    assert for_prompt("A refund needs a second approver", [huge, STYLE], 2, {}) == []


def asked(prompt: str) -> list[Record]:
    records = [*ALL, *OTHERS]
    return for_prompt(prompt, records, len(records), {})


@pytest.mark.parametrize(
    ("prompt", "first"),
    [
        ("Let the approver see every refund above 500 EUR", REFUND),
        ("The provider says our webhook answers too late, have a look at its retries", WEBHOOK),
        ("Add a discount in src/till/sum.py", ANCHORED),
        ("환불할 때 승인 금액이 틀려요", KOREAN),
    ],
)
def test_a_prompt_gets_the_record_whose_words_or_file_it_has(prompt: str, first: Record) -> None:
    assert asked(prompt)[0] == first


NOTHING_SAID = [
    *("", "thanks", "continue", "go on with it", "yes, do it", "run the tests again", "why?"),
    *("fix it", "please update the code", "commit and push", "계속해줘", "고마워", "다시 해줘"),
    *("확인 부탁해", "one", "A refund?", "Rename the variable in the other module"),
]


def test_a_prompt_with_less_than_two_telling_words_gets_nothing() -> None:
    assert [prompt for prompt in NOTHING_SAID if asked(prompt)] == []


def test_what_only_a_part_of_a_long_log_seems_to_have_alone_counts_as_in_the_whole() -> None:
    prompt = "Let the approver see every refund"
    assert for_prompt(prompt, ALL, 5_000, {}) == [REFUND]
    assert for_prompt(prompt, ALL, 5_000, {"refund": 4_000, "approver": 4_000}) == []


@pytest.mark.long  # it costs much
@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_has_an_answer(text: str, paths: list[str]) -> None:
    work = Work(branch=text, changed=paths, commits=[(text, paths)])
    assert set(map(id, by_work(ALL, work))) <= set(map(id, ALL))
    assert set(map(id, for_prompt(text, ALL, len(ALL), {}))) <= set(map(id, ALL))
