"""Tests what `cli.py list`, `show`, `search` and `topics` print, and what `forget` deletes."""

import os
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from commands.records.lines import record_table
from commands.terminal.screen import Screen, broken, cells, day_text, has_colours, uncoloured
from core.lessons.record import Record, new_record
from core.store import MemoryStore
from tests.support.cli_process import TOKEN, Command, said_yes
from tests.support.cli_process import GoodRun as Run
from tests.support.git_clones import path_of, write
from tests.support.samples import LATER, NOW, a_draft, a_principle, a_record
from tests.support.tables import table

ROWS = table("commands/records")

LAST = "2026-03-03T09:00:00+00:00"
WIDTHS = [40, 60, 80, 120, 200]

posix = pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")


@pytest.fixture(autouse=True)
def width(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 cells."""
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], project: Path) -> Command:
    """Carries out a command that is expected to go well."""
    return partial(Run.of, capsys)


VAT = a_record(
    ask_next_time="어느 국가에서 파나요?", paths=["src/tax/**"], when=["vat_of(", "tax, all"]
)
REFUND = a_record(
    "환불은 언제까지인지",
    topic="결제-환불",
    lesson=(
        "환불은 7일 안에만 되며, 그 뒤에는 담당자가 승인해야 한다."
        " 부분 환불은 수수료를 다시 계산한다."
    ),
    now=LATER,
)
RULE = replace(
    new_record(a_principle("Check tax before refunds.", topic="payments"), now=NOW),
    source_count=3,
    updated=LAST,
    seen=2,
)


@pytest.fixture
def shop(project: Path) -> Path:
    write(project, VAT, REFUND, RULE)
    return project


def ids(told: Any) -> list[str]:
    return [record["id"] for record in told["records"]]


# list


def test_a_narrow_terminal_gets_two_lines_for_a_record(
    command: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert command("list", "--topic", "결제-환불").lines == [
        f"  {REFUND.id[:8]}  {day_text(LATER)}",
        "    [결제-환불] 환불은 7일 안에만 되며,…",
        "",
        "Records: 1 of 3, the newest first.",
    ]


def test_the_lesson_takes_what_a_wide_terminal_has(
    command: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert command("list").lines[2].endswith(f"  {REFUND.lesson}")


@pytest.mark.long  # it costs much
def test_output_that_goes_elsewhere_has_80_cells_and_no_colours(shop: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = Run.started("list", environment=environment)
    assert "\x1b" not in done.out
    assert done.lines[2].endswith("…")
    assert cells(done.lines[2]) in (79, 80)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--topic", "payment"], [VAT]),
        (["--topic", "payment", "--topic", "결제-환불"], [REFUND, VAT]),
        (["--type", "principle"], [RULE]),
        (["--since", "2026-03-02"], [RULE, REFUND]),
        (["--questions"], [VAT]),
        (["--limit", "1"], [RULE]),
        (["--type", "log", "--limit", "5", "--since", "2026-03-01"], [REFUND, VAT]),
    ],
)
def test_filters_narrow_the_list(
    command: Command, shop: Path, arguments: list[str], found: list[Record]
) -> None:
    assert ids(command("list", *arguments, "--json").told) == [record.id for record in found]


def test_open_questions_stand_in_the_place_of_the_lessons(command: Command, shop: Path) -> None:
    day = day_text(NOW)
    assert command("list", "--questions").lines[:2] == [
        f"  id        {'last':<{len(day)}}  topic    ask_next_time",
        f"  {VAT.id[:8]}  {day}  payment  어느 국가에서 파나요?",
    ]


def test_an_empty_memory_is_a_sentence(command: Command, project: Path) -> None:
    sentence = "The memory of this project has no records yet."
    assert [command(name).lines for name in ("list", "topics")] == [[sentence], [sentence]]
    assert command("search", "tax").lines == [sentence]
    assert command("list", "--json").told["records"] == []
    assert not (project / ".context").exists()


def test_a_filter_without_a_record_names_the_topics_that_resemble(
    command: Command, shop: Path
) -> None:
    assert command("list", "--topic", "pay-ment").lines == [
        "No record matches these filters (records: 3).",
        "There is no topic pay-ment; similar: payment, payments.",
    ]
    assert command("list", "--topic", "zz").lines[1] == "There is no topic zz."


def test_ids_are_longer_where_their_beginnings_are_the_same(
    command: Command, project: Path
) -> None:
    twins = [replace(VAT, id=VAT.id[:8] + "0" * 8), replace(REFUND, id=VAT.id[:8] + "1" * 8)]
    write(project, *twins)
    shown = [line.split()[0] for line in command("list").lines[1:3]]
    assert shown == [twins[1].id, twins[0].id]


@pytest.mark.parametrize(
    ("environment", "is_terminal", "system", "expected"),
    ROWS["colours_need_a_terminal_that_knows_them"],
)
def test_colours_need_a_terminal_that_knows_them(
    environment: dict[str, str], is_terminal: bool, system: str, expected: bool
) -> None:
    assert has_colours(environment, is_terminal=is_terminal, system=system) is expected


@pytest.mark.parametrize("width", WIDTHS)
def test_colours_change_nothing_but_the_colour(width: int) -> None:
    records = [VAT, REFUND, RULE]
    plain = record_table(records, records, Screen(width=width))
    coloured = record_table(records, records, Screen(width=width, colours=True))
    assert [re.sub("\x1b\\[[0-9]*m", "", line) for line in coloured] == plain
    assert f"\x1b[2m{VAT.id[:8]}\x1b[0m" in "".join(coloured)


def test_an_id_that_is_wider_than_the_terminal_is_cut() -> None:
    records = [replace(VAT, id="가" * 16)]
    screen = Screen(width=20, colours=True)
    assert record_table(records, records, screen)[0] == "  " + "가" * 8 + "…"


@pytest.mark.parametrize(
    ("text", "most", "pieces"),
    [
        ("one two three", 8, ["one two", "three"]),
        ("가나다라마", 4, ["가나", "다라", "마"]),
        ("ab 가나다라", 5, ["ab 가", "나다", "라"]),
        ("", 4, [""]),
        ("a  b", 9, ["a  b"]),
    ],
)
def test_a_text_breaks_between_words_or_else_within_one(
    text: str, most: int, pieces: list[str]
) -> None:
    assert broken(text, most) == pieces


# search


# show


def test_a_record_is_shown_whole_and_wrapped(
    command: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert command("show", VAT.id[:4], RULE.token, REFUND.id).lines == [
        f"{VAT.token}  log [payment]",
        "  missing: VAT differs by country",
        "  lesson: check the tax table first",
        "  ask: 어느 국가에서 파나요?",
        "  paths: src/tax/**",
        "  when: `vat_of(`, `tax, all`",
        "  saved 2026-03-01",
        "",
        f"{RULE.token}  principle",
        "[payments]",
        "  lesson: Check tax before refunds.",
        "  compacted 2026-03-01; 3 merged; seen",
        "    2 times, last 2026-03-03",
        "",
        f"{REFUND.token}  log [결제-환불]",
        "  missing: 환불은 언제까지인지",
        "  lesson: 환불은 7일 안에만 되며, 그",
        "    뒤에는 담당자가 승인해야 한다. 부분",
        "    환불은 수수료를 다시 계산한다.",
        "  saved 2026-03-02",
    ]


def test_whole_records_come_as_data_each_once(command: Command, shop: Path) -> None:
    told = command("show", RULE.id, VAT.id[:5], RULE.token, "--json").told
    assert ids(told) == [RULE.id, VAT.id]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("abc", "abc: no record has this id, and a beginning needs 4 characters."),
        ("ffffffff", "ffffffff: no record in the log has an id that begins like this."),
        ("x@y", "x@y: this is not an id and not a token"),
        (f"{VAT.id}@000000", f"The log has {VAT.token}, not {VAT.id}@000000."),
    ],
)
@pytest.mark.parametrize("verb", ["show", "forget"])
def test_a_record_that_cannot_be_named_is_a_sentence(
    command: Command, shop: Path, verb: str, name: str, said: str
) -> None:
    done = command(verb, VAT.id, name)
    assert (done.code, done.out) == (1, "")
    assert done.errors.startswith(said)
    assert len(done.errors.splitlines()) == 1


def test_a_beginning_that_several_ids_have_is_refused(command: Command, project: Path) -> None:
    twins = [replace(VAT, id="abcd0"), replace(REFUND, id="abcd1")]
    write(project, *twins)
    done = command("forget", "abcd", "--yes")
    assert done.code == 1
    assert done.errors.startswith(
        "abcd: several ids begin like this: abcd0 [payment], abcd1 [결제-환불]."
    )
    assert command("show", "abcd0").code == 0


def test_of_two_records_with_one_id_only_a_token_names_one(command: Command, project: Path) -> None:
    other = a_record("-x gap", topic="auth")
    twin = replace(a_record("x gap", topic="auth-"), id=other.id)
    write(project, other, replace(twin, topic="auth-", missing_context="x gap"))
    done = command("forget", other.id, "--yes")
    assert (done.code, done.out) == (1, "")
    assert done.errors.startswith(f"{other.id}: more than one record has this id")
    assert len(command("show", other.id, "--json").told["records"]) == 2
    assert command("forget", other.token, "--yes").code == 0
    assert [it.topic for it in MemoryStore(path_of(project)).read_all()] == ["auth-"]


# topics


def test_topics_are_counted_and_those_that_may_be_one_are_named(
    command: Command, shop: Path
) -> None:
    assert command("topics").lines == [
        f"  records  principle  {'last':<{len(day_text(NOW))}}  topic",
        f"        1          0  {day_text(NOW)}  payment",
        f"        1          0  {day_text(LATER)}  결제-환불",
        f"        1          1  {day_text(LAST)}  payments",
        "",
        "Topics: 3, records: 3.",
        "[payment] and [payments] may be the same topic: same beginning: payment.",
        "To make two of them one: `python cli.py topics rename OLD NEW`.",
    ]


def test_topics_come_as_data(command: Command, shop: Path) -> None:
    told = command("topics", "--json").told
    assert told["topics"][2] == {
        "topic": "payments",
        "records": 1,
        "principles": 1,
        "last": "2026-03-03T09:00:00+00:00",
    }
    pair = {"topic": "payment", "other": "payments", "reason": "prefix", "shared": "payment"}
    assert told["similar"] == [pair]


def test_only_the_first_similar_pairs_are_named(command: Command, project: Path) -> None:
    write(project, *(a_record("gap", topic=f"auth{at}") for at in range(6)))
    assert command("topics").lines[-2:] == [
        "Pairs not shown: 5. Use --json to list all of them.",
        "To make two of them one: `python cli.py topics rename OLD NEW`.",
    ]


# forget


def test_several_records_are_deleted_together(command: Command, shop: Path) -> None:
    assert command("forget", VAT.token, RULE.id, VAT.id, "--yes").lines[0] == "To delete: 2."
    assert path_of(shop).read_bytes() == REFUND.to_line()


@pytest.mark.long  # it costs much
@posix
def test_a_record_that_was_updated_while_somebody_looked_stays(shop: Path) -> None:
    store = MemoryStore(path_of(shop))
    words = ("forget", VAT.id, REFUND.id)
    code, errors = said_yes(*words, meanwhile=lambda: store.upsert_log(a_draft()))
    assert code == 1
    assert errors.startswith(f"Changed or removed in the meantime, so left unchanged: {VAT.token}.")
    assert [it.id for it in MemoryStore(path_of(shop)).read_all()] == [VAT.id, RULE.id]


@pytest.mark.long  # it costs much
@posix
def test_a_terminal_gets_colours(shop: Path) -> None:
    done = Run.at_terminal("list", environment={**os.environ, "TERM": "xterm"})
    assert f"  \x1b[2m{VAT.id[:8]}\x1b[0m  {day_text(NOW)}" in done.out


@pytest.mark.long  # it costs much
@posix
def test_a_terminal_gets_the_newest_25_and_the_command_for_the_rest(project: Path) -> None:
    write(project, *[a_record(f"gap {number}") for number in range(30)])
    done = Run.at_terminal("list", "--topic", "payment", environment={**os.environ, "TERM": "dumb"})
    assert done.lines[26:] == [
        "",
        "Records: 25 of 30, the newest first.",
        "… 5 more: `python cli.py list --topic payment --limit 30`",
    ]
    assert len(Run.started("list").lines) == 33
    assert len(Run.at_terminal("list", "--limit", "28").lines) == 32


AGES_H = {"hour": 0.5, "day": 20, "week": 24 * 6, "month": 24 * 29, "year": 24 * 360, "old": 10_000}


def aged(gap: str, hours: float) -> Record:
    created = datetime.now(UTC) - timedelta(hours=hours)
    return a_record(gap, now=created.isoformat(timespec="seconds"))


def gaps(command: Command, *words: str) -> list[str]:
    return [it["missing_context"] for it in command("list", *words, "--json").told["records"]]


@pytest.mark.parametrize(
    ("since", "count"),
    [("1h", 1), ("24h", 2), ("1d", 2), ("7d", 3), ("1w", 3), ("1m", 4), ("1y", 5), ("9y", 6)],
)
def test_since_counts_back_from_now(
    command: Command, project: Path, since: str, count: int
) -> None:
    write(project, *(aged(gap, hours) for gap, hours in AGES_H.items()))
    assert gaps(command, "--since", since) == list(AGES_H)[:count]


@pytest.mark.parametrize(
    "since", ["d", "7", "-7d", "7 d", "7D", "12345d", "2026-02-30", "26-01-01"]
)
def test_what_is_no_time_is_refused(command: Command, since: str) -> None:
    assert command("list", f"--since={since}").refused.startswith("--since: it must be a date such")


LONG = a_record(
    "Saves that wait behind a held lock fill the worker threads.",
    topic="store",
    lesson="Take one lock among the threads of a process, and let its holder ask for the file lock;"
    " both share one deadline, after which a timeout is told.",
    ask_next_time="How long may a save wait?",
    paths=["core/disk/lock.py"],
)
PARSER = a_record(
    "Usage errors ended a hook.",
    topic="hooks",
    lesson="A hook reads its arguments itself, without argparse.",
)
KOREAN = a_record("환불 기한", topic="결제", lesson="환불은 7일 안에만 된다.")


@pytest.fixture
def of_three(capsys: pytest.CaptureFixture[str], project: Path) -> Command:
    write(project, LONG, PARSER, KOREAN)
    return partial(Run.of, capsys)


def test_a_word_that_the_line_has_no_room_for_is_shown_below_with_its_field(
    of_three: Command,
) -> None:
    lines = of_three("search", "timeouts", "saves", "disk").lines
    day = day_text(NOW)
    assert lines[1].startswith(f"  {LONG.id[:8]}  {day}  store  Take one lock among the")
    assert lines[2:5] == [
        "    lesson: …file lock; both share one deadline, after which a timeout is told.",
        "    missing: Saves that wait behind a held lock fill the worker threads.",
        "    paths: core/disk/lock.py",
    ]
    assert lines[5:] == ["", "1 of 1 found, the most relevant first. Not matching: 2."]


def test_the_words_are_coloured_and_the_table_around_them_is_not(
    of_three: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    head, line, *_ = of_three("search", "환불").lines
    assert head.startswith("\x1b[1m")
    day = day_text(NOW)
    assert line == f"  {KOREAN.id[:8]}  {day}  결제   \x1b[33m환불\x1b[0m은 7일 안에만 된다."
    line = of_three("search", "hooks").lines[1]
    assert line.count("\x1b[33m") == 2  # the topic and the lesson
    assert uncoloured(line).startswith(f"  {PARSER.id[:8]}  {day}  hooks  A hook reads")


def test_without_a_hit_the_words_are_counted(of_three: Command) -> None:
    assert of_three("search", "lock", "argprase", "환블").lines == [
        "No record has all of these words (records: 3). The search does not know synonyms",
        "or translations.",
        "Records with each word: lock 1, argprase 0, 환블 0.",
    ]
    assert of_three("search", "zzz").lines[2:] == []


def test_the_words_are_found_as_a_model_finds_them(of_three: Command) -> None:
    """In their forms, with any particle, by a beginning; not by single letters."""

    def found(*words: str) -> int:
        return int(of_three("search", *words, "--json").told["found"])

    assert found("timeouts") == found("deadlines", "threads") == found("argparse,") == 1
    assert found("환불이") == found("기한을", "결제") == found("argpars") == 1
    assert found("the", "hooks") == 1
    assert found("ㅎㅂ") == found("환부") == found("rgparse") == found("zzz", "hooks") == 0


def test_a_filter_hides_hits_and_changes_nothing_else(of_three: Command) -> None:
    assert of_three("search", "hook", "--topic", "store", "--json").told["found"] == 0
    assert of_three("search", "hook", "--topic", "hooks", "--json").told["found"] == 1


def test_an_id_a_token_and_a_date_find_their_record(of_three: Command) -> None:
    def ids(*words: str) -> list[str]:
        return [it["id"] for it in of_three("search", *words, "--json").told["records"]]

    assert ids(LONG.id[:6]) == ids(LONG.token) == [LONG.id]
    assert len(ids("2026-03")) == 3


SECRET = f"the key is {TOKEN}"
FIELDS: dict[str, Any] = {
    **dict.fromkeys(("missing_context", "lesson", "ask_next_time"), SECRET),
    **{"topic": f"refunds {TOKEN}", "paths": (f"src/{TOKEN}",), "when": ("refund(", SECRET)},
}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("field", FIELDS)
def test_no_secret_that_a_hand_put_into_the_log_is_shown_when_it_goes(
    command: Command, project: Path, field: str
) -> None:
    write(project, replace(VAT, **{field: FIELDS[field]}), REFUND)
    more = ("--missing", VAT.missing_context, "--lesson", SECRET, "--yes")
    for words in (("show", VAT.id, "--versions"), ("add", "--topic", "refunds", *more)):
        done = command(*words)
        assert (done.code, TOKEN in done.out + done.errors) == (0, False), words
    [told] = command("show", VAT.id, "--json").told["records"]
    assert told["token"] in command("show", VAT.id).out
    done = command("forget", told["token"], "--yes")
    assert (done.code, TOKEN in done.out + done.errors) == (0, False)
    assert VAT.id not in ids(command("list", "--json").told)
