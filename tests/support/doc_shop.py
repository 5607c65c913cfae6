"""Makes the project whose answers the documents show."""

import json
import os
from pathlib import Path
from typing import Any
from unittest import mock

from tests.support.cli_process import TOKEN
from tests.support.git_clones import git, path_of
from tests.support.tables import table

DAYS = ("2025-03-02", "2025-03-10", "2025-03-15", "2025-03-16", "2025-03-17")


class Shop:
    """A project with a memory in git, and a home directory without anything."""

    def __init__(self, folder: Path, lang: str) -> None:
        self.root, self.home, self._told = folder / "shop", folder / "home", table("doc_shop")[lang]
        for made in (self.root / ".context", self.home):
            made.mkdir(parents=True)
        git(self.root, "init", "--quiet")
        *logs, principle = map(_line, self._told["records"])
        for at, lines in enumerate([logs[:2], logs, [principle, *logs[2:]]]):
            path_of(self.root).write_bytes(b"".join(lines))
            self.commit(at)

    def commit(self, at: int) -> None:
        """Commit the log as it is, with the subject and on the day of this place in the story."""
        (self.root / ".context" / ".gitattributes").write_text("memory_log.jsonl merge=union\n")
        git(self.root, "add", "--all")
        who = {"NAME": "developer", "EMAIL": "developer@example.invalid"}
        who["DATE"] = f"{DAYS[at]}T10:00:00+0000"
        names = {f"GIT_{role}_{key}": who[key] for role in ("AUTHOR", "COMMITTER") for key in who}
        with mock.patch.dict(os.environ, names):
            git(self.root, "commit", "--quiet", "--message", self._told["commits"][at])

    def leak(self) -> None:
        """Add a record with a secret, which nobody has committed."""
        with path_of(self.root).open("ab") as file:
            file.write(_line(self._told["secret"]).replace(b"{token}", TOKEN.encode()))

    def export_to(self, path: Path) -> None:
        """Write two sessions and three fragments as an export has them."""
        path.write_bytes(b"".join(map(_line, self._told["rooms"])))


def _line(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"
