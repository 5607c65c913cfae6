"""Tests what is counted of showings and of a hold-out, and when no figure is given."""

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands.hook.journal import Session, checksum_of
from commands.stats.effect import Change, Effect, changes_of, count_effect, units_of
from commands.stats.intervals import Share
from core.lessons.git.project.history import Commit, Hunk
from core.lessons.record import Record
from core.project import state_directory
from tests.support.client_events import claude_edit, run_hook
from tests.support.desk import Desk
from tests.support.git_clones import commit, git
from tests.support.samples import a_record

DAY_S = 86_400
NOW_S = 1_750_000_000
BEGAN_S = NOW_S - 60 * DAY_S
PAY = checksum_of("src/pay.py")
VAT = replace(a_record(), when=("vat = 0.19", "세율("))


def an_event(
    at_s: float, record: Record = VAT, *, arm: str = "shown", **facts: Any
) -> dict[str, Any]:
    noted = {arm: [f"{record.id}@1234abcd"], "files": [PAY], "holdout": True}
    return {"at": int(at_s), "event": "before-action", **noted, **facts}


def triggered(at_s: float, record: Record = VAT, **facts: Any) -> dict[str, Any]:
    return an_event(at_s, record, triggered=[f"{record.id}@1234abcd"], **facts)


def a_change(at_s: float, added: str = "", subject: str = "go on", file: str = PAY) -> Change:
    return Change(at_s=int(at_s), subject=subject, added={file: [added]})


def effect_of(
    sessions: Sequence[Sequence[dict[str, Any]]],
    changes: Sequence[Change] = (),
    records: Sequence[Record] = (VAT,),
    *,
    is_whole: bool = True,
) -> Effect:
    found = [Session(f"/{at}.jsonl", list(events)) for at, events in enumerate(sessions)]
    units = units_of(records, found, now_s=NOW_S)
    return count_effect(units, changes, now_s=NOW_S, is_whole=is_whole)


def iso(at_s: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(at_s))


def test_a_record_counts_once_in_each_session() -> None:
    again = [an_event(BEGAN_S), an_event(BEGAN_S + 60, agent="a1")]
    effect = effect_of([again, [an_event(BEGAN_S, arm="withheld")]])
    assert effect.trial == (1, 1)


def test_showings_from_before_the_hold_out_are_not_compared_with_it() -> None:
    before = an_event(BEGAN_S)
    del before["holdout"]
    effect = effect_of([[before], [an_event(BEGAN_S, arm="withheld")]])
    assert effect.trial == (0, 1)


def test_starts_old_events_and_records_that_are_gone_are_no_units() -> None:
    start = {**an_event(BEGAN_S), "event": "session-start"}
    sessions = [[start], [an_event(NOW_S - 91 * DAY_S)], [an_event(BEGAN_S, a_record("gone"))]]
    assert effect_of(sessions).trial == (0, 0)


@pytest.mark.parametrize(
    ("after_s", "seen", "counts"),
    [(600, 2, 1), (-600, 2, 0), (600, 1, 0), (3_599, 2, 1), (3_601, 2, 0)],
)
def test_a_gap_that_is_logged_again_in_the_session_counts(
    after_s: int, seen: int, counts: int
) -> None:
    record = replace(VAT, seen=seen, updated=iso(BEGAN_S + after_s))
    arms = effect_of([[an_event(BEGAN_S, arm="withheld")]], records=[record]).outcomes
    assert arms["logged_again"].withheld == Share(counts, 1)
    assert arms["logged_again"].shown == Share(0, 0)


@pytest.mark.parametrize(
    ("changes", "followed"),
    [
        ([a_change(BEGAN_S + 60, "vat = rate(country)")], Share(1, 1)),
        ([a_change(BEGAN_S + 60, "vat = 0.19")], Share(0, 1)),
        ([a_change(BEGAN_S + 60, "x = 세율(1)")], Share(0, 1)),
        ([a_change(BEGAN_S + 60), a_change(BEGAN_S + 90, "vat = 0.19")], Share(1, 1)),
        ([a_change(BEGAN_S - 60, "vat = 0.19")], Share(0, 0)),
        ([a_change(BEGAN_S + 60, file=checksum_of("other.py"))], Share(0, 0)),
        ([a_change(BEGAN_S + 15 * DAY_S)], Share(0, 0)),
    ],
)
def test_followed_means_that_the_next_commit_of_the_file_adds_no_trigger(
    changes: list[Change], followed: Share
) -> None:
    effect = effect_of([[triggered(BEGAN_S)]], changes)
    assert (effect.followed, effect.waiting) == (followed, 1 - followed.of)
    assert effect.outcomes["followed"].shown == followed


def test_only_showings_at_a_trigger_can_be_followed() -> None:
    effect = effect_of([[an_event(BEGAN_S)]], [a_change(BEGAN_S + 60)])
    assert (effect.followed, effect.waiting) == (Share(0, 0), 0)


def test_what_was_withheld_is_no_showing_but_has_the_same_outcome() -> None:
    effect = effect_of([[triggered(BEGAN_S, arm="withheld")]], [a_change(BEGAN_S + 60)])
    assert (effect.followed, effect.waiting) == (Share(0, 0), 0)
    assert effect.outcomes["followed"].withheld == Share(1, 1)


@pytest.mark.parametrize(
    ("subject", "after_days", "repaired"),
    [
        ("Fix the rate", 1, 1),
        ('Revert "go on"', 13, 1),
        ("fix(pay): rate", 1, 1),
        ("[hotfix] rate", 1, 1),
        ("버그 수정: 세율", 1, 1),
        ("Fixtures for rates", 1, 0),
        ("feat: prefix", 1, 0),
        ("Fix the rate", 15, 0),
    ],
)
def test_a_repair_is_a_later_commit_of_the_file_that_says_so(
    subject: str, after_days: int, repaired: int
) -> None:
    at_s = BEGAN_S + 60
    changes = [
        a_change(at_s, subject="Fix before"),
        a_change(at_s + after_days * DAY_S, subject=subject),
    ]
    effect = effect_of([[an_event(BEGAN_S)]], changes)
    assert effect.outcomes["repaired"].shown == Share(repaired, 1)


def test_as_long_as_a_repair_may_come_nothing_is_counted() -> None:
    late_s = NOW_S - 5 * DAY_S
    changes = [a_change(late_s + 60), a_change(late_s + 90, subject="Fix it")]
    assert effect_of([[an_event(late_s)]], changes).outcomes["repaired"].shown == Share(0, 0)
    early = [[an_event(BEGAN_S)]], [a_change(BEGAN_S + 60)]
    assert effect_of(*early).outcomes["repaired"].shown == Share(0, 1)
    assert effect_of(*early, is_whole=False).outcomes["repaired"].shown == Share(0, 0)


def test_of_commits_only_the_files_of_the_units_are_kept_in_the_order_of_time() -> None:
    def a_commit(at_s: int, path: str) -> Commit:
        hunk = Hunk(path=path, is_file=False, lines=("-old", "+new", " beside"))
        return Commit(at_s=at_s, subject="s", hunks=(hunk,))

    units = units_of([VAT], [Session("/s.jsonl", [an_event(BEGAN_S)])], now_s=NOW_S)
    commits = [a_commit(7, "src/pay.py"), a_commit(6, "other.py"), a_commit(5, "src/pay.py")]
    found = [(it.at_s, it.added) for it in changes_of(commits, units)]
    assert found == [(5, {PAY: ["new"]}), (7, {PAY: ["new"]})]


# On the page, with real commits.


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path / "shop", tmp_path / "home")
    git(desk.root, "init", "--quiet")
    (desk.root / "src").mkdir()
    change(desk, "vat = 0\n")
    desk.write(VAT)
    return desk


def change(desk: Desk, text: str) -> None:
    (desk.root / "src" / "pay.py").write_text(text, encoding="utf-8", newline="\n")
    commit(desk.root, "change")


def noted(desk: Desk, *sessions: dict[str, Any]) -> None:
    directory = Path(state_directory(str(desk.root), environment(desk)))
    directory.mkdir(parents=True)
    for at, event in enumerate(sessions):
        (directory / f"{at}.jsonl").write_text(json.dumps(event) + "\n", encoding="ascii")


def environment(desk: Desk) -> dict[str, str]:
    return {"SENTINEL_MEMORY_STATE": str(desk.home / "state")}


def page(desk: Desk, **variables: str) -> str:
    """What stands behind the sections about hooks."""
    done = desk.run("stats", **environment(desk), **variables)
    assert (done.code, done.errors) == (0, "")
    return done.out.partition("Never shown by a hook: 0\n")[2] or done.out


def test_too_few_are_no_figure(desk: Desk) -> None:
    now_s = time.time() - 3_600
    noted(desk, triggered(now_s), triggered(now_s), triggered(now_s, arm="withheld"))
    change(desk, "vat = rate(country)\n")
    assert (
        page(desk)
        == """
Hold-out: records that an action needed; shown 2, withheld 1
  The gap was logged again before the session ended: shown 0 of 2, withheld 0 of
  1. Too few to compare: 20 of each are needed.
  Another commit repaired the file within 14 days after its next commit: shown 0
  of 0, withheld 0 of 0. Too few to compare: 20 of each are needed.
  The next commit of the file no longer had the trigger: shown 2 of 2, withheld
  1 of 1. Too few to compare: 20 of each are needed.
  What this cannot show: it covers one machine over 90 days. A withheld record
  may have been shown at the start of the session or at a prompt, or found by a
  search. A gap logged in other words is not recognised, and repeated showings
  of one record are not independent.

Followed: lessons shown where one of their triggers was
  In the next commit of the file, within 14 days, no added line had a trigger of
  the lesson: 2 of 2. Too few for a share: 20 are needed. What this cannot show:
  the piece may have disappeared for another reason, the edit may have been the
  one that removes it, and the commit may be somebody else's. Only the hold-out
  has a comparison.
"""
    )


@pytest.mark.long  # it costs much
def test_enough_are_told_with_their_intervals(desk: Desk) -> None:
    now_s = time.time() - 3_600
    noted(desk, *[triggered(now_s)] * 30, *[triggered(now_s, arm="withheld")] * 20)
    change(desk, "vat = 0.19\n")
    said = " ".join(page(desk).split())
    assert (
        "The next commit of the file no longer had the trigger: shown 0 of 30 (0%, 0 to 11%),"
        " withheld 0 of 20 (0%, 0 to 16%); difference +0 points (-16 to +11)."
    ) in said
    assert "trigger of the lesson: 0 of 30 (0%, 0 to 11%). In parentheses" in said
    korean = " ".join(page(desk, SENTINEL_MEMORY_LANG="ko").split())
    assert (
        "보여 준 쪽 30건 중 0건(0%, 신뢰구간 0~11%), 뺀 쪽 20건 중 0건(0%, 신뢰구간 0~16%)."
        " 차이 +0%p(신뢰구간 -16~+11%p)."
    ) in korean


@pytest.mark.long  # it costs much
def test_the_same_as_json(desk: Desk) -> None:
    now_s = time.time() - 3_600
    noted(
        desk, *[triggered(now_s)] * 20, triggered(now_s, arm="withheld"), triggered(now_s + 7_200)
    )
    change(desk, "vat = 0\nvat = 1\n")
    told = json.loads(desk.run("stats", "--json", **environment(desk)).out)["effect"]
    assert (told["shown"], told["withheld"], told["followed_unknown"]) == (21, 1, 1)
    assert (told["followed"]["count"], told["followed"]["of"]) == (20, 20)
    assert told["followed"]["low"] == pytest.approx(0.8389, abs=0.0001)
    assert told["outcomes"]["followed"]["withheld"]["share"] is None
    assert told["outcomes"]["followed"]["difference"] is None


def test_without_git_only_the_commits_are_missing(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "plain", tmp_path / "home")
    desk.write(VAT)
    noted(desk, triggered(time.time() - 3_600))
    said = " ".join(page(desk, GIT_CEILING_DIRECTORIES=str(tmp_path)).split())
    assert "Not counted, because the file has no such commit: 1." in said


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("committed", "followed"), [("vat = rate(country)\n", 1), ("vat = 0.19\n", 0)]
)
def test_what_a_hook_notes_is_found_again_in_the_next_commit(
    desk: Desk, committed: str, followed: int
) -> None:
    given = claude_edit(desk.root, "src/pay.py", new="vat = 0.19")
    words = ("before-action", "--client", "claude-code")
    where: dict[str, Any] = {"cwd": desk.root, "environment": desk.environment(**environment(desk))}
    assert VAT.lesson in run_hook(*words, given=given, **where).text
    change(desk, committed)
    told = json.loads(desk.run("stats", "--json", **environment(desk)).out)["effect"]
    assert (told["followed"]["count"], told["followed"]["of"]) == (followed, 1)
