"""Writes what context_save answers: what it did, and which earlier work is related."""

from collections.abc import Iterable
from typing import Any

from core.messages import say
from core.text.plain import Budget
from rooms.sessions.answers.hints import goal_of, hint, is_order, name_of
from rooms.sessions.search.found import Hit
from rooms.sessions.store import Saved

MOST_TOKENS = 56  # estimated: by the tokenizer 50, since dates are estimated high
MOST_RELATED = 3


def message(saved: Saved) -> str:
    """Return the sentences on what a save did."""
    name = name_of(saved.session)
    told = [
        say(
            "sessions.answers.saved_new" if saved.is_new else "sessions.answers.saved_again",
            name=name,
        )
    ]
    if saved.redacted:
        told.append(say("sessions.answers.redacted", kinds=", ".join(saved.redacted)))
    if saved.resolved:
        told.append(say("sessions.answers.resolved", names=", ".join(map(name_of, saved.resolved))))
    if not saved.projected:
        told.append(say("sessions.answers.not_projected"))
    return " ".join(told)


def text(saved: Saved, related: Iterable[Hit], beside: Iterable[str]) -> str:
    """Return the sentences, the related sessions that fit, and what else is to be said."""
    head, heading = message(saved), say("sessions.answers.related")
    budget = Budget(MOST_TOKENS, 1_000)
    budget.spend(say("sessions.answers.saved_new", name=name_of(saved.session)))
    budget.spend(heading)
    fitting = [line for it in offered(related) if budget.take(line := hint(it.session))]
    return "\n".join([head, *([heading, *fitting] if fitting else ()), *beside])


def offered(related: Iterable[Hit]) -> list[Hit]:
    """Return the hits that may be shown unasked: none that reads like an order."""
    return [it for it in related if not is_order(it.session)][:MOST_RELATED]


def declared(saved: Saved, related: Iterable[Hit], beside: Iterable[str]) -> dict[str, Any]:
    """Return the object ContextSaveOutput."""
    found = [
        {
            "id": it.session.id,
            "goal": goal_of(it.session),
            "summary": it.session.summary_short,
            "similarity": it.level or "low",
        }
        for it in offered(related)
    ]
    told = {"id": saved.session.id, "message": "\n".join([message(saved), *beside])}
    return {**told, "relatedContexts": found} if found else told
