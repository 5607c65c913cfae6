"""Shows what became of one record, commit by commit, and where it stands now."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from commands.records.words import word
from commands.terminal.console import Opened, add_examples, add_id, add_json, explain, open_memory
from commands.terminal.printing import print_lines
from commands.terminal.progress import progress
from commands.terminal.records import (
    INDENT,
    block,
    change_lines,
    named_record,
    readable,
    replacing,
    text_lines,
    topic_name,
)
from commands.terminal.safe_text import plain, plain_json
from commands.terminal.screen import screen_here
from core.lessons.clean_record import clean_value
from core.lessons.git.comparing import changes
from core.lessons.git.errors import HistoryError
from core.lessons.git.naming import named
from core.lessons.git.versions import Event, History, Present, originals_of, present
from core.lessons.git.words import word as git_word
from core.lessons.record import Record
from core.lessons.upkeep.replaced import Replaced
from core.messages import Language
from core.parser import add_project

MINUTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Everything that `history` says of one record.

    is_new: whether the log as it stands has another version of it than HEAD. originals: by version
    id, those of a principle, None where neither the file nor git has the version. kept: versions
    that are kept beside the log, and that no event shows. former: those under another id, of
    which a new topic or text has made this record.
    """

    id: str
    present: Present
    is_new: bool
    events: Sequence[Event]
    originals: dict[str, Record | None]
    notes: Sequence[str]
    kept: Sequence[Replaced] = ()
    former: Sequence[Record] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py history`."""
    add_id(parser)
    add_project(parser)
    parser.add_argument("--all-branches", action="store_true", help=explain("history_branches"))
    add_json(parser)
    add_examples(parser, "history 3f2a", "history 3f2a --all-branches")


def run(arguments: argparse.Namespace) -> int:
    """Print what git knows of a record. Raises HistoryError."""
    opened = open_memory(arguments)
    with progress(opened.lang):
        story = story_of(opened, arguments.id, everywhere=arguments.all_branches)
    if arguments.json:
        print(plain_json(_as_json(opened, story, everywhere=arguments.all_branches)))
    else:
        print_lines(_lines(opened.lang, story, everywhere=arguments.all_branches))
    return 0


def story_of(opened: Opened, name: str, *, everywhere: bool) -> Story:
    """Return what the log and git know of the record that `name` means. Raises HistoryError."""
    history = History(opened.store.path, opened.store.read(), opened.store.read_replaced())
    record_id = named(name, history).id
    now = present(record_id, history.log)
    kept = [it for it in history.kept.values() if it.record.id == record_id]
    asks_git = history.has_git or not kept
    events = history.events(record_id, everywhere=everywhere) if asks_git else []
    notes = history.notes()
    if {"ignored", "not_committed"} & set(notes) and not kept:
        raise HistoryError("no_history", *notes)
    committed = history.committed(record_id) if asks_git else None
    shown = now.record if now.state == "present" else None
    last = now.record or (events[0].record if events else None)
    told = {event.record.token for event in events}
    tokens = originals_of(last) if last and last.type == "principle" else ()
    moved = last.source_ids if last and last.type == "log" else ()
    found = history.find_versions((*tokens, *moved))
    return Story(
        id=record_id,
        present=now,
        is_new=(shown and shown.token) != (committed and committed.token),
        events=events,
        originals={token: found.get(token) for token in tokens},
        notes=notes,
        kept=[it for it in kept if it.token not in told],
        former=[found[it] for it in moved if it in found and found[it].id != record_id],
    )


def _lines(lang: Language, story: Story, *, everywhere: bool) -> list[str]:
    lines = _now_lines(lang, story)
    for record in story.former:
        facts = {"id": plain(record.id), "topic": topic_name(record.topic)}
        lines.append(word(lang, "moved", **facts))
    key = "versions" if story.events else "no_versions"
    key = f"{key}_all" if everywhere else key
    lines += ["", word(lang, key, count=len(story.events))]
    lines += [git_word(lang, note) for note in story.notes]
    for number, event in enumerate(story.events, start=1):
        lines += ["", *_event_lines(lang, number, event, story.present.record)]
    if story.kept:
        lines += ["", *_kept_lines(lang, story.kept)]
    if story.originals:
        lines += ["", *_original_lines(lang, story.originals)]
    return lines


def _now_lines(lang: Language, story: Story) -> list[str]:
    now = story.present
    if now.state == "present" and now.record:
        key = "now_present_new" if story.is_new else "now_present"
        lines = [word(lang, key, token=plain(now.record.token)), *block(now.record, lang)]
    elif now.state == "hidden" and now.record:
        lines = [word(lang, "now_hidden"), *block(now.record, lang)]
    else:
        lines = [word(lang, "now_gone_new" if story.is_new else "now_gone")]
    for principle, token in now.principles:
        facts = {"by": replacing(principle), "topic": topic_name(principle.topic)}
        lines.append(word(lang, "replaced_by", token=plain(token), **facts))
    return [_bold(plain(story.id)), *lines]


def _bold(text: str) -> str:
    return screen_here().painted(text, "bold")


def _event_lines(lang: Language, number: int, event: Event, now: Record | None) -> list[str]:
    """Return what a commit did to the record; the version that is shown above is only named."""
    commit = event.commit
    by = replacing(event.principle) if event.principle else "principle"
    date = commit.date[:MINUTES].replace("T", " ")
    who = [commit.short, date, commit.author, commit.subject]
    lines = [
        _bold(f"{number}. {word(lang, event.kind, by=by)}"),
        INDENT + "  ".join(plain(fact) for fact in who),
        INDENT + named_record(event.record, lang),
    ]
    if event.before and event.after:
        return lines + change_lines(changes(event.before, event.after))
    is_shown = now and now.token == event.record.token
    return lines if is_shown else lines + text_lines(event.record)


def _kept_lines(lang: Language, kept: Sequence[Replaced]) -> list[str]:
    lines = [word(lang, "kept_beside", count=len(kept))]
    for version in kept:
        date = plain(version.at[:MINUTES].replace("T", " "))
        lines.append(f"{INDENT}{date}  {plain(version.token)}")
        lines += [INDENT + line for line in text_lines(version.record)]
    return lines


def _original_lines(lang: Language, originals: dict[str, Record | None]) -> list[str]:
    found = [record for record in originals.values() if record]
    lines = [word(lang, "originals", count=len(originals), found=len(found))]
    for token, record in originals.items():
        if record:
            lines.append(INDENT + named_record(record, lang))
        else:
            lines.append(f"{INDENT}{plain(token)}  {word(lang, 'original_missing')}")
    return lines


def _as_json(opened: Opened, story: Story, *, everywhere: bool) -> dict[str, object]:
    now = story.present
    return {
        "project": str(opened.project.root),
        "log": str(opened.store.path),
        "id": story.id,
        "state": now.state,
        "committed": not story.is_new,
        "version": _version(now.record),
        "replaced": [
            {"token": token, "principle": principle.token, "topic": readable(principle).topic}
            for principle, token in now.replaced
        ],
        "everywhere": everywhere,
        "shallow": "cut" in story.notes,
        "events": [_event_json(event) for event in story.events],
        "kept": [
            {"at": it.at, "by": it.by, "token": it.token, "record": readable(it.record).as_json()}
            for it in story.kept
        ],
        "originals": [
            {"token": token, "found": record is not None, "version": _version(record)}
            for token, record in story.originals.items()
        ],
    }


def _event_json(event: Event) -> dict[str, object]:
    changed = changes(event.before, event.after) if event.before and event.after else []
    return {
        "kind": event.kind,
        "commit": event.commit.id,
        "author": event.commit.author,
        "date": event.commit.date,
        "subject": event.commit.subject,
        "version": _version(event.record),
        "changed": {key: [clean_value(it)[0] for it in values] for key, *values in changed},
        "principle": event.principle.token if event.principle else None,
    }


def _version(record: Record | None) -> dict[str, object] | None:
    return {"token": record.token, "record": readable(record).as_json()} if record else None
