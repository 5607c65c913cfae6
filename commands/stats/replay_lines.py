"""Prints what a replay found, as a page and as JSON."""

from commands.stats.data import moment_data, record_data, share_data
from commands.stats.intervals import Share
from commands.stats.parts import Page, day_text, last_day, named, section, share_text
from commands.stats.replay import FLOODING, Replay
from commands.stats.words import word
from core.lessons.record import Record


def replay_lines(found: Replay, project: str, page: Page, *, seconds: int) -> list[str]:
    """Return the sections of a replay that had so many seconds, a blank line between them."""
    head = [page.project(project), "", *page.titled([word(page.lang, "replay")])]
    cut = [] if found.is_whole else page.said(word(page.lang, "replay_cut", seconds=seconds))
    if found.since_s is None:
        return [*head, *(cut or page.said(word(page.lang, "replay_none")))]
    shares = {"commits": share_text(found.commits, page), "hunks": share_text(found.hunks, page)}
    about = word(page.lang, "replay_about", day=day_text(found.since_s), **shares)
    flooding = _shown(found.flooding, word(page.lang, "flooding", count=len(found.flooding)), page)
    if found.flooding:
        flooding += page.said(word(page.lang, "flooding_about", percent=round(100 * FLOODING)))
    never = ([last_day(it), *named(it, it.key_text)] for it in found.never)
    never_title = word(page.lang, "unreached", count=len(found.never))
    unreached = section(page, never_title, "last id record", never, len(found.never))
    reached = word(page.lang, "reached", count=found.reach.count, of=found.reach.of)
    sections = [
        page.said(about) + page.said(word(page.lang, "intervals")) + cut,
        ["", *page.titled(flooding)],
        ["", *page.titled(_shown(found.shown, reached, page))],
        ["", *page.titled(unreached)],
        ["", *page.said(word(page.lang, "replay_limits"), "")],
    ]
    return [*head, *(line for lines in sections for line in lines)]


def _shown(shown: list[tuple[Record, Share]], title: str, page: Page) -> list[str]:
    rows = (
        [f"{share.count:,}", f"{round(100 * share.value)}", *named(record, record.key_text)]
        for record, share in shown
    )
    return section(page, title, "commits % id record", rows, len(shown))


def replay_data(found: Replay, project: str) -> dict[str, object]:
    """Return all figures of a replay by key; docs/stats.md describes them."""
    return {
        "project": project,
        "replay": {
            "commits": share_data(found.commits),
            "hunks": share_data(found.hunks),
            "since": moment_data(found.since_s),
            "whole": found.is_whole,
            "reach": share_data(found.reach),
            "shown": [_data(*it) for it in found.shown],
            "flooding": [_data(*it) for it in found.flooding],
            "never_shown": [record_data(it) for it in found.never],
        },
    }


def _data(record: Record, share: Share) -> dict[str, object]:
    return {**record_data(record), "commits": share_data(share)}
