"""Notes in one file of JSON, as a room: all that `rooms.room.Room` requires, and no more."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from core.lessons.upkeep import Finding
from core.room.redaction import SecretPlace
from core.sanitizer import redact
from rooms import room

NAME = "notes"


def note(id_: str, text: str) -> room.Item:
    """A note, with a state of its own for each text."""
    about: dict[str, Any] = {"room": NAME, "kind": "note", "topic": "kitchen", "mark": ""}
    about |= {"date": "2020-03-04T09:00:00+00:00", "facts": ("written 2020-03-04",)}
    data = {"id": id_, "text": text, "topic": "kitchen", "day": "2020-03-04"}
    return room.Item(id=id_, version=text, texts=(("text", text),), data=data, **about)


class ForPeople(room.Room):
    name = NAME
    kinds = ("note",)

    @property
    def _path(self) -> Path:
        return self._memory.project.root / "notes.json"

    def is_there(self) -> bool:
        return self._path.is_file()

    def find(self, wanted: room.Filter) -> room.Matches:
        words = wanted.words.split()
        found = [
            it
            for it in notes_in(self._path, forgotten=wanted.forgotten)
            if all(word in it.texts[0][1] for word in words)
            and (not wanted.topics or it.topic in wanted.topics)
            and it.date >= wanted.since
        ]
        return room.Matches(found[: wanted.limit], len(found))

    def explain_no_match(self, wanted: room.Filter) -> list[str]:
        return ["There is no such note."]

    def find_by_name(self, name: str) -> list[room.Item]:
        return [it for it in notes_in(self._path) if it.id == name]

    def versions(self, name: str) -> room.Versions | None:
        found = [room.Version(it, "in the file", {"file": True}) for it in self.find_by_name(name)]
        return room.Versions(found, []) if found else None

    def preview_forget(self, items: Sequence[room.Item], *, hard: bool) -> str:
        return f"Notes to forget: {len(items)}."

    def forget(self, items: Sequence[room.Item], *, hard: bool) -> room.ForgetOutcome:
        there = {(it.id, it.version) for it in notes_in(self._path)}
        going = [it for it in items if (it.id, it.version) in there]
        kept = [it for it in notes_in(self._path) if it.id not in {note.id for note in going}]
        gone = [] if hard else [*notes_in(self._path, forgotten=True), *going]
        keep(self._path, kept, gone)
        stayed = [it for it in items if it not in going]
        return room.ForgetOutcome([f"Forgotten notes: {len(going)}."], stayed)

    def restore(self, name: str, *, originals: bool) -> room.Restoration | None:
        gone = notes_in(self._path, forgotten=True)
        found = [it for it in gone if it.id == name]

        def carry_out() -> room.Restoration:
            left = [it for it in gone if it.id != name]
            keep(self._path, [*notes_in(self._path), *found], left)
            return room.Restoration(found, [], ["The note is back."])

        return room.Restoration(found, [], [], carry_out) if found else None

    def export_rows(
        self, wanted: room.Filter, *, only_public: bool, notes: list[str]
    ) -> Iterator[room.ExportRow]:
        yield from (room.ExportRow(it.data) for it in self.find(wanted).items)

    def plan_import(self, given: room.Intake, progress: room.Progress) -> room.ImportPlan:
        there = notes_in(self._path) if self.is_there() else []
        known = {it.id for it in there}
        new = [note(it["id"], it["text"]) for _, it in given.rows if it["id"] not in known]

        def save(progress: room.Progress) -> list[str]:
            keep(self._path, [*there, *new])
            return [f"Saved notes: {len(new)}."]

        old = [room.Refusal(str(at), "a known note") for at, it in given.rows if it["id"] in known]
        saving = save if new else None
        return room.ImportPlan(
            items=new, count=len(new), redacted=[], notes=[], refusals=old, save=saving
        )

    def findings(self) -> list[Finding]:
        try:
            count = len(notes_in(self._path))
        except ValueError:
            facts = {"said": "The notes cannot be read."}
            return [Finding("notes.torn", "error", facts=facts, fix=lambda: keep(self._path, []))]
        return [Finding("notes.ok", "ok", facts={"said": f"notes {count}"})]

    def figures(self) -> room.Figures:
        count = len(notes_in(self._path))
        return room.Figures(f"Notes: {count}", ["All in one file."], {"notes": count})

    def secrets(self) -> room.Secrets:
        held = [
            SecretPlace(self._path, it.id, tuple(redact(it.texts[0][1]).kinds))
            for it in notes_in(self._path)
            if redact(it.texts[0][1]).kinds
        ]
        return room.Secrets("notes", "note", held, [])

    def redact(self) -> room.RedactOutcome:
        held = self.secrets().holders
        cleaned = [note(it.id, redact(it.texts[0][1]).text) for it in notes_in(self._path)]
        keep(self._path, cleaned, notes_in(self._path, forgotten=True))
        return room.RedactOutcome(held, self.secrets().holders, [], is_whole=True)


def notes_in(path: Path, *, forgotten: bool = False) -> list[room.Item]:
    """The notes of a file, or the forgotten notes that it still holds."""
    texts = json.loads(path.read_text("utf-8"))["forgotten" if forgotten else "notes"]
    return [note(id_, text) for id_, text in texts.items()]


def keep(path: Path, notes: Sequence[room.Item], forgotten: Sequence[room.Item] = ()) -> None:
    given = {"notes": notes, "forgotten": forgotten}
    texts = {key: {it.id: it.version for it in items} for key, items in given.items()}
    path.write_text(json.dumps(texts), encoding="utf-8")
