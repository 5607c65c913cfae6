"""Writes the one prompt over all rooms of the memory, within one budget of tokens."""

import os
from collections.abc import Callable, Sequence

from core.settings import read_settings
from core.text.budget import Budget
from protocol.call import RequestError, language
from protocol.words import say

LEAST_PROMPT_TOKENS = 200

# Returns the lines of a room on a question, and takes what they cost from the budget.
Injected = Callable[[str, Budget], list[str]]


def injection(query: str, token_budget: str, rooms: Sequence[Injected]) -> str:
    """Return what these rooms hold on a question: each gets its share, and what others left.

    token_budget: as the client sent it. Raises RequestError, and what the rooms raise.
    """
    is_number = token_budget.isascii() and token_budget.isdigit() and len(token_budget) < 8
    if not is_number or int(token_budget) < LEAST_PROMPT_TOKENS:
        raise RequestError("bad_budget", least=LEAST_PROMPT_TOKENS)
    budget = Budget(int(token_budget), read_settings(os.environ).budget_chars)
    lines = list[str]()
    for at, injected in enumerate(rooms):
        share = budget.split_off(1 / (len(rooms) - at))
        lines += injected(query, share)
        budget.add(share)
    return "\n".join(lines) or say(language(), "prompt_nothing")
