"""Takes a fragment through the log's own door into the memory of a project, or takes it back."""

import argparse
from typing import TYPE_CHECKING

from commands.add.add import add_given, add_texts
from commands.fragments.room import open_fragments
from commands.promote.words import word
from commands.records.lines import commit_lines, whole
from commands.terminal.console import Opened, add_examples, explain, is_confirmed, open_memory
from commands.terminal.printing import print_lines, print_within
from commands.terminal.safe_text import plain
from commands.terminal.screen import screen_here
from commands.terminal.words import word as common_word
from core.lessons.outcomes import Saved
from core.lessons.record import Record
from core.parser import language_here
from core.together.one_list import as_said

if TYPE_CHECKING:
    from rooms.fragments.fragment import Fragment
    from rooms.fragments.promotion.promoting import Said
    from rooms.fragments.room import Room

_ONLY_NEW = ("topic", "missing", "lesson", "ask", "path", "when", "source")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py promote`."""
    parser.add_argument("fragment", metavar="FRAGMENT", help=explain("promote_fragment"))
    parser.add_argument("--undo", action="store_true", help=explain("promote_undo"))
    add_texts(parser)
    parser.description = explain("promote_about")
    add_examples(
        parser,
        'promote k3fa9x2m --missing "How the worker gets the password"',
        "promote --undo k3fa9x2m",
    )


def run(arguments: argparse.Namespace) -> int:
    """Save the lesson and take the fragment out of recall, or undo both; 1 when not done."""
    for name in _ONLY_NEW if arguments.undo else ():
        if getattr(arguments, name):
            option = "--from" if name == "source" else f"--{name}"
            arguments.refuse(common_word(language_here(), "together", one="--undo", other=option))
    opened = open_memory(arguments, writes=not arguments.dry_run)
    fragments = open_fragments()
    [fragment] = fragments.named([arguments.fragment.strip("` ")])
    act = _undo if arguments.undo else _promote
    return act(arguments, opened, fragments.room, fragment.id)


def _promote(arguments: argparse.Namespace, opened: Opened, room: "Room", id_: str) -> int:
    from rooms.fragments.promotion.promoting import promote, said_by

    fragment, said = said_by(room, id_)
    if fragment.promoted:
        facts = {"id": plain(fragment.id), "record": plain(fragment.record_id)}
        print_lines([word(opened.lang, "promoted_before", **facts)])
        return 0
    if not any(getattr(arguments, name) for name in _ONLY_NEW):
        known = _known(opened, said)
        if known:
            return _joined(arguments, opened, room, id_, known)
    own = {"topic": fragment.topic, "missing": said.gap, "lesson": said.lesson}
    for option, text in own.items():
        if text and getattr(arguments, option) is None:
            setattr(arguments, option, text)

    def then(saved: Saved) -> list[str]:
        is_own = saved.record.seen == 1 and not saved.is_repeated and not saved.record.updated
        promote(room, fragment.id, saved.record.token if is_own else saved.record.id)
        return [word(opened.lang, "promoted", id=plain(fragment.id))]

    return add_given(arguments, opened, again=f"promote {plain(fragment.id)}", then=then)


def _known(opened: Opened, said: "Said") -> Record | None:
    """Return the record that says already what a fragment says, if there is one.

    A colleague may have promoted the same, or the fragment has come from the log.
    """
    for record in opened.store.read_all() if said.lesson else ():
        is_same = as_said(record.lesson) == as_said(said.lesson)
        if is_same and (not said.gap or as_said(record.missing_context) == as_said(said.gap)):
            return record
    return None


def _joined(
    arguments: argparse.Namespace, opened: Opened, room: "Room", id_: str, known: Record
) -> int:
    """Take a fragment out of recall whose lesson the log has; 1 when not done."""
    from rooms.fragments.promotion.promoting import promote

    lines = [word(opened.lang, "would_join", id=plain(id_)), ""]
    print_within([*lines, *whole(known, screen_here(), opened.lang), ""])
    if not is_confirmed(arguments, common_word, opened.lang, word(opened.lang, "ask_join")):
        return int(not arguments.dry_run)
    promote(room, id_, known.id)
    print_lines([word(opened.lang, "promoted", id=plain(id_))])
    return 0


def _undo(arguments: argparse.Namespace, opened: Opened, room: "Room", id_: str) -> int:
    """Put the fragment back into recall, then take its record out of the log."""
    from rooms.fragments.promotion.promoting import check_promoted, take_back

    fragment, lang = check_promoted(room, id_), opened.lang
    own = _record_of(fragment, opened)
    key = "would_undo" if own else "would_only_undo"
    preview = [word(lang, key, id=plain(fragment.id))]
    preview += ["", *whole(own, screen_here(), lang)] if own else []
    print_within([*preview, ""])
    if not is_confirmed(arguments, common_word, lang, word(lang, "ask_undo")):
        return int(not arguments.dry_run)
    take_back(room, fragment.id)
    record, lines = plain(fragment.record_id), [word(lang, "undone", id=plain(fragment.id))]
    if own and opened.store.delete_by_ids([own.token])[0].removed:
        lines.append(word(lang, "record_gone", record=record))
    else:
        lines.append(_what_stays(fragment, opened))
    print_lines([*lines, *commit_lines(opened)])
    return 0


def _record_of(fragment: "Fragment", opened: Opened) -> Record | None:
    """Return the record that the promotion made, if nobody has changed it."""
    there = opened.store.read().with_id(fragment.record_id).values()
    return next((it for it in there if it.token == fragment.promoted), None)


def _what_stays(fragment: "Fragment", opened: Opened) -> str:
    """Say what the log has of a fragment whose record was not taken out."""
    id_, log = fragment.record_id, opened.store.read()
    facts, key = {"record": plain(id_)}, "record_absent"
    if log.with_id(id_):
        key = "record_stays"
    for principle in log.records:
        if any(it.partition("@")[0] == id_ for it in principle.source_ids):
            key, facts["principle"] = "record_merged", plain(principle.id)
    return word(opened.lang, key, **facts)
