"""Lays fragments out for a terminal: one line each in a table, or whole."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from commands.terminal.safe_text import plain, plain_lines
from commands.terminal.screen import INDENT, Screen, day_text, fitted, hung, table
from core.messages import say

if TYPE_CHECKING:
    from rooms.fragments.fragment import Fragment, Link, Version

PIN = "*"  # before the content of a pinned fragment
LEAST_WIDTH = 60  # in fewer cells a fragment takes two lines


def fragment_table(
    fragments: Sequence["Fragment"], screen: Screen, *, of_bin: bool = False
) -> list[str]:
    """Return a line for each fragment below a head, or two lines on a narrow terminal.

    of_bin: they are in the bin: the table says since when and why, not when they were saved.
    """
    rows = [_row(it, of_bin=of_bin) for it in fragments]
    if screen.width < LEAST_WIDTH:
        return [line for row in rows for line in _stacked(row, screen)]
    is_marked = any(it.is_anchor for it in fragments)
    last = say(
        "fragment_commands.fragment_marked" if is_marked else "fragment_commands.fragment", mark=PIN
    )
    names = ("deleted" if of_bin else "saved", "kind", "importance")
    head, *lines = table(
        ["id", *(say(f"fragment_commands.{it}") for it in names), last], rows, screen.width
    )
    return [screen.painted(head, "bold"), *lines]


def whole(
    fragment: "Fragment",
    links: "Sequence[tuple[Link, Fragment]]",
    versions: Sequence["Version"],
    screen: Screen,
) -> list[str]:
    """Return everything about one fragment, each line within the screen.

    links: each with the fragment at its other end. versions: what it said before.
    """
    first, *rest = plain_lines(fragment.content) or [""]
    lines = [screen.painted(f"{fragment.id}  {first}", "bold"), *(INDENT + it for it in rest)]
    lines.append(INDENT + screen.painted(_facts(fragment), "dim"))
    for key, text in _fields(fragment):
        lines.append(f"{INDENT}{say(f'fragment_commands.{key}')}: {plain(text)}")
    for link, other in links:
        lines.append(f"{INDENT}{_joint(fragment, link)} {plain(f'{other.id}: {other.content}')}")
    for version in reversed(versions):
        date = _minute(version.amended_at)
        until = say("fragment_commands.until", date=date, agent=plain(version.amended_by) or "?")
        lines.append(
            f"{INDENT}{say('fragment_commands.versions')} ({until}): {plain(version.content)}"
        )
    return [piece for line in lines for piece in hung(line, screen.text_width)]


def _row(fragment: "Fragment", *, of_bin: bool) -> list[str]:
    content = " ".join(plain(fragment.content).split())
    content = f"{PIN} {content}" if fragment.is_anchor else content
    if of_bin and fragment.deletion:
        content = f"({say(f'fragment_commands.{fragment.deletion}')}) {content}"
    return [
        plain(fragment.id),
        day_text(fragment.deleted_at if of_bin else fragment.created_at),
        say(f"fragment_commands.{fragment.kind}"),
        f"{fragment.importance:.2f}",
        content,
    ]


def _stacked(row: Sequence[str], screen: Screen) -> list[str]:
    *facts, content = row
    first = fitted(INDENT + INDENT.join(facts), screen.width)
    return [screen.painted(first, "dim"), fitted(INDENT * 2 + content, screen.width)]


def _facts(fragment: "Fragment") -> str:
    facts = say(
        "fragment_commands.facts",
        kind=say(f"fragment_commands.{fragment.kind}"),
        lifetime=say(f"fragment_commands.{fragment.lifetime}"),
        importance=f"{fragment.importance:.2f}",
        tier=say(f"fragment_commands.{fragment.tier}"),
    )
    return "; ".join([facts, *([say("fragment_commands.pinned")] if fragment.is_anchor else ())])


def _fields(fragment: "Fragment") -> Iterator[tuple[str, str]]:
    """Yield the fields that a fragment has, each with the key of its label."""
    yield "topic", fragment.topic
    texts = {
        "keywords": ", ".join(fragment.keywords),
        "source": fragment.source,
        "agent": fragment.agent,
        "session": fragment.session,
    }
    yield from ((key, text) for key, text in texts.items() if text)
    yield "scope", say(f"fragment_commands.{fragment.privacy}")
    yield "dates", "; ".join(_dates(fragment))
    if fragment.access_count:
        key = "recalled_once" if fragment.access_count == 1 else "recalled_often"
        date = _minute(fragment.accessed_at)
        yield "recalled", say(f"fragment_commands.{key}", count=fragment.access_count, date=date)
    if fragment.deleted_at:
        why = say(f"fragment_commands.{fragment.deletion or 'forgotten'}")
        date = _minute(fragment.deleted_at)
        yield "state", say("fragment_commands.in_bin", date=date, why=why, id=fragment.id)
    elif fragment.promoted:
        facts = {"record": plain(fragment.record_id), "id": fragment.id}
        yield (
            "state",
            say("fragment_commands.in_the_log", date=_minute(fragment.superseded_at), **facts),
        )
    elif fragment.superseded_at:
        yield "state", say("fragment_commands.superseded", date=_minute(fragment.superseded_at))


def _dates(fragment: "Fragment") -> Iterator[str]:
    yield say("fragment_commands.saved_on", date=_minute(fragment.created_at))
    if fragment.updated_at > fragment.created_at:
        yield say("fragment_commands.corrected_on", date=_minute(fragment.updated_at))
    if fragment.verified_at > max(fragment.created_at, fragment.updated_at):
        yield say("fragment_commands.verified_on", date=_minute(fragment.verified_at))
    if fragment.expires_at:
        yield say("fragment_commands.expires_on", date=_minute(fragment.expires_at))


def _joint(fragment: "Fragment", link: "Link") -> str:

    is_back = link.to_id == fragment.id
    return say(f"fragments.exchange.{f'{link.relation}_back' if is_back else link.relation}")


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")
