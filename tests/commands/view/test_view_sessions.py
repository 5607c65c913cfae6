"""Tests the sessions on the page of `cli.py view`: what is shown, of whom, and what stays text."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import cli
from commands.view.sessions import reading
from commands.view.sessions.collection import MOST_LINKS, collection_of
from commands.view.sessions.reading import read_sessions
from commands.view.sessions.section import MOST_OPEN
from core.config import Settings
from core.messages import Language
from rooms.sessions.session import (
    Action,
    Approach,
    Blocker,
    Changes,
    Decision,
    Session,
)
from tests.commands.view.test_view import HOSTILE, Document, a_memory
from tests.support.cli_process import TOKEN
from tests.support.git_clones import store_of
from tests.support.samples import a_draft
from tests.support.session_pages import found_of, page_with
from tests.support.session_samples import (
    SampleSession,
    keep,
    make_sample_store,
    sample_sessions,
)
from tests.support.shown_pages import LANGUAGES, html_of

WHEN = "2026-11-20T10:00:00+00:00"


def a_session(number: int = 1, goal: str = "Fix the login", **changed: object) -> Session:
    """A session of one day."""
    begun = Session(
        number=number,
        id=f"ctx_{number}",
        goal=goal,
        started_at=WHEN,
        created_at=WHEN,
        updated_at=WHEN,
    )
    return replace(begun, **changed)  # type: ignore[arg-type]


def a_full_session(text: str = "text", number: int = 1, **changed: object) -> SampleSession:
    """A session that has one of everything, which says the same everywhere."""
    session = a_session(
        number,
        text,
        summary=text,
        tags=(text,),
        agent=text,
        decisions=(Decision(what=text, why=text),),
        approaches=(
            Approach(description=text, result="failed", reason=text),
            Approach(description=text, result=text),
        ),
        blockers=(Blocker(description=text), Blocker(description=text, resolution=text)),
        changes=Changes(modified_files=(text,), summary=text),
        has_warnings=True,
    )
    actions = [
        Action(id=str(at), kind=kind, content=text, result=text)
        for at, kind in enumerate(("command", "edit", "error", text))
    ]
    return replace(session, **changed), actions  # type: ignore[arg-type]


def section_of(page: str) -> str:
    """What the page says of sessions."""
    [found] = re.findall(r'<section id="sessions".*?</section>', page, re.DOTALL)
    return str(found)


# Only where there are sessions


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_project_without_sessions_has_the_page_of_its_lessons_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lang: Language
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", lang)
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "shop"
    project.mkdir()
    store_of(project).upsert_log(a_draft())
    page, pages = tmp_path / "page.html", []
    for has_directory in (False, True):
        if has_directory:
            (project / ".context" / "sessions").mkdir()
        assert cli.main(["view", "--project", str(project), "--force", "-o", str(page)]) == 0
        pages.append(page.read_bytes())
    assert pages[0] == pages[1]
    assert b"session" not in pages[0].lower()


def test_an_empty_database_adds_nothing(tmp_path: Path) -> None:
    keep(make_sample_store(tmp_path, 0), [])
    assert read_sessions(tmp_path, Settings()) is None


@pytest.mark.row("003 T1.b")
def test_sessions_elsewhere_are_found_by_their_settings(tmp_path: Path) -> None:
    settings = tmp_path / ".context" / "sessions" / "config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"storage": {"location": ".context-sync"}}')
    make_sample_store(tmp_path, 2)
    assert (tmp_path / ".context-sync" / "history.db").is_file()
    found = read_sessions(tmp_path, Settings())
    assert found and found.total == 2


def test_a_database_that_cannot_be_read_leaves_the_page_of_the_lessons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "shop"
    make_sample_store(project, 2).database.close()
    (project / ".context" / "sessions" / "history.db").write_bytes(b"no database" * 400)
    assert cli.main(["view", "--project", str(project), "-o", "-"]) == 0
    told = capsys.readouterr()
    assert "Without sessions: " in told.err
    assert 'id="sessions"' not in told.out and "steps-title" in told.out


# What is shown


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T91")
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_command_shows_lessons_first_and_sessions_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lang: Language
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", lang)
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "shop"
    project.mkdir()
    store_of(project).upsert_log(a_draft())
    make_sample_store(project, 30, archived=2)
    page = tmp_path / "page.html"
    assert cli.main(["view", "--project", str(project), "-o", str(page)]) == 0
    text = page.read_text("utf-8")
    document = Document(text)
    assert text.index('id="topics"') < text.index('id="sessions"')
    sessions = [it for it in document.all("article") if "session" in (it["class"] or "")]
    assert len(sessions) == 30
    days = [it["data-day"] or "" for it in sessions]
    assert days == sorted(days, reverse=True)
    assert not {it["src"] for it in document.all("script") if "src" in it}
    assert document.all("link") == []


def test_what_is_on_the_page_of_the_lessons_stays_below_the_same_head(tmp_path: Path) -> None:
    alone, beside = html_of(*a_memory()), page_with(sample_sessions(5), *a_memory())
    body = re.compile(
        r'<section aria-labelledby="newest-title">.*?(?=<section id="sessions"|</div>\n</main>)',
        re.S,
    )
    shown = [body.search(it) for it in (alone, beside)]
    assert shown[0] and shown[1]
    lessons = shown[1][0].replace(' lesson" data-day', '" data-day')
    assert lessons in shown[0][0]


@pytest.mark.parametrize(
    ("lang", "titles"),
    [("en", ["Newest sessions", "Earlier sessions"]), ("ko", ["최신 세션", "이전 세션"])],
)
def test_the_newest_sessions_are_a_list_of_their_own(lang: Language, titles: list[str]) -> None:
    section = section_of(page_with(sample_sessions(MOST_OPEN + 3), lang=lang))
    assert re.findall("<h3>(.*?)</h3>", section) == titles
    assert re.findall('class="count">(.*?)<', section) == [str(MOST_OPEN), "3"]
    assert re.findall("<h3>(.*?)</h3>", section_of(page_with(sample_sessions(2), lang=lang))) == [
        titles[0]
    ]


@pytest.mark.parametrize(
    ("lang", "labels"),
    [
        ("en", ["Summary", "Open blocker", "Resolved blocker", "Decision", "Failed", "Tried"]),
        ("ko", ["요약", "막힌 일", "해결한 일", "결정", "실패한 시도", "시도"]),
    ],
)
def test_a_session_opens_to_everything_that_it_says(lang: Language, labels: list[str]) -> None:
    session, actions = a_full_session("word")
    blockers = (session.blockers[0], replace(session.blockers[1], resolved=True))
    section = section_of(page_with([(replace(session, blockers=blockers), actions)], lang=lang))
    terms = re.findall(r"<dt>(.*?)</dt>", section)
    assert [it for it in terms if it in labels] == labels
    assert section.count('<dd class="text why"') == 3
    assert section.count("<li") == 4
    assert "<code>word</code>" in section


def test_failures_and_open_blockers_are_marked_and_counted() -> None:
    section = section_of(page_with([a_full_session()]))
    assert '<span class="flag"><b>!</b> failed 1 · open blockers 2</span>' in section
    assert "flag" not in section_of(page_with([(a_session(), [])]))


def test_an_archived_session_is_a_hint_that_names_the_command() -> None:
    sessions = sample_sessions(3, archived=1)
    section = section_of(page_with(sessions))
    assert section.count(">archived<") == 1
    assert "sentinel-memory sessions show 1." in section
    assert section.count('<details id="show=s-') == 2


def test_actions_beyond_the_last_ones_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_ACTIONS", 2)
    session, _ = a_full_session("word")
    actions = [
        Action(id=f"a{at}", kind="command", content=f"step {at}", created_at=f"{WHEN}{at}")
        for at in range(5)
    ]
    keep(make_sample_store(tmp_path, 0), [(session, actions)])
    found = read_sessions(tmp_path, Settings())
    assert found
    [item] = collection_of(found).items
    assert [it.content for it in item.actions] == ["step 3", "step 4"]
    assert item.earlier_actions == 3


def test_the_oldest_sessions_are_left_out_and_the_page_says_so(tmp_path: Path) -> None:
    make_sample_store(tmp_path, 12)
    found = read_sessions(tmp_path, Settings(), most=5)
    assert found
    assert [it.number for it in found.sessions] == [12, 11, 10, 9, 8]
    assert found.total == 12
    page = page_with(sample_sessions(5), total=1_234)
    note = "the newest 5 of 1,234. sentinel-memory sessions list names the others."
    assert note in page
    assert "sessions list" not in page_with(sample_sessions(5))


# Chains


def test_a_session_leads_to_the_one_before_and_to_those_that_continue_it() -> None:
    sessions: list[SampleSession] = [
        (a_session(1, "begin"), []),
        (a_session(2, "go on", parent_id="ctx_1"), []),
        (a_session(3, "aside", parent_id="ctx_1"), []),
        (a_session(4, "alone", parent_id="ctx_4"), []),
    ]
    items = {it.session.number: it for it in collection_of(found_of(sessions)).items}
    assert [link.number for link in items[1].after] == [2, 3]
    assert [it.before and it.before.number for it in items.values()] == [None, 1, 1, None]
    assert items[4].after == ()
    section = section_of(page_with(sessions))
    assert 'continues <a href="#s-1" title="begin">#1</a>' in section
    assert 'continued by <a href="#s-2"' in section


def test_a_parent_that_is_not_on_the_page_is_named_without_a_link(tmp_path: Path) -> None:
    keep(
        make_sample_store(tmp_path, 0),
        [
            (a_session(1, updated_at="2026-01-01T00:00:00+00:00"), []),
            (a_session(2, parent_id="ctx_1"), []),
            (a_session(3, parent_id="ctx_gone", updated_at="2026-12-01T00:00:00+00:00"), []),
        ],
    )
    found = read_sessions(tmp_path, Settings(), most=2)
    assert found
    assert found.parents == {"ctx_1": 1}
    before = [item.before for item in collection_of(found).items]
    assert [(it.number, it.is_shown) if it else None for it in before] == [None, (1, False)]


@pytest.mark.long  # it costs much
def test_a_chain_that_is_a_circle_or_very_wide_does_no_harm() -> None:
    count = 400
    sessions: list[SampleSession] = [
        (a_session(at, f"goal {at}", parent_id=f"ctx_{(at - 1) or count}"), [])
        for at in range(1, count + 1)
    ]
    items = collection_of(found_of(sessions)).items
    assert [it.before.number for it in items if it.before] == [*range(count - 1, 0, -1), count]
    wide: list[SampleSession] = [
        (a_session(at, f"goal {at}", parent_id="ctx_1" if at > 1 else ""), [])
        for at in range(1, count + 1)
    ]
    first = collection_of(found_of(wide)).items[-1]
    assert [link.number for link in first.after] == [*range(2, 2 + MOST_LINKS)]


# Filters


@pytest.mark.parametrize("lang", LANGUAGES)
def test_only_what_is_there_can_be_chosen(lang: Language) -> None:
    page = page_with([a_full_session("agent", status="testing")], *a_memory(), lang=lang)
    document = Document(page)
    values = [it["value"] for it in document.all("option")]
    kinds = ["", "lesson", "principle", "log", "open", "again", "session", "warned", "testing"]
    assert values[: len(kinds)] == kinds
    assert values[len(kinds) : len(kinds) + 2] == ["", "agent"]
    assert len(document.all("optgroup")) == 2
    assert {"lesson"} == {
        kind
        for it in document.all("article")
        if "id" in it and "session" not in (it["class"] or "")
        for kind in (it["data-kinds"] or "").split()
    } & {"lesson", "session"}


def test_agents_can_be_chosen_by_their_names_where_there_are_any() -> None:
    names = ("Web", '<b>"결제"', "codex")
    page = page_with([a_full_session(name, at) for at, name in enumerate(names, 1)], *a_memory())
    [choice] = re.findall('<select id="agent" aria-label="Agent">.*?</select>', page, re.S)
    assert re.findall('value="(.*?)">(.*?)<', choice) == [
        ("", "All agents"),
        ("&lt;b&gt;&quot;결제&quot;", "&lt;b&gt;&quot;결제&quot;"),
        *(("codex", "codex"), ("Web", "Web")),
    ]
    assert 'id="agent"' not in html_of(*a_memory())


def test_a_project_that_has_only_sessions_shows_them_below_the_first_steps() -> None:
    page = page_with(sample_sessions(4))
    document = Document(page)
    assert "steps-title" in page and page.index("steps-title") < page.index('id="sessions"')
    assert "lesson" not in [it["value"] for it in document.all("option")]


# What anybody wrote


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_text_of_a_session_becomes_more_than_text(lang: Language) -> None:
    other = a_full_session(HOSTILE, 2, status=HOSTILE, id=HOSTILE, parent_id="ctx_1")
    plain = a_full_session("plain", 2, status="odd", parent_id="ctx_1")
    hostile, harmless = (
        Document(page_with([a_full_session("first", 1), it], lang=lang)) for it in (other, plain)
    )
    assert hostile.shape == harmless.shape
    # Every text is there as it was written, but for what stands between backticks.
    assert hostile.text.count(HOSTILE) >= 15


def test_hidden_characters_are_spelled_out() -> None:
    written = "a\u202eb zero\u200bwidth half \ud800 of one \x1b[31mred\0"
    shown = "a&lt;U+202E&gt;b zero&lt;U+200B&gt;width half \ufffd of one"
    section = section_of(page_with([a_full_session(written)]))
    section.encode("utf-8")
    assert written not in section
    assert section.count(f"{shown} &lt;U+001B&gt;[31mred&lt;U+0000&gt;") >= 15


def test_an_action_that_looks_like_a_heading_or_a_page_stays_one_line() -> None:
    forged = "ls\n## Session #99\n</li></ol></details><h2>Lessons</h2>"
    action = Action(id="1", kind="command", content=forged, result=forged * 100)
    page = page_with([(a_session(), [action])])
    assert "<h2>Lessons" not in page
    assert "ls ## Session #99 &lt;/li&gt;" in page
    assert len(section_of(page)) < 4_000


@pytest.mark.parametrize("moment", ["", "someday", "2026-13-45", "9999", "2026-11-20<b>", "\0"])
def test_a_date_that_is_none_does_no_harm(moment: str) -> None:
    session = a_session(updated_at=moment, created_at=moment, started_at=moment, ended_at=moment)
    page = page_with([(session, [])])
    assert Document(page).all("b") == Document(page_with([(a_session(), [])])).all("b")
    assert "<b>" not in section_of(page)


def test_bytes_that_another_program_wrote_are_shown_as_text(tmp_path: Path) -> None:
    store = make_sample_store(tmp_path, 2)
    with store.writing() as connection:
        columns = "goal, summary, status, tags, agent, metadata, updated_at".split(", ")
        odd = ", ".join(f"{name} = x'00ff41'" for name in columns)
        connection.execute(f"UPDATE contexts SET {odd} WHERE number = 2")
        connection.execute("UPDATE actions SET content = x'ff42', result = x'ff', created_at = 7")
    found = read_sessions(tmp_path, Settings())
    assert found
    items = collection_of(found).items
    assert [it.session.goal for it in items if it.session.number == 2] == ["\0\ufffdA"]
    assert {it.content for item in items for it in item.actions} == {"\ufffdB"}


def test_secrets_are_redacted_once_more_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "shop"
    session, actions = a_full_session(f"use {TOKEN} here", id=TOKEN)
    actions = [replace(it, id=str(at)) for at, it in enumerate(actions)]
    keep(make_sample_store(project, 0), [(session, actions)])
    assert cli.main(["view", "--project", str(project), "-o", "-"]) == 0
    told = capsys.readouterr()
    assert TOKEN not in told.out
    assert told.out.count("use [REDACTED] here") >= 15
    assert "github-token" in told.err


def test_a_secret_that_one_text_gives_away_goes_from_the_others() -> None:
    session, actions = (
        a_session(summary='password = "hunter2hunter2x9"'),
        [Action(id="1", kind="command", content="login hunter2hunter2x9")],
    )
    assert "hunter2hunter2x9" not in page_with([(session, actions)])
