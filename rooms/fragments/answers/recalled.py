"""Writes what recall answers: whole fragments within the budget, what is linked below each."""

from typing import Any

from core.messages import say
from core.room.one_list import Entry
from rooms.fragments.answers.objects import as_object
from rooms.fragments.recall.recalling import Line, Linked, Recalled


def text(found: Recalled, line: Line, *, is_empty: bool) -> str:
    """Return the lines of what fits, linked ones below their own, and a count of the others.

    is_empty: nothing was asked for, so that nothing is kept where nothing was found.
    """
    told = list[str]()
    for it in found.found:
        told.append(it.labelled() if found.is_labelled else it.line())
        told += [linked_line(one, line) for one in found.linked if one.to_id == it.id]
    if found.left_out:
        told.append(say("fragments.answers.left_out", count=found.left_out))
    if not told:
        told.append(
            say("fragments.answers.found_empty" if is_empty else "fragments.answers.found_none")
        )
    if found.failure:
        told.append(say("fragments.answers.words_only", why=str(found.failure)))
    return "\n".join(told)


def linked_line(linked: Linked, line: Line) -> str:
    """Return the line of a linked fragment, to stand below the one that it is linked to.

    The arrow says that the relation is that of the linked one to the one above.
    """
    arrow = "" if linked.leads_here else " ←"
    return f"  {linked.relation}{arrow} {line(linked.fragment)}"


def declared(found: Recalled) -> dict[str, Any]:
    """Return the object that recall gives."""
    told: dict[str, Any] = {
        "success": True,
        "count": len(found.found),
        "fragments": [as_object(it) for it in found.fragments],
        "linked": [
            {**as_object(it.fragment), "relation_type": it.relation, "linked_to": it.to_id}
            for it in found.linked
        ],
        "left_out": found.left_out,
    }
    if others := [
        _other(it, rank) for rank, it in enumerate(found.found, 1) if it.source != "fragment"
    ]:
        told["others"] = others
    return {**told, "warning": str(found.failure)} if found.failure else told


def _other(entry: Entry, rank: int) -> dict[str, Any]:
    """Return what another room has, and at which place of the one list, counted from 1."""
    return {"rank": rank, "source": entry.source, "id": entry.id, "text": entry.line()}
