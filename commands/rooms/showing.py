"""Shows whole sessions and fragments beside records."""

from collections.abc import Mapping, Sequence

from commands.rooms.choice import FRAGMENTS, SESSIONS
from commands.terminal.console import Opened


def shown_blocks(opened: Opened, ids: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the text of each session and fragment. ids: by room. Raises SentinelError."""
    blocks = list[str]()
    if SESSIONS in ids:
        from commands.sessions.room import room_of
        from commands.sessions.show import blocks_of as sessions_shown

        blocks += sessions_shown(room_of(opened), ids[SESSIONS])
    if FRAGMENTS in ids:
        from commands.fragments.room import fragments_of
        from commands.fragments.show import blocks_of as fragments_shown

        blocks += fragments_shown(fragments_of(opened.settings), ids[FRAGMENTS])
    return blocks


def shown_data(opened: Opened, ids: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """Return the same as data, by room."""
    data = dict[str, object]()
    if SESSIONS in ids:
        from commands.sessions.room import room_of
        from commands.sessions.show import data_of as sessions_shown

        data[SESSIONS] = sessions_shown(room_of(opened), ids[SESSIONS])
    if FRAGMENTS in ids:
        from commands.fragments.room import fragments_of
        from commands.fragments.show import data_of as fragments_shown

        data[FRAGMENTS] = fragments_shown(fragments_of(opened.settings), ids[FRAGMENTS])
    return data
