"""Writes sessions as JSON: the declared `context` objects with their actions, to be imported."""

from typing import Any

from core.messages import say
from core.room.documents import as_json
from rooms.sessions.exchange.document import MARK, Form, Head, Whole

VERSION = 1

_BEGINS = f'{{"format": "{MARK}", "version": '


def context_of(whole: Whole) -> dict[str, Any]:
    """Return the declared object of a session, with its last change and its actions."""
    session = whole.session
    actions = [action.as_json() for action in whole.actions]
    return {**session.as_json(), "updatedAt": session.updated_at, "actions": actions}


def _begin(head: Head) -> str:
    facts = {"project": head.project, "exported": head.exported, "count": head.count}
    return f'{_BEGINS}{VERSION}, {as_json(facts)[1:-1]}, "contexts": ['


def _session(whole: Whole, head: Head) -> str:
    return f"\n{as_json(context_of(whole))}"


def _end(head: Head, left_out: int) -> str:
    if not left_out:
        return "\n]}\n"
    note = say("sessions.exchange.left_out", count=left_out, suffix="json")
    return f'\n], "leftOut": {left_out}, "note": {as_json(note)}}}\n'


JSON = Form((".json",), _BEGINS, _begin, _session, _end, between=",")
