"""Writes the sessions' part of the page: a list of them, and what can be filtered by."""

from functools import cache
from importlib.resources import files

from commands.view.escaping import as_line
from commands.view.part import Figure, Part
from commands.view.sessions.cards import card, kinds_of, status_text
from commands.view.sessions.collection import Collection
from core.messages import say
from rooms.sessions.session import STATUSES

MOST_OPEN = 12  # sessions, so that what stands below them is in sight
KEYS = {"o": "key_open"}


def part_of(collection: Collection) -> Part:
    """Return what sessions add to the page of the lessons."""
    items = collection.items
    there = {kind for item in items for kind in kinds_of(item.session)}
    kinds = {kind: say(f"view_sessions.kind_{kind}") for kind in ("session", "warned", "archived")}
    kinds |= {status: status_text(status) for status in STATUSES}
    warned = sum(item.session.has_warnings for item in items)
    return Part(
        title=say("view_sessions.sessions"),
        name=say("view_sessions.of_sessions"),
        shown=len(items),
        figures=(
            Figure(say("view_sessions.sessions"), collection.total, "sessions"),
            Figure(say("view_sessions.warned"), warned, "sessions", "type=warned"),
        ),
        section=tuple(_section(collection)),
        kinds={kind: text for kind, text in kinds.items() if kind in there},
        agents=frozenset(it.session.agent for it in items) - {""},
        keys={key: say(f"view_sessions.{name}") for key, name in KEYS.items()},
        style=_asset("sessions.css"),
    )


@cache
def _asset(name: str) -> str:
    return files("commands.view.sessions").joinpath(name).read_text(encoding="utf-8")


def _section(collection: Collection) -> list[str]:
    lines = [
        '<section id="sessions" aria-labelledby="sessions-title">',
        f'<h2 id="sessions-title">{as_line(say("view_sessions.sessions"))}</h2>',
        f'<p class="soft">{as_line(say("view_sessions.about"))}</p>',
    ]
    shown = len(collection.items)
    if shown < collection.total:
        note = say("view_sessions.left_out", shown=shown, count=collection.total)
        lines.append(f'<p class="note">{as_line(note)}</p>')
    for at, name in enumerate(("latest", "earlier_sessions")):
        items = collection.items[MOST_OPEN:] if at else collection.items[:MOST_OPEN]
        if items:
            anchor = ' id="show=sessions"' if at else ""  # the script folds what has an id
            lines += [
                f'<details class="topic sessions"{anchor} open>',
                f"<summary><h3>{as_line(say(f'view_sessions.{name}'))}</h3>"
                f' <span class="count">{len(items):,}</span></summary>',
                *(line for item in items for line in card(item)),
                "</details>",
            ]
    return [*lines, "</section>"]
