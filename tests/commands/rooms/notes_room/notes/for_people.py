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
    fields: dict[str, Any] = {"room": NAME, "kind": "note", "topic": "kitchen", "mark": ""}
    fields |= {"date": "2020-03-04T09:00:00+00:00", "facts": ("written 2020-03-04",)}
    data = {"id": id_, "text": text, "topic": "kitchen", "day": "2020-03-04"}
    return room.Item(id=id_, version=text, texts=(("text", text),), data=data, **fields)


class ForPeople(room.Room):
    name = NAME
    kinds = ("note",)

    @property
    def _path(self) -> Path:
        return self._memory.project.root / "notes.json"

    def is_there(self) -> bool:
        return self._path.is_file()

    def find(self, filter_: room.Filter) -> room.Matches:
        words = filter_.words.split()
        matches = [
            item
            for item in notes_in(self._path, forgotten=filter_.forgotten)
            if all(word in item.texts[0][1] for word in words)
            and (not filter_.topics or item.topic in filter_.topics)
            and item.date >= filter_.since
        ]
        return room.Matches(matches[: filter_.limit], len(matches))

    def explain_no_match(self, filter_: room.Filter) -> list[str]:
        return ["There is no such note."]

    def find_by_name(self, name: str) -> list[room.Item]:
        return [item for item in notes_in(self._path) if item.id == name]

    def versions(self, name: str) -> room.Versions | None:
        items = self.find_by_name(name)
        versions = [room.Version(item, "in the file", {"file": True}) for item in items]
        return room.Versions(versions, []) if versions else None

    def preview_forget(self, items: Sequence[room.Item], *, hard: bool) -> str:
        return f"Notes to forget: {len(items)}."

    def forget(self, items: Sequence[room.Item], *, hard: bool) -> room.ForgetOutcome:
        present = {(item.id, item.version) for item in notes_in(self._path)}
        forgotten = [item for item in items if (item.id, item.version) in present]
        ids = {item.id for item in forgotten}
        rest = [item for item in notes_in(self._path) if item.id not in ids]
        trash = [] if hard else [*notes_in(self._path, forgotten=True), *forgotten]
        keep(self._path, rest, trash)
        changed = [item for item in items if item not in forgotten]
        return room.ForgetOutcome([f"Forgotten notes: {len(forgotten)}."], changed)

    def restore(self, name: str, *, originals: bool) -> room.Restoration | None:
        trash = notes_in(self._path, forgotten=True)
        items = [item for item in trash if item.id == name]

        def carry_out() -> room.Restoration:
            rest = [item for item in trash if item.id != name]
            keep(self._path, [*notes_in(self._path), *items], rest)
            return room.Restoration(items, [], ["The note is back."])

        return room.Restoration(items, [], [], carry_out) if items else None

    def export_rows(
        self, filter_: room.Filter, *, only_public: bool, notes: list[str]
    ) -> Iterator[room.ExportRow]:
        yield from (room.ExportRow(item.data) for item in self.find(filter_).items)

    def plan_import(self, intake: room.Intake, progress: room.Progress) -> room.ImportPlan:
        items = notes_in(self._path) if self.is_there() else []
        ids = {item.id for item in items}
        new = [note(row["id"], row["text"]) for _, row in intake.rows if row["id"] not in ids]

        def save(progress: room.Progress) -> list[str]:
            keep(self._path, [*items, *new])
            return [f"Saved notes: {len(new)}."]

        old = [room.Refusal(str(n), "a known note") for n, row in intake.rows if row["id"] in ids]
        saving = save if new else None
        return room.ImportPlan(
            items=new, count=len(new), secret_kinds=[], notes=[], refusals=old, save=saving
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
        holders = [
            SecretPlace(self._path, item.id, tuple(redact(item.texts[0][1]).kinds))
            for item in notes_in(self._path)
            if redact(item.texts[0][1]).kinds
        ]
        return room.Secrets("notes", "note", holders, [])

    def redact(self) -> room.RedactOutcome:
        holders = self.secrets().holders
        cleaned = [note(item.id, redact(item.texts[0][1]).text) for item in notes_in(self._path)]
        keep(self._path, cleaned, notes_in(self._path, forgotten=True))
        return room.RedactOutcome(holders, self.secrets().holders, [], is_whole=True)


def notes_in(path: Path, *, forgotten: bool = False) -> list[room.Item]:
    """The notes of a file, or the forgotten notes that it still holds."""
    texts = json.loads(path.read_text("utf-8"))["forgotten" if forgotten else "notes"]
    return [note(id_, text) for id_, text in texts.items()]


def keep(path: Path, notes: Sequence[room.Item], forgotten: Sequence[room.Item] = ()) -> None:
    groups = {"notes": notes, "forgotten": forgotten}
    texts = {key: {item.id: item.version for item in items} for key, items in groups.items()}
    path.write_text(json.dumps(texts), encoding="utf-8")
