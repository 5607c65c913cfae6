"""Writes the session that was saved last to `current.json`, for people and for git.

The database is the truth; this file is never read back, except by an import. It takes its turn as a
writer of the database does, so that the last one written is the last one saved.
"""

import json
import os
from pathlib import Path

from core.disk.database import Database
from core.errors import SentinelError
from core.notices import warn
from rooms.sessions.rows import sessions_where

NAME = "current.json"


def write(database: Database, directory: Path) -> bool:
    """Write the newest session; False, with a warning, where that is impossible.

    It is not synced: what a power cut takes, the next save writes again.
    """
    try:
        with database.writing() as connection:
            newest = "archive = '' ORDER BY updated_at DESC, revision DESC LIMIT 1"
            for session in sessions_where(connection, newest):
                shown = {**session.as_json(), "updatedAt": session.updated_at}
                text = json.dumps(shown, ensure_ascii=False, indent=2) + "\n"
                temporary = directory / f".{NAME}.tmp"
                temporary.unlink(missing_ok=True)  # a link in its place would be followed
                temporary.write_text(text, encoding="utf-8", errors="replace", newline="\n")
                os.replace(temporary, directory / NAME)
    except (OSError, SentinelError) as error:
        warn("%s: not written (%s)", NAME, type(error).__name__)
        return False
    return True
