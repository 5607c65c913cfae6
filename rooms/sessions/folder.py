"""Makes the directory of the sessions, with what keeps git from the database of one machine."""

import os
import stat
from pathlib import Path

from core.disk.files import make_directory, reason_of
from rooms.sessions.errors import SessionsError

IGNORED = """\
# The database of this machine; current.json and config.json may be committed.
*.db*
*.tmp
"""


def make_folder(directory: Path) -> None:
    """Make the directory and its `.gitignore` where they are missing. Raises SessionsError."""
    ignored = directory / ".gitignore"
    try:
        make_directory(directory)
        if os.path.lexists(ignored) and not stat.S_ISREG(os.lstat(ignored).st_mode):
            raise SessionsError("ignored", path=str(ignored))
        if not (ignored.exists() and ignored.stat().st_size):  # its writer may have been killed
            ignored.write_text(IGNORED, encoding="utf-8", newline="\n")
    except OSError as error:
        reason = reason_of(error)
        raise SessionsError("folder", path=str(directory), reason=reason) from error
