"""Makes a lesson of a fragment, which then leaves recall."""

import argparse
import os

from commands.rooms.read import whole
from commands.terminal.ask import is_confirmed
from commands.terminal.screen import plain, print_within, screen_here
from core.errors import RefusedError
from core.lessons.record import Record
from core.messages import say
from core.text.ranking import as_said
from rooms.fragments.errors import NoSuchFragmentError
from rooms.fragments.room import open_room
from rooms.fragments.versions import promote, said_by
from rooms.lessons import item_of
from rooms.room import Opened


class FragmentNameError(RefusedError):
    """No fragment has the typed id."""

    table = "records"


class Promotion:
    """A fragment of this person that becomes a lesson of the project.

    Raises SentinelError for an unknown or superseded fragment, or another agent's.
    """

    def __init__(self, opened: Opened, name: str) -> None:
        self._opened = opened
        self._room = open_room(opened.settings, os.environ)
        try:
            self._fragment, said = said_by(self._room, name)
        except NoSuchFragmentError as error:  # its own sentence is for a model
            raise FragmentNameError("no_fragment", id=str(error.facts["id"])) from None
        self.is_done = bool(self._fragment.promoted)
        texts = {
            "topic": self._fragment.topic,
            "missing_context": said.gap,
            "lesson": said.lesson,
        }
        self.texts = {field: text for field, text in texts.items() if text}

    def known_record(self) -> Record | None:
        """Return the record that already says the same, if any.

        A colleague may have saved it, or the fragment came from the log.
        """
        gap, lesson = (as_said(self.texts.get(it, "")) for it in ("missing_context", "lesson"))
        for record in self._opened.store.read_all() if lesson else ():
            if as_said(record.lesson) == lesson and gap in ("", as_said(record.missing_context)):
                return record
        return None

    def join(self, arguments: argparse.Namespace, known: Record) -> int:
        """Take a fragment out of recall whose lesson is known; return 1 without a yes."""
        print_within([self.sentence("would_join"), "", *whole(item_of(known), screen_here()), ""])
        if not is_confirmed(arguments, say("add.ask_join")):
            return int(not arguments.dry_run)
        print_within([self.promote(known.id)])
        return 0

    def promote(self, record: str) -> str:
        """Take the fragment out of recall; return a sentence."""
        promote(self._room, self._fragment.id, record)
        return self.sentence("promoted")

    def sentence(self, key: str) -> str:
        record = plain(self._fragment.record_id)
        return say(f"add.{key}", id=plain(self._fragment.id), record=record)
