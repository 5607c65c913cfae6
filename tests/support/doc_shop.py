"""Makes the project whose answers the documents show."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.config import Settings
from core.lessons.record import Draft, Record, record_id
from rooms.fragments.fragment import Fragment, Link
from rooms.fragments.room import open_room
from rooms.sessions.session import POINTS
from rooms.sessions.session import Draft as SessionDraft
from rooms.sessions.store import open_sessions
from tests.support.cli_process import TOKEN, Desk
from tests.support.git_clones import path_of
from tests.support.tables import ROOT

LESSONS = json.loads((ROOT / "tests/data/doc_shop.json").read_text(encoding="utf-8"))
DAYS = ("2025-03-02", "2025-03-10", "2025-03-15", "2025-03-16", "2025-03-17")


def _record(texts: Mapping[str, str], created: str, **more: Any) -> Record:
    named: dict[str, Any] = {name: texts[name] for name in ("topic", "missing_context", "lesson")}
    named["type"] = "log" if texts["missing_context"] else "principle"
    more |= {"created": created, "ask_next_time": texts["ask_next_time"]}
    return Record(id=record_id(Draft(**named)), **named, **more)


class Shop:
    """A project with a memory in git, and a home directory without anything."""

    def __init__(self, folder: Path, lang: str) -> None:
        self.root, self.home, self.lessons = folder / "shop", folder / "home", LESSONS[lang]
        for made in (self.root / ".context", self.home):
            made.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        prices = [_record(it, "2025-03-02T09:00:00+00:00") for it in self.lessons["prices"]]
        build, migration = self.lessons["others"]
        again = {"updated": "2025-03-12T09:00:00+00:00", "seen": 3}
        others = [
            _record(build, "2025-03-03T09:00:00+00:00", **again),
            _record(migration, "2025-03-10T09:00:00+00:00", paths=("db/migrations/**",)),
        ]
        merged = {
            "compacted_at": "2025-03-15T09:00:00+00:00",
            "source_count": 2,
            "source_ids": tuple(it.token for it in prices),
        }
        principle = _record(self.lessons["principle"], "2025-03-15T09:00:00+00:00", **merged)
        for at, records in enumerate([prices, [*prices, *others], [principle, *others]]):
            path_of(self.root).write_bytes(b"".join(record.to_line() for record in records))
            self.commit(at)

    def git(self, *words: str, date: str = "") -> None:
        """Run git with nothing of this machine; date: that of a commit."""
        who = {"NAME": "developer", "EMAIL": "developer@example.invalid", "DATE": date}
        names = {
            f"GIT_{role}_{key}": it for role in ("AUTHOR", "COMMITTER") for key, it in who.items()
        }
        subprocess.run(["git", *words], cwd=self.root, check=True, env=self.environment(**names))

    def commit(self, at: int) -> None:
        """Commit the log as it is, with the subject and on the day of this place in the story."""
        (self.root / ".context" / ".gitattributes").write_text("memory_log.jsonl merge=union\n")
        self.git("add", "--all")
        subject = self.lessons["commits"][at]
        self.git("commit", "--quiet", "--message", subject, date=f"{DAYS[at]}T10:00:00+0000")

    def leak(self) -> None:
        """Add a record with a secret, which nobody has committed."""
        secret = {
            name: text.replace("{token}", TOKEN) for name, text in self.lessons["secret"].items()
        }
        with path_of(self.root).open("ab") as file:
            file.write(_record(secret, "2025-03-16T09:00:00+00:00").to_line())

    def save_sessions(self) -> None:
        """Save two sessions, on two days, of which the second continues the first."""
        store = open_sessions(self.root, Settings())
        for number, told in enumerate(self.lessons["sessions"], 1):
            draft = SessionDraft(
                goal=told["goal"],
                summary=told["summary"],
                status=told["status"],
                tags=tuple(told["tags"]),
                parent=f"#{number - 1}" if told.get("follows") else "",
                decisions=tuple(map(POINTS["decisions"].read, told["decisions"])),
                approaches=tuple(map(POINTS["approaches"].read, told["approaches"])),
            )
            moment = f"{DAYS[number]}T09:00:00+00:00"
            store.save(draft, agent="claude-code", process=f"p{number}", now=moment)
        store.database.close()

    def save_fragments(self) -> None:
        """Keep three fragments of this user, on three days, of which the last cures the second."""
        room = open_room(Settings(), self.environment())
        told = self.lessons["fragments"]
        with room.engine.writing() as writing:
            for day, it in zip(DAYS, told, strict=False):
                moment = f"{day}T09:00:00+00:00"
                fields = {**it, "keywords": tuple(it.get("keywords", ())), "source": "shop"}
                writing.add([Fragment(**fields, created_at=moment, updated_at=moment)])
            ends = {"from_id": told[1]["id"], "to_id": told[2]["id"]}
            writing.put_links([Link(**ends, relation="resolved_by", created_at=DAYS[2])])
        room.engine.close()

    def environment(self, **variables: str) -> dict[str, str]:
        """What a process needs, and nothing of whoever runs the tests."""
        own = {"SENTINEL_MEMORY_FRAGMENTS": str(self.home / "memory.db")}
        return Desk(self.root, self.home).environment(**own, **variables)
