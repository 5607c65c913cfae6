"""Writes the one prompt over all rooms of the memory, within one budget of tokens."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from core.messages import say
from core.settings import read_settings
from core.text.tokens import Budget
from protocol.call import RequestError

if TYPE_CHECKING:  # a server starts faster without it
    from core.together.one_list import Gather, Gathered

LEAST_PROMPT_TOKENS = 200


class Shown(NamedTuple):
    """What one room has for the prompt.

    injected: returns its lines on a question, and takes what they cost from the budget. gathered:
    returns what may answer a question beside what other rooms have.
    """

    room: str
    injected: Callable[[str, Budget], list[str]]
    gathered: "Callable[[str], Gathered]"


def injection(query: str, token_budget: str, rooms: Sequence[Shown]) -> str:
    """Return what these rooms hold on a question in one list, the most relevant first.

    Without a question each room gets its share, and what others left. token_budget: as the client
    sent it. Raises RequestError, and what the rooms raise.
    """
    is_number = token_budget.isascii() and token_budget.isdigit() and len(token_budget) < 8
    if not is_number or int(token_budget) < LEAST_PROMPT_TOKENS:
        raise RequestError("bad_budget", least=LEAST_PROMPT_TOKENS)
    budget = Budget(int(token_budget), read_settings(os.environ).budget_chars)
    if query.strip() and len(rooms) > 1:
        lines = _one_list(query, budget, [it.gathered for it in rooms])
    else:
        lines = _in_turn(query, budget, rooms)
    return "\n".join(lines) or say("protocol.prompt_nothing")


def _one_list(query: str, budget: Budget, rooms: "Sequence[Gather]") -> list[str]:
    from core.together.one_list import gathered_from, in_one_order

    heading = say("protocol.prompt_one_list")
    budget.spend(heading)
    found = in_one_order(query, gathered_from(rooms, query))
    lines = [line for it in found if budget.take(line := it.labelled())]
    return [heading, *lines] if lines else []


def _in_turn(query: str, budget: Budget, rooms: Sequence[Shown]) -> list[str]:
    lines = list[str]()
    for at, room in enumerate(rooms):
        share = budget.split_off(1 / (len(rooms) - at))
        lines += room.injected(query, share)
        budget.add(share)
    return lines
