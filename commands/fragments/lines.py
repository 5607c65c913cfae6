"""Lays fragments out for a terminal: one line each in a table, or whole."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from commands.fragments.words import word
from commands.terminal.columns import INDENT, fitted, hung, table
from commands.terminal.days import day_text
from commands.terminal.safe_text import plain, plain_lines
from commands.terminal.screen import Screen
from core.messages import Language

if TYPE_CHECKING:
    from rooms.fragments.fragment import Fragment, Link, Version

PIN = "*"  # before the content of a pinned fragment
LEAST_WIDTH = 60  # in fewer cells a fragment takes two lines


def fragment_table(
    fragments: Sequence["Fragment"], screen: Screen, lang: Language, *, of_bin: bool = False
) -> list[str]:
    """Return a line for each fragment below a head, or two lines on a narrow terminal.

    of_bin: they are in the bin: the table says since when and why, not when they were saved.
    """
    rows = [_row(it, lang, of_bin=of_bin) for it in fragments]
    if screen.width < LEAST_WIDTH:
        return [line for row in rows for line in _stacked(row, screen)]
    is_marked = any(it.is_anchor for it in fragments)
    last = word(lang, "fragment_marked" if is_marked else "fragment", mark=PIN)
    names = ("deleted" if of_bin else "saved", "kind", "importance")
    head, *lines = table(["id", *(word(lang, it) for it in names), last], rows, screen.width)
    return [screen.painted(head, "bold"), *lines]


def whole(
    fragment: "Fragment",
    links: "Sequence[tuple[Link, Fragment]]",
    versions: Sequence["Version"],
    screen: Screen,
    lang: Language,
) -> list[str]:
    """Return everything about one fragment, each line within the screen.

    links: each with the fragment at its other end. versions: what it said before.
    """
    first, *rest = plain_lines(fragment.content) or [""]
    lines = [screen.painted(f"{fragment.id}  {first}", "bold"), *(INDENT + it for it in rest)]
    lines.append(INDENT + screen.painted(_facts(fragment, lang), "dim"))
    for key, text in _fields(fragment, lang):
        lines.append(f"{INDENT}{word(lang, key)}: {plain(text)}")
    for link, other in links:
        lines.append(
            f"{INDENT}{_joint(fragment, link, lang)} {plain(f'{other.id}: {other.content}')}"
        )
    for version in reversed(versions):
        date = _minute(version.amended_at)
        until = word(lang, "until", date=date, agent=plain(version.amended_by) or "?")
        lines.append(f"{INDENT}{word(lang, 'versions')} ({until}): {plain(version.content)}")
    return [piece for line in lines for piece in hung(line, screen.text_width)]


def _row(fragment: "Fragment", lang: Language, *, of_bin: bool) -> list[str]:
    content = " ".join(plain(fragment.content).split())
    content = f"{PIN} {content}" if fragment.is_anchor else content
    if of_bin and fragment.deletion:
        content = f"({word(lang, fragment.deletion)}) {content}"
    return [
        plain(fragment.id),
        day_text(fragment.deleted_at if of_bin else fragment.created_at, lang),
        word(lang, fragment.kind),
        f"{fragment.importance:.2f}",
        content,
    ]


def _stacked(row: Sequence[str], screen: Screen) -> list[str]:
    *facts, content = row
    first = fitted(INDENT + INDENT.join(facts), screen.width)
    return [screen.painted(first, "dim"), fitted(INDENT * 2 + content, screen.width)]


def _facts(fragment: "Fragment", lang: Language) -> str:
    facts = word(
        lang,
        "facts",
        kind=word(lang, fragment.kind),
        lifetime=word(lang, fragment.lifetime),
        importance=f"{fragment.importance:.2f}",
        tier=word(lang, fragment.tier),
    )
    return "; ".join([facts, *([word(lang, "pinned")] if fragment.is_anchor else ())])


def _fields(fragment: "Fragment", lang: Language) -> Iterator[tuple[str, str]]:
    """Yield the fields that a fragment has, each with the key of its label."""
    yield "topic", fragment.topic
    texts = {
        "keywords": ", ".join(fragment.keywords),
        "source": fragment.source,
        "agent": fragment.agent,
        "session": fragment.session,
    }
    yield from ((key, text) for key, text in texts.items() if text)
    yield "scope", word(lang, fragment.privacy)
    yield "dates", "; ".join(_dates(fragment, lang))
    if fragment.access_count:
        key = "recalled_once" if fragment.access_count == 1 else "recalled_often"
        date = _minute(fragment.accessed_at)
        yield "recalled", word(lang, key, count=fragment.access_count, date=date)
    if fragment.deleted_at:
        why = word(lang, fragment.deletion or "forgotten")
        date = _minute(fragment.deleted_at)
        yield "state", word(lang, "in_bin", date=date, why=why, id=fragment.id)
    elif fragment.promoted:
        facts = {"record": plain(fragment.record_id), "id": fragment.id}
        yield "state", word(lang, "in_the_log", date=_minute(fragment.superseded_at), **facts)
    elif fragment.superseded_at:
        yield "state", word(lang, "superseded", date=_minute(fragment.superseded_at))


def _dates(fragment: "Fragment", lang: Language) -> Iterator[str]:
    yield word(lang, "saved_on", date=_minute(fragment.created_at))
    if fragment.updated_at > fragment.created_at:
        yield word(lang, "corrected_on", date=_minute(fragment.updated_at))
    if fragment.verified_at > max(fragment.created_at, fragment.updated_at):
        yield word(lang, "verified_on", date=_minute(fragment.verified_at))
    if fragment.expires_at:
        yield word(lang, "expires_on", date=_minute(fragment.expires_at))


def _joint(fragment: "Fragment", link: "Link", lang: Language) -> str:
    from rooms.fragments.exchange.words import say

    is_back = link.to_id == fragment.id
    return say(lang, f"{link.relation}_back" if is_back else link.relation)


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")
