"""Takes the texts of a lesson from a fragment, and the fragment out of recall once it is saved."""

import argparse

from commands.fragments.room import open_fragments
from commands.records.lines import whole
from commands.terminal.ask import is_confirmed
from commands.terminal.safe_text import plain
from commands.terminal.screen import print_lines, print_within, screen_here
from core.lessons.changes import Outcome
from core.lessons.record import Record
from core.messages import say
from core.room.one_list import as_said
from rooms.room import Opened


class FragmentLesson:
    """A fragment of this person that becomes a lesson of the project.

    Raises SentinelError for one that is not there, that another agent owns or that was superseded.
    """

    def __init__(self, opened: Opened, id_: str) -> None:
        from rooms.fragments.promotion.promoting import said_by

        fragments = open_fragments()
        [named] = fragments.named([id_.strip("` ")])
        self._opened = opened
        self._room = fragments.room
        self.fragment, self._said = said_by(self._room, named.id)
        self._id = plain(self.fragment.id)

    def fill(self, arguments: argparse.Namespace) -> None:
        """Give the options that were left out the texts of the fragment."""
        own = {"topic": self.fragment.topic, "missing": self._said.gap, "lesson": self._said.lesson}
        for option, text in own.items():
            if text and getattr(arguments, option) is None:
                setattr(arguments, option, text)

    def hand_over(self, saved: Outcome) -> list[str]:
        """Take the fragment out of recall after its lesson was saved; return what to print."""
        return self._promoted(saved.record.id)

    def print_as_known(self) -> None:
        """Say that the fragment is a lesson already."""
        facts = {"id": self._id, "record": plain(self.fragment.record_id)}
        print_lines([say("add.promoted_before", **facts)])

    def known_record(self) -> Record | None:
        """Return the record that says already what the fragment says, if there is one.

        A colleague may have saved the same, or the fragment has come from the log.
        """
        gap, lesson = as_said(self._said.gap), as_said(self._said.lesson)
        for record in self._opened.store.read_all() if lesson else ():
            if as_said(record.lesson) == lesson and gap in ("", as_said(record.missing_context)):
                return record
        return None

    def join(self, arguments: argparse.Namespace, known: Record) -> int:
        """Take the fragment out of recall, whose lesson the log has; 1 when not done."""
        lines = [say("add.would_join", id=self._id), "", *whole(known, screen_here()), ""]
        print_within(lines)
        if not is_confirmed(arguments, say("add.ask_join")):
            return int(not arguments.dry_run)
        print_lines(self._promoted(known.id))
        return 0

    def _promoted(self, record: str) -> list[str]:
        from rooms.fragments.promotion.promoting import promote

        promote(self._room, self.fragment.id, record)
        return [say("add.promoted", id=self._id)]
