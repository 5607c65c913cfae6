"""Notes at a showing what tells later whether it helped, and withholds one in eight if asked to.

Nothing of a text is noted: ids of records, and checksums of the names of files.
"""

import os
from collections.abc import Sequence
from typing import Any

from commands.hook.journal import Session, checksum_of, version_of
from core.lessons.recall.candidates import stands
from core.lessons.recall.reading import MOST_TRIGGERS, Action
from core.lessons.record import Record
from core.text.normal_form import normal_form

ONE_IN = 8
MOST_FILES = 20


def is_withheld(session: Session, record: Record) -> bool:
    """Return whether this session is one of those that do not get this record at an action.

    It is so for the whole session, with all its sub-agents, and for every version of the record.
    """
    from hashlib import sha256  # brings OpenSSL: only who asked for it pays

    if not session.path:
        return False  # nobody could count what nobody notes
    name = f"{os.path.basename(session.path)}\0{record.id}"
    return sha256(name.encode("utf-8", "replace")).digest()[0] % ONE_IN == 0


def facts_of(
    action: Action, shown: Sequence[Record], withheld: Sequence[Record], *, is_trial: bool
) -> dict[str, Any]:
    """Return what `Session.note` takes beside the records that were shown."""
    if not shown and not withheld:
        return {}
    triggered = [it for it in (*shown, *withheld) if has_trigger(it, action.text)]
    return {
        "withheld": list(map(version_of, withheld)),
        "holdout": is_trial,
        "triggered": [version_of(it) for it in triggered if action.paths],
        "files": list(map(checksum_of, action.paths[:MOST_FILES])),
    }


def has_trigger(record: Record, text: str) -> bool:
    """Return whether a trigger of the record stands in what somebody writes."""
    text = normal_form("NFC", text)
    return any(stands(piece, text) for piece in record.when[:MOST_TRIGGERS])
