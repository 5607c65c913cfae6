"""Lays fragments out for a terminal, one line each in a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from commands.terminal.safe_text import plain
from commands.terminal.screen import INDENT, Screen, day_text, fitted, table
from core.messages import say

if TYPE_CHECKING:
    from rooms.fragments.fragment import Fragment

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
