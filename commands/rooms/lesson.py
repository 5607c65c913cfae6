"""`add` and `edit`: a person saves a lesson, or corrects a record."""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from commands.clients.text_file import write_new
from commands.rooms.read import item_lines
from commands.terminal.ask import can_ask, is_confirmed, open_memory, read_answer
from commands.terminal.screen import complain, plain, print_within
from core.errors import RefusedError, SentinelError
from core.git import is_ignored
from core.guard.injection import HIDDEN_TEXT
from core.lessons.anchors import MOST_PATHS, normalise_paths
from core.lessons.answers import code_fields, flaw_notes, need_of
from core.lessons.changes import Outcome
from core.lessons.history import find_record
from core.lessons.reach import reach_of
from core.lessons.record import LIMITS_BYTES, Draft, Record
from core.lessons.record_text import topic_text
from core.messages import say
from core.sanitizer import redact
from core.text.plain import fold_text, utc_now
from core.text.wording import find_similar, scope_of, usable_topics
from rooms.lessons import commit_lines, item_of
from rooms.room import Memory, count_kinds

# By the option of `add` and `edit`, the field of a record; a list has one entry in a line.
FIELDS = {
    "topic": "topic",
    "missing": "missing_context",
    "lesson": "lesson",
    "ask": "ask_next_time",
    "path": "paths",
    "when": "when",
}
NEEDED_OPTIONS = ("missing", "lesson", "topic")
MOST_TOPICS = 8  # that a question names
EDITORS = ("nano", "vi", "notepad")
HEADING = re.compile(r"^== (\w+) ==[^\S\n]*+$", re.M)

Texts = Mapping[str, str]  # by field


def _texts_in(options: argparse.Namespace) -> dict[str, str]:
    values = {field: getattr(options, option) for option, field in FIELDS.items()}
    return {
        field: value if isinstance(value, str) else "\n".join(value)
        for field, value in values.items()
        if value is not None
    }


# --- add


def add(options: argparse.Namespace) -> int:
    """Save a lesson; return 1 if it was not saved."""
    memory = open_memory(options, writes=True)  # what no save would take is not shown either
    texts = _texts_in(options)
    promotion = None
    if options.fragment is not None:
        promotion = _Promotion(memory, options.fragment)
        if promotion.is_done:
            print_within([promotion.sentence("promoted_before")])
            return 0
        if not texts and (record := promotion.find_record()):
            print_within([promotion.sentence("would_join"), "", *item_lines(item_of(record)), ""])
            if not is_confirmed(options, say("add.ask_join")):
                return int(not options.dry_run)
            print_within([promotion.promote(record.id)])
            return 0
        texts = {**promotion.texts, **texts}
    has_asked = _ask_for_texts(options, texts, memory)
    when, paths = (_lines_of(texts.get(name, "")) for name in ("when", "paths"))
    reach = reach_of(paths, when, memory.project.root)
    draft = Draft(  # a field left out keeps the value of a record of the same gap
        topic=texts["topic"],
        missing_context=texts["missing_context"],
        lesson=texts["lesson"],
        ask_next_time=texts.get("ask_next_time") or None,
        paths=paths or None,
        when=reach.triggers or None,
    )
    now = utc_now()  # the version id that is shown is the one that is saved
    try:
        trial = memory.store.upsert_log(draft, dry_run=True, now=now)
        if trial.is_written:
            before = [record for record in trial.before.records if record.gap == trial.record.gap]
            lines = [say("records.would_update" if before else "records.would_add")]
            lines += ["", *item_lines(item_of(trial.record))]
            lines += ["", say("records.put_away")] if before else []
            for record in before:
                lines += ["", *item_lines(item_of(record))]
            print_within([*lines, "", *reach.notes])
            if not options.yes:
                print_within(redacted_lines(trial.secret_kinds, "would_redact"))
            if not is_confirmed(options, say("records.ask_add")):
                if has_asked:
                    print(say("records.typed", command=_add_command(texts)))
                return int(not options.dry_run)
        outcome = trial if options.dry_run else memory.store.upsert_log(draft, now=now)
    except SentinelError as error:
        if not has_asked:
            raise
        complain(str(error))
        complain(say("records.typed", command=_add_command(texts)))
        return 1
    print_within(saved_lines(memory, outcome))
    if promotion and not options.dry_run:
        print_within([promotion.promote(outcome.record.id)])
    return 0


def _ask_for_texts(options: argparse.Namespace, texts: dict[str, str], memory: Memory) -> bool:
    """Ask for missing texts; return whether it asked.

    Raises RefusedError for a blank answer, SystemExit(2) without a terminal.
    """
    needs = [option for option in NEEDED_OPTIONS if not texts.get(FIELDS[option], "").strip()]
    if not needs:
        return False
    if any(getattr(options, option) is not None for option in needs):  # blank, and not left out
        needs = [option for option in needs if getattr(options, option) is not None]
        options.refuse(_missing_sentence(needs))
    topics = memory.store.read().topics  # or says why not, before anybody types
    topic_names = ", ".join(topic_name(topic) for topic, _ in topics.most_common(MOST_TOPICS))
    for option in needs:
        answer: str | None = None
        if option == "topic":  # the longest of those that the texts name
            words = f"{texts['missing_context']} {texts['lesson']}".casefold()
            for name in topics:
                if re.search(rf"(?<!\w){re.escape(name.casefold())}", words):
                    answer = max(answer or "", name, key=len)
        answer = answer or read_answer(say(f"records.question_{option}", topics=topic_names or "-"))
        if answer is None:
            options.refuse(_missing_sentence(needs))
        if not str(answer).strip():
            raise RefusedError("records.blank_answer")
        texts[FIELDS[option]] = str(answer)
    return True


def _missing_sentence(names: list[str]) -> str:
    return say("records.text_missing", options=", ".join(f"--{name}" for name in names))


def _add_command(texts: Texts) -> str:
    words = [
        f"--{option}={shlex.quote(redact(texts[field])[0])}"
        for option, field in FIELDS.items()
        if texts.get(field)
    ]
    return " ".join(["add", *words])


def _lines_of(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


class _Promotion:
    """A fragment of this person that becomes a lesson of the project, and then leaves recall.

    Raises SentinelError for an unknown or superseded fragment, or another agent's.
    """

    def __init__(self, memory: Memory, name: str) -> None:
        from rooms.fragments import versions  # a log alone loads nothing of fragments
        from rooms.fragments.fragment import NoSuchFragmentError
        from rooms.fragments.room import open_room

        self._memory, self._promote = memory, versions.promote
        self._room = open_room(memory.settings, os.environ)
        try:
            self._fragment, text = versions.record_texts_of(self._room, name)
        except NoSuchFragmentError as error:  # its own sentence is for a model
            raise RefusedError("records.no_fragment", id=str(error.facts["id"])) from None
        self.is_done = bool(self._fragment.promoted)
        texts = {"topic": self._fragment.topic, "missing_context": text.gap, "lesson": text.lesson}
        self.texts = {field: text for field, text in texts.items() if text}

    def find_record(self) -> Record | None:
        """Return the record that already says the same, if any.

        A colleague may have saved it, or the fragment came from the log.
        """
        gap, lesson = (fold_text(self.texts.get(key, "")) for key in ("missing_context", "lesson"))
        for record in self._memory.store.read().records if lesson else ():
            is_same_gap = not gap or fold_text(record.missing_context) == gap
            if is_same_gap and fold_text(record.lesson) == lesson:
                return record
        return None

    def promote(self, record: str) -> str:
        """Take the fragment out of recall; return a sentence."""
        self._promote(self._room, self._fragment.id, record)
        return self.sentence("promoted")

    def sentence(self, key: str) -> str:
        record = plain(self._fragment.record_id)
        return say(f"add.{key}", id=plain(self._fragment.id), record=record)


# --- the report of a save


def saved_lines(memory: Memory, outcome: Outcome) -> list[str]:
    record, count, topics = outcome.record, outcome.log.count, outcome.log.topics
    name, version_id, topic = record_title(record), plain(record.version_id), record.topic
    if not outcome.is_written:
        return [say("records.saved_before", record=name)]
    lines = [say("records.saved", record=name, count=count)]
    if not outcome.before.count and is_ignored(memory.store.path):
        lines.append(say("answers.ignored"))
    if former_records := [item for item in outcome.before.records if item.gap == record.gap]:
        lines.append(say("records.undo", token=plain(former_records[-1].version_id)))
    elif record.seen > 1 and not record.updated:
        lines.append(say("records.gap_is_back", topic=_quote(topic)))
    if len(outcome.earlier_versions[0]) > 1:
        lines.append(say("answers.settled", count=len(outcome.earlier_versions[0])))
    lines += redacted_lines(outcome.secret_kinds)
    lines += _suspicion_lines(outcome.suspicious_fields, record)
    if record.marks:
        key = "marked_hidden" if record.marks == (HIDDEN_TEXT,) else "marked"
        lines.append(say(f"records.{key}", marks=plain(", ".join(record.marks)), token=version_id))
    if fields := code_fields(record):
        lines.append(say("records.source_code", fields=fields, token=version_id))
    facts = {"topic": topic_name(topic), "old": _quote(topic)}
    if scope := scope_of(topic):
        lines.append(say(f"records.topic_{scope}", **facts))
    is_new = topics[topic] == 1 and not record.updated
    if is_new and (neighbours := usable_topics(find_similar(topic, list(topics)))):
        names = ", ".join(map(topic_name, neighbours[:5]))
        lines.append(say("records.similar_topic", topics=names, new=_quote(neighbours[0]), **facts))
    threshold = memory.settings.threshold
    if need_of(outcome.log.records, count, threshold) == "required":
        lines.append(say("records.compaction_due", count=count, threshold=threshold))
    if flaw_notes(outcome.log):
        lines.append(say("records.flawed"))
    return lines + commit_lines(memory.store)


def _suspicion_lines(fields: Collection[str], record: Record) -> list[str]:
    facts = {"fields": ", ".join(fields), "id": plain(record.id)}
    return [say("records.suspicious_saved", **facts)] if fields else []


def record_title(record: Record) -> str:
    """Return version id, kind and topic, without secrets."""
    item = item_of(record)
    return plain(f"{item.version}  {item.kind} [{item.topic}]")


def topic_name(topic: str) -> str:
    """Return a topic safe to print, without secrets."""
    return plain(topic_text(redact(topic)[0]))


def redacted_lines(kinds: Collection[str], key: str = "redacted") -> list[str]:
    """Return a sentence that counts secrets by kind, [] for none."""
    return [say(f"records.{key}", **count_kinds([*kinds]))] if kinds else []


def _quote(topic: str) -> str:
    """Quote a topic for a command; `TOPIC` if nobody can type it."""
    return shlex.quote(topic) if topic_text(topic) == topic == topic_name(topic) else "TOPIC"


# --- edit


def edit(options: argparse.Namespace) -> int:
    """Change a record by options, a file or an editor; return 1 if not saved."""
    texts = _texts_in(options)
    if texts and options.source:
        option = next(option for option in FIELDS if getattr(options, option) is not None)
        options.refuse(say("terminal.together", one="--from", other=f"--{option}"))
    memory = open_memory(options, writes=True)
    record = find_record(options.id, memory.store.read())
    if texts:
        print_within(_save_edits(memory, record, texts_of(record), texts))
        return 0
    text, id_ = text_for_editor(record), plain(record.id)
    if options.source:
        after = _read_sections(Path(options.source))
        print_within(_save_edits(memory, record, sections_in(text), after))
        return 0
    editor = editor_in(os.environ, is_terminal=can_ask())
    if not editor:
        raise RefusedError("records.no_editor", id=id_)
    data = text.encode("utf-8", "replace")
    path = Path(tempfile.gettempdir(), f"sentinel-memory-{os.urandom(8).hex()}.txt")
    write_new(path, data.decode(), force=False, project=memory.project.root, is_private=True)
    lines, is_done = list[str](), False
    try:
        with suppress(OSError):
            is_done = not subprocess.run([*editor, path], check=False).returncode
        if not is_done:
            raise RefusedError("records.editor_failed", editor=editor[0], id=id_)
        lines = _save_edits(memory, record, sections_in(data.decode()), _read_sections(path))
    except SentinelError as error:  # printed here, above the place where the text is kept
        complain(str(error))
    finally:
        is_kept = not lines
        with suppress(OSError):  # an editor may remove the file, and a saved text is saved
            is_kept = is_kept and path.exists() and path.read_bytes() not in (b"", data)
            if not is_kept:
                path.unlink(missing_ok=True)
        if is_kept:  # in one line, so that the path can be copied
            complain(say("records.text_kept", path=shlex.quote(plain(str(path))), id=id_))
    print_within(lines)
    return 0 if lines else 1


def texts_of(record: Record) -> dict[str, str]:
    return {
        **dict(zip(LIMITS_BYTES, record.texts, strict=True)),
        "paths": "\n".join(record.paths),
        "when": "\n".join(record.when),
    }


def _save_edits(memory: Memory, record: Record, before: Texts, after: Texts) -> list[str]:
    texts = {name: text for name, text in after.items() if text != before[name]}
    changed_record, notes = edit_record(record, texts, memory.project.root)
    if changed_record == record:
        return [say("terminal.not_changed"), *notes]
    outcome = memory.store.renew({record.version_id: changed_record}, join=False)
    saved = outcome.records[0]
    lines = [*item_lines(item_of(saved)), ""]
    lines.append(say("records.saved", record=record_title(saved), count=outcome.log.count))
    lines += redacted_lines(outcome.secret_kinds)
    lines += _suspicion_lines(outcome.suspicious_fields, saved)
    facts = {"token": plain(record.version_id), "old": plain(record.id), "new": plain(saved.id)}
    keys = ("undo",) if saved.id == record.id else ("other_id", "undo_other")
    lines += [say(f"records.{key}", **facts) for key in keys]
    return [*lines, *commit_lines(memory.store), *notes]


def edit_record(record: Record, texts: Texts, root: Path) -> tuple[Record, list[str]]:
    """Return the record with these texts, and notes on its anchors. Raises RefusedError."""
    paths, when, notes = record.paths, record.when, list[str]()
    if "paths" in texts:
        lines = texts["paths"].split("\n")
        paths = normalise_paths(lines, str(root), most=max(MOST_PATHS, len(paths)))
    if "when" in texts:
        reach = reach_of(paths, _lines_of(texts["when"]), root, when)
        # If all new ones go, the old ones stay.
        kept_triggers = when if reach.common_triggers else ()
        when, notes = reach.triggers or kept_triggers, reach.notes
    elif "paths" in texts:
        notes = reach_of(paths, (), root).notes
    others: dict[str, Any] = {name: texts[name] for name in LIMITS_BYTES if name in texts}
    return replace(record, **others, paths=paths, when=when), notes


def editor_in(environment: Mapping[str, str], *, is_terminal: bool) -> list[str]:
    """Return the command of VISUAL, EDITOR or a usual editor, [] without one."""
    for name in ("VISUAL", "EDITOR"):
        if command := environment.get(name, "").strip():
            try:
                words = shlex.split(command, posix=os.name != "nt")
            except ValueError:  # a quote is open
                return []
            return [word.strip('"') for word in words] if os.name == "nt" else words
    return [name for name in EDITORS if is_terminal and shutil.which(name)][:1]


def text_for_editor(record: Record) -> str:
    """Return comment lines, then a section for each text, below a heading:

        == topic ==

    Raises RefusedError for a text with such a line.
    """
    limits = ", ".join(f"{name} {limit_bytes:,}" for name, limit_bytes in LIMITS_BYTES.items())
    facts = {"token": plain(record.version_id), "type": record.type, "limits": limits}
    lines = [f"# {line}" for line in say("records.edit_head", **facts).splitlines()]
    for name, text in texts_of(record).items():
        if HEADING.search(text.replace("\r", "\n")):
            raise RefusedError("records.heading_inside", id=plain(record.id))
        lines += ["", f"== {name} ==", *([text] if text else ())]
    return "\n".join(lines) + "\n"


def sections_in(text: str) -> dict[str, str]:
    """Return the texts by field, {} for an emptied file. Raises RefusedError.

    Blank lines around a text and lines before the first heading do not count.
    """
    if not text.strip():
        return {}
    _, *parts = HEADING.split(text.replace("\r\n", "\n"))
    texts_by_field = dict(zip(parts[::2], parts[1::2], strict=True))
    if sorted(parts[::2]) != sorted(FIELDS.values()):
        raise RefusedError("records.bad_sections", names=", ".join(FIELDS.values()))
    blank_lines = re.compile(r"\A(?:[^\S\n]*\n)+|(?:\n[^\S\n]*)+\Z")
    return {name: blank_lines.sub("", texts_by_field[name]) for name in FIELDS.values()}


def _read_sections(path: Path) -> dict[str, str]:
    try:
        return sections_in(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except OSError:
        raise RefusedError("records.no_file", path=plain(str(path))) from None
    except UnicodeDecodeError:
        raise RefusedError("records.not_utf8") from None
