"""Writes the session that was saved last to `current.json`, for people and for git.

The database is the truth; this file is never read back, except by an import. It takes its turn as a
writer of the database does, so that the last one written is the last one saved.
"""

import contextlib
import json
import os
from pathlib import Path

from core.errors import SentinelError
from core.program import warn
from core.room.database import Database
from rooms.sessions.rows import sessions_where
from rooms.sessions.session import Session

NAME = "current.json"
_LAST = (  # in two steps, each by an index: in one, SQLite sorts all sessions
    "updated_at = (SELECT max(updated_at) FROM contexts WHERE archive = '')"
    " AND archive = '' ORDER BY revision DESC LIMIT 1"
)


class Projection:
    """The file that shows the last session of a database. directory: where it is."""

    def __init__(self, database: Database, directory: Path) -> None:
        self._database, self._path = database, directory / NAME
        self._is_said = False

    def write(self) -> bool:
        """Write the last session; False where that is impossible, of which one warning tells.

        It is not synced: what a power cut takes, the next save writes again.
        """
        try:
            with self._database.writing() as connection:
                for session in sessions_where(connection, _LAST):
                    self._replace(session)
        except (OSError, SentinelError) as error:
            if not self._is_said:
                warn("%s: not written (%s)", self._path, type(error).__name__)
            self._is_said = True
            return False
        self._is_said = False
        return True

    def _replace(self, session: Session) -> None:
        shown = {**session.as_json(), "updatedAt": session.updated_at}
        text = json.dumps(shown, ensure_ascii=False, indent=2) + "\n"
        temporary = self._path.with_name(f".{NAME}.tmp")
        temporary.unlink(missing_ok=True)  # what a killed process left; a link would be followed
        try:
            with open(temporary, "x", encoding="utf-8", errors="replace", newline="\n") as file:
                file.write(text)
            os.replace(temporary, self._path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
