"""Finds text of a record that reads like an order to the model which reads the memory.

Nothing is removed: a place gets a mark, and a reader sees the text as data. Four things count:
phrases that set instructions aside or hide something from the user ("override"), tags and headings
of a chat transcript ("role"), the syntax of a tool call ("tool-call"), and characters no reader
sees ("hidden-text"). A lesson is an order itself, so a verb alone never counts: it must come
together with what it would set aside. What it cannot do: tell a quoted attack from an attack, or
find one in other words or in another language than English and Korean.
"""

from dataclasses import dataclass

from core.injection.disguises import views
from core.injection.hidden import hidden_runs
from core.injection.phrases import phrases_in
from core.injection.rules import HIDDEN_TEXT, MARKS


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A place `text[start:end]`, and what it reads like."""

    start: int
    end: int
    mark: str


def suspicions(text: str) -> list[Suspicion]:
    """Return every place of `text` that gets a mark, in order; equal marks never overlap."""
    found = [Suspicion(start, end, HIDDEN_TEXT) for start, end in hidden_runs(text)]
    for view, place in views(text):
        for mark, start, end in phrases_in(view):
            if place is not None:
                start, end = place[start][0], place[end - 1][1]
            found.append(Suspicion(start, end, mark))
    return _merged(found) if len(found) > 1 else found


def marks_of(*texts: str) -> tuple[str, ...]:
    """Return the marks that occur in `texts`, each once, in the order of MARKS."""
    found = {it.mark for text in texts for it in suspicions(text)}
    return tuple(mark for mark in MARKS if mark in found)


def _merged(found: list[Suspicion]) -> list[Suspicion]:
    """Return the places in order, those of one mark that overlap or touch as one."""
    last: dict[str, int] = {}
    merged: list[Suspicion] = []
    for it in sorted(found, key=lambda it: (it.start, it.end)):
        at = last.get(it.mark, -1)
        if at >= 0 and it.start <= merged[at].end:
            earlier = merged[at]
            merged[at] = Suspicion(earlier.start, max(earlier.end, it.end), it.mark)
        else:
            last[it.mark] = len(merged)
            merged.append(it)
    return sorted(merged, key=lambda it: (it.start, it.end, MARKS.index(it.mark)))
