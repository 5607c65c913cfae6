"""Forgets sessions and fragments beside records, each as its own room does."""

import argparse
from collections.abc import Mapping, Sequence

from commands.rooms.choice import FRAGMENTS, SESSIONS
from commands.terminal.console import Opened


def forget_beside(
    opened: Opened, arguments: argparse.Namespace, ids: Mapping[str, Sequence[str]]
) -> int:
    """Show, ask, forget, one room after the other; 1 when one was not confirmed.

    ids: by room. Sessions go for good, fragments into their bin. Raises SentinelError.
    """
    code = 0
    if SESSIONS in ids:
        from commands.sessions.forget import forget_named as forget_sessions
        from commands.sessions.room import room_of

        code = forget_sessions(room_of(opened), arguments, ids[SESSIONS])
    if FRAGMENTS in ids:
        from commands.fragments.forget import forget_named as forget_fragments
        from commands.fragments.room import fragments_of

        asked = {**vars(arguments), "ids": ids[FRAGMENTS], "topic": "", "hard": False}
        given = argparse.Namespace(**asked)
        code = max(code, forget_fragments(fragments_of(opened.settings), given))
    return code
