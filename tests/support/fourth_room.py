"""Invents a room: one folder, which the commands then know without another change.

with_notes(monkeypatch, tmp_path, "Water the plants. On Friday.")
"""

import sys
from pathlib import Path

import pytest

import rooms

ROOM = '''"""Notes, a room that only a test knows."""

from core.messages import say
from rooms.room import Figures, Found, Item

NOTES = {notes!r}


def item(number, text):
    texts, data = (("note", text),), {{"text": text}}
    return Item(
        room="notes", id=f"n{{number}}", version=f"n{{number}}@1",
        date=f"2026-03-{{number + 1:02}}T09:00:00+00:00", kind="loose", topic="desk", mark="",
        texts=texts, facts=("on paper",), data=data, privacy={privacy!r},
    )


class ForPeople:
    name = "notes"
    kinds = ("loose",)

    def __init__(self, opened):
        self.opened = opened

    def is_there(self):
        return True

    def find(self, wanted):
        fit = [item(at, it) for at, it in enumerate(NOTES) if wanted.words in it]
        return Found(fit[: wanted.limit], len(fit))

    def nothing(self, wanted):
        return ["There are no notes."]

    def named(self, name):
        return [it for it in map(item, range(len(NOTES)), NOTES) if it.id == name]

    def figures(self):
        return Figures(f"Notes: {{len(NOTES)}}", ["All on paper."], {{"notes": len(NOTES)}})
'''


def with_notes(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *notes: str, privacy: str = ""
) -> None:
    """Add a room `notes` with these texts, for this test."""
    place = folder / "rooms" / "notes"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text("", encoding="utf-8")
    text = ROOM.format(notes=list(notes), privacy=privacy)
    (place / "for_people.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(rooms, "__path__", [*rooms.__path__, str(folder / "rooms")])
    for name in ("rooms.notes", "rooms.notes.for_people"):
        sys.modules.pop(name, None)  # of an earlier test
