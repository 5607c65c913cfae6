"""Writes what context_search answers: a hint for each session, and how many there are."""

from typing import Any

from core.messages import say
from rooms.sessions.answers.hints import day_of, goal_of, hint_of, name_of, with_project
from rooms.sessions.search.found import Hit, Page


def text(page: Page, *, offset: int) -> str:
    """Return the hints, below a line that counts them."""
    if not page.hits:
        key = "past_end" if page.total else "found_none"
        return say(f"sessions.answers.{key}", total=page.total, offset=offset)
    lines = [say("sessions.answers.found", shown=len(page.hits), total=page.total)]
    lines += [hint_of(it) for it in page.hits]
    if suggested := _suggested(page):
        lines.append(
            say("sessions.answers.failures_in", name=name_of(suggested.session, suggested.project))
        )
    if _has_more(page, offset):
        lines.append(say("sessions.answers.more", offset=offset + len(page.hits)))
    return "\n".join(lines)


def declared(page: Page, *, offset: int) -> dict[str, Any]:
    """Return the object ContextSearchOutput."""
    hints = [
        {
            "id": it.session.id,
            "goal": with_project(goal_of(it.session), it.project),
            "date": day_of(it.session.date),
            "hasWarnings": it.session.has_warnings,
        }
        for it in page.hits
    ]
    told = {"hints": hints, "total": page.total, "hasMore": _has_more(page, offset)}
    suggested = _suggested(page)
    if suggested is None:
        return told
    return {**told, "suggestion": say("sessions.answers.failures_in", name=suggested.session.id)}


def _has_more(page: Page, offset: int) -> bool:
    return bool(page.hits) and offset + len(page.hits) < page.total


def _suggested(page: Page) -> Hit | None:
    """Return the best hit with failures, if what was sought has one."""
    return next((it for it in page.hits if it.level and it.session.has_warnings), None)
