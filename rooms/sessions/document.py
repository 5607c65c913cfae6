"""Exports sessions as one document: Markdown or HTML for people, JSON for an import.

In Markdown no text becomes a heading, link, table or tag. HTML is rendered from it without raw HTML
and links: the page has no script, loads nothing, and its policy allows only its own style.
"""

import base64
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from html import escape
from itertools import chain, takewhile
from pathlib import Path
from sqlite3 import Connection
from string import Template
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from core.config import CONTEXT_DIRECTORY
from core.disk import reason_of, replace_file
from core.messages import language, say
from core.room.documents import CONFIG_NAME, dump_json
from core.text import plain
from core.text.plain import (
    Budget,
    as_code,
    as_item,
    as_lines,
    escape_inline,
    minute_of,
    one_line,
    utc_now,
)
from rooms.sessions.draft import redact_session
from rooms.sessions.rows import actions_of, sessions_where
from rooms.sessions.session import ACTION, DOCUMENT_SESSION, Action, Point, Session, SessionsError
from rooms.sessions.store import CURRENT, SessionStore

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

FormName = Literal["markdown", "json", "html"]
MARK = "sentinel-memory-sessions"  # in the first line of each form: an export may replace it
VERSION = 1  # of the JSON

_SAVED_AT = "coalesce(nullif(updated_at, ''), created_at)"
_SELECTION = (  # a day is meant with all of its moments
    f"SELECT number FROM contexts WHERE (:first = '' OR {_SAVED_AT} >= :first)"
    f" AND (:last = '' OR substr({_SAVED_AT}, 1, length(:last)) <= :last)"
    f" ORDER BY {_SAVED_AT} DESC, number DESC"
)
_OUR_FILES = frozenset((CONFIG_NAME, CURRENT))
# Clients read these as instructions: a document with texts of a memory is none.
_RULE_FILES = frozenset(
    "agents.md claude.md claude.local.md gemini.md skill.md copilot-instructions.md".split()
)
_COMMENT = f"<!-- {MARK}:"
_FIRST_LINE = f"{_COMMENT} the next export may replace this file -->"


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a document. exported: ISO 8601."""

    project: str
    count: int
    exported: str


class Entry(NamedTuple):
    """A session with its actions. parent: the number of the session before it, or 0."""

    session: Session
    actions: Sequence[Action]
    parent: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """An exported document."""

    text: str  # "" if it is in a file
    path: str  # from the project's root
    count: int


def export(
    store: SessionStore,
    form: FormName,
    *,
    since: str = "",
    until: str = "",
    names: Sequence[str] = (),
    output: str = "",
) -> Document:
    """Return sessions as one document, last saved first, or write them to a file.

    since, until: days or moments of the last save, ISO 8601, inclusive. names: numbers or ids, ()
    for all. output: a file in the project; "" returns what fits into an answer, and says how many
    are left out. Raises SessionsError, and errors of the store.
    """
    writer = FORMS[form]
    target = _Target(store.root, output, form) if output else None
    with open_selection(store, since, until, names) as (count, entries):
        begin = writer.render_head(Head(store.root.name, count, utc_now()))
        sessions = map(writer.render_session, entries)
        if target:
            pieces = (writer.separator * bool(i) + text for i, text in enumerate(sessions))
            target.write(chain([begin], pieces, [writer.render_end(0)]))
            return Document("", target.relative, count)
        budget = Budget(store.settings.budget_tokens, store.settings.budget_chars)
        budget.spend(begin)
        budget.spend(writer.render_end(count))
        texts = list(takewhile(budget.take, sessions))
    left_out = count - len(texts)
    text = begin + writer.separator.join(texts) + writer.render_end(left_out)
    return Document(text, "", len(texts))


class _Target:
    """A file in the project that a document may become, also in the place of an earlier one."""

    def __init__(self, root: Path, output: str, form: FormName) -> None:
        self._output, self._form = output, form
        relative_path = Path(output)
        if ".." in relative_path.parts or "\0" in output:
            raise self._refusal_for("output_outside")
        if relative_path.suffix.lower() not in FORMS[form].suffixes or not output.isprintable():
            raise self._refusal_for("output_name")
        root = Path(os.path.realpath(root))
        self.path = Path(os.path.realpath(root / relative_path))  # no link may lead out of the root
        if not self.path.is_relative_to(root) or self.path == root:
            raise self._refusal_for("output_outside")
        self.relative = self.path.relative_to(root).as_posix()
        # The places in which programs look for files of their own; Windows drops blanks and dots
        # at the end of a name.
        parts = [part.casefold().rstrip(". ") for part in self.relative.split("/")]
        hidden = [part for part in parts if part.startswith((".", "git~")) or not part]
        is_ours = parts[0] == CONTEXT_DIRECTORY and parts[-1] not in _OUR_FILES
        if parts[-1] in _RULE_FILES or hidden != ([CONTEXT_DIRECTORY] if is_ours else []):
            raise self._refusal_for("output_reserved")
        self._check(self.path)

    def write(self, pieces: Iterable[str]) -> None:
        """Write the document; a reader sees the whole of it or the earlier file."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            data = (piece.encode("utf-8", "replace") for piece in pieces)
            replace_file(self.path, data, self._check)
        except OSError as error:
            raise self._refusal_for("output_write", reason=reason_of(error)) from error

    def _check(self, target: Path) -> None:
        if Path(os.path.realpath(target)) != self.path:  # by a link in its way now
            raise self._refusal_for("output_outside")
        beginning = FORMS[self._form].beginning.encode("ascii")
        try:
            with open(self.path, "rb") as file:
                is_ours = file.read(len(beginning)) == beginning
        except FileNotFoundError:
            return
        except OSError:  # a directory, or nobody's to read
            is_ours = False
        if not is_ours:
            raise self._refusal_for("output_exists")

    def _refusal_for(self, key: str, **facts: str) -> SessionsError:
        suffixes = FORMS[self._form].suffixes
        facts = {"suffix": suffixes[0].lstrip("."), "suffixes": ", ".join(suffixes), **facts}
        return SessionsError(key, path=plain.printable_path(self._output), form=self._form, **facts)


@contextmanager
def open_selection(
    store: SessionStore, since: str, until: str, names: Sequence[str]
) -> Iterator[tuple[int, Iterator[Entry]]]:
    """Yield the count of matches, and these redacted, as of one moment. Raises SessionsError."""
    values = {"first": since, "last": until}
    with store.reading() as connection:
        numbers = [number for (number,) in connection.execute(_SELECTION, values)]
        if names:
            chosen_numbers = {store.find(connection, name).number for name in names}
            numbers = [number for number in numbers if number in chosen_numbers]
        yield len(numbers), (entry_of(connection, number) for number in numbers)


def entry_of(connection: Connection, number: int) -> Entry:
    """Return a session with its actions, without secrets."""
    [session] = sessions_where(connection, "number = ?", (number,))
    statement = "SELECT number FROM contexts WHERE id = ?"
    parent = connection.execute(statement, (session.parent_id,)).fetchone()
    clean = redact_session(session, actions_of(connection, session.id))
    return Entry(clean.session, clean.actions, parent[0] if parent else 0)


def _say(key: str, **facts: str | int) -> str:
    return say(f"sessions.exchange.{key}", **facts)


def outcome_name(result: str) -> str:
    return _say(result if result in ("success", "failed") else "partial")


# The forms, each in pieces. suffixes: of its files. beginning: of every document of it, also after
# years. separator: between two sessions.


class _Markdown:
    suffixes, beginning, separator = (".md", ".markdown"), _COMMENT, ""

    def render_head(self, head: Head) -> str:
        title = plain.as_heading(_say("title", project=head.project))
        return f"{_FIRST_LINE}\n# {title}\n\n{self._intro_of(head)}\n"

    def _intro_of(self, head: Head) -> str:
        return _say("intro" if head.count else "none", count=head.count, date=head.exported[:10])

    def render_session(self, entry: Entry) -> str:
        session, began = entry.session, entry.session.started_at[:10]
        facts = (
            _say("started", date=began) if began not in ("", session.date) else "",
            _say("saved", date=session.date),
            session.status,
            session.agent,
            _say("continues", name=f"#{entry.parent}") if entry.parent else "",
        )
        tags = ", ".join(as_code(one_line(tag)) for tag in session.tags)
        details = "; ".join(filter(None, (*map(escape_inline, map(one_line, facts)), tags)))
        title = f"## \\#{session.number} {plain.as_heading(session.goal)}"
        lines = ["", title, "", details.replace("#", "\\#")]
        if paragraph := as_lines(session.summary):
            lines += ["", *(f"{line}\\" for line in paragraph[:-1]), paragraph[-1]]
        labels = {"decisions": "why", "approaches": "reason", "blockers": "resolution"}
        for name, label in labels.items():
            points: Sequence[Point] = getattr(session, name)
            lines += ["", f"### {_say(name)}", ""] if points else []
            for point in points:
                states = {
                    "decisions": "",
                    "approaches": f"**{outcome_name(point.result)}**: ",
                    "blockers": f"**{_say('resolved' if point.is_resolved else 'open')}**: ",
                }
                lines += as_item(f"- {states[name]}", as_lines(point.text))
                if point.why.strip():
                    lines += as_item(f"  - {_say(label)}: ", as_lines(point.why))
        if session.changes.summary.strip() or session.changes.modified_files:
            lines += ["", f"### {_say('changes')}", ""]
        if session.changes.summary.strip():
            lines += as_item("- ", as_lines(session.changes.summary))
        for path in session.changes.modified_files:
            lines.append(f"- {plain.escape_start(as_code(one_line(path).strip()))}")
        texts = [(state.at[:10], *text) for state in session.former[::-1] for text in state.texts]
        lines += ["", f"### {_say('former')}", ""] if texts else []
        for date, name, text in texts:
            lines += as_item(f"- {date} {name}: ", as_lines(text))
        lines += ["", f"### {_say('actions')}", ""] if entry.actions else []
        for action in entry.actions:
            start = one_line(f"{minute_of(action.created_at)} {action.kind_name}").strip()
            text = one_line(action.result)
            result = f" → {escape_inline(text)}" if text else ""
            content = as_code(one_line(action.full_content))
            lines.append(f"- {plain.escape_start(escape_inline(start))}: {content}{result}")
        return "\n".join([*lines, ""])

    def render_end(self, left_out: int) -> str:
        return f"\n{_say('left_out', count=left_out, suffix='md')}\n" if left_out else ""


class _Html(_Markdown):
    suffixes, beginning = (".html", ".htm"), f"<!doctype html>\n{_COMMENT}"

    def render_head(self, head: Head) -> str:
        style, page = (
            Path(__file__).with_name(name).read_text(encoding="utf-8")
            for name in ("page.css", "page.html")
        )
        page = Template(page).substitute(
            language=language(),
            digest=base64.b64encode(sha256(style.encode("utf-8")).digest()).decode("ascii"),
            title=escape(one_line(_say("title", project=head.project))),
            style=style,
            intro=escape(self._intro_of(head)),
        )
        return f"<!doctype html>\n{_FIRST_LINE}\n{page}"

    def render_session(self, entry: Entry) -> str:
        return str(self._renderer.render(super().render_session(entry)))

    @cached_property
    def _renderer(self) -> "MarkdownIt":
        from markdown_it import MarkdownIt  # loaded with the first page

        return MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink"])

    def render_end(self, left_out: int) -> str:
        note = escape(_say("left_out", count=left_out, suffix="html"))
        return f"{f'<p>{note}</p>' if left_out else ''}</main>\n</body>\n</html>\n"


class _Json:
    """The declared `context` objects with their actions, to be imported."""

    suffixes, beginning, separator = (".json",), f'{{"format": "{MARK}", "version": ', ","

    def render_head(self, head: Head) -> str:
        facts = {"project": head.project, "exported": head.exported, "count": head.count}
        return f'{self.beginning}{VERSION}, {dump_json(facts)[1:-1]}, "contexts": ['

    def render_session(self, entry: Entry) -> str:
        return f"\n{dump_json(context_of(entry))}"

    def render_end(self, left_out: int) -> str:
        note = dump_json(_say("left_out", count=left_out, suffix="json"))
        return f'\n], "leftOut": {left_out}, "note": {note}}}\n' if left_out else "\n]}\n"


def context_of(entry: Entry) -> dict[str, Any]:
    """Return a session with its actions, as `source` reads it."""
    actions = [ACTION.as_json(action) for action in entry.actions]
    return {**DOCUMENT_SESSION.as_json(entry.session), "actions": actions}


FORMS: Mapping[FormName, _Markdown | _Json]
FORMS = {"markdown": _Markdown(), "html": _Html(), "json": _Json()}
